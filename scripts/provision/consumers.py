"""Programs of others that read our files, for tests: build/consumers.

  bin/benchstat, bin/actionlint   compiled by Go, pinned in scripts/consumers/go.sum
  otava/                          a Python path, pinned in scripts/consumers/otava.txt

Nothing of the project needs them but tests, which are skipped without them.  So a
machine without Go, or without a network, is told and goes on.
"""

import hashlib
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from scripts.provision.commands import output_of, run_logged
from scripts.provision.problem import SetupError
from scripts.provision.setup_screen import Screen

GO_PROGRAMS = (
    "golang.org/x/perf/cmd/benchstat",
    "github.com/rhysd/actionlint/cmd/actionlint",
)
# Of one part, in seconds: a proxy that does not answer must not hold up the rest.
_LIMIT_S = 240
_STAMP = ".made-from"


@dataclass(frozen=True)
class ConsumerTool:
    """What is made by one command into one folder of build/consumers.

    `pins` are the files that say what it is made of, `maker` the version of what
    makes it ("" if that is not there); `command` is given the folder.
    """

    name: str
    what: str
    pins: tuple[Path, ...]
    maker: str
    absent: str  # what is said without a maker
    command: Callable[[Path], Sequence[str]]

    @property
    def fingerprint(self) -> str:
        """Changes with the pins and with what makes the part."""
        digest = hashlib.sha256(self.maker.encode())
        for pin in self.pins:
            digest.update(pin.read_bytes())
        return digest.hexdigest()


def parts(pins: Path, python: Path) -> tuple[ConsumerTool, ...]:
    """The parts; `pins` is scripts/consumers, `python` that of build/venv."""
    requirements = pins / "otava.txt"
    pip = (str(python), "-m", "pip", "--disable-pip-version-check", "install")
    return (
        ConsumerTool(
            "bin",
            "benchstat and actionlint",
            (pins / "go.mod", pins / "go.sum"),
            output_of(["go", "version"]),
            "there is no Go",
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
            f"there is no {python}",
            lambda folder: (
                *(*pip, "--no-input", "--retries", "1", "--timeout", "15"),
                *("--require-hashes", "--only-binary=:all:", "--no-deps", "--quiet"),
                *("--target", str(folder), "-r", str(requirements)),
            ),
        ),
    )


def ensure(
    wanted: Sequence[ConsumerTool], folder: Path, log: Path, screen: Screen
) -> None:
    """Makes the parts that are not there; says which cannot be made, and why."""
    log.unlink(missing_ok=True)
    for part in wanted:
        try:
            _ensure(part, folder / part.name, log, screen)
        except SetupError as error:
            screen.warn(f"Left out: {part.what}, for tests only: {error}")


def _ensure(part: ConsumerTool, folder: Path, log: Path, screen: Screen) -> None:
    stamp = folder / _STAMP
    if not part.maker:
        raise SetupError(part.absent)
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == part.fingerprint:
        return
    building = folder.with_name(f"{folder.name}.unfinished")
    for old in (building, folder):
        shutil.rmtree(old, ignore_errors=True)
    building.mkdir(parents=True)
    # Only the Go that is there: no download of another.
    env = os.environ | {"GOTOOLCHAIN": "local", "GOFLAGS": "-buildvcs=false"}
    command = ["timeout", str(_LIMIT_S), *part.command(building)]
    with screen.step(f"Making {part.what}, for tests"):
        run_logged(command, log, cwd=building, env=env)
    (building / _STAMP).write_text(part.fingerprint, encoding="utf-8")
    building.replace(folder)


def main() -> int:
    """Makes all of them for this checkout."""
    root = Path(__file__).resolve().parents[2]
    wanted = parts(root / "scripts/consumers", root / "build/venv/bin/python")
    log = root / "build/logs/consumers.log"
    ensure(wanted, root / "build/consumers", log, Screen())
    return 0


if __name__ == "__main__":
    sys.exit(main())
