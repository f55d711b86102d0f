"""Whatever a file from outside holds: one clear refusal, or a result; never more."""

import itertools
import json
from pathlib import Path

import pytest
from hypothesis import note

from tests.hostile.exploring import explore
from tests.hostile.hostile_cases import ACCEPTED, SURFACES, Bench, Case, cases
from tests.hostile.valid_inputs import inputs

# Kind of input: examples of an ordinary run of the tests, and of the full tests.
EXAMPLES = {
    "run": (40, 3500),
    "mix": (20, 2500),
    "ab": (30, 2500),
    "history": (20, 1500),
    "google": (20, 2500),
    "description": (20, 2500),
    "answer": (20, 3000),
    "configs": (10, 500),
    "lab": (20, 1500),
}
_CHUNK = 500  # examples of one test, so that the workers share them evenly
CHUNKS = [
    (subject, number)
    for subject, (_, full) in EXAMPLES.items()
    for number in range(1, full // _CHUNK + 1)
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
@pytest.mark.parametrize(("subject", "number"), CHUNKS)
def test_thousands_of_inputs_are_refused_or_judged(
    tmp_path: Path, subject: str, number: int
) -> None:
    hold(subject, _CHUNK, number, tmp_path)


def test_the_full_tests_try_20_000_inputs_of_every_kind() -> None:
    assert EXAMPLES.keys() == SURFACES.keys() == inputs().keys()
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
