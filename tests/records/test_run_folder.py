"""Reading run folders: sound, torn and damaged ones."""

import hashlib
import json
import random
from pathlib import Path
from typing import Any

import pytest

from report.model.plan import METHOD, CellName
from report.model.run import NOT_MEASURED, Run
from report.model.run_folder import read_measurements
from report.page import report_page
from report.terms.documents import ResultsError, parse_object
from report.trust.judge import load_run
from tests.builders import synthetic_records, synthetic_run

LINES = "measurements.jsonl"
HISTOGRAM = {"count": 1, "min": 5, "max": 5, "sum": 5, "buckets": [[5, 1]]}


def changed_line(folder: Path, number: int, **changes: Any) -> None:
    """Rewrite keys of one line; the value ... removes a key."""
    lines = (folder / LINES).read_text().splitlines()
    record = json.loads(lines[number - 1]) | changes
    record = {key: value for key, value in record.items() if value is not ...}
    lines[number - 1] = json.dumps(record)
    (folder / LINES).write_text("\n".join(lines) + "\n")


def changed_plan(folder: Path, **changes: Any) -> None:
    plan = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps(plan | changes))


def swept(*members: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Return scenarios of one family, each with its swept flags."""
    first = synthetic_run.plan()["scenarios"][0]
    return [{**first, "name": n, "family": "x", "swept": s} for n, s in members]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return synthetic_run.write_run(tmp_path / synthetic_records.RUN_ID)


def test_a_whole_run_is_read(folder: Path) -> None:
    run = load_run(folder)
    assert run.plan.run == synthetic_records.RUN_ID
    assert [engine.role for engine in run.plan.engines] == ["", "", "", "floor"]
    assert len(run.plan.charts) == 8
    assert len(run.cells) == 8 * 4
    assert all(len(cell.rates) == 3 for cell in run.cells.values())
    assert not run.torn


def test_a_rate_counts_the_loop_and_the_flush(folder: Path) -> None:
    changed_line(folder, 1, ops=10, loop_ns=3_000, flush_ns=2_000, settle_ns=7_000)
    first = read_measurements(folder / LINES).measurements[0]
    assert first.ops_per_sec == pytest.approx(10 / 5e-6)


def test_a_failed_repetition_removes_the_rate_of_its_cell(folder: Path) -> None:
    changed_line(folder, 1, status="wrong", reason="a value differs")
    run = load_run(folder)
    cell = run.cells[run.measurements[0].cell]
    assert (cell.status, cell.reason, cell.rates) == ("wrong", "a value differs", ())


def test_a_cell_whose_turn_never_came_says_so(folder: Path) -> None:
    (folder / LINES).unlink()
    cell = load_run(folder).cells[CellName("alpha", "baseline", "readseq")]
    assert cell.status == NOT_MEASURED
    assert cell.reason


def test_a_damaged_run_has_a_remedy(folder: Path) -> None:
    remedy = "; the run is damaged: restore the file or delete the run$"
    changed_line(folder, 3, engine_version=...)
    with pytest.raises(ResultsError, match=f":3: 'engine_version' is missing{remedy}"):
        load_run(folder)
    (folder / LINES).write_text("{\n")
    with pytest.raises(ResultsError, match=f"not valid JSON.*{remedy}"):
        read_measurements(folder / LINES)
    (folder / LINES).unlink()
    (folder / "environment.json").unlink()
    with pytest.raises(ResultsError, match=f"environment.json: no such file{remedy}"):
        load_run(folder)


@pytest.mark.parametrize("schema", [99, 99.0])
def test_a_run_of_a_newer_version_is_not_called_damaged(
    folder: Path, schema: float
) -> None:
    changed_plan(folder, schema=schema, newer=1)
    with pytest.raises(ResultsError, match=rf"unknown schema {schema}; expected .*\d$"):
        load_run(folder)


def test_a_torn_last_line_is_a_flag(folder: Path) -> None:
    whole = (folder / LINES).read_bytes()
    (folder / LINES).write_bytes(whole[:-40])
    contents = read_measurements(folder / LINES)
    assert contents.torn
    assert len(contents.measurements) == whole.count(b"\n") - 1
    assert whole[: contents.valid_bytes].endswith(b"}\n")
    assert load_run(folder).torn


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"loop_ns": "12"}, "loop_ns"),
        ({"loop_ns": None}, "loop_ns"),
        ({"loop_ns": 0}, "loop_ns"),
        ({"loop_ns": -1}, "loop_ns"),
        ({"ops": 0}, "ops"),
        ({"flush_ns": ...}, "flush_ns"),
        ({"status": "fine"}, "status"),
        ({"status": "error"}, "reason"),
        ({"repetition": 4}, "repetition 4 was not planned"),
        ({"repetition": 2}, "is the same repetition as line"),
        ({"engine": "delta"}, "not in the plan"),
        ({"engine": "../etc"}, "engine"),
        ({"run": "another"}, "-synthetic; the run is damaged: restore"),
        ({"method": METHOD + 1}, f"method {METHOD + 1}"),
        ({"method": 2}, f"method 2 in a run of method {METHOD}"),
        ({"schema": ...}, "not a kvmatrix document: 'schema' is missing"),
        ({"schema": 4}, "schema 4"),
        ({"schema": 1}, "schema 1 in a run of schema 3"),
        ({"pass": "other"}, "pass"),
        ({"attempt": 4}, "attempt"),
        ({"ending": "left"}, "ending"),
        ({"timeline": [[1, 1, 1]]}, "timeline: [1, 1, 1] at 0 is not a pair"),
        ({"timeline": [[1, 1], [2, -2]]}, "[2, -2] at 1 is not a pair of counts"),
        ({"timeline": [[0, 1]]}, "not a pair of counts"),
        ({"timeline": [[1, 2.5]]}, "not a pair of counts"),
        ({"timeline": [[True, 1]]}, "not a pair of counts"),
        ({"timeline": [[1, 2**64]]}, "timeline.0.1: the integer is too large"),
        ({"timeline": ["12"]}, "not a pair of counts"),
        ({"timeline": [[n, n] for n in range(1, 514)]}, "timeline"),
        ({"latency_ns": {**HISTOGRAM, "buckets": [[5, 0]]}}, "not a pair of counts"),
        ({"latency_ns": {**HISTOGRAM, "buckets": []}}, "latency_ns.buckets"),
        ({"latency_ns": {"count": 1}}, "latency_ns"),
        ({"open_loop": {"saturated": True}}, "open_loop"),
        ({"disturbance": {"marks": [""]}}, "disturbance.marks"),
        ({"disturbance": {}}, "marks"),
        ({"deferred": {"cpu_ns": 1}}, "deferred"),
        ({"stalls": [{"at_ns": 1}]}, "stalls"),
        ({"build": {"assertions": "some"}}, "assertions"),
        ({"options": {"num": [1000]}}, "options.num"),
    ],
)
def test_a_bad_line_is_named_with_its_fault(
    folder: Path, changes: dict[str, Any], fault: str
) -> None:
    number = 5 if "repetition" not in changes else 1
    changed_line(folder, number, **changes)
    with pytest.raises(ResultsError) as caught:
        load_run(folder)
    message = str(caught.value)
    assert fault in message
    assert f"{LINES}:" in message
    if changes.get("repetition") != 2:
        assert f"{LINES}:{number}:" in message


@pytest.mark.parametrize(
    "key",
    [
        *("pass", "attempt", "ending", "live_bytes", "timeline", "stalls"),
        *("stall_count", "stalled_ns", "anonymous_rss_bytes", "file_rss_bytes"),
        *("peak_disk_bytes", "storage_read_bytes", "storage_written_bytes"),
        *("deferred", "idle_cpu_ns", "latency_ns", "service_ns", "open_loop"),
        *("disturbance", "watch"),
        *("ops_by_thread", "ops_by_type", "latency_by_type_ns", "writer"),
        *("counters", "shares"),
    ],
)
def test_an_ok_line_has_all_of_its_keys(folder: Path, key: str) -> None:
    changed_line(folder, 1, **{key: ...})
    with pytest.raises(ResultsError, match=key):
        load_run(folder)


@pytest.mark.parametrize("key", ["latency_repetitions", "control", "rate"])
def test_a_plan_says_what_else_is_measured(folder: Path, key: str) -> None:
    suite = json.loads((folder / "run.json").read_text())["suite"]
    del suite[key]
    changed_plan(folder, suite=suite)
    with pytest.raises(ResultsError, match=key):
        load_run(folder)


@pytest.mark.parametrize(
    "flag", [{"threads": "four"}, {"batch_size": 0}, {"num": True}, {"rate": [1]}]
)
def test_flags_that_decide_the_work_are_numbers(
    folder: Path, flag: dict[str, Any]
) -> None:
    scenarios = synthetic_run.plan()["scenarios"]
    scenarios[0]["flags"]["alpha"] = flag
    changed_plan(folder, scenarios=scenarios)
    message = f"run.json: scenarios.0.flags.alpha.{next(iter(flag))}: "
    with pytest.raises(ResultsError, match=message):
        load_run(folder)


def test_a_cell_is_planned_once(folder: Path) -> None:
    cells = synthetic_run.plan()["cells"]
    changed_plan(folder, cells=[*cells, cells[0]])
    with pytest.raises(ResultsError, match="cell alpha/baseline/readseq is listed"):
        load_run(folder)


def test_an_engine_that_stores_nothing_need_not_be_verified(tmp_path: Path) -> None:
    plan = synthetic_run.plan()
    plan["engines"][-1]["describe"]["stores"] = False
    lines = synthetic_run.lines(plan)
    for line in lines:
        line["verified"] = line["engine"] != "floor"
    assert load_run(synthetic_run.write_run(tmp_path, plan, lines)).cells


@pytest.mark.parametrize(
    "text",
    [
        b"{",
        b"[]",
        b"\xff\xfe",
        b'{"a":NaN}',
        b'{"a":1e999}',
        b'{"a":1,"a":2}',
        b'{"a":"\\ud800"}',
        b"[" * 100_000,
        b'{"a":' + b"9" * 5000 + b"}",
        b"",
        b"\x00" * 10,
    ],
)
@pytest.mark.parametrize("name", ["run.json", "environment.json", LINES])
def test_nonsense_is_an_error_that_names_the_file(
    folder: Path, name: str, text: bytes
) -> None:
    (folder / name).write_bytes(text + b"\n")
    with pytest.raises(ResultsError, match=name.replace(".", r"\.")):
        load_run(folder)


def test_a_folder_without_a_plan_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match=r"run\.json"):
        load_run(tmp_path)


@pytest.mark.parametrize(
    "changes",
    [
        {"engines": []},
        {"engines": [synthetic_run.plan()["engines"][0]] * 2},
        {"cells": [{"engine": "x", "scenario": "baseline", "benchmark": "readseq"}]},
        {"cells": [{"engine": "alpha", "scenario": "sync", "benchmark": "readseq"}]},
        {"run": "../../escape"},
        {"repetitions": 0},
        {"suite": {"name": "x"}},
        {"suite": {"name": "x", "title": "x", "published": "../secret"}},
        {"suite": {"name": "x", "title": "x", "published": ["../secret"]}},
        {"scenarios": swept(("a", {"value_size": 4}), ("b", {"value_size": 4}))},
        {"scenarios": swept(("a", {"value_size": 4}), ("b", {"num": 8}))},
        {"scenarios": swept(("a", {}))},
        {"method": 7},
    ],
)
def test_a_plan_that_contradicts_itself_is_an_error(
    folder: Path, changes: dict[str, Any]
) -> None:
    changed_plan(folder, **changes)
    with pytest.raises(ResultsError, match=r"run\.json"):
        load_run(folder)


@pytest.mark.parametrize("seed", [1, 2, 6, 7])
def test_damage_anywhere_is_an_error_or_harmless(tmp_path: Path, seed: int) -> None:
    """Flipped, lost and doubled bytes give a Run or a ResultsError."""
    plan = synthetic_run.plan(synthetic_run.ENGINES[:1], synthetic_run.SCENARIOS[2:], 2)
    folder = synthetic_run.write_run(tmp_path, plan)
    generator = random.Random(seed)
    for name in ("run.json", "environment.json", LINES):
        whole = (folder / name).read_bytes()
        for _ in range(60):
            at, kind = generator.randrange(len(whole)), generator.randrange(3)
            middle = (bytes([generator.randrange(256)]), b"", whole[at : at + 30] * 2)
            (folder / name).write_bytes(whole[:at] + middle[kind] + whole[at + 1 :])
            try:
                assert isinstance(load_run(folder), Run)
            except ResultsError as error:
                assert str(folder) in str(error)
        (folder / name).write_bytes(whole)


@pytest.mark.slow
def test_every_cut_of_the_results_file_is_torn_or_whole(folder: Path) -> None:
    whole = (folder / LINES).read_bytes()
    for cut in range(0, len(whole), len(whole) // 50 | 1):
        (folder / LINES).write_bytes(whole[:cut])
        contents = read_measurements(folder / LINES)
        assert len(contents.measurements) == whole[:cut].count(b"\n")
        assert contents.torn == (not whole[:cut].endswith(b"\n") and cut > 0)


def test_the_lines_have_a_checksum_without_a_torn_one(tmp_path: Path) -> None:
    folder = synthetic_run.write_run(tmp_path)
    lines = folder / "measurements.jsonl"
    whole = hashlib.sha256(lines.read_bytes()).hexdigest()
    assert load_run(folder).lines_sha256 == whole
    with lines.open("a") as file:
        file.write('{"torn')
    assert load_run(folder).lines_sha256 == whole


def nested(levels: int) -> Any:
    return json.loads("[" * levels + "]" * levels)


@pytest.mark.parametrize("levels", [32, 600])
@pytest.mark.parametrize("name", ["run.json", "environment.json", LINES])
def test_too_deeply_nested_documents_are_refused(
    folder: Path, name: str, levels: int
) -> None:
    if name == LINES:
        changed_line(folder, 4, extra=nested(levels))
    else:
        document = json.loads((folder / name).read_text())
        (folder / name).write_text(json.dumps(document | {"extra": nested(levels)}))
    with pytest.raises(
        ResultsError, match=rf"{name}.*: nested more than 32 levels deep"
    ):
        load_run(folder)


def test_documents_of_the_deepest_nesting_can_be_rendered(folder: Path) -> None:
    changed_line(folder, 4, extra=nested(31))
    assert report_page.render(load_run(folder))


@pytest.mark.parametrize(
    "chosen",
    [["num"], "num", 7, True, {"num": True}, {"num": "7"}, {"duration": []}],
)
def test_chosen_options_are_an_object_of_flags(folder: Path, chosen: Any) -> None:
    plan = json.loads((folder / "run.json").read_text())
    changed_plan(folder, suite=plan["suite"] | {"chosen": chosen})
    with pytest.raises(ResultsError, match=r"run\.json: suite\.chosen"):
        load_run(folder)
    changed_plan(folder, suite=plan["suite"] | {"chosen": {"num": 7, "rate": 2.5}})
    assert load_run(folder)


@pytest.mark.parametrize("before", ["", f"{2**64 - 1}, ", "0.1234567890123456789012, "])
def test_the_largest_integer_is_the_limit(before: str) -> None:
    for number in (2**64 - 1, 1 - 2**64, 10**19):
        assert parse_object(b'{"a": [%s%d]}' % (before.encode(), number), "it")
    for number in (2**64, -(2**64), 10**20):
        with pytest.raises(ResultsError, match="too large"):
            parse_object(b'{"a": [%s%d]}' % (before.encode(), number), "it")
