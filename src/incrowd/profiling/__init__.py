"""Profiles of files, and the starting policies that follow from them."""

from incrowd.profiling._linked import LinkedProfile, linked_policy, profile_tables
from incrowd.profiling._units import UnitGuess
from incrowd.profiling.profiles import ColumnProfile, Profile, profile
from incrowd.profiling.starting_policy import starting_policy
from incrowd.sources.folders import several_tables

__all__ = [
    "ColumnProfile",
    "LinkedProfile",
    "Profile",
    "UnitGuess",
    "linked_policy",
    "profile",
    "profile_tables",
    "several_tables",
    "starting_policy",
]
