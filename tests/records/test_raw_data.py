"""The raw lines inside the page, packed without loss."""

import itertools
import random
from pathlib import Path
from typing import Any

import pytest

from report.page import delta_encoding, raw_data
from report.trust.judge import load_run
from tests.builders import synthetic_run

LARGEST = 2**50 - 1
DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def test_the_text_is_that_of_source_maps() -> None:
    # From the specification: 0 is A, 1 is C, -1 is D, 16 is gB, 511 is +f.
    for number, text in ((0, "A"), (1, "C"), (16, "gB"), (511, "+f")):
        assert delta_encoding.encoded([[number, 0]]) == text + "A"
    # The straight line through 0 and 1 leads to 2.
    assert delta_encoding.encoded([[1, 0], [2, 0], [2, 0]]) == "CAAADA"


@pytest.mark.parametrize(
    "value",
    [
        [[0, 0]],
        [[LARGEST, 0], [0, LARGEST], [LARGEST, LARGEST]],
        [[n, 256 - n] for n in range(256)],
        [[1, 31], [2, 32], [3, 15], [4, 16]],
    ],
)
def test_pairs_come_back_as_they_were(value: list[list[int]]) -> None:
    text = delta_encoding.encoded(value)
    assert set(text) <= set(DIGITS)
    assert delta_encoding.decoded(text) == value


def test_any_pairs_come_back_as_they_were() -> None:
    source = random.Random(3)
    for _ in range(200):
        value = [
            [source.getrandbits(source.randint(0, 50)) for _ in range(2)]
            for _ in range(source.randint(1, 40))
        ]
        assert delta_encoding.decoded(delta_encoding.encoded(value)) == value


@pytest.mark.parametrize(
    "value",
    [
        [],
        None,
        "text",
        {"a": 1},
        [1, 2],
        [[1, 2, 3]],
        [[1]],
        [[1.0, 2]],
        [[True, 1]],
        [[-1, 1]],
        [[LARGEST + 1, 1]],
        [{"at_ns": 1, "lasted_ns": 2}],
    ],
)
def test_other_values_are_not_changed(value: Any) -> None:
    assert not delta_encoding.are_pairs(value)


def test_an_encoded_timeline_is_a_third_of_the_size() -> None:
    points = [[3_900_000 * n + n * n % 977, 3900 * n] for n in range(1, 257)]
    assert len(delta_encoding.encoded(points)) < len(str(points).replace(" ", "")) / 3


def test_lines_with_pairs_come_back_in_their_order(tmp_path: Path) -> None:
    plan = synthetic_run.plan()
    run = load_run(synthetic_run.write_run(tmp_path, plan, synthetic_run.lines(plan)))
    lists = itertools.cycle(([], [[1, 2], [3, 4]], None))
    for m in run.measurements:
        record: Any = m.record
        record["timeline"] = next(lists)
        record["latency_ns"] = {"count": 2, "buckets": [[5, 1], [9, 1]]}
        record["settings"] = {"~": "AA", "=": [m.line]}
        record["disturbance"] = {"marks": ["=", "~"], "share": 0.25, "line": m.line}
    unpacked = raw_data.unpacked(raw_data.packed(run))
    assert unpacked == [m.record for m in run.measurements]
