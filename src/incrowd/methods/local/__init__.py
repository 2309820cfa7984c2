"""The parts of top-down-local: trees as arrays, the choice of a step, records that move on."""
