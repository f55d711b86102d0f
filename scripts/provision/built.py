"""Building the harness, and whether every engine that was chosen has been built."""

import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from report.terms.encoding import reason_of
from scripts.basis.commands import run_logged
from scripts.basis.problem import SetupError
from scripts.basis.setup_screen import Screen
from scripts.provision.recipe import processors

_PATIENCE_S = 60
_EXCERPT_CHARS = 300
_PROGRAMS = ("block_log",)  # that the runner starts, as well as those of the engines
# In a build folder: where it and its sources were when CMake configured it.
_PLACES = re.compile(r"(?m)^CMAKE_(HOME_DIRECTORY|CACHEFILE_DIR):INTERNAL=(.*)$")


def build(
    root: Path,
    preset: str,
    reconfigure: bool,
    default: Sequence[str],
    on_request: Sequence[str],
    with_tests: bool,
    screen: Screen,
) -> dict[str, str]:
    """Configure a preset if necessary, and build it, `with_tests` of ctest or without.

    Return what is wrong with engines on request, by name; the failure of one stops no
    other.  Raises SetupError if anything else fails.
    """
    log = root / f"build/logs/{preset}.log"
    log.unlink(missing_ok=True)
    _configure(root, preset, reconfigure, log, screen)
    text = f"Building build/{preset}"
    command = _command(preset)
    what = [] if with_tests else ["--target", "drivers/all", *_PROGRAMS]
    to_the_end = ["--", "-k", "0"] if on_request else []
    with screen.step(text):
        progress = screen.build_progress(text, log)
        try:
            run_logged(
                [*command, *what, *to_the_end], log, cwd=root, heartbeat=progress
            )
        except SetupError as error:
            problems = _one_by_one(root, preset, command, default, on_request)
            if not problems:  # it is the harness or a default engine
                raise error
            return problems
    return {}


def install_package(root: Path, screen: Screen) -> None:
    """Build what engines of other repositories need, and install it in build/package.

    Raises SetupError.
    """
    log = root / "build/logs/package.log"
    log.unlink(missing_ok=True)
    _configure(root, "release", False, log, screen)
    text = "Building the package"
    target = ["--target", "kvmatrix_package", "db_bench_null", "null-plugin"]
    with screen.step(text):
        progress = screen.build_progress(text, log)
        run_logged([*_command("release"), *target], log, cwd=root, heartbeat=progress)
    install = ["cmake", "--install", "build/release", "--prefix", "build/package"]
    with screen.step("Installing it in build/package"):
        run_logged(install, log, cwd=root)


def _configure(
    root: Path, preset: str, reconfigure: bool, log: Path, screen: Screen
) -> None:
    folder = root / "build" / preset
    if reconfigure or not (folder / "build.ninja").is_file():
        with screen.step(f"Configuring build/{preset}"):
            run_logged(["cmake", "--preset", preset], log, cwd=root)


def remove_foreign(root: Path, screen: Screen) -> None:
    """Remove build folders of this checkout that were configured for another one.

    Their rules have absolute paths: they would compile the sources over there.
    """
    for file in sorted((root / "build").glob("*/CMakeCache.txt")):
        folder = file.parent
        if other := _configured_for(folder, root):
            name = folder.relative_to(root)
            with screen.step(f"Removing {name}, which was configured for {other}"):
                shutil.rmtree(folder)


def _configured_for(folder: Path, root: Path) -> str:
    """Return the other checkout for which CMake configured a build folder, or "".

    A checkout that is copied or moved with its build has such a folder.  One behind a
    link is another checkout's, on purpose, and never removed.
    """
    if folder.resolve() != root.resolve() / folder.relative_to(root):
        return ""
    own = {"HOME_DIRECTORY": root, "CACHEFILE_DIR": folder}
    try:
        text = (folder / "CMakeCache.txt").read_text("utf-8", "replace")
    except OSError:
        return ""
    places = ((own[key], place) for key, place in _PLACES.findall(text))
    foreign = (place for own, place in places if Path(place).resolve() != own.resolve())
    return next(foreign, "")


def _command(preset: str) -> list[str]:
    return ["cmake", "--build", "--preset", preset, "-j", str(processors())]


def _one_by_one(
    root: Path,
    preset: str,
    command: Sequence[str],
    default: Sequence[str],
    on_request: Sequence[str],
) -> dict[str, str]:
    """Build engines on request again, each for itself; return what failed.

    Nothing is returned if a default engine fails.
    """
    drivers = root / "build" / preset / "drivers"
    logs = root / "build/logs"
    targets = [f"db_bench_{name}" for name in default if not reason(drivers, name)]
    try:
        log = logs / f"{preset}-default.log"
        log.unlink(missing_ok=True)
        if targets:
            run_logged([*command, "--target", *targets], log, cwd=root)
    except SetupError:
        return {}
    problems = {}
    for name in on_request:
        log = logs / f"{preset}-{name}.log"
        log.unlink(missing_ok=True)
        try:
            if not reason(drivers, name):
                target = _target(drivers.parent, name)
                run_logged([*command, "--target", target], log, cwd=root)
        except SetupError as error:
            problems[name] = str(error)
    return problems


def _target(build: Path, engine: str) -> str:
    """Return the target of an engine: its executable, or its plug-in."""
    executable = f"db_bench_{engine}"
    rules = (build / "build.ninja").read_text("utf-8", "replace")
    is_plugin = f"\nbuild {engine}: " in rules
    return (
        engine if is_plugin and f"\nbuild {executable}: " not in rules else executable
    )


def remove(drivers: Path, engines: Iterable[str]) -> None:
    """Remove what an earlier build made of engines, so that nobody measures it."""
    for name in engines:
        for program in (f"db_bench_{name}", f"{name}.so"):
            (drivers / program).unlink(missing_ok=True)


def reason(drivers: Path, engine: str) -> str:
    """Return why CMake does not build an engine; "" if it does, or says nothing."""
    with suppress(OSError):
        return (drivers / f"db_bench_{engine}.why").read_text("utf-8").strip()
    return ""


def unanswered(drivers: Path, engines: Iterable[str]) -> dict[str, str]:
    """Return what is wrong with executables that do not answer, by engine."""
    problems = {engine: _problem(drivers, engine) for engine in engines}
    return {engine: problem for engine, problem in problems.items() if problem}


def _problem(drivers: Path, engine: str) -> str:
    path, plugin = drivers / f"db_bench_{engine}", drivers / f"{engine}.so"
    command = [str(path), "--version"]
    if not path.is_file() and plugin.is_file():
        path = plugin
        command = [str(drivers / "db_bench_plugin"), f"--driver={plugin}", "--version"]
    if why := reason(drivers, engine):
        return f"not built: {why}"
    if not path.is_file():
        return (
            f"{path} was not built; drivers/CMakeLists.txt needs a line for it, such "
            f"as add_driver({engine} ...), or that of drivers/go, java or rust"
        )
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_PATIENCE_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"{path} --version does not answer within {_PATIENCE_S} s"
    except OSError as error:
        return f"{path} --version cannot be started: {reason_of(error)}"
    if done.returncode:
        said = " ".join(done.stderr.split())[-_EXCERPT_CHARS:]
        return f"{path} --version failed with status {done.returncode}: {said}"
    named = re.search(r"^engine: +(\S+) ", done.stdout, re.MULTILINE)
    if named and named[1] != engine:
        return f"{path} has an engine named {named[1]}; expected {engine}"
    return ""
