"""The risk-utility picture: where points stand, that labels cover nothing, scales."""

import re

import pytest

from incrowd.report._label_places import Box, free_place, last_place, leader
from incrowd.report.risk_utility import risk_utility
from incrowd.report.scatter import SHAPES, Point, mark


def point(number: int, risk: float, kept: float, series: int = 0, label: str = "") -> Point:
    label = label or f"k={number}"
    return Point(number, f"policy, {label}", label, risk, kept, f"{number:02}/report.html", series)


def places(picture: str) -> list[tuple[float, float]]:
    """Where the large marks are."""
    found = re.findall(r'translate\(([\d.]+) ([\d.]+)\)">', picture)
    return [(float(x), float(y)) for x, y in found]


def texts(picture: str) -> list[str]:
    links = re.findall(r"<a .*?</a>", picture)
    return [re.findall(r"<text[^>]*>(.*?)</text>", link)[0] for link in links]


def test_less_risk_is_left_and_more_kept_is_up() -> None:
    picture = risk_utility([point(1, 0.1, 0.5), point(2, 0.2, 0.9)], "t", "risk")
    (left, low), (right, high) = places(picture)
    assert left < right
    assert high < low  # y grows downwards
    assert texts(picture) == ["k=1", "k=2"]
    assert "logarithmic" not in picture


def test_risks_of_different_size_are_on_a_logarithmic_scale() -> None:
    picture = risk_utility([point(at, 10.0**-at, 0.5 + at / 10) for at in (1, 2, 3)], "t", "risk")
    (a, _), (b, _), (c, _) = places(picture)
    assert a - b == pytest.approx(b - c, abs=0.2)
    assert "risk (logarithmic)" in picture


def test_points_of_a_series_are_joined_and_differ_from_others_in_shape() -> None:
    points = [point(1, 0.1, 0.5), point(2, 0.2, 0.6), point(3, 0.3, 0.9, series=1)]
    picture = risk_utility(points, "t", "risk")
    assert picture.count('class="series"') == 1
    assert points[0].shape == points[1].shape != points[2].shape
    assert len({mark(shape) for shape in SHAPES}) == len(SHAPES)


def test_a_beaten_point_is_outlined_and_said_to_be() -> None:
    beaten = Point(1, "p", "p", 0.2, 0.5, "a", 0, beaten=True)
    picture = risk_utility([beaten, point(2, 0.1, 0.6, 1)], "t", "risk")
    assert picture.count('class="beaten"') == 1
    assert "p: risk 20.0 %, 1 - NCP 50.0 %, beaten by another" in picture


def test_points_on_one_spot_share_a_mark_and_keep_their_labels_shapes_and_links() -> None:
    same = [point(at, 0.2, 0.8, series=at) for at in (1, 2, 3)]
    picture = risk_utility([*same, point(4, 0.1, 0.6)], "t", "risk")
    assert len(places(picture)) == 2
    assert sorted(texts(picture)) == ["k=1", "k=2", "k=3", "k=4"]
    assert sorted(re.findall(r'<a href="(.*?)"', picture)) == [
        f"0{at}/report.html" for at in (1, 2, 3, 4)
    ]


@pytest.mark.parametrize("number", [2, 12, 100])
@pytest.mark.parametrize("width", [350, 950])
def test_no_label_covers_a_mark_and_all_are_inside(number: int, width: int) -> None:
    points = [
        point(at + 1, 0.05 + (at * 37 % number) / number * 0.9, 0.3 + at / number * 0.7, at)
        for at in range(number)
    ]
    picture = risk_utility(points, "t", "risk", width=width, height=430)
    marks = places(picture)
    assert len(marks) == number
    labels = re.findall(
        r'<text[^>]* x="([\d.]+)" y="([\d.]+)" text-anchor="(\w+)">([^<]*)</text></a>', picture
    )
    assert len(labels) == number
    boxes = []
    for x, y, anchor, text in labels:
        left = float(x) - {"start": 0, "middle": 0.5, "end": 1}[anchor] * len(text) * 6.5
        boxes.append(Box(left, float(y) - 10, left + len(text) * 6.5, float(y) + 3))
    assert all(box.left >= 0 and box.right <= width for box in boxes)
    if number < 100:
        assert not any(
            box.left < x < box.right and box.top < y < box.bottom for box in boxes for x, y in marks
        )
        assert not any(a.meets(b) for at, a in enumerate(boxes) for b in boxes[:at])


def test_one_point_and_equal_points_have_a_scale() -> None:
    for points in ([point(1, 0.0, 1.0)], [point(1, 1.0, 0.0)], [point(1, 1e-7, 0.5)]):
        picture = risk_utility(points, "t", "risk", lines=[("source", 0.9)])
        ((x, y),) = places(picture)
        assert 40 < x < 720
        assert 30 < y < 400
        assert "source" in picture


def test_texts_are_escaped() -> None:
    picture = risk_utility([point(1, 0.1, 0.5, label="<b>&")], "<t>", '"risk"')
    assert "<b>" not in picture
    assert "<t>" not in picture
    assert "&lt;b&gt;&amp;" in picture


def test_a_label_without_room_beside_its_point_gets_a_line() -> None:
    frame = Box(0, 0, 200, 200)
    wall = Box(0, 0, 200, 120)
    assert free_place(100, 20, 6, (30, 14), [wall], frame) is None
    found = last_place(100, 20, 6, (30, 14), [wall], frame)
    assert not found.meets(wall)
    assert leader(100, 20, found) == (100, found.top)
    assert leader(100, 20, Box(110, 13, 140, 27)) is None
    assert last_place(190, 20, 6, (30, 14), [frame], frame).right < 190
