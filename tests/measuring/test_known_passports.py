"""Which durability runs give the engines of a new run their class."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from report.durability.durability_plan import PlannedSetting
from report.page import report_page
from report.terms.class_stamp import CLASSES, PROOF_MEANINGS
from report.trust.judge import load_run
from report.verdict.ab_judge import load_ab_run
from scripts.store import known_passports
from tests.builders import synthetic_durability as synthetic
from tests.builders.synthetic_durability import tried
from tests.support.lab import Lab, make_lab

OLD, NEW = synthetic.RUN, "20260102-000000-durability"
TELLING = "[engine.durability.small]\npage_size = 512\n"
ACTS_AT = '[engine.durability_acts_at]\npage_size = "durable"\n'
IS_SMALL = "[settings.one]\npage_size = 512\n"
BOTH_LEVELS = ("fillseq", "fillseqsync")
VARIANT = 'variant_of = "one"\n'


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    lab = make_lab(tmp_path)
    lab.engine("one", "honest", more=TELLING)
    lab.scenario(benchmarks=("fillseq",))
    lab.suite()
    return lab


def known(lab: Lab, *words: str, engine: str = "one") -> dict[str, Any]:
    """Return the passports of an engine in a new run."""
    done = lab.call("run", "lab", "-n", "1", *words)
    assert done.returncode == 0, done.stderr
    plan = load_run(lab.run_folder).plan
    return {k: (v.stamp, v.run) for k, v in plan.engine(engine).passports.items()}


BUFFERED = synthetic.setting("one/buffered")
DURABLE = synthetic.setting("one/durable")
SMALL = synthetic.setting(
    "one/small", flags=("--durability=durable", "--page_size=512")
)
SMALL_BUFFERED = ("--durability=buffered", "--page_size=512")
FOUND = {"buffered": ("D3 found, D2 documented (10 states)", OLD)}


def test_the_class_that_was_found_is_that_of_the_engine(lab: Lab) -> None:
    lab.scenario(benchmarks=BOTH_LEVELS)
    tried(lab.results, BUFFERED, DURABLE)
    tried(lab.results, SMALL, run=NEW)
    assert known(lab) == {
        **FOUND,
        "durable": ("D3 found, D2 documented (10 states)", OLD),
    }


def test_a_further_setting_has_the_class_of_writes_with_its_flags(lab: Lab) -> None:
    lab.scenario(benchmarks=BOTH_LEVELS, more=IS_SMALL)
    tried(lab.results, BUFFERED, SMALL)
    tried(lab.results, DURABLE, run=NEW)
    assert known(lab) == {"durable": ("D3 found, D2 documented (10 states)", OLD)}


def test_a_flag_counts_only_at_the_level_at_which_it_acts(tmp_path: Path) -> None:
    """As autotran of Kyoto: it changes nothing of buffered writes."""
    lab = make_lab(tmp_path)
    lab.engine("one", "honest", more=TELLING + ACTS_AT)
    lab.scenario(benchmarks=BOTH_LEVELS, more=IS_SMALL)
    lab.suite()
    tried(lab.results, BUFFERED, SMALL)
    tried(lab.results, DURABLE, run=NEW)
    assert known(lab) == {
        **FOUND,
        "durable": ("D3 found, D2 documented (10 states)", OLD),
    }


def test_a_flag_with_its_default_is_as_one_that_is_not_set(lab: Lab) -> None:
    tried(lab.results, BUFFERED)
    settings = "[settings.one]\npage_size = 0\n"
    lab.scenario(benchmarks=("fillseq",), more=settings)
    assert known(lab) == FOUND


def test_of_equal_settings_the_one_that_keeps_least_counts(lab: Lab) -> None:
    again = synthetic.setting("one/again", flags=BUFFERED.flags)
    tried(lab.results, BUFFERED, again, losing="one/again", complete=3, hole=4)
    assert known(lab) == {"buffered": ("D1 found, contradicts D2 (7 states)", OLD)}


@pytest.mark.parametrize(
    ("of_other", "found"),
    [(("fillseq",), {}), (("fillseqsync",), FOUND), (("readseq",), FOUND)],
    ids=["at the level", "at another level", "reads"],
)
def test_a_level_whose_writes_differ_has_none(
    lab: Lab, of_other: tuple[str, ...], found: dict[str, Any]
) -> None:
    tried(lab.results, BUFFERED)
    lab.scenario("other", benchmarks=of_other, more=IS_SMALL)
    lab.suite(("base", "other"))
    assert known(lab) == found


def test_without_a_durability_run_nothing_is_known(lab: Lab) -> None:
    assert known(lab) == {}
    assert "passports" not in lab.plan()["engines"][0]


def test_the_newest_run_counts(lab: Lab) -> None:
    tried(lab.results, BUFFERED)
    tried(lab.results, BUFFERED, run=NEW, complete=3, hole=4)
    assert known(lab) == {"buffered": ("D1 found, contradicts D2 (7 states)", NEW)}


@pytest.mark.parametrize("newest", [OLD, NEW])
def test_published_runs_count_in_every_results_directory(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, newest: str
) -> None:
    published = tmp_path / "published"
    monkeypatch.setattr(known_passports, "PUBLISHED", published)
    tried(published, BUFFERED, run=newest)
    assert known(lab) == {"buffered": ("D3 found, D2 documented (10 states)", newest)}
    shutil.rmtree(lab.run_folder)
    (other,) = {OLD, NEW} - {newest}
    tried(lab.results, BUFFERED, run=other, complete=3, hole=4)
    (run,) = {run for _, run in known(lab).values()}
    assert run == NEW, "wherever it is"


def test_a_run_with_a_broken_driver_proves_nothing(lab: Lab) -> None:
    of = {"setting": "one/buffered", "engine": "one"}
    records = [
        {**synthetic.trial("shutdown"), **of},
        {**synthetic.failed("log", "it scans nothing"), **of, "driver_fails": True},
    ]
    plan = synthetic.plan(BUFFERED, run=OLD)
    synthetic.write(lab.results / OLD, records[:1], plan)
    assert known(lab).keys() == FOUND.keys()
    shutil.rmtree(lab.run_folder)
    synthetic.write(lab.results / OLD, records, plan)
    assert known(lab) == {}


def test_a_run_that_could_not_cut_the_power_proves_nothing(lab: Lab) -> None:
    tried(lab.results, BUFFERED)
    tried(lab.results, BUFFERED, run=NEW, ways=("kill",))
    assert known(lab) == FOUND


@pytest.mark.parametrize(
    "other",
    [
        replace(BUFFERED, version="1.1"),
        synthetic.setting("two/buffered"),
        replace(SMALL, flags=SMALL_BUFFERED),
        replace(BUFFERED, flags=("--durability=durable",)),
    ],
    ids=["version", "engine", "setting", "level"],
)
def test_a_passport_of_something_else_does_not_count(
    lab: Lab, other: PlannedSetting
) -> None:
    tried(lab.results, other)
    assert known(lab) == {}


def test_a_run_that_cannot_be_read_is_skipped(lab: Lab) -> None:
    tried(lab.results, BUFFERED)
    damaged = tried(lab.results, BUFFERED, run=NEW) / "trials.jsonl"
    damaged.write_text(damaged.read_text().replace('"tried": 10', '"tried": 11'))
    assert known(lab) == FOUND


def test_flags_that_tell_settings_apart_must_be_as_tried(lab: Lab) -> None:
    """page_size is one: [engine.durability.small] sets it."""
    tried(lab.results, BUFFERED)
    lab.scenario(benchmarks=("fillseq",), more=IS_SMALL)
    assert known(lab) == {}


def test_a_flag_of_the_engine_itself_was_tried_too(tmp_path: Path) -> None:
    lab = make_lab(tmp_path)
    lab.engine("one", "honest", more="[engine.flags]\npage_size = 512\n" + TELLING)
    lab.scenario(benchmarks=("fillseq",))
    lab.suite()
    tried(lab.results, replace(BUFFERED, flags=SMALL_BUFFERED))
    assert known(lab) == FOUND


def test_a_variant_has_the_class_of_its_engine_unless_its_flags_differ(
    lab: Lab,
) -> None:
    lab.engine("like", None, "variant", VARIANT)
    lab.engine("unlike", None, "variant", f"{VARIANT}[engine.flags]\npage_size = 512\n")
    tried(lab.results, BUFFERED)
    assert known(lab, "-e", "one,like,unlike", engine="like") == FOUND
    plan = load_run(lab.run_folder).plan
    assert plan.engine("unlike").passports == {}


def test_a_variant_that_was_tried_has_its_own_class(lab: Lab) -> None:
    lab.engine("unlike", None, "variant", f"{VARIANT}[engine.flags]\npage_size = 512\n")
    tried(lab.results, BUFFERED)
    unlike = synthetic.setting("unlike/buffered", flags=SMALL_BUFFERED)
    tried(lab.results, unlike, run=NEW, complete=8, hole=1)
    found = known(lab, "-e", "one,unlike", engine="unlike")
    assert found == {"buffered": ("D1 found, contradicts D2 (9 states)", NEW)}
    assert load_run(lab.run_folder).plan.engine("one").passports.keys() == {"buffered"}


def test_what_was_tried_of_a_variant_counts_before_its_engine(lab: Lab) -> None:
    lab.engine("like", None, "variant", VARIANT)
    tried(lab.results, synthetic.setting("like/buffered"))
    tried(lab.results, BUFFERED, run=NEW)
    assert known(lab, "-e", "one,like", engine="like") == FOUND


@pytest.mark.parametrize("flag", [{"durability": "durable"}, {"sync": True}])
def test_the_flags_of_a_scenario_decide_the_level(
    lab: Lab, flag: dict[str, Any]
) -> None:
    tried(lab.results, BUFFERED, DURABLE)
    flags: Any = {"num": 64, "key_size": 16, "value_size": 100}
    lab.scenario(benchmarks=("fillseq",), flags={**flags, **flag})
    assert known(lab) == {"durable": ("D3 found, D2 documented (10 states)", OLD)}


def test_both_sides_of_an_ab_run_have_the_class(lab: Lab) -> None:
    tried(lab.results, BUFFERED)
    words = ("--aa", "--a", str(lab.root / "build"), "--no-counts")
    done = lab.call(
        "ab", "lab", *words, "--screen-rounds", "3", "--confirm-rounds", "4"
    )
    assert done.returncode == 0, done.stderr
    plan = load_ab_run(lab.run_folder).plan
    for side in plan.sides.values():
        assert (
            side.engine("one").passports["buffered"].stamp
            == "D3 found, D2 documented (10 states)"
        )


def test_the_page_says_where_the_power_was_cut_and_what_classes_mean(lab: Lab) -> None:
    tried(lab.results, BUFFERED)
    assert known(lab) == FOUND
    page = report_page.render(load_run(lab.run_folder))
    assert OLD in page
    for meaning in (*dict(CLASSES).values(), *dict(PROOF_MEANINGS).values()):
        assert meaning in page
