"""kvmatrix doctor: is this machine fit for benchmarking?"""

import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from report.config.config_types import Config, SuiteConfig
from report.model.build_facts import machine_words
from scripts.basis.system_programs import NEEDED, require
from scripts.cli.exit_codes import exit_code_of
from scripts.doctor.admission import full, subject_of
from scripts.doctor.doctor_progress import progress_on
from scripts.doctor.finding import Finding, Severity
from scripts.doctor.finding_text import EXIT_UNFIT, document, lines
from scripts.doctor.probe_limits import ProbeResults
from scripts.doctor.subject import Subject
from scripts.machine.host import Machine, environment_document, identity
from scripts.machine.reader import SystemReader
from scripts.machine.system_access import SystemAccess
from scripts.planning.disk_room import existing_part, needed_bytes
from scripts.planning.executable import NOT_BUILT
from scripts.planning.found_engines import (
    ask_executables,
    child_environment,
    find_engines,
)
from scripts.planning.process_limits import explained, too_low
from scripts.request import options
from scripts.request.selection import read_config, suite_of
from scripts.show.listing import suite_plan
from scripts.show.output import Output, say_json, shown_line
from scripts.store.folder_lock import check_usable

_SUITE = "quick"
_WIDTH = 100  # of lines, unless a terminal is narrower


@click.command("doctor")
@click.argument("suite", required=False)
@click.option("--strict", is_flag=True, help="Exit 4, not 0, if a check failed.")
@options.stacked(
    options.CHECKED_DISK,
    options.BUILD,
    options.CONFIGS,
    options.QUIET,
    options.JSON,
    options.COLOR,
)
@click.pass_obj
def doctor(system: SystemAccess, /, suite: str | None, **given: Any) -> None:
    """Check whether this machine is fit to measure on.

    Disk space and memory must suffice for the largest cell of SUITE (default: quick).

    Processors, memory and the disk of the data directory are checked.  This syncs
    4 KiB a hundred times and runs a CPU loop for five seconds, which disturbs a run
    that is going; nothing is left behind.  Each finding that is not ok has a remedy; a
    check that cannot be run is a warning.

    \b
    ok    nothing to do
    warn  results are less reliable, or the check could not be run
    FAIL  results are not worth keeping: `run --strict` does not start

    \b
    Examples:
      scripts/kvmatrix doctor
      scripts/kvmatrix doctor leveldb-2011 --data-dir /mnt/ssd --strict
      scripts/kvmatrix run quick --strict

    \b
    Exit codes: 0 done; 2 wrong usage, invalid configuration or damaged files; 4 the
    machine is unfit (--strict); 130 interrupted.
    """
    output = Output.of(given)
    data_dir = given["data_dir"].resolve()

    def work() -> int:
        require(NEEDED)
        config = read_config(given["configs_dir"], suite or "")
        chosen = suite_of(config, suite or _usual_suite(config))
        check_usable(data_dir, "data")
        folder = existing_part(data_dir)
        build_dir = given["build_dir"].absolute()
        subject = _subject(config, chosen, build_dir, folder, system)
        with progress_on(output.stderr(), output.quiet) as notify:
            findings, probed = full(subject, system.probes(folder), notify)
        known = identity(subject.machine)
        _show(output, known, findings, probed)
        failed = any(finding.level is Severity.FAIL for finding in findings)
        return EXIT_UNFIT if failed and given["strict"] else 0

    sys.exit(exit_code_of(work))


def _usual_suite(config: Config) -> str:
    """Return quick, or the only suite of a configuration without it."""
    return next(iter(config.suites)) if len(config.suites) == 1 else _SUITE


def _subject(
    config: Config,
    suite: SuiteConfig,
    build_dir: Path,
    data_dir: Path,
    system: SystemAccess,
) -> Subject:
    """Return this machine and the needs of the suite."""
    machine = Machine(SystemReader(), data_dir)
    with tempfile.TemporaryDirectory() as scratch:
        executor = system.executor(child_environment(scratch))
        engines = find_engines(
            executor, build_dir, config, config.engines, Path(scratch)
        )
        ask = ask_executables(executor, build_dir)
        plan = suite_plan(config, suite, engines, ask)
    environment = environment_document(machine, [], child_environment("DATA/tmp"))
    needed = needed_bytes(plan)
    absent = [
        engine
        for engine in engines
        if engine.missing.startswith(NOT_BUILT)
        and config.engines[engine.name].is_on_request
    ]
    others = tuple(engine for engine in engines if engine not in absent)
    on_request = tuple(dict.fromkeys(engine.executable for engine in absent))
    low = (*explained(others), *too_low(plan, machine.reader))
    return subject_of(machine, environment, others, needed, suite.name, low, on_request)


def _show(
    output: Output,
    known: Mapping[str, Any],
    findings: Sequence[Finding],
    probed: ProbeResults,
) -> None:
    if output.as_json:
        say_json(document(findings, known, probed))
        return
    console = output.stdout()
    width = min(console.width, _WIDTH) if console.is_terminal else _WIDTH
    for line in lines(findings, machine_words(known, with_device=True), width):
        console.print(shown_line(line), soft_wrap=True)
