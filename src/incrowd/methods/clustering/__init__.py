"""Clustering: records join their nearest until every group is private."""

from incrowd.methods.clustering._clustering import clustering

__all__ = ["clustering"]
