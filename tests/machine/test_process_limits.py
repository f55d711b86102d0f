"""Limits of the process are named before the run, with what they are too low for."""

import os
import resource
import subprocess
from pathlib import Path
from typing import Any

import pytest

from report.model.plan_document import plan_of
from scripts.planning.process_limits import explained, too_low
from tests.builders import synthetic_run
from tests.builders.machines import TextMachine
from tests.places import PATIENCE_S, ROOT
from tests.support.lab import Lab, make_lab
from tests.support.real_engines import executable

LIMITS = "Max open files {} 4096 files\nMax address space {} unlimited bytes\n"


def plan(missing: dict[str, str] | None = None, **flags: Any) -> Any:
    """Return a plan whose first engine has these flags."""
    document = synthetic_run.plan(missing=missing)
    for scenario in document["scenarios"]:
        first = next(iter(scenario["flags"]))
        scenario["flags"][first] = {**scenario["flags"][first], **flags}
    return plan_of(document, Path("run.json"))


def found(files: object, space: object, **flags: Any) -> list[str]:
    reader = TextMachine({"/proc/self/limits": LIMITS.format(files, space)})
    return [str(low) for low in too_low(plan(**flags), reader)]


def test_a_limit_below_a_setting_is_named_with_the_remedy() -> None:
    (files,) = found(256, "unlimited", open_files=1000)
    assert "the limit of open files is 256 (ulimit -n)" in files
    assert "alpha keeps 1,000 open" in files
    assert "raise it to 1,100 or set open_files" in files
    (space,) = found(1024, 8_192_000_000, map_size=64 << 30)
    assert "the limit of address space is 7.63 GiB (ulimit -v)" in space
    assert "alpha maps 64 GiB (--map_size)" in space


@pytest.mark.parametrize(
    ("files", "space", "flags"),
    [
        (1000, "unlimited", {"open_files": 1000}),
        (256, "unlimited", {"open_files": -1}),
        (256, "unlimited", {}),
        ("unlimited", 1 << 40, {"map_size": 64 << 30}),
    ],
)
def test_a_limit_that_suffices_is_not(
    files: object, space: object, flags: dict[str, object]
) -> None:
    assert found(files, space, **flags) == []


def test_an_engine_that_a_limit_keeps_from_answering_is_not_missing() -> None:
    why = (
        "--describe failed: cannot map 64 GiB (--map_size); the limit of address space"
    )
    engines = plan({"alpha": f"{why} is 7.6 GiB (ulimit -v)", "beta": "not built"})
    (low,) = explained(engines.engines)
    assert "64 GiB (--map_size)" in str(low) and "raise it" in str(low)


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    lab = make_lab(tmp_path)
    lab.scenario()
    lab.suite()
    lab.engine("one", "honest")
    return lab


@pytest.mark.parametrize("verb", ["run", "ab", "plan"])
def test_a_run_with_too_few_files_is_refused(
    verb: str, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    least = 256 + len(os.listdir("/proc/self/fd"))  # this process may have many
    defaults = {"open_files": "200000"}
    monkeypatch.setattr("scripts.planning.process_limits._defaults", lambda _: defaults)
    words = ["--a", str(lab.root / "build"), "--aa"] if verb == "ab" else []
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (least, limits[1]))
        done = lab.call(verb, "lab", *words)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert done.returncode == (4 if verb == "plan" else 2)
    assert f"the limit of open files is {least:,} (ulimit -n)" in done.stderr
    assert "raise it to 200,100" in done.stderr
    assert not [*lab.results.glob("*/*.jsonl")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("engine", "limit", "words"),
    [
        ("lmdb", "-v 8000000", "cannot map 64 GiB (--map_size); the limit of address"),
        ("lmdb", "-v 8000000", "is 7.6 GiB (ulimit -v)"),
        ("rocksdb", "-n 256", "raise it to 1,100 or set open_files"),
    ],
)
def test_real_engines_blame_the_limit(
    engine: str, limit: str, words: str, tmp_path: Path
) -> None:
    executable(engine)
    command = f"scripts/kvmatrix run smoke -e {engine} -s baseline --num 1000 -q -n 1"
    places = f"--data-dir {tmp_path}/data --results-dir {tmp_path}/results"
    done = subprocess.run(
        ["bash", "-c", f"ulimit {limit} && {command} {places}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 2, done.stderr
    assert words in done.stderr and "missing" not in done.stderr
    assert done.stderr.count("kvmatrix: ") == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("engine", "limit", "words"),
    [
        ("lmdb", "-v 8000000", "cannot map 64 GiB (--map_size); the limit of address"),
        ("sqlite3", "-f 100", "(ulimit -f)"),
    ],
)
def test_an_executable_started_by_hand_blames_the_limit(
    engine: str, limit: str, words: str, tmp_path: Path
) -> None:
    command = f"{executable(engine)} --benchmarks=fillseq --num=20000 --db={tmp_path}"
    done = subprocess.run(
        ["bash", "-c", f"ulimit {limit} && exec {command}"],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 1
    assert words in done.stderr
