"""Tables of how many patients show each set of atoms, and of these hold each protected value."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from incrowd._runtime.arrays import BoolArray, FloatArray, IntArray
from incrowd._runtime.compiling import compiled
from incrowd.methods.histories._subsets import Regions, Scratch, choose, list_sets

Small = npt.NDArray[np.int32]

SLACK = 1e-9
"""How far a share may be beyond its bound by rounding."""


class People(NamedTuple):
    """What patients show and hold, and what must hold of whom they are among."""

    begin: IntArray
    """The rows of patient p are those from begin[p] to below begin[p + 1]."""
    label: Small
    """What each row shows: the number of its label, or -1."""
    held_begin: IntArray
    held: IntArray
    """The protected values of patient p: held[held_begin[p]:held_begin[p + 1]]."""
    share: FloatArray
    """The share of patients who may hold each protected value."""


class SupportTables(NamedTuple):
    """Counts of the sets that contain one atom (or none), by the number of the rest of the set.

    Without keys a number is a place; with them places are found by open addressing.
    """

    local: Small
    """For each label its number here: those of patients first; -1 where it does not occur."""
    regions: Regions
    need: IntArray
    """How many patients must show a set of each region, if any do."""
    bound: BoolArray
    """`bound[v, a, e]`: whether value v is bounded in a region."""
    keys: IntArray
    gained: Small
    """`gained[0, place]` patients show the set with the new atom, `gained[1 + v]` hold v too."""
    kept: Small
    """The same for the atom that patients leave."""


@compiled
def own_atoms(
    p: int, people: People, tables: SupportTables, without: int, scratch: Scratch
) -> tuple[int, int]:
    """List the distinct atoms of a patient but one; return how many, and how many of patients."""
    own, attributes = scratch.own, tables.regions.attributes
    many = 0
    for row in range(people.begin[p], people.begin[p + 1]):
        label = people.label[row]
        if label >= 0 and label != without:
            own[many] = tables.local[label]
            many += 1
    if many > 24:
        own[:many].sort()
    else:
        for i in range(1, many):
            x = own[i]
            j = i
            while j > 0 and own[j - 1] > x:
                own[j] = own[j - 1]
                j -= 1
            own[j] = x
    distinct, of_patients = 0, 0
    last = -1
    for i in range(many):
        x = own[i]
        if x != last:
            last = x
            if x < attributes:
                of_patients += 1
                own[distinct] = x
            else:
                own[distinct] = x - attributes
            distinct += 1
    return distinct, of_patients


@compiled
def sets_of(p: int, people: People, tables: SupportTables, without: int, scratch: Scratch) -> int:
    """List the places of all sets of the atoms of a patient but one; return how many."""
    return dirty_sets_of(p, people, tables, without, scratch, scratch.none_dirty)


@compiled
def dirty_sets_of(
    p: int, people: People, tables: SupportTables, without: int, scratch: Scratch, dirty: BoolArray
) -> int:
    """List the places of those sets of a patient that list_sets lists; return how many."""
    many, of_patients = own_atoms(p, people, tables, without, scratch)
    listed = list_sets(scratch.own[:many], of_patients, tables.regions, scratch, dirty)
    if len(tables.keys):
        find_places(scratch.slots, listed, tables.keys)
    return listed


@compiled
def find_places(slots: IntArray, listed: int, keys: IntArray) -> None:
    """Replace numbers of sets by their places in a hash table, made where they have none."""
    mask = len(keys) - 1
    for i in range(listed):
        key = slots[i]
        mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
        at = np.int64(mixed >> np.uint64(24)) & mask
        while keys[at] != key:
            if keys[at] < 0:
                keys[at] = key
                break
            at = (at + 1) & mask
        slots[i] = at


@compiled
def tally(
    counts: Small, p: int, people: People, scratch: Scratch, listed: int, change: int
) -> None:
    """Add a patient to the sets that are listed, or take it away."""
    slots = scratch.slots
    for i in range(listed):
        counts[0, slots[i]] += change
    for h in range(people.held_begin[p], people.held_begin[p + 1]):
        value = 1 + people.held[h]
        for i in range(listed):
            counts[value, slots[i]] += change


@compiled
def held_too_often(
    counts: Small, at: int, share: FloatArray, bound: BoolArray, a: int, e: int
) -> bool:
    """Whether of the patients who show a set too many hold a value."""
    for value in range(len(share)):
        most = share[value] * counts[0, at] + SLACK
        if bound[value, a, e] and counts[1 + value, at] > most:
            return True
    return False


@compiled
def any_too_few(counts: Small, tables: SupportTables, scratch: Scratch) -> bool:
    """Whether somebody but too few patients show any of the listed sets."""
    begin = 0
    base, slots = tables.regions.base, scratch.slots
    for a in range(base.shape[0]):
        for e in range(base.shape[1]):
            end = scratch.ends[a, e]
            need = tables.need[a, e]
            for i in range(begin, end):
                if 0 < counts[0, slots[i]] < need:
                    return True
            begin = end
    return False


@compiled
def any_held_too_often(
    counts: Small, people: People, tables: SupportTables, scratch: Scratch
) -> bool:
    """Whether too many of those who show any of the listed sets hold a value."""
    begin = 0
    base, slots = tables.regions.base, scratch.slots
    for a in range(base.shape[0]):
        for e in range(base.shape[1]):
            end = scratch.ends[a, e]
            for i in range(begin, end):
                if held_too_often(counts, slots[i], people.share, tables.bound, a, e):
                    return True
            begin = end
    return False


@compiled
def tally_all(
    patients: Small,
    without: int,
    counts: Small,
    other: Small,
    change: int,
    people: People,
    tables: SupportTables,
    scratch: Scratch,
) -> int:
    """Add patients to the sets of their atoms but one, and take them from those of `other`.

    Returned is how many sets that were. `other` may be without places. As calls cost more than
    what they do here, patients with few atoms, all of events, are counted on the spot.
    """
    base, own = tables.regions.base, scratch.own
    most = -1
    for e in range(base.shape[1]):
        if base[0, e] >= 0:
            most = e
    plain = len(tables.keys) == 0 and 0 <= most <= 2
    listed = 0
    for p in patients:
        many, of_patients = own_atoms(p, people, tables, without, scratch)
        if plain and of_patients == 0 and people.held_begin[p] == people.held_begin[p + 1]:
            counts[0, base[0, 0]] += change
            listed += 1
            if most >= 1:
                start = base[0, 1]
                for i in range(many):
                    counts[0, start + own[i]] += change
                listed += many
            if most == 2:
                start = base[0, 2]
                for j in range(1, many):
                    above = start + choose(own[j], 2)
                    for i in range(j):
                        counts[0, above + own[i]] += change
                listed += many * (many - 1) // 2
            if other.shape[1]:
                other[0, base[0, 0]] -= change
                if most >= 1:
                    start = base[0, 1]
                    for i in range(many):
                        other[0, start + own[i]] -= change
                if most == 2:
                    start = base[0, 2]
                    for j in range(1, many):
                        above = start + choose(own[j], 2)
                        for i in range(j):
                            other[0, above + own[i]] -= change
            continue
        here = list_sets(own[:many], of_patients, tables.regions, scratch, scratch.none_dirty)
        if len(tables.keys):
            find_places(scratch.slots, here, tables.keys)
        tally(counts, p, people, scratch, here, change)
        if other.shape[1]:
            tally(other, p, people, scratch, here, -change)
        listed += here
    return listed
