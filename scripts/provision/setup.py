"""`scripts/setup`: prepare a machine and a checkout, and build."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from report.config.pinned_source import PinnedSource
from report.terms.text_table import visible
from scripts.provision import (
    consumers,
    engine_list,
    fetch,
    packages,
    prefixes,
    recipe,
    venv,
)
from scripts.provision.cache import cache_dir, claim, locked
from scripts.provision.commands import run_logged, run_program
from scripts.provision.pins import read_flags, read_sources
from scripts.provision.problem import SetupError
from scripts.provision.remedy import system_text
from scripts.provision.setup_screen import Screen

ROOT = Path(__file__).resolve().parents[2]
EXIT_UNFIT = 2

_DESCRIPTION = """\
Prepare this machine and this checkout, then build every db_bench_ENGINE:
  1. Install the missing distribution packages (as root on Debian 12), or list them.
  2. Create a Python environment in build/venv, from scripts/requirements.txt.
  3. Fetch the engine sources pinned in configs/engines.toml, verify their
     checksums, and compile them into the cache with the flags of
     CMakePresets.json.  Check the checksum of every file compiled earlier.
  4. Build the harness and its drivers in build/release (or build/system).
Safe to repeat: completed work is not redone, and interrupted work is."""

_EPILOGUE = """\
environment:
  KVMATRIX_CACHE   directory for downloads, compiled engines and logs; an absolute
                   path of letters, digits, and /._+@~-
                   (default: kvmatrix in $XDG_CACHE_HOME or ~/.cache)
  KVMATRIX_PYTHON  Python 3.11 or newer (default: the first on PATH)
  CC, CXX          compilers (default: cc and c++ on PATH)

exit codes:
  0    ready
  2    something is missing, damaged or failed; stderr says what to do
  130  interrupted"""


def parser() -> argparse.ArgumentParser:
    """Return the command line of scripts/setup."""
    result = argparse.ArgumentParser(
        prog="scripts/setup",
        description=_DESCRIPTION,
        epilog=_EPILOGUE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    result.add_argument(
        "--engines",
        choices=("bundled", "system"),
        default="bundled",
        help="compile the engines, or use the distribution's libraries "
        "(default: bundled)",
    )
    result.add_argument(
        "--test", action="store_true", help="also install what scripts/test needs"
    )
    result.add_argument(
        "--python-only",
        action="store_true",
        help="set up only the Python environment",
    )
    result.add_argument(
        "--no-build", action="store_true", help="stop before building the harness"
    )
    result.add_argument(
        "-q", "--quiet", action="store_true", help="print only warnings and errors"
    )
    return result


def _plan(sources: Sequence[PinnedSource]) -> tuple[list[prefixes.Prefix], str]:
    """Return the prefix of each engine library, and the compiler flags."""
    flags = read_flags(ROOT / "CMakePresets.json")
    compiler = recipe.find_compiler(os.environ)
    return prefixes.plan(sources, flags, compiler, cache_dir(os.environ)), flags


def _requirements(
    options: argparse.Namespace, sources: Sequence[PinnedSource]
) -> list[packages.Requirement]:
    required = list(packages.BUILDING)
    if options.engines == "system":
        names = [engine_list.development_package(source) for source in sources]
        required += packages.development_packages(names)
    else:
        required += packages.COMPILING_ENGINES
        downloads = cache_dir(os.environ) / "downloads"
        if any(fetch.is_crate_missing(source, downloads) for source in sources):
            required += packages.FETCHING_CRATES
    return required + (list(packages.TESTING) if options.test else [])


def _python(options: argparse.Namespace, screen: Screen) -> None:
    build_dir = ROOT / "build"
    superset = ROOT / "scripts/requirements-dev.txt"
    file = superset if options.test else ROOT / "scripts/requirements.txt"
    venv.ensure(
        build_dir / "venv", file, superset, build_dir / "logs" / "venv.log", screen
    )


def _consumers(screen: Screen) -> None:
    build_dir = ROOT / "build"
    tools = consumers.tools_of(
        ROOT / "scripts/consumers", build_dir / "venv/bin/python"
    )
    log = build_dir / "logs" / "consumers.log"
    consumers.ensure(tools, build_dir / "consumers", log, screen)


def _libraries(
    options: argparse.Namespace, sources: Sequence[PinnedSource], screen: Screen
) -> list[engine_list.EngineLibrary]:
    """Compile what is missing, check the rest, and return what CMake must know."""
    if options.engines == "system":
        return engine_list.system(sources)
    planned, flags = _plan(sources)
    prefixes.check_all(planned)
    if not all(prefix.is_built for prefix in planned):
        compiler, cache = recipe.find_compiler(os.environ), cache_dir(os.environ)
        claim(cache)
        waiting = "Waiting for another set-up that uses the same cache ..."
        with locked(cache / "lock", lambda: screen.warn(waiting)):
            prefixes.build_all(planned, flags, compiler, cache, os.environ, screen)
    return engine_list.bundled(planned, flags)


def build(preset: str, log: Path, reconfigure: bool, screen: Screen) -> None:
    """Configure a preset if necessary, and build it.  Raises SetupError."""
    log.unlink(missing_ok=True)
    if reconfigure or not (ROOT / "build" / preset / "build.ninja").is_file():
        with screen.step(f"Configuring build/{preset}"):
            run_logged(["cmake", "--preset", preset], log, cwd=ROOT)
    text = f"Building build/{preset}"
    with screen.step(text):
        jobs = str(recipe.processors())
        command = ["cmake", "--build", "--preset", preset, "-j", jobs]
        progress = screen.build_progress(text, log)
        run_logged(command, log, cwd=ROOT, heartbeat=progress)


def run(options: argparse.Namespace, screen: Screen) -> None:
    """Carry out the steps that the options select.  Raises SetupError."""
    logs = ROOT / "build" / "logs"
    waiting = "Waiting for another set-up of this checkout ..."
    with locked(ROOT / "build" / "lock", lambda: screen.warn(waiting)):
        if options.python_only:
            required = [r for r in packages.BUILDING if r.package == "python3-venv"]
            packages.ensure(required, logs / "packages.log", screen)
            _python(options, screen)
            return
        sources = read_sources(ROOT / "configs/engines.toml")
        required = _requirements(options, sources)
        packages.ensure(required, logs / "packages.log", screen)
        _python(options, screen)
        if options.test:
            _consumers(screen)
        libraries = _libraries(options, sources, screen)
        path = ROOT / "build/engines" / f"{options.engines}.cmake"
        text = engine_list.cmake_text(libraries)
        changed = engine_list.write_if_changed(path, text)
        if not options.no_build:
            preset = "system" if options.engines == "system" else "release"
            build(preset, logs / f"{preset}.log", changed, screen)


def _cache() -> Path | None:
    """Return the cache, or None if its name is not usable."""
    try:
        return cache_dir(os.environ)
    except SetupError:
        return None


def _failed(text: str) -> int:
    """Print why the set-up cannot continue; return its exit status."""
    lines = map(visible, text.split("\n"))
    print("scripts/setup:", "\n".join(lines), file=sys.stderr, flush=True)
    return EXIT_UNFIT


def main(arguments: Sequence[str] | None = None) -> int:
    """Run scripts/setup; return its exit status."""
    options = parser().parse_args(arguments)
    screen = Screen(quiet=options.quiet)
    try:
        run(options, screen)
    except SetupError as error:
        return _failed(str(error))
    except OSError as error:
        return _failed(system_text(error, ROOT, _cache()))
    screen.say("Ready.")
    return 0


if __name__ == "__main__":
    run_program("scripts/setup", main)
