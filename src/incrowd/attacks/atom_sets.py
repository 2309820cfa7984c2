"""Sets of what is known of patients, drawn from what each has, and how many have all of one.

Invariant: the support of a set is the number of patients who have each of its atoms. It is found by
narrowing down the patients of its rarest atom, so that no patient with all of them is left out, and
none is counted twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import comb

import numpy as np
import numpy.typing as npt

from incrowd._runtime.arrays import BoolArray, IntArray, Uints
from incrowd._runtime.compiling import compiled
from incrowd.table.packing import distinct_rows

Atoms = npt.NDArray[np.int32]
"""Numbers of atoms; in sets -1 where there is none more."""
_KEPT = 12
"""Sets that begin alike share the patients of so many atoms; further ones are looked up anew."""
_CROWDED = 64
_MOST_BITS = 1 << 32
"""Where patients have more atoms than that each, and all pairs fit so many bits, these are used."""
_SEED = 20_020_905
"""Nothing that is drawn here protects anybody, so the same question has the same answer."""


@dataclass(frozen=True)
class AtomsOfPatients:
    """Which atoms patients have, each patient each atom once.

    Parameters
    ----------
    patients
        How many patients there are, those without atoms too.
    atoms
        How many different atoms there are.
    patient, atom
        The pairs, ascending by patient and then by atom.
    """

    patients: int
    atoms: int
    patient: IntArray
    atom: IntArray

    @classmethod
    def of(cls, patients: int, atoms: int, patient: IntArray, atom: IntArray) -> AtomsOfPatients:
        """The same of pairs in any order, that may repeat."""
        _, first = distinct_rows([patient, atom], [patients, atoms], len(patient))
        return cls(patients, atoms, patient[first].astype(np.int64), atom[first].astype(np.int64))

    @cached_property
    def ends(self) -> IntArray:
        """Where the pairs of each patient begin, and where the last end."""
        counts = np.bincount(self.patient, minlength=self.patients)
        return np.concatenate(([0], np.cumsum(counts))).astype(np.int64)

    def and_of(self, other: AtomsOfPatients) -> AtomsOfPatients:
        """Both kinds of atoms of the same patients; the numbers of the others come after."""
        return AtomsOfPatients.of(
            self.patients,
            self.atoms + other.atoms,
            np.concatenate((self.patient, other.patient)),
            np.concatenate((self.atom, other.atom + self.atoms)),
        )

    def supports(self, sets: Atoms) -> IntArray:
        """How many patients have all atoms of each set; of an empty set all patients."""
        rows, width = self._rows, sets.shape[1]
        ranked = np.sort(np.append(rows.rank + 1, self.atoms + 1)[sets], axis=1)
        ranked[ranked > self.atoms] = 0  # no atom more
        number, first = distinct_rows(ranked.T, [self.atoms + 1] * width, len(sets))
        distinct = ranked[first] - 1
        found: IntArray = np.full(len(distinct), self.patients, dtype=np.int64)
        if not width:
            return found[number]
        if self._crowded:
            _in_bits(rows.bits(self), distinct, self.patients, found)
            return found[number]
        begin = distinct[distinct[:, 0] >= 0, 0]
        longest = int((rows.starts[begin + 1] - rows.starts[begin]).max(initial=0))
        room = np.empty((min(max(width - 1, 1), _KEPT), longest), dtype=np.int64)
        _narrow(rows.ranks, rows.starts, rows.places, distinct, room, found)
        return found[number]

    @property
    def _crowded(self) -> bool:
        """Whether patients have so many of the atoms that a bit for each pair is quicker."""
        bits = self.patients * self.atoms
        return len(self.atom) > _CROWDED * self.patients and bits < min(
            _MOST_BITS, len(self.atom) << 6
        )

    @cached_property
    def _rows(self) -> _RankedAtoms:
        return _RankedAtoms.of(self)


@dataclass(frozen=True)
class _RankedAtoms:
    """Atoms by their ranks, patient after patient, each row ended; and where each rank stands.

    `rank` has that of each atom: how many are rarer.
    """

    rank: IntArray
    ranks: Atoms
    starts: IntArray
    places: IntArray

    @classmethod
    def of(cls, atoms: AtomsOfPatients) -> _RankedAtoms:
        held = np.bincount(atoms.atom, minlength=atoms.atoms)
        rank = np.empty(atoms.atoms, dtype=np.int64)
        rank[np.argsort(held, kind="stable")] = np.arange(atoms.atoms)
        ranks = rank[atoms.atom]
        order = np.lexsort((ranks, atoms.patient))
        written = np.full(len(ranks) + atoms.patients, atoms.atoms, dtype=np.int32)
        place = np.arange(len(ranks)) + atoms.patient  # each patient before has an end
        written[place] = ranks[order]
        counts = np.bincount(ranks, minlength=atoms.atoms)
        starts = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
        return cls(rank, written, starts, place[np.argsort(ranks[order], kind="stable")])

    def bits(self, atoms: AtomsOfPatients) -> Uints:
        """For each rank a row of bits, one for each patient who has it."""
        found = np.zeros((atoms.atoms, (atoms.patients + 63) // 64), dtype=np.uint64)
        _set_bits(found, self.rank[atoms.atom], atoms.patient)
        return found


@compiled
def _set_bits(found: Uints, rank: IntArray, patient: IntArray) -> None:
    for at in range(len(rank)):
        found[rank[at], patient[at] >> 6] |= np.uint64(1) << np.uint64(patient[at] & 63)


@compiled
def _in_bits(bits: Uints, sets: IntArray, patients: int, found: IntArray) -> None:
    """The support of each set, by what its rows of bits have in common."""
    for number in range(len(sets)):
        if sets[number, 0] < 0:
            found[number] = patients
            continue
        many = 0
        for word in range(bits.shape[1]):
            left = bits[sets[number, 0], word]
            for at in range(1, sets.shape[1]):
                if left == 0 or sets[number, at] < 0:
                    break
                left &= bits[sets[number, at], word]
            left -= (left >> np.uint64(1)) & np.uint64(0x5555555555555555)
            left = (left & np.uint64(0x3333333333333333)) + (
                (left >> np.uint64(2)) & np.uint64(0x3333333333333333)
            )
            left = (left + (left >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
            many += int((left * np.uint64(0x0101010101010101)) >> np.uint64(56))
        found[number] = many


@compiled
def _narrow(
    ranks: Atoms,
    starts: IntArray,
    places: IntArray,
    sets: IntArray,
    room: IntArray,
    found: IntArray,
) -> None:
    """The support of each set; sets ascend, so that those that begin alike follow each other.

    Of a first atom with many second ones, its patients are put to these once, not for each.
    """
    width, kept = sets.shape[1], len(room)
    sizes = np.zeros(width, np.int64)
    spread, heads = places[:0], starts[:0]
    for number in range(len(sets)):
        if sets[number, 0] < 0:
            continue
        depth = 0
        if number > 0:
            while (
                depth < min(width, kept)
                and sets[number, depth] >= 0
                and sets[number, depth] == sets[number - 1, depth]
            ):
                depth += 1
        if depth == 0:
            first = sets[number, 0]
            members = places[starts[first] : starts[first + 1]]
            sizes[0] = len(members)
            depth = 1
            spread, heads = places[:0], starts[:0]
            if _many_follow(sets, number):
                spread, heads = _spread(ranks, members, len(starts) - 1)
        while depth < width and sets[number, depth] >= 0:
            wanted = sets[number, depth]
            into = room[min(depth, kept) - 1]
            many = 0
            if depth == 1 and len(heads):
                many = int(heads[wanted + 1] - heads[wanted])
                into[:many] = spread[heads[wanted] : heads[wanted + 1]]
            else:
                before = members if depth == 1 else room[min(depth - 1, kept) - 1]
                for member in range(sizes[depth - 1]):
                    place = before[member] + 1
                    while ranks[place] < wanted:
                        place += 1
                    if ranks[place] == wanted:
                        into[many] = place
                        many += 1
            sizes[depth] = many
            depth += 1
        found[number] = sizes[depth - 1]


@compiled
def _many_follow(sets: IntArray, number: int) -> bool:
    """Whether the sets from this one on that begin with its first atom have many second ones."""
    followers, last = 0, np.int64(-1)
    while number < len(sets) and sets.shape[1] > 1 and followers < 8:
        if number > 0 and followers and sets[number, 0] != sets[number - 1, 0]:
            return False
        if sets[number, 1] != last:
            last = sets[number, 1]
            followers += 1
        number += 1
    return followers >= 8


@compiled
def _spread(ranks: Atoms, members: IntArray, atoms: int) -> tuple[IntArray, IntArray]:
    """Where the patients of these places have each later atom; nothing where atoms are too many."""
    heads = np.zeros(0, np.int64)
    total = 0
    for place in members:
        later = place + 1
        while ranks[later] < atoms:
            later += 1
        total += later - place - 1
    if atoms > 4 * total:
        return heads, heads
    heads = np.zeros(atoms + 2, np.int64)
    for place in members:
        later = place + 1
        while ranks[later] < atoms:
            heads[ranks[later] + 2] += 1
            later += 1
    for atom in range(2, atoms + 2):
        heads[atom] += heads[atom - 1]
    spread = np.empty(total, np.int64)
    for place in members:
        later = place + 1
        while ranks[later] < atoms:
            spread[heads[ranks[later] + 1]] = later
            heads[ranks[later] + 1] += 1
            later += 1
    return spread, heads[:-1]


@dataclass(frozen=True)
class DrawnSets:
    """Sets of what each patient has.

    Parameters
    ----------
    sets
        The atoms of each set.
    owner
        Whose each set is, ascending; everybody has at least one.
    drawn
        For each patient whether the sets were drawn at random, from more than are here.
    fewer
        Patients who have fewer atoms than a set may hold: all that they have is their one set.
    """

    sets: Atoms
    owner: IntArray
    drawn: BoolArray
    fewer: int


def sets_of_each(atoms: AtomsOfPatients, many: int, draws: int) -> DrawnSets:
    """All sets of so many atoms of each patient, or where there are more than `draws` as many.

    Those are drawn independently of each other, so that one may come twice. Of who has fewer atoms
    all of them are a set.
    """
    counts = np.diff(atoms.ends)
    kinds = [comb(int(each), many) if each > many else 1 for each in range(int(counts.max()) + 1)]
    possible = np.array([min(each, draws + 1) for each in kinds], dtype=np.int64)[counts]
    here = np.minimum(possible, draws)
    begins = np.concatenate(([0], np.cumsum(here))).astype(np.int64)
    sets = np.full((int(begins[-1]), many), -1, dtype=np.int32)
    drawn: BoolArray = possible > draws
    _write_sets(atoms.ends, atoms.atom, drawn, begins, np.uint64(_SEED + many), sets)
    owner = np.repeat(np.arange(atoms.patients), here)
    return DrawnSets(sets, owner, drawn, int((counts < many).sum()))


@compiled
def _write_sets(
    ends: IntArray,
    atom: IntArray,
    drawn: BoolArray,
    begins: IntArray,
    seed: np.uint64,
    sets: Atoms,
) -> None:
    many = sets.shape[1]
    chosen = np.zeros(many, np.int64)
    for patient in range(len(drawn)):
        first, held = ends[patient], ends[patient + 1] - ends[patient]
        for at in range(many):
            chosen[at] = at
        for number in range(begins[patient], begins[patient + 1]):
            if drawn[patient]:
                # Floyd: of the positions up to `last` one, or `last` itself if it was chosen.
                for at in range(many):
                    last = held - many + at
                    mixed = seed + np.uint64(number * many + at) * np.uint64(0x9E3779B97F4A7C15)
                    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
                    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
                    mixed = mixed ^ (mixed >> np.uint64(31))
                    taken = np.int64(mixed % np.uint64(last + 1))
                    for earlier in range(at):
                        if chosen[earlier] == taken:
                            taken = last
                    chosen[at] = taken
            for at in range(min(many, held)):
                sets[number, at] = atom[first + chosen[at]]
            if not drawn[patient] and held > many:
                at = many - 1
                while at > 0 and chosen[at] == held - many + at:
                    at -= 1
                chosen[at] += 1
                for after in range(at + 1, many):
                    chosen[after] = chosen[after - 1] + 1
