"""Whatever a file from outside holds: one clear refusal, or a result; never more."""

import itertools
import json
from pathlib import Path

import pytest
from hypothesis import note

from tests.hostile.exploring import explore
from tests.hostile.hostile_cases import ACCEPTED, SURFACES, Bench, Case, cases
from tests.hostile.valid_inputs import inputs
from tests.tiers import fresh_seed

# Kind of input: examples of an ordinary run of the tests, of the gate, of the night.
EXAMPLES = {
    "run": (4, 330, 3500),
    "mix": (4, 220, 2500),
    "ab": (4, 230, 2500),
    "history": (4, 130, 1500),
    "google": (4, 60, 500),
    "ycsb": (4, 20, 500),
    "stat_lines": (4, 40, 500),
    "result_table": (4, 40, 500),
    "go_benchmark": (4, 40, 500),
    "description": (4, 220, 2000),
    "answer": (4, 270, 2500),
    "configs": (4, 50, 500),
    "lab": (4, 130, 1000),
    "durability": (4, 80, 1000),
    "fleet": (2, 20, 500),
    "shard": (4, 60, 500),
    "cut": (4, 60, 500),
}
_CHUNK = 500  # examples of one test of the night, so that the workers share them evenly
CHUNKS = [
    (subject, number)
    for subject, (_, _, night) in EXAMPLES.items()
    for number in range(1, night // _CHUNK + 1)
]


def hold(subject: str, examples: int, number: int, folder: Path) -> None:
    """Draw cases and attempt each."""
    bench = Bench(folder / "bench")

    def attempt(case: Case) -> None:
        note(json.dumps(case.document()))  # a line for the corpus
        bench.attempt(case)

    explore(cases(subject), attempt, examples, number, folder / "hypothesis")


@pytest.mark.parametrize("subject", EXAMPLES)
def test_any_input_is_refused_or_judged(tmp_path: Path, subject: str) -> None:
    hold(subject, EXAMPLES[subject][0], 0, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("subject", EXAMPLES)
def test_new_inputs_are_refused_or_judged(tmp_path: Path, subject: str) -> None:
    hold(subject, EXAMPLES[subject][1], fresh_seed("gate", subject), tmp_path)


@pytest.mark.night
@pytest.mark.parametrize(("subject", "number"), CHUNKS)
def test_thousands_of_inputs_are_refused_or_judged(
    tmp_path: Path, subject: str, number: int
) -> None:
    hold(subject, _CHUNK, fresh_seed("night", subject, number), tmp_path)


def test_every_commit_tries_other_inputs_of_every_kind() -> None:
    assert EXAMPLES.keys() == SURFACES.keys() == inputs().keys()
    assert sum(gate for _, gate, _ in EXAMPLES.values()) == 2_000
    assert len(CHUNKS) * _CHUNK >= 20_000


@pytest.mark.parametrize("subject", EXAMPLES)
def test_an_input_without_an_edit_is_accepted_everywhere(
    tmp_path: Path, subject: str
) -> None:
    bench, modes = Bench(tmp_path), inputs()[subject].modes
    tried = [("load", mode) for mode in modes if "load" in SURFACES[subject]]
    tried += zip(SURFACES[subject], itertools.cycle(modes), strict=False)
    for surface, mode in tried:
        assert bench.attempt(Case(subject, surface, (), mode)) == ACCEPTED, surface
