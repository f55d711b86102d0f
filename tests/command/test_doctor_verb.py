"""kvmatrix doctor: its output, and the runs that it admits or refuses."""

import io
import json
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from report.terms.documents import validate
from report.words.provenance import environment
from scripts.doctor import admission
from scripts.doctor.doctor_progress import progress_on
from scripts.doctor.examine import examine
from scripts.doctor.finding import Finding, fail, ok, warn
from scripts.doctor.finding_text import closing, lines, summary
from scripts.doctor.probe_limits import ProbeResults
from scripts.machine.probes import SystemProbes
from tests.builders.patients import GOOD, QUEUE, QUIET, STEADY, subject
from tests.support.command_line import call
from tests.support.fake_executor import FakeExecutor
from tests.support.lab import Lab, make_lab
from tests.support.quiet_machine import quiet_machine

# Found by its name alone; the loader reports that it is missing, and continues.
FOOLED = {"LD_PRELOAD": "libeatmydata-fake.so"}
FINE = ok("clock", "tsc")
DOUBTED = warn("turbo", "on: the speed drifts", "sudo turn it off")
FAILED = fail("data dir", "tmpfs: in memory", "choose another")


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    lab = make_lab(tmp_path)
    lab.engine("one", "honest")
    lab.scenario()
    lab.suite()
    return lab


def screen(findings: list[Finding], width: int = 100) -> list[str]:
    return [line.plain.rstrip() for line in lines(findings, "a machine", width)]


def test_the_screen() -> None:
    assert screen([FINE, DOUBTED, FAILED]) == [
        "kvmatrix doctor  is this machine fit for benchmarking?",
        "a machine",
        "",
        "  ok    clock     tsc",
        "  warn  turbo     on: the speed drifts",
        "  FAIL  data dir  tmpfs: in memory",
        "",
        "  fix   turbo     sudo turn it off",
        "        data dir  choose another",
        "",
        "1 check failed, 1 warning. kvmatrix run --strict would not start.",
    ]


def test_lines_fit_and_lose_nothing() -> None:
    narrow = screen([fail("data dir", "a b c d e f " * 9, "x " * 30)], 40)
    assert max(map(len, narrow[1:-1])) <= 40
    assert " ".join(narrow).count("f") >= 9


def test_closing_and_summary() -> None:
    assert closing([FINE]) == "all ok. kvmatrix run --strict would start."
    assert closing([DOUBTED, DOUBTED]).startswith("2 warnings. ")
    tells = "; see scripts/kvmatrix doctor"
    assert summary([FINE, DOUBTED]) == f"doctor: 1 warning{tells}"
    failed = "1 check failed (data dir), 1 warning"
    assert summary([FAILED, DOUBTED]) == f"doctor: {failed}{tells}"


def failing(
    changes: Mapping[str, str | None], probed: ProbeResults = STEADY
) -> list[str]:
    findings = examine(subject(changes), probed)
    return [f.name for f in findings if f.level == "fail"]


def test_whole_machines() -> None:
    assert failing({}) == []
    in_memory = {
        "/proc/self/mountinfo": "2 1 254:0 / /data rw - tmpfs tmpfs rw\n",
        **{path: None for path in GOOD if path.startswith(QUEUE)},
    }
    quick = replace(STEADY, overwrites_ns=[1_500] * 100)
    assert failing(in_memory, quick) == ["data dir", "fsync"]
    assert failing({}, replace(STEADY, overwrites_ns=[5_000] * 100)) == ["fsync"]
    stolen = {**QUIET, "steal_share": 0.09}
    gaps = [150_000 if n % 8 == 0 else 50_000 for n in range(100_000)]
    guest = replace(STEADY, work_ns=gaps, meanwhile=stolen)
    assert failing({}, guest) == ["noise floor"]


def test_a_machine_that_hides_its_counters_gets_warnings_but_no_failures() -> None:
    hidden = {"/proc/self/schedstat": None}
    unseen = {**QUIET, "others_share": None}
    findings = examine(subject(hidden), replace(STEADY, meanwhile=unseen))
    assert {f.name for f in findings if f.level == "warn"} == {
        "lost time",
        "quiet",
    }
    assert failing(hidden) == []


def test_a_strict_run_needs_a_machine_without_failed_checks(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def diagnose(*findings: Finding) -> None:
        diagnosis = (list(findings), STEADY)
        monkeypatch.setattr(admission, "full", lambda *_: diagnosis)

    diagnose(FINE, DOUBTED)
    probes = SystemProbes(tmp_path)
    assert admission.admit(subject(), probes, print) == [FINE, DOUBTED]
    diagnose(FINE, FAILED)
    with pytest.raises(admission.Unfit) as unfit:
        admission.admit(subject(), probes, print)
    assert unfit.value.exit_code == 4
    reason, remedy = unfit.value.listed
    assert reason.startswith("data dir: tmpfs") and "fix: choose another" in remedy
    cheap = admission.admit(subject(), probes, None)
    assert cheap == examine(subject())


def test_without_strict_nothing_is_measured(tmp_path: Path) -> None:
    probes = SystemProbes(tmp_path)
    names = {f.name for f in admission.admit(subject(), probes, None)}
    assert not names & {"fsync", "disk reads", "noise floor", "quiet"}


def test_probes_of_this_machine(tmp_path: Path) -> None:
    probes = SystemProbes(tmp_path, seconds=1)
    allowed = os.sched_getaffinity(0)
    messages: list[str] = []
    assert len(probes.overwrites_ns()) == 100
    assert len(probes.reads_ns()) in (0, 100)
    work_ns = probes.work_ns(messages.append)
    assert sum(work_ns) >= 1e9
    assert messages == ["noise floor, 1 s to go"]
    assert os.sched_getaffinity(0) == allowed
    assert list(tmp_path.iterdir()) == []
    assert SystemProbes(tmp_path / "none").overwrites_ns() == ()


def progress_output(terminal: bool, quiet: bool = False) -> str:
    out = io.StringIO()
    console = Console(file=out, force_terminal=terminal, width=40, color_system=None)
    with progress_on(console, quiet) as tell:
        tell("noise floor, 2 s to go")
        tell("noise floor, 1 s to go")
    return out.getvalue()


def test_progress_is_one_line_where_lines_stay() -> None:
    assert progress_output(terminal=False) == "doctor: noise floor, 2 s to go\n"
    assert progress_output(terminal=False, quiet=True) == ""
    on_terminal = progress_output(terminal=True)
    assert "1 s to go" in on_terminal and "\n" not in on_terminal
    assert on_terminal.endswith(" " * 39 + "\r")


def test_the_verb_answers_and_leaves_no_files(lab: Lab) -> None:
    done = lab.call("doctor", "--json", env=FOOLED)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    levels = {f["name"]: f["level"] for f in document["findings"]}
    assert levels["preload"] == "fail"
    assert levels["engines"] == levels["set-up"] == "ok"
    assert document["failed"] == sum(v == "fail" for v in levels.values())
    assert all(f["remedy"] for f in document["findings"] if f["level"] != "ok")
    assert document["probes"]["overwrite_fdatasync_ns"]["count"] == 100
    assert document["probes"]["work_unit_ns"]["count"] == 100_000
    assert "doctor: noise floor" in done.stderr
    assert lab.data_files() == []
    assert not lab.results.exists()


def test_space_is_checked_for_the_named_suite(lab: Lab) -> None:
    lab.scenario("vast", flags={"num": 10**12, "key_size": 16, "value_size": 100})
    suites = lab.root / "configs/suites"
    text = (suites / "lab.toml").read_text()
    (suites / "all-vast.toml").write_text(text.replace("base", "vast"))
    (suites / "quick.toml").write_text(text)
    for words, suite, level in (
        ([], "quick", "ok"),
        (["lab"], "lab", "ok"),
        (["all-vast"], "all-vast", "fail"),
    ):
        done = lab.call("doctor", *words, "-q", "--json")
        findings = json.loads(done.stdout)["findings"]
        (space,) = (f for f in findings if f["name"] == "disk space")
        assert space["level"] == level
        assert f"the largest cell of suite {suite} needs" in space["found"]
    done = lab.call("doctor", "all-fast", "-q")
    assert done.returncode == 2
    assert "did you mean 'all-vast'" in done.stderr


def test_the_verb_leaves_no_data_directory(lab: Lab, tmp_path: Path) -> None:
    # The last of an option counts, and the lab has one of its own.
    words = lab.arguments("doctor", "-q")
    done = call(
        [*words, "--data-dir", str(tmp_path / "none/data")], quiet_machine(FakeExecutor)
    )
    assert done.returncode == 0, done.stderr
    assert "ok" in done.stdout
    assert not (tmp_path / "none").exists()


def test_strict_fails_by_the_exit_code(lab: Lab) -> None:
    done = lab.call("doctor", "--strict", "-q", env=FOOLED)
    assert done.returncode == 4
    assert "FAIL  preload" in done.stdout
    assert "--strict would not start" in done.stdout


def test_a_strict_run_stops_before_anything_is_written(lab: Lab) -> None:
    done = lab.call("run", "lab", "--strict", "-n", "1", env=FOOLED)
    assert done.returncode == 4
    assert "preload: eatmydata is loaded" in done.stderr
    assert "fix: unset LD_PRELOAD" in done.stderr
    assert not lab.results.exists()
    assert lab.data_files() == []


def test_a_run_records_the_findings_and_prints_one_line(lab: Lab) -> None:
    done = lab.call("run", "lab", "-n", "1", env=FOOLED)
    assert done.returncode == 0, done.stderr
    messages = [line for line in done.stderr.splitlines() if "doctor" in line]
    assert len(messages) == 1 and "preload" in messages[0], messages
    document = json.loads((lab.run_folder / "environment.json").read_text())
    validate(document, "environment", "environment.json")
    levels = {f["name"]: f["level"] for f in document["doctor"]}
    assert levels["preload"] == "fail"
    assert "noise floor" not in levels


def test_findings_are_shown_with_the_machine() -> None:
    group = environment({"schema": 1, "doctor": [FINE.document(), FAILED.document()]})
    assert group == [
        ("doctor", [("clock", "tsc"), ("data dir", "FAIL: tmpfs: in memory")])
    ]
    assert Finding.of(FAILED.document()) == FAILED
