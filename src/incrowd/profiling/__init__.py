"""Profiles of files, and the starting policies that follow from them."""

from incrowd.profiling._units import UnitGuess
from incrowd.profiling.profiles import ColumnProfile, Profile, profile
from incrowd.profiling.starting_policy import starting_policy

__all__ = ["ColumnProfile", "Profile", "UnitGuess", "profile", "starting_policy"]
