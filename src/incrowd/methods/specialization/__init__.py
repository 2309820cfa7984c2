"""The parts of top-down specialization: cuts, leaves, counts below a value, validity, scores."""
