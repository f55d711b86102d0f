"""`scripts/setup`: prepare a machine and a checkout, and build."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from report.config.engine_file import ReadEngines
from report.config.pinned_source import CrateSource, JarSource, PinnedSource
from report.terms.text_table import visible
from scripts.basis.cache import cache_dir, locked
from scripts.basis.commands import run_program
from scripts.basis.problem import SetupError
from scripts.basis.remedy import system_text
from scripts.basis.setup_screen import Screen
from scripts.provision import (
    built,
    consumers,
    engine_list,
    installing,
    languages,
    packages,
    requested,
    source_sums,
    venv,
)
from scripts.provision.installing import Workshop
from scripts.provision.requested import Chosen

ROOT = Path(__file__).resolve().parents[2]
EXIT_UNFIT = 2
EXIT_PARTIAL = 3
_REQUESTED = "engines/requested.json"

_DESCRIPTION = """\
Prepare this machine and this checkout, then build every db_bench_ENGINE:
  1. Install the missing distribution packages (as root on Debian 12), or list them.
  2. Create a Python environment in build/venv, from scripts/requirements.txt.
  3. Fetch the engine sources pinned in configs/engines.toml, verify their
     checksums, and compile them into the cache with the flags of
     CMakePresets.json.  Check the checksum of every file compiled earlier.
  4. Build the harness and its drivers in build/release (or build/system), and
     check that every engine's executable answers.  --test also builds the tests
     of ctest.
Other engines are installed on request: configs/engines/ lists them.
Safe to repeat: completed work is not redone, and interrupted work is."""

_EPILOGUE = """\
environment:
  KVMATRIX_CACHE   directory for downloads, compiled engines and logs; an absolute
                   path of letters, digits, and /._+@~-
                   (default: kvmatrix in $XDG_CACHE_HOME or ~/.cache)
  KVMATRIX_PYTHON  Python 3.11 or newer (default: the first on PATH)
  CC, CXX          compilers (default: cc and c++ on PATH)
  JAVA_HOME        JDK for engines in Java (default: that of javac on PATH)

exit codes:
  0    ready
  2    something is missing, damaged or failed; stderr says what to do
  3    ready, except the engines that stderr names, with what to do
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
    _add_what(result.add_mutually_exclusive_group())
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


def _add_what(which: Any) -> None:
    """Add the options that select what is installed, of which one can be given."""
    which.add_argument(
        "--with",
        dest="added",
        nargs="+",
        action="extend",
        metavar="NAME",
        help="install these engines as well, or all; a NAME may also be a list with "
        "commas.  Later set-ups of this checkout keep them",
    )
    which.add_argument(
        "--only",
        nargs="+",
        action="extend",
        metavar="NAME",
        help="install only these engines and what they need, also in later set-ups",
    )
    which.add_argument(
        "--default",
        action="store_true",
        help="install the default engines again, and no others",
    )
    which.add_argument(
        "--checksums",
        metavar="NAME",
        help="only print the checksums of an engine's sources, ready to be pasted",
    )
    which.add_argument(
        "--package",
        action="store_true",
        help="only build what engines of other repositories need, and install it in "
        "build/package, for CMake's find_package(kvmatrix)",
    )


def _requirements(
    options: argparse.Namespace, sources: Sequence[PinnedSource], shop: Workshop
) -> list[packages.Requirement]:
    required = list(packages.BUILDING)
    if not shop.is_system:
        required += packages.COMPILING_ENGINES
    required += installing.requirements(sources, shop)
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


def _choice(options: argparse.Namespace, engines: ReadEngines) -> requested.Choice:
    """Return which engines to install, and remember it.  Raises SetupError."""
    path = ROOT / "build" / _REQUESTED
    choice = requested.Choice() if options.default else requested.remembered(path)
    if options.only:
        choice = requested.Choice(False, requested.resolved(options.only, engines))
    if options.added:
        choice = choice.adding(requested.resolved(options.added, engines))
    if choice == requested.Choice():
        path.unlink(missing_ok=True)
    else:
        engine_list.write_if_changed(path, requested.choice_text(choice))
    return choice


def _install(
    chosen: Chosen, shop: Workshop, problems: dict[str, str]
) -> tuple[list[engine_list.EngineLibrary], dict[str, str]]:
    """Install the engines; return their libraries and CMake's other variables.

    What is wrong with an engine on request is added to `problems`.
    """
    libraries = installing.libraries_of(chosen.sources_of(chosen.default), shop)
    variables: dict[str, str] = {}
    unfit: dict[str, str] = {}  # what is wrong with toolchains
    for engine in chosen.on_request:
        if engine.toolchain in unfit:
            problems[engine.name] = unfit[engine.toolchain]
            continue
        try:
            sources = chosen.sources_of([engine])
            libraries += installing.install(engine, sources, shop)
        except SetupError as error:
            problems[engine.name] = str(error)
            if languages.problem(engine.toolchain):
                unfit[engine.toolchain] = str(error)
        else:
            if engine.toolchain:
                variables |= languages.TOOLCHAINS[engine.toolchain].variables()
    return libraries, variables


def _build(
    options: argparse.Namespace,
    chosen: Chosen,
    reconfigure: bool,
    problems: dict[str, str],
    screen: Screen,
) -> None:
    """Build the harness; add to `problems` which engines do not answer.

    What an earlier build made of engines that failed is removed.
    """
    preset = "system" if options.engines == "system" else "release"
    default = [engine.name for engine in chosen.default]
    others = [e.name for e in chosen.on_request if e.name not in problems]
    failed = built.build(
        ROOT, preset, reconfigure, default, others, options.test, screen
    )
    problems |= failed
    sound = [name for name in (*default, *others) if name not in failed]
    drivers = ROOT / "build" / preset / "drivers"
    built.remove(drivers, problems)
    problems |= built.unanswered(drivers, sound)


def run(options: argparse.Namespace, screen: Screen) -> dict[str, str]:
    """Carry out the steps that the options select.

    Return what is wrong with engines that are not ready, by name.  Raises SetupError
    if nothing is.
    """
    logs = ROOT / "build" / "logs"
    waiting = "Waiting for another set-up of this checkout ..."
    with locked(ROOT / "build" / "lock", lambda: screen.warn(waiting)):
        built.remove_foreign(ROOT, screen)
        if options.python_only:
            required = [r for r in packages.BUILDING if r.package == "python3-venv"]
            packages.ensure(required, logs / "packages.log", screen)
            _python(options, screen)
            return {}
        if options.package:
            required = [*packages.BUILDING, *packages.COUNTING]
            packages.ensure(required, logs / "packages.log", screen)
            _python(options, screen)
            built.install_package(ROOT, screen)
            return {}
        if options.checksums:
            _print_checksums(options, screen)
            return {}
        engines = requested.read(ROOT / "configs")
        choice = _choice(options, engines)
        chosen, problems = requested.chosen(choice, engines)
        if (options.only or options.added) and chosen.on_request:
            names = ", ".join(engine.name for engine in chosen.on_request)
            cost = requested.cost_text(chosen.on_request)
            screen.say(f"Installing on request: {names} ({cost}, if nothing is cached)")
        is_system = options.engines == "system"
        shop = installing.workshop(
            ROOT, chosen.sources.values(), screen, is_system=is_system
        )
        required = _requirements(options, chosen.sources_of(chosen.default), shop)
        log = logs / "packages.log"
        packages.ensure(required, log, screen, packages.CUTTING)
        _python(options, screen)
        if options.test:
            _consumers(screen)
        libraries, variables = _install(chosen, shop, problems)
        path = ROOT / "build/engines" / f"{options.engines}.cmake"
        on_request = [engine.name for engine in chosen.on_request]
        sound = [name for name in on_request if name not in problems]
        text = engine_list.cmake_text(libraries, sound, variables)
        changed = engine_list.write_if_changed(path, text)
        if not options.no_build:
            _build(options, chosen, changed, problems, screen)
        return problems


def _print_checksums(options: argparse.Namespace, screen: Screen) -> None:
    """Print the checksums of an engine's sources on stdout.  Raises SetupError."""
    sources = source_sums.unchecked_sources(options.checksums, ROOT / "configs")
    required = list(packages.COMPILING_ENGINES[:1])
    required += packages.FETCHING_CRATES if _has(CrateSource, sources) else ()
    required += packages.FETCHING_JARS if _has(JarSource, sources) else ()
    packages.ensure(required, ROOT / "build/logs/packages.log", screen)
    _python(options, screen)
    log = ROOT / "build/logs/checksums.log"
    for line in source_sums.lines(sources, log, screen):
        print(line)


def _has(kind: type[PinnedSource], sources: Sequence[PinnedSource]) -> bool:
    return any(isinstance(source, kind) for source in sources)


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
        problems = run(options, screen)
    except SetupError as error:
        return _failed(str(error))
    except OSError as error:
        return _failed(system_text(error, ROOT, _cache()))
    if problems:
        for problem in dict.fromkeys(problems.values()):
            names = [name for name in problems if problems[name] == problem]
            _failed(f"{', '.join(names)}: {problem}")
        screen.warn(f"Ready, except {', '.join(problems)}: see above.")
        return EXIT_PARTIAL
    if not options.checksums:
        screen.say("Ready.")
    return 0


if __name__ == "__main__":
    run_program("scripts/setup", main)
