"""The vectorized scanner against the plain one, and the counts it gives."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from csv_reference import first_flaw as plain_first_flaw
from hypothesis import example, given
from hypothesis import strategies as st

from incrowd.sources import _structure as structure
from incrowd.sources._structure import Flaw

COMMA = ord(",")
TEXTS = st.text(alphabet='ab,"\r\n', max_size=400).map(lambda text: text.rstrip("\n").encode())
# Texts that are tables but for, perhaps, one thing; pure chance hardly ever makes long ones.
CELLS = st.sampled_from(["", "a", '""', '"a,b"', '"a\nb"', '"""a"""', '"\r\n"', "a b"])
ENDS = st.sampled_from(["\n", "\r\n"])
SLIPS = st.sampled_from(["", "", ",", '"', "\r", "\n", 'x"', '"x', "x\ry"])


@st.composite
def tables(draw: st.DrawFn) -> bytes:
    rows = draw(st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=60))
    text = "".join(",".join(row) + draw(ENDS) for row in rows)
    cut = draw(st.integers(0, len(text)))
    return (text[:cut] + draw(SLIPS) + text[cut:]).rstrip("\n").encode()


def as_array(text: bytes) -> np.ndarray:
    return np.frombuffer(text, dtype=np.uint8)


@pytest.mark.parametrize("chunk", [64, 128, 1 << 20])
@given(text=TEXTS | tables(), width=st.integers(1, 4))
@example(text=b"a" * 63 + b',"' + b"b" * 62 + b'"x', width=2)
@example(text=b'"' + b"a" * 62 + b'"' + b",b", width=2)
@example(text=b"a" * 64, width=1)
@example(text=b"", width=1)
def test_finds_the_same_first_flaw_as_the_plain_scanner(
    chunk: int, text: bytes, width: int
) -> None:
    with mock.patch.object(structure, "_CHUNK", chunk):
        found = structure.first_flaw(as_array(text), COMMA, width)
    assert found == plain_first_flaw(text, COMMA, width)


@pytest.mark.parametrize("chunk", [64, 1 << 20])
@given(text=TEXTS | tables(), width=st.integers(1, 4))
def test_the_tally_fits_exactly_when_no_flaw_but_uneven_rows_remains(
    chunk: int, text: bytes, width: int
) -> None:
    with mock.patch.object(structure, "_CHUNK", chunk):
        tally = structure.tally(as_array(text), COMMA, quoted=b'"' in text)
    flaw = plain_first_flaw(text, COMMA, width)
    fits = tally.sound and tally.separators == tally.records * (width - 1)
    if flaw is None:
        assert fits
    elif flaw.kind in ("stray", "tail", "open", "return"):
        assert not tally.sound
    elif not any(mark in text for mark in b'"\r'):
        assert tally.sound
        assert tally.records == text.count(b"\n") + 1
        assert tally.separators == text.count(b",")


@pytest.mark.parametrize("chunk", [64, 1 << 20])
@given(text=TEXTS.map(lambda text: text.replace(b'"', b"").rstrip(b"\n")))
def test_without_quotes_counting_bytes_gives_the_same_tally(chunk: int, text: bytes) -> None:
    with mock.patch.object(structure, "_CHUNK", chunk):
        counted = structure.tally(as_array(text), COMMA, quoted=False)
        scanned = structure.tally(as_array(text), COMMA, quoted=True)
    assert counted == scanned


@pytest.mark.parametrize(
    ("text", "flaw"),
    [
        (b"a,b\n1,2\n3", Flaw(3, "cells", 1)),
        (b"a,b\n1,2,3", Flaw(2, "cells", 3)),
        (b"a,b\n\n1,2", Flaw(2, "empty")),
        (b"a,b\r\n\r\n1,2", Flaw(2, "empty")),
        (b'a,b\n"1\n2",3\n4', Flaw(4, "cells", 1)),
        (b'a,b\n1,x"y', Flaw(2, "stray")),
        (b'a,b\n1,"x\n\n"y', Flaw(2, "tail")),
        (b'a,b\n1,"x\n""\n', Flaw(2, "open")),
        (b"a,b\n1,x\ry", Flaw(2, "return")),
        (b'a,b\n1,"x,\r\n""y"""', None),
    ],
)
def test_names_the_line_and_what_is_wrong(text: bytes, flaw: Flaw | None) -> None:
    assert structure.first_flaw(as_array(text), COMMA, 2) == flaw
