"""The skeleton of a CSV text: its separators, line ends and quotes, found without parsing it.

Polars reads fast, but pads a row that is too short with missing cells and never says so. The
functions here count what separates cells outside quotes. They work on bits: each kind of byte
becomes one bit per position, 64 positions per word, and whether a position lies inside quotes
is the parity of the quotes before it, a prefix XOR. So a check of every byte costs a small
part of the time that reading it takes.

The rules are those of RFC 4180, strictly: a quote opens a cell only at its very beginning,
closes it only at its very end, and stands doubled inside. In such a text quotes alternate
between opening and closing (a doubled one closes and opens again), and that is why the parity
is right; where a text breaks the rule it is refused, never guessed at.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
BitWords = NDArray[np.uint64]
FlawKind = Literal["cells", "empty", "stray", "tail", "open", "return"]

_QUOTE, _NEWLINE, _RETURN = 34, 10, 13
_CHUNK = 1 << 20
_ONE, _TOP = np.uint64(1), np.uint64(63)


@dataclass(frozen=True)
class SeparatorTally:
    """How often cells and records end in a text, the header being one of the records."""

    separators: int
    records: int
    sound: bool  # every quote opens, closes or is doubled, and no lone carriage return


@dataclass(frozen=True)
class Flaw:
    """The first place where a text is no table: the line (from 1), and what is wrong there.

    `cells`: it has `found` cells; `empty`: nothing stands in it; `stray`: a quote inside a cell
    that does not begin with one; `tail`: the quoted cell that begins there goes on after its
    closing quote; `open`: the quoted cell that begins there never ends; `return`: a carriage
    return that ends no line.
    """

    line: int
    kind: FlawKind
    found: int = 0


@dataclass(frozen=True)
class _Chunk:
    """The bits of one stretch of the text that begins at `start`."""

    start: int
    separators: BitWords  # outside quotes
    newlines: BitWords  # outside quotes
    begins: BitWords  # quotes that begin a cell
    stray: BitWords
    tail: BitWords
    lone_returns: BitWords
    open_at_end: bool


def tally(data: Bytes, separator: int, *, quoted: bool) -> SeparatorTally:
    """Return how many separators and records `data` holds outside quotes.

    `data` must not end with a line end. Without quotes (`quoted` false) bytes are only counted.
    """
    if not quoted:
        return _tally_unquoted(data, separator)
    separators = records = 0
    sound = True
    still_open = False
    for chunk in _chunks(data, separator):
        separators += int(np.bitwise_count(chunk.separators).sum())
        records += int(np.bitwise_count(chunk.newlines).sum())
        sound = sound and not (chunk.stray.any() or chunk.tail.any() or chunk.lone_returns.any())
        still_open = chunk.open_at_end
    return SeparatorTally(separators, records, sound and not still_open)


def _tally_unquoted(data: Bytes, separator: int) -> SeparatorTally:
    """Return the tally of a text without quotes, whose chunks can be counted side by side."""

    def count(start: int) -> SeparatorTally:
        block = data[start : start + _CHUNK]
        after_returns = np.flatnonzero(block == _RETURN) + (start + 1)
        sound = True
        if after_returns.size:
            followed = int(after_returns[-1]) < len(data)
            sound = followed and bool((data[after_returns] == _NEWLINE).all())
        separators = int(np.count_nonzero(block == separator))
        return SeparatorTally(separators, int(np.count_nonzero(block == _NEWLINE)), sound)

    with ThreadPoolExecutor() as pool:
        counts = list(pool.map(count, range(0, len(data), _CHUNK)))
    return SeparatorTally(
        sum(each.separators for each in counts),
        sum(each.records for each in counts) + 1,  # no line end follows the last record
        all(each.sound for each in counts),
    )


def first_flaw(data: Bytes, separator: int, width: int) -> Flaw | None:
    """Return the first flaw of a text whose records should have `width` cells, or None.

    Slower than `tally`, and only called when something is known to be wrong.
    """
    row_start = 0  # where the record begins that is not complete yet
    cells_before = 0  # separators of that record in earlier chunks
    last_begin = 0
    still_open = False
    for chunk in _chunks(data, separator):
        begins = _positions(chunk.begins) + chunk.start
        candidates: list[tuple[int, Flaw]] = []
        if (stray := _first(chunk.stray, chunk.start)) is not None:
            candidates.append((stray, Flaw(_line(data, stray), "stray")))
        if (tail := _first(chunk.tail, chunk.start)) is not None:
            before = begins[begins < tail]
            begin = int(before[-1]) if before.size else last_begin
            candidates.append((tail, Flaw(_line(data, begin), "tail")))
        if (lone := _first(chunk.lone_returns, chunk.start)) is not None:
            candidates.append((lone, Flaw(_line(data, lone), "return")))
        ends = _positions(chunk.newlines) + chunk.start
        seps = _positions(chunk.separators) + chunk.start
        upto = np.searchsorted(seps, ends)
        found = np.diff(upto, prepend=0)
        if found.size:
            found[0] += cells_before
            starts = np.concatenate(([row_start], ends[:-1] + 1))
            wrong = np.flatnonzero(found != width - 1)
            if wrong.size:
                row = int(wrong[0])
                flaw = _row_flaw(data, int(starts[row]), int(ends[row]), int(found[row]) + 1)
                candidates.append((int(ends[row]), flaw))
            row_start = int(ends[-1]) + 1
            cells_before = len(seps) - int(upto[-1])
        else:
            cells_before += len(seps)
        if candidates:
            return min(candidates, key=lambda each: each[0])[1]
        if begins.size:
            last_begin = int(begins[-1])
        still_open = chunk.open_at_end
    return Flaw(_line(data, last_begin), "open") if still_open else None


def _row_flaw(data: Bytes, start: int, end: int, found: int) -> Flaw:
    line = _line(data, start)
    empty = all(int(byte) == _RETURN for byte in data[start:end][:2])
    return Flaw(line, "empty") if empty and found == 1 else Flaw(line, "cells", found)


def _chunks(data: Bytes, separator: int) -> Iterator[_Chunk]:
    """Yield the bits of `data`, chunk by chunk, with a line end added after its last byte."""
    inside_before = quote_before = False
    ended_before = True  # whether a cell begins with the chunk
    for start in range(0, len(data) + 1, _CHUNK):
        block = data[start : start + _CHUNK]
        if len(block) < _CHUNK:
            padded = np.zeros(-(-(len(block) + 1) // 64) * 64, dtype=np.uint8)
            padded[: len(block)] = block
            block = padded
        after = start + _CHUNK
        next_byte = int(data[after]) if after < len(data) else None
        separators, newlines = _bits(block == separator), _bits(block == _NEWLINE)
        quotes, returns = _bits(block == _QUOTE), _bits(block == _RETURN)
        lone_returns = returns & ~_shifted_down(newlines, next_byte == _NEWLINE)
        if after > len(data):
            word, bit = divmod(len(data) - start, 64)
            newlines[word] |= _ONE << np.uint64(bit)
        inside = _inside(quotes, inside_before)
        outside = ~inside
        ends = separators | newlines
        opening, closing = quotes & inside, quotes & outside
        begins = opening & _shifted_up(ends, ended_before)
        next_ends = next_byte in (separator, _NEWLINE, _RETURN, _QUOTE, None)
        yield _Chunk(
            start,
            separators & outside,
            newlines & outside,
            begins,
            opening & ~begins & ~_shifted_up(quotes, quote_before),
            closing & ~_shifted_down(ends | quotes | returns, next_ends),
            lone_returns & outside,
            bool(inside[-1] >> _TOP),
        )
        inside_before = bool(inside[-1] >> _TOP)
        ended_before, quote_before = bool(ends[-1] >> _TOP), bool(quotes[-1] >> _TOP)


def _bits(mask: NDArray[np.bool_]) -> BitWords:
    return np.packbits(mask, bitorder="little").view("<u8")


def _inside(quotes: BitWords, inside_before: bool) -> BitWords:
    """Return for every position the parity of the quotes up to and with it."""
    parity = quotes.copy()
    for step in (1, 2, 4, 8, 16, 32):
        parity ^= parity << np.uint64(step)
    total = parity >> _TOP
    before = np.cumsum(total) - total + np.uint64(inside_before)
    flips: BitWords = np.uint64(0) - (before & _ONE)  # all bits set where an odd number came before
    return parity ^ flips


def _shifted_up(words: BitWords, first: bool) -> BitWords:
    """Return every bit one position later: bit i tells what stood at i - 1."""
    shifted = words << _ONE
    shifted[1:] |= words[:-1] >> _TOP
    shifted[0] |= np.uint64(first)
    return shifted


def _shifted_down(words: BitWords, last: bool) -> BitWords:
    """Return every bit one position earlier: bit i tells what stands at i + 1."""
    shifted = words >> _ONE
    shifted[:-1] |= words[1:] << _TOP
    shifted[-1] |= np.uint64(last) << _TOP
    return shifted


def _positions(words: BitWords) -> NDArray[np.int64]:
    return np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little"))


def _first(words: BitWords, start: int) -> int | None:
    return start + int(_positions(words)[0]) if words.any() else None


def _line(data: Bytes, position: int) -> int:
    """Return the number, from 1, of the line in which a position lies."""
    return 1 + int(np.count_nonzero(data[:position] == _NEWLINE))
