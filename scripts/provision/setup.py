"""`scripts/setup`: makes a machine and a checkout ready, and builds."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from report.config.pinned_source import PinnedSource
from scripts.provision import (
    consumers,
    engine_list,
    on_request,
    packages,
    prefixes,
    recipe,
    venv,
)
from scripts.provision.cache import cache_dir, locked
from scripts.provision.commands import run_logged, run_program
from scripts.provision.pins import read_flags, read_sources
from scripts.provision.problem import SetupError
from scripts.provision.setup_screen import Screen

ROOT = Path(__file__).resolve().parents[2]
EXIT_UNFIT = 2

_DESCRIPTION = """\
Makes this machine and this checkout ready, then builds every db_bench_<engine>:
  1. packages of the distribution (installed when root on Debian 12, else listed)
  2. a Python environment in build/venv, from scripts/requirements.txt
  3. engine sources pinned in configs/engines.toml: fetched, checked, compiled
     once with the flags of CMakePresets.json, and kept in the cache
  4. the harness and its drivers, in build/release (or build/system)
Safe to repeat: what is done already is not done again."""

_EPILOGUE = """\
environment:
  KVMATRIX_CACHE   where downloads, compiled engines and logs are kept
                   (default: kvmatrix in $XDG_CACHE_HOME or ~/.cache)
  CC, CXX          the compilers (default: cc and c++)
exit status: 0 ready; 2 something is missing or failed, and stderr says what;
130 interrupted"""


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
        help="compile the engines (default) or use the distribution's libraries",
    )
    result.add_argument(
        "--with",
        dest="asked",
        metavar="ENGINE",
        action="append",
        default=[],
        help="compile this engine too, which otherwise is the distribution's: "
        "rocksdb (what it costs is said first; repeat for several)",
    )
    result.add_argument(
        "--test", action="store_true", help="install what scripts/test needs as well"
    )
    result.add_argument(
        "--python-only", action="store_true", help="only the Python environment"
    )
    result.add_argument(
        "--no-build", action="store_true", help="stop before building the harness"
    )
    result.add_argument(
        "-q", "--quiet", action="store_true", help="say only what needs attention"
    )
    return result


def _plan(
    sources: Sequence[PinnedSource], cache: Path
) -> tuple[list[prefixes.Prefix], str]:
    """The folder of each engine library, and the flags they are compiled with."""
    flags = read_flags(ROOT / "CMakePresets.json")
    compiler = recipe.find_compiler(os.environ)
    return prefixes.plan(sources, flags, compiler, cache), flags


def _requirements(
    options: argparse.Namespace,
    sources: Sequence[PinnedSource],
    cache: Path,
    screen: Screen,
) -> list[packages.Requirement]:
    wanted = list(packages.BUILDING)
    if options.engines == "system":
        names = [engine_list.development_package(source) for source in sources]
        wanted += packages.development_packages(names)
    else:
        wanted += packages.COMPILING_ENGINES
        planned, _ = _plan(sources, cache)
        theirs = on_request.others(planned, options.asked)
        wanted += on_request.installable(theirs, screen)
    return wanted + (list(packages.TESTING) if options.test else [])


def _python(options: argparse.Namespace, screen: Screen) -> None:
    build_dir = ROOT / "build"
    every = ROOT / "scripts/requirements-dev.txt"
    wanted = every if options.test else ROOT / "scripts/requirements.txt"
    venv.ensure(
        build_dir / "venv", wanted, every, build_dir / "logs" / "venv.log", screen
    )


def _consumers(screen: Screen) -> None:
    build_dir = ROOT / "build"
    wanted = consumers.parts(ROOT / "scripts/consumers", build_dir / "venv/bin/python")
    log = build_dir / "logs" / "consumers.log"
    consumers.ensure(wanted, build_dir / "consumers", log, screen)


def _libraries(
    options: argparse.Namespace,
    sources: Sequence[PinnedSource],
    cache: Path,
    screen: Screen,
) -> list[engine_list.EngineLibrary]:
    if options.engines == "system":
        return engine_list.system(sources)
    planned, flags = _plan(sources, cache)
    ours = on_request.compiled(planned, options.asked)
    theirs = on_request.others(planned, options.asked)
    if not all(prefix.is_built for prefix in ours):
        on_request.tell_costs(ours, screen)
        compiler = recipe.find_compiler(os.environ)
        waiting = "Waiting for another set-up that uses the same cache ..."
        with locked(cache / "lock", lambda: screen.warn(waiting)):
            prefixes.build_all(ours, flags, compiler, cache, os.environ, screen)
    installed = [source for source in theirs if engine_list.installed_version(source)]
    return engine_list.bundled(ours, flags) + engine_list.system(installed)


def build(preset: str, log: Path, reconfigure: bool, screen: Screen) -> None:
    """Configure if need be, and build a preset; SetupError if that fails."""
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
    """Do what the options ask for; SetupError says why it cannot be done."""
    cache = cache_dir(os.environ)
    logs = ROOT / "build" / "logs"
    waiting = "Waiting for another set-up of this checkout ..."
    with locked(ROOT / "build" / "lock", lambda: screen.warn(waiting)):
        if options.python_only:
            wanted = [r for r in packages.BUILDING if r.package == "python3-venv"]
            packages.ensure(wanted, logs / "packages.log", screen)
            _python(options, screen)
            return
        sources = read_sources(ROOT / "configs/engines.toml")
        on_request.check(sources, options.asked)
        wanted = _requirements(options, sources, cache, screen)
        packages.ensure(wanted, logs / "packages.log", screen)
        _python(options, screen)
        if options.test:
            _consumers(screen)
        libraries = _libraries(options, sources, cache, screen)
        path = ROOT / "build/engines" / f"{options.engines}.cmake"
        text = engine_list.cmake_text(libraries)
        changed = engine_list.write_if_changed(path, text)
        if not options.no_build:
            preset = "system" if options.engines == "system" else "release"
            build(preset, logs / f"{preset}.log", changed, screen)


def _forbidden(error: PermissionError) -> str:
    """What to do about a place that this user may not use."""
    path = Path(os.fsdecode(error.filename or "")).absolute()
    if path.is_relative_to(ROOT):
        remedy = "set up as the user who owns this checkout, or clone it anew"
    else:
        remedy = "set KVMATRIX_CACHE to a folder that this user can write"
    return f"permission denied: {path}; {remedy}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run scripts/setup; return its exit status."""
    options = parser().parse_args(arguments)
    screen = Screen(quiet=options.quiet)
    try:
        run(options, screen)
    except SetupError as error:
        print(f"scripts/setup: {error}", file=sys.stderr)
        return EXIT_UNFIT
    except PermissionError as error:
        print(f"scripts/setup: {_forbidden(error)}", file=sys.stderr)
        return EXIT_UNFIT
    screen.say("Ready.")
    return 0


if __name__ == "__main__":
    run_program("scripts/setup", main)
