"""Property files of YCSB on real executables: run, verified, reported, kept."""

import json
from pathlib import Path

import pytest

from scripts.machine.system_access import SystemAccess
from tests.formats.test_ycsb_workload import CORE, core
from tests.places import BUILD
from tests.support.command_line import call

pytestmark = pytest.mark.slow

# What public files vary: distributions, growth, scans, fields, threads, time.
SHAPES = {
    "hotspot": "requestdistribution=hotspot\nfieldcount=1\nfieldlength=900\n",
    "inserts": "updateproportion=0\ninsertproportion=1\nthreadcount=2",
    "ordered": "insertorder=ordered\nscanproportion=9\nmaxscanlength=50",
    "exponential": "requestdistribution=exponential\nwriteallfields=true",
    "sequential": "requestdistribution=sequential\nupdateproportion=0",
    "timed": "operationcount=0\nmaxexecutiontime=0.2\nrequestdistribution=latest",
    "sizes": "fieldcount=1\nfieldlengthdistribution=uniform\nminfieldlength=50",
    "throttled": "target=2000\nthreadcount=3\nrequestdistribution=zipfian",
    "deletes": "deleteproportion=0.1\ninsertproportion=0.1\nzipfian_const=0.8",
    "load": "dotransactions=false\ninsertorder=ordered\nthreadcount=2",
}


def verified(folder: Path, name: str, text: str, *options: str) -> Path:
    """Run a property file; check that all that can be measured is, and is verified."""
    path = folder / name
    path.write_text(f"recordcount=1000\noperationcount=1000\n{text}\n")
    places = ["--results-dir", f"{folder}/results", "--data-dir", f"{folder}/data"]
    words = ["run", str(path), "-n", "1", "--repeat-disturbed", "0", "--no-report"]
    words += ["--no-latency", *options]
    on_any_disk = SystemAccess(not_durable=lambda _machine: "")
    done = call([*words, "--build-dir", str(BUILD), *places], on_any_disk)
    assert done.returncode == 0, done.stderr
    (run,) = (folder / "results").iterdir()
    lines = map(json.loads, (run / "measurements.jsonl").read_text().splitlines())
    ok = [line for line in lines if line["status"] == "ok"]
    assert all(line["verified"] for line in ok if line["engine"] != "null")
    assert len({line["engine"] for line in ok}) >= (2 if options else 5)
    return run


@pytest.mark.parametrize("name", SHAPES)
def test_what_public_files_vary_runs_and_is_verified(name: str, tmp_path: Path) -> None:
    verified(tmp_path, name, SHAPES[name], "-e", "memory,leveldb")


@pytest.mark.parametrize("name", CORE)
def test_a_core_workload_runs_on_every_default_engine(
    name: str, tmp_path: Path
) -> None:
    run = verified(tmp_path, f"workload{name}", core(name))
    for words in (["report", str(run), "-o", "-"], ["compare", str(run), str(run)]):
        assert call(words).returncode == 0
    add = ["history", "add", str(run), "--history-dir", str(tmp_path / "history")]
    assert call(add).returncode == 0
