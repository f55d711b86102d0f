"""What a run says before it starts: settings that are lost, and what is refused."""

from pathlib import Path

import pytest

from tests.support.lab import Lab, make_lab

_SPLIT = "[settings.one]\nnum = 32\n"


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    lab = make_lab(tmp_path)
    lab.engine("one", "honest")
    lab.engine("two", "honest")
    lab.scenario("baseline", more=_SPLIT)
    lab.scenario("mine", ("fillseq",))
    lab.suite(("baseline", "mine"))
    return lab


def notes(lab: Lab, *words: str) -> list[str]:
    done = lab.call(*words)
    return [line for line in done.stderr.splitlines() if "note: scenario" in line]


def commands(lab: Lab) -> list[tuple[str, ...]]:
    build = str(lab.root / "build")
    ab = ("ab", "lab", "--aa", "--a", build, "--dry-run")
    return [("run", "lab", "--dry-run"), ("plan", "lab"), ab]


def test_a_scenario_without_the_settings_of_baseline_is_named(lab: Lab) -> None:
    for words in commands(lab):
        (note,) = notes(lab, *words)
        assert "scenario mine has neither extends nor [settings]: one use" in note, (
            words
        )
        assert 'extends = "baseline"' in note and "two" not in note


def test_a_scenario_that_extends_or_has_settings_is_not_named(lab: Lab) -> None:
    path = lab.root / "configs/scenarios/mine.toml"
    bare = path.read_text()
    for text in (f'extends = "baseline"\n{bare}', bare + _SPLIT, bare + "[settings]\n"):
        path.write_text(text)
        assert notes(lab, "run", "lab", "--dry-run") == []


def test_engines_that_baseline_does_not_set_lose_nothing(lab: Lab) -> None:
    assert notes(lab, "run", "lab", "--dry-run", "-e", "two") == []
    (lab.root / "configs/scenarios/baseline.toml").unlink()
    lab.suite(("mine",))
    assert notes(lab, "run", "lab", "--dry-run") == []


def test_an_option_that_takes_the_place_of_passes_is_named(lab: Lab) -> None:
    lab.suite(("baseline",), '[override]\nmin_time = "1ms"\n')
    for words, is_named in (
        ((), False),
        (("--max-time", "1s"), True),
        (("--set", "warmup=1s"), True),
        (("--num", "5"), False),
    ):
        done = lab.call("run", "lab", "--dry-run", *words)
        assert done.returncode == 0, done.stderr
        assert ("min_time" in done.stderr) == is_named, words


def test_only_selected_benchmarks_are_checked(lab: Lab) -> None:
    lab.scenario("mine", ("fillseq", "overwrite"))
    words = ("run", "lab", "-s", "mine", "--set", "min_time=1ms", "--dry-run")
    refused = lab.call(*words)
    assert refused.returncode == 2 and "overwrite" in refused.stderr
    assert lab.call(*words, "-k", "*/fillseq").returncode == 0
