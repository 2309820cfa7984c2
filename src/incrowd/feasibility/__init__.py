"""Feasibility: can so many records with these attributes be k-anonymous at all."""

from incrowd.feasibility._advice import Advice
from incrowd.feasibility._reachability import feasibility, feasibility_of
from incrowd.feasibility.result import Attribute, Feasibility, InFile

__all__ = ["Advice", "Attribute", "Feasibility", "InFile", "feasibility", "feasibility_of"]
