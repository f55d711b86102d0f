"""The checks of hostile inputs can fail: each finds the fault that it is there for."""

import json
import subprocess
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from report.terms import documents
from report.terms.checksum import is_intact
from scripts.durability import durability_session
from tests.hostile import continuing, contract, surfaces
from tests.hostile.contract import Broken, check_exit, check_output, limited_effort
from tests.hostile.fuzz import smaller
from tests.hostile.fuzz_tally import Tally, block, read_tally, with_block
from tests.hostile.hostile_cases import ACCEPTED, REFUSED, Bench, Case
from tests.hostile.material import PLAIN, SEALED, STALE, Edit
from tests.hostile.sandbox import CannotConfine, enter
from tests.hostile.valid_inputs import inputs
from tests.support.command_line import CommandResult
from tests.support.one_trial import durable_spec

LINES = "measurements.jsonl"


@pytest.mark.parametrize(
    ("text", "form", "kind"),
    [
        ("a\x1b[2Jb\n", "text", "controls"),
        ("a\rb\n", "csv", "controls"),
        ("a\u202eb\n", "html", "controls"),
        ("a,b\n1\n", "csv", "csv"),
        ("a\n=1+1\n", "csv", "csv"),
        ("a\n＝1+1\n", "csv", "csv"),
        ('{"a": NaN}', "json", "json"),
        ("<b id=hostile>", "html", "markup"),
    ],
)
def test_output_that_can_do_harm_is_found(text: str, form: str, kind: str) -> None:
    with pytest.raises(Broken) as found:
        check_output(text, form)
    assert found.value.kind == kind


def test_numbers_below_zero_are_no_formulas() -> None:
    check_output("a,b\n-0.5,+1e9\n", "csv")


@pytest.mark.parametrize(
    ("code", "stderr", "kind"),
    [
        (1, "Traceback (most recent call last)\nKeyError: 'x'\n", "traceback"),
        (4, "kvmatrix: no\n", "exit"),
        (1, "kvmatrix: a bad file\n", "exit"),
    ],
)
def test_exits_that_are_not_documented_are_found(
    code: int, stderr: str, kind: str
) -> None:
    with pytest.raises(Broken) as found:
        check_exit(CommandResult(code, "", stderr), (0, 1, 2))
    assert found.value.kind == kind


def test_work_without_an_end_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contract, "MOST_CPU_S", 0.05)
    with pytest.raises(Broken, match="too slow"), limited_effort():
        while True:
            pass


def test_an_exception_that_nobody_expects_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = Case("description", "describe", (Edit("describe", "cut", at=9),))
    assert Bench(tmp_path / "sound").attempt(case) == REFUSED
    monkeypatch.setattr(surfaces, "parse_description", lambda *_: {"a": 1}["x"])
    with pytest.raises(Broken, match="traceback: KeyError"):
        Bench(tmp_path / "broken").attempt(case)


def test_a_canary_that_is_written_to_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Through a link that takes the place of a file of the input."""
    case = Case("run", "load", (Edit(LINES, "move"),), SEALED)
    assert Bench(tmp_path / "sound").attempt(case) in (ACCEPTED, REFUSED)

    def writes(places: surfaces.InputPlaces) -> str:
        with (places.folder / LINES).open("a") as file:
            file.write("more")
        return ""

    monkeypatch.setitem(surfaces.RUN_SURFACES, "load", writes)
    with pytest.raises(Broken, match="canary: touched: adopted-measurements"):
        Bench(tmp_path / "broken").attempt(case)


@pytest.mark.parametrize("token", ["@canary program", "@canary file"])
def test_a_canary_that_a_document_names_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, token: str
) -> None:
    edit = Edit("run.json", "set", path=("command",), value=token)
    case = Case("run", "load", (edit,), SEALED)
    bench = Bench(tmp_path)
    assert bench.attempt(case) == ACCEPTED

    def runs(places: surfaces.InputPlaces) -> str:
        named = json.loads((places.folder / "run.json").read_text())["command"]
        if token == "@canary program":
            subprocess.run([named], check=False)
        else:
            Path(named).write_text("x")
        return ""

    monkeypatch.setitem(surfaces.RUN_SURFACES, "load", runs)
    with pytest.raises(Broken, match="canary: touched"):
        bench.attempt(case)
    monkeypatch.undo()
    assert bench.attempt(case) == ACCEPTED  # with fresh canaries


@pytest.mark.parametrize("given", ["--driver=/x/canaries/canary.so", "--flags=1"])
def test_a_canary_that_a_trial_is_told_is_found(given: str) -> None:
    with continuing.no_trials():
        trials = vars(durability_session)["Laboratory"]()
        spec = durable_spec(Path("db_bench_one"), "kill", "", 1, 1)
        told = trials.events([replace(spec, flags=(given,))])
        if "canaries" in given:
            with pytest.raises(Broken, match="named to a program"):
                list(told)
        else:
            assert [event.record["status"] for event in told] == ["error"]


def test_a_failing_case_is_reduced_to_the_edit_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def reads(_name: str, _engine: str, _outcome: object, text: bytes) -> None:
        if b"renamed" in text:
            raise KeyError("x")

    monkeypatch.setattr(surfaces, "parse_description", reads)
    needed = Edit("describe", "set", path=("licence",), value='"renamed"')
    other = Edit("describe", "drop", path=("codec",))
    bench, case = Bench(tmp_path), Case("description", "describe", (other, needed))
    with pytest.raises(Broken) as found:
        bench.attempt(case)
    assert smaller(case, found.value, bench).edits == (needed,)


def test_a_validator_that_allows_everything_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(tmp_path)
    edit = Edit(LINES, "set", path=("exit",), value="7")
    case = Case("run", "load", (edit,), SEALED)
    assert bench.attempt(case) == REFUSED
    monkeypatch.setattr(documents, "validate", lambda *_: None)
    with pytest.raises(Broken, match="what the schema forbids"):
        bench.attempt(case)


def test_a_checksum_that_nobody_checks_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(tmp_path)
    edit = Edit(LINES, "set", path=("prepare_ns",), value="1")
    case = Case("run", "load", (edit,), STALE)
    assert bench.attempt(case) == REFUSED
    monkeypatch.setattr(documents, "is_intact", lambda *_: True)
    with pytest.raises(Broken, match="checksum is wrong"):
        bench.attempt(case)


def test_messages_without_their_key_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_document: object, _schema: str, place: str) -> None:
        raise documents.ResultsError(f"{place}: not valid")

    monkeypatch.setattr(documents, "validate", fail)
    with pytest.raises(Broken, match="does not name 'loop_ns'"):
        edit = Edit(LINES, "set", path=("loop_ns",), value='"x"')
        Bench(tmp_path).attempt(Case("run", "load", (edit,), SEALED))


def test_checksums_are_right_unless_they_are_left_stale() -> None:
    for mode, sound in ((PLAIN, True), (SEALED, True), (STALE, False)):
        edit = Edit(LINES, "set", path=("prepare_ns",), value="1")
        text = inputs()["run"].contents((edit,), mode)[LINES].splitlines()[0]
        document = json.loads(text)
        assert is_intact(text, document) == sound
        assert ("checksum" in document) == (mode != PLAIN)


def test_a_tally_is_added_written_and_shown(tmp_path: Path) -> None:
    one, two = Tally(), Tally()
    one.count("run", "refused")
    two.count("run", "accepted")
    assert two.fail("lab", Broken("traceback", "KeyError", "a.py:1"), {})
    assert not two.fail("lab", Broken("traceback", "KeyError", "a.py:1"), {})
    two.write(tmp_path / "tally.json")
    one.add(read_tally(tmp_path / "tally.json"))
    assert one.counts == {
        "run": Counter(refused=1, accepted=1),
        "lab": Counter(traceback=2),
    }
    rows = one.table().splitlines()[2:]
    figures = [row.split(" | ", 1)[1] for row in rows]
    assert figures == [
        "2 | 1 | 1 | 0 | 0 |",
        "2 | 0 | 0 | 2 | 0 |",
        "4 | 1 | 1 | 2 | 0 |",
    ]
    page = "# T\n<!-- hostile:begin -->\nformerly\n<!-- hostile:end -->\nend\n"
    written = with_block(page, block(one, 60, 2, 7))
    assert "formerly" not in written and written.endswith("<!-- hostile:end -->\nend\n")
    assert "--minutes 60 --jobs 2 --seed 7" in written
    assert "Found 1 fault: traceback." in written


@pytest.mark.parametrize("page", ["", "<!-- hostile:end --><!-- hostile:begin -->"])
def test_a_page_without_the_marks_is_refused(page: str) -> None:
    with pytest.raises(ValueError, match="hostile:begin"):
        with_block(page, "x")


def test_the_file_systems_of_this_process_are_left_alone(tmp_path: Path) -> None:
    with pytest.raises(CannotConfine, match="namespace of its own"):
        enter(tmp_path)
