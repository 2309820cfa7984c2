"""Records that may not move: each hospital counts its own, and only sums over all are opened."""
