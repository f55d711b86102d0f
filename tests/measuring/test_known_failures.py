"""Failures that the configuration declares, with their evidence."""

import json
from pathlib import Path

import pytest

from report.trust.judge import load_run
from tests.support.command_line import CommandResult, call
from tests.support.lab import Lab, make_lab

MESSAGE = "a scan skips entries at 0000000000000038"
EVIDENCE = "skips a leaf after reopening, in 1.0; https://example.org/issues/7"


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    lab = make_lab(tmp_path)
    lab.scenario()
    lab.suite(latency=True)
    return lab


def declared(**failures: str) -> str:
    """Return the table of an engine's known failures; in a key, __ is a blank."""
    lines = (f'"{k.replace("__", " ")}" = "{v}"\n' for k, v in failures.items())
    return "[engine.known_failures]\n" + "".join(lines)


def run(lab: Lab, *words: str) -> CommandResult:
    return lab.call("run", "lab", "-n", "1", *words)


def report(lab: Lab, kind: str) -> str:
    done = call(["report", str(lab.run_folder), "--format", kind, "-o", "-"])
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_failure_as_declared_costs_one_cell(lab: Lab) -> None:
    lab.engine("good", "honest")
    lab.engine("bad", "defective", more=declared(readseq=EVIDENCE))
    done = run(lab)
    assert done.returncode == 0, done.stdout
    (shown,) = (x for x in done.stdout.splitlines() if x.startswith("known "))
    assert shown == f"known     bad/base/readseq: {MESSAGE}; known: {EVIDENCE}"
    cells = {str(name): cell for name, cell in load_run(lab.run_folder).cells.items()}
    failed = cells.pop("bad/base/readseq")
    assert (failed.status, failed.rates) == ("known failure", ())
    assert {cell.status for cell in cells.values()} == {"ok"}
    recorded = [x for x in lab.lines() if x["status"] != "ok"]
    assert {(x["status"], x["reason"]) for x in recorded} == {("wrong", MESSAGE)}


@pytest.mark.parametrize("kind", ["md", "csv", "html"])
def test_every_format_shows_message_and_evidence(lab: Lab, kind: str) -> None:
    lab.engine("bad", "defective", more=declared(readseq=EVIDENCE))
    run(lab)
    text = report(lab, kind)
    assert "known failure" in text and MESSAGE in text and EVIDENCE in text


def test_the_document_of_a_run_has_the_evidence(lab: Lab) -> None:
    lab.engine("bad", "defective", more=declared(**{"read*": EVIDENCE}))
    done = run(lab, "--json")
    document = json.loads(done.stdout)
    cells = {cell["benchmark"]: cell for cell in document["cells"]}
    assert document["exit"] == done.returncode == 0
    assert cells["readseq"]["status"] == "known failure"
    assert EVIDENCE in cells["readseq"]["reason"]
    assert cells["readseq"]["known_failure"] == EVIDENCE
    assert (cells["fillseq"]["status"], cells["fillseq"]["known_failure"]) == ("ok", "")


def test_a_failure_that_is_not_declared_is_one(lab: Lab) -> None:
    lab.engine("bad", "defective", more=declared(readrandom=EVIDENCE))
    done = run(lab)
    assert done.returncode == 3
    assert f"WRONG     bad/base/readseq: {MESSAGE}" in done.stdout


def test_a_known_failure_that_does_not_occur_is_a_finding(lab: Lab) -> None:
    lab.engine("mended", "honest", more=declared(readseq=EVIDENCE))
    done = run(lab)
    assert done.returncode == 0
    finding = f"the known failure did not occur: {EVIDENCE}"
    assert f"finding   mended/base/readseq: {finding}" in done.stdout
    cells = load_run(lab.run_folder).cells.values()
    assert {cell.status for cell in cells} == {"ok"}
    for kind in ("md", "html"):
        assert finding in report(lab, kind)


def test_a_crash_can_be_declared(lab: Lab) -> None:
    lab.engine("bad", "crash", more=declared(**{"fillr*": EVIDENCE}))
    done = run(lab)
    assert done.returncode == 0, done.stdout
    assert "bad/base/fillrandom: crashed: signal 6 (SIGABRT)" in done.stdout


@pytest.mark.parametrize(
    ("declaration", "status"),
    [("fillrandom", "wrong"), ("audit__of__fillrandom", "known failure")],
)
def test_lost_data_is_hidden_only_if_named(
    lab: Lab, declaration: str, status: str
) -> None:
    lab.engine("bad", "corrupt", more=declared(**{declaration: EVIDENCE}))
    done = run(lab)
    assert done.returncode == (3 if status == "wrong" else 0), done.stdout
    cells = load_run(lab.run_folder).cells
    statuses = {name.benchmark: cell.status for name, cell in cells.items()}
    assert statuses["fillrandom"] == status


def test_what_the_harness_finds_out_is_never_known(lab: Lab) -> None:
    lab.scenario(benchmarks=("fillseq", "readseq", "fillrandom"))
    everything = declared(**{"*": EVIDENCE})
    lab.engine("impossible", "impossible", more=everything)
    done = run(lab)
    assert done.returncode == 3
    assert "known  " not in done.stdout


@pytest.mark.parametrize(("kind", "word"), [("corrupt", "WRONG"), ("crash", "ERROR")])
def test_a_failed_preparation_is_not_a_failure_of_the_benchmark(
    lab: Lab, kind: str, word: str
) -> None:
    lab.scenario(benchmarks=("readseq",), more='fill = "fillrandom"\n')
    lab.engine("bad", kind, more=declared(**{"*": EVIDENCE}))
    done = run(lab)
    assert done.returncode == 3
    assert f"{word}     bad/base/readseq: preparing the database" in done.stdout


def test_a_variant_fails_like_its_engine(lab: Lab) -> None:
    lab.engine("bad", "defective", more=declared(readseq=EVIDENCE))
    lab.engine("tuned", None, role="variant", more='variant_of = "bad"\n')
    done = run(lab, "-e", "bad,tuned")
    assert done.returncode == 0, done.stdout
    assert f"known     tuned/base/readseq: {MESSAGE}" in done.stdout


@pytest.mark.parametrize(
    ("failures", "problem"),
    [
        ({"readsequ": EVIDENCE}, "known_failures.readsequ: unknown benchmark"),
        ({"audit of fils*": EVIDENCE}, "unknown benchmark 'fils*'"),
        ({"readseq": " "}, "readseq: ' ' is not valid; expected a string that is not"),
    ],
)
def test_a_declaration_names_a_benchmark_and_has_evidence(
    lab: Lab, failures: dict[str, str], problem: str
) -> None:
    lab.engine("bad", "defective", more=declared(**failures))
    done = run(lab)
    assert done.returncode == 2
    assert problem in done.stderr


@pytest.mark.parametrize(("other", "code"), [("defective", 0), ("honest", 3)])
def test_of_two_builds_both_must_fail_as_declared(
    lab: Lab, other: str, code: int
) -> None:
    lab.scenario(benchmarks=("readseq", "fillrandom"))
    lab.engine("bad", "defective", more=declared(readseq=EVIDENCE))
    lab.install("bad", other, "other")
    sides = [f"--a={lab.root / 'build'}", f"--b={lab.root / 'other'}"]
    done = lab.call("ab", "lab", *sides, "--screen-rounds=3", "--no-counts", "--json")
    document = json.loads(done.stdout)
    (cell,) = (c for c in document["cells"] if c["benchmark"] == "readseq")
    assert MESSAGE in cell["reason"] and EVIDENCE in cell["reason"]
    assert cell["verdict"] == ("failed" if code else "known failure")
    assert done.returncode == code, done.stdout
