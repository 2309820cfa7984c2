"""Parts of clustering: what a merge costs, which partner costs least, rounds, shared ranges."""
