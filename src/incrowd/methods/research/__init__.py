"""The parts of the search for the highest research value: strings, pruning, searches."""
