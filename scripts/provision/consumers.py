"""Other programs that read our files, installed in build/consumers for tests.

  bin/benchstat, bin/actionlint   compiled by Go, pinned in scripts/consumers/go.sum
  otava/                          a Python path, pinned in scripts/consumers/otava.txt

Only tests use them, and a test is skipped if its program is absent.  A failure to
install one, such as without Go or without a network, is therefore only a warning.
"""

import hashlib
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from scripts.basis.commands import output_of, run_logged
from scripts.basis.problem import SetupError
from scripts.basis.setup_screen import Screen

GO_PROGRAMS = (
    "golang.org/x/perf/cmd/benchstat",
    "github.com/rhysd/actionlint/cmd/actionlint",
)
_LIMIT_S = 240  # for each tool: a proxy may never answer
_STAMP = ".made-from"


@dataclass(frozen=True)
class ConsumerTool:
    """Programs that one command installs into one folder of build/consumers."""

    name: str  # of the folder
    title: str
    pins: tuple[Path, ...]  # files with versions and checksums
    installer: str  # the version of the program that installs it; "" if absent
    absent: str  # the warning if the installer is absent
    command: Callable[[Path], Sequence[str]]  # to install it into the folder

    @property
    def fingerprint(self) -> str:
        """A hash of everything that the installed programs depend on."""
        digest = hashlib.sha256(self.installer.encode())
        for pin in self.pins:
            digest.update(pin.read_bytes())
        return digest.hexdigest()


def tools_of(pins: Path, python: Path) -> tuple[ConsumerTool, ...]:
    """Return all tools; `pins` is scripts/consumers, `python` that of build/venv."""
    requirements = pins / "otava.txt"
    pip = (str(python), "-m", "pip", "--disable-pip-version-check", "install")
    return (
        ConsumerTool(
            "bin",
            "benchstat and actionlint",
            (pins / "go.mod", pins / "go.sum"),
            output_of(["go", "version"]),
            "Go is not installed",
            lambda folder: (
                *("go", "build", "-C", str(pins), "-mod=readonly", "-trimpath"),
                *("-o", f"{folder}/", *GO_PROGRAMS),
            ),
        ),
        ConsumerTool(
            "otava",
            "Apache Otava",
            (requirements,),
            output_of([str(python), "--version"]),
            f"{python} does not exist",
            lambda folder: (
                *(*pip, "--no-input", "--retries", "1", "--timeout", "15"),
                *("--require-hashes", "--only-binary=:all:", "--no-deps", "--quiet"),
                *("--target", str(folder), "-r", str(requirements)),
            ),
        ),
    )


def ensure(
    tools: Sequence[ConsumerTool], folder: Path, log: Path, screen: Screen
) -> None:
    """Install the tools that are missing or outdated; warn if one fails."""
    log.unlink(missing_ok=True)
    for tool in tools:
        try:
            _ensure(tool, folder / tool.name, log, screen)
        except SetupError as error:
            screen.warn(f"Skipped {tool.title}, which only tests use: {error}")


def _ensure(tool: ConsumerTool, folder: Path, log: Path, screen: Screen) -> None:
    stamp = folder / _STAMP
    if not tool.installer:
        raise SetupError(tool.absent)
    if stamp.is_file() and stamp.read_bytes() == tool.fingerprint.encode():
        return
    building = folder.with_name(f"{folder.name}.unfinished")
    for old in (building, folder):
        shutil.rmtree(old, ignore_errors=True)
    building.mkdir(parents=True)
    # GOTOOLCHAIN: use the installed Go, rather than download the one that go.mod names.
    env = os.environ | {"GOTOOLCHAIN": "local", "GOFLAGS": "-buildvcs=false"}
    command = ["timeout", str(_LIMIT_S), *tool.command(building)]
    with screen.step(f"Installing {tool.title}, for tests"):
        run_logged(command, log, cwd=building, env=env)
    (building / _STAMP).write_text(tool.fingerprint, encoding="utf-8")
    building.replace(folder)


def main() -> int:
    """Install all of them for this checkout."""
    root = Path(__file__).resolve().parents[2]
    tools = tools_of(root / "scripts/consumers", root / "build/venv/bin/python")
    log = root / "build/logs/consumers.log"
    ensure(tools, root / "build/consumers", log, Screen())
    return 0


if __name__ == "__main__":
    sys.exit(main())
