"""The parts of searches over levels of generalization: frequency sets, metrics, nodes."""
