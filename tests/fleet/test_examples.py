"""The examples for hosted CI, Kubernetes and containers, executed as they would be."""

from __future__ import annotations

import re
import subprocess
import textwrap
from pathlib import Path

import pytest

from report.trust.judge import load_run
from tests.places import PATIENCE_S, ROOT
from tests.support.workflow import FOLDER, blocks, run_step

EXAMPLES = ROOT / "scripts/fleet/examples"
WORKFLOW = FOLDER / "matrix.yml"
LITTLE = "-s baseline --max-time 50ms --no-latency"
OPTIONS = f"-e leveldb,lmdb --num 5000 {LITTLE}"


def test_the_container_sets_up_as_the_readme_does() -> None:
    text = (EXAMPLES / "Containerfile").read_text()
    assert re.findall(r"^RUN (scripts/.*)$", text, re.MULTILINE) == ["scripts/setup"]
    assert 'ENTRYPOINT ["/kvmatrix/scripts/kvmatrix"]' in text
    assert "WORKDIR /kvmatrix\nCOPY . .\n" in text


def test_the_image_has_nothing_that_git_ignores() -> None:
    text = (EXAMPLES / "Containerfile.dockerignore").read_text()
    left_out = {line.rpartition("/")[2] for line in text.splitlines()}
    ignored = (ROOT / ".gitignore").read_text().split()
    assert {line.strip("/") for line in ignored} < left_out


def test_shards_of_one_second_do_not_overwrite_each_other() -> None:
    """Each is in a directory of its own, whatever the names of their runs."""
    assert "merge-multiple" not in WORKFLOW.read_text()
    assert "kvmatrix merge shards/* " in blocks(WORKFLOW)["Merge"]


@pytest.mark.night("scripts/fleet", ".github/workflows")
def test_the_steps_of_the_workflow_give_one_run(tmp_path: Path) -> None:
    steps = blocks(WORKFLOW)
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts/kvmatrix").symlink_to(ROOT / "scripts/kvmatrix")
    (tmp_path / ".ci").symlink_to(ROOT / ".ci")
    options = f"{LITTLE} -n 4 --data-dir {tmp_path}/data"
    for shard in ("1", "2", "3", "4"):
        env = {"SUITE": "quick", "OPTIONS": options, "SHARD": shard, "MACHINES": "4"}
        env |= {"ENGINES": "leveldb,lmdb", "NUM": "5000"}
        measured = run_step(steps["Measure"], tmp_path, **env)
        assert measured.code == 0, measured.output
        artifact = tmp_path / f"artifacts/shard-{shard}"
        artifact.parent.mkdir(exist_ok=True)
        (tmp_path / "shards").rename(artifact)
    artifact.parent.rename(tmp_path / "shards")
    merged = run_step(steps["Merge"], tmp_path)
    assert merged.code == 0, merged.output
    (run,) = tmp_path.glob("merged/2*")
    assert [*load_run(run).plan.machines] == [f"hosted-{n}" for n in range(1, 5)]
    assert (run / "report.html").is_file()


@pytest.mark.night("scripts/fleet", ".github/workflows")
def test_the_pods_of_the_job_give_one_run(tmp_path: Path) -> None:
    text = (EXAMPLES / "kubernetes-job.yaml").read_text()
    script = re.search(r"args:\n +- \|\n((?: {14}.*\n)+)", text)
    assert script and "completionMode: Indexed\n" in text
    command = textwrap.dedent(script[1])
    command = command.replace("run quick", f"run quick {OPTIONS}")
    for path, real in (("/kvmatrix/", f"{ROOT}/"), ("/results", f"{tmp_path}/results")):
        command = command.replace(path, real)
    command = command.replace("--data-dir /data", f"--data-dir {tmp_path}/data")
    count = re.search(r"completions: (\d+)", text)
    assert count
    for index in range(int(count[1])):
        env = {"JOB_COMPLETION_INDEX": str(index), "NODE": f"node-{index}.example"}
        done = subprocess.run(
            ["/bin/sh", "-euc", command],
            env={"PATH": "/usr/bin:/bin", **env},
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    folders = sorted(map(str, tmp_path.glob("results/shard-*")))
    words = ["merge", *folders, "--results-dir", str(tmp_path / "merged")]
    subprocess.run([ROOT / "scripts/kvmatrix", *words], check=True, capture_output=True)
    (run,) = tmp_path.glob("merged/2*")
    assert not load_run(run).is_unfinished
