"""The workflows of .github/, and their steps, run as GitHub runs them."""

import os
import re
import subprocess
import textwrap
from dataclasses import dataclass
from pathlib import Path

from tests.places import PATIENCE_S, ROOT

FOLDER = ROOT / ".github/workflows"


@dataclass(frozen=True)
class Step:
    """What a step did."""

    code: int
    output: str  # stdout and stderr
    outputs: dict[str, str]  # $GITHUB_OUTPUT and $GITHUB_ENV


def jobs(workflow: Path) -> dict[str, str]:
    """Return the text of each job of a workflow."""
    text = workflow.read_text().split("\njobs:\n")[1]
    parts = re.split(r"^  ([\w-]+):\n", text, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def blocks(workflow: Path, job: str = "") -> dict[str, str]:
    """Return the run: blocks of a workflow, or of a job, by the name of their step."""
    scripts, name = {}, ""
    text = jobs(workflow)[job] if job else workflow.read_text()
    lines = text.splitlines()
    for index, line in enumerate(lines):
        if match := re.match(r" *- name: (.*)", line):
            name = match[1]
        match = re.match(r"( *)run: (.*)", line)
        if not match or match[1] == "  ":
            continue
        if match[2] != "|":
            scripts[name] = match[2]
            continue
        indent = len(match[1])
        block = []
        for text in lines[index + 1 :]:
            if text.strip() and len(text) - len(text.lstrip()) <= indent:
                break
            block.append(text)
        scripts[name] = textwrap.dedent("\n".join(block))
    return scripts


def run_step(block: str, folder: Path, **env: str) -> Step:
    """Run a block in the workspace `folder`, as GitHub does."""
    outputs = folder / "outputs"
    outputs.write_text("")
    completed = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", block],
        cwd=folder,
        env={
            **{k: v for k, v in os.environ.items() if not k.startswith("KVMATRIX_")},
            "HOME": str(folder),
            "GITHUB_WORKSPACE": str(folder),
            "GITHUB_ENV": str(outputs),
            "GITHUB_OUTPUT": str(outputs),
            **env,
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    lines = outputs.read_text().splitlines()
    outputs.unlink()
    said = dict(line.split("=", 1) for line in lines)
    return Step(completed.returncode, completed.stdout, said)
