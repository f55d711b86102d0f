"""The public ways into the program: each reads one input and accepts or refuses it.

A surface gets the places of an input and returns the error message for a refused one,
or "" for an accepted one.  It raises Broken if the contract does not hold.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from report.config.config_types import Config
from report.config.configuration import load, load_readable
from report.config.durability_suite import (
    durability_suites,
    read_durability_suite,
)
from report.config.toml_table import ConfigError
from report.config.ycsb_workload import (
    read_workload,
    recorded_workload,
    with_workload,
)
from report.foreign import kept_file
from report.model import ab_folder, history_folder
from report.model.run_folder import read_current_plan
from report.terms.documents import ResultsError
from report.trust.judge import load_run
from report.verdict.ab_judge import load_ab_run
from scripts.forecast.size_history import collect
from scripts.measure.result_check import CheckedAnswer, judge, validated
from scripts.planning.executable import NotUsable, parse_description
from scripts.store.run_store import EVERY_KIND
from tests.builders import honest_answer
from tests.hostile.contract import (
    MOST_MESSAGE_CHARS,
    Broken,
    check_exit,
    check_message,
    check_output,
    check_visible,
    traceback_of,
)
from tests.support.command_line import call
from tests.support.fake_executor import FakeExecutor
from tests.support.quiet_machine import quiet_machine

Surface = Callable[["InputPlaces"], str]
_ERROR = "kvmatrix: "


@dataclass(frozen=True)
class InputPlaces:
    """Where an input is, and the valid inputs with which it is compared."""

    folder: Path  # the input itself: a run, a history or the folder of a file
    other: Path  # a valid run
    history: Path  # a valid history
    scratch: Path  # for output; empty at first
    build: Path  # executables of fake engines
    lab: Path | None = None  # configuration, builds and data, if a verb continues


def verb(*words: str, exits: tuple[int, ...] = (0, 2), form: str = "text") -> Surface:
    """Return the surface of a command line; {it} is the input."""

    def read(places: InputPlaces) -> str:
        known = {
            "it": str(places.folder),
            "other": str(places.other),
            "history": str(places.history),
            "scratch": str(places.scratch),
            "above": str(places.folder.parent),
        }
        done = call([word.format(**known) for word in words], env={"COLUMNS": "200"})
        check_exit(done, exits)
        check_visible(done.stderr, "stderr")
        if done.returncode != 2:
            if done.stdout:
                check_output(done.stdout, form)
            return ""
        lines = done.stderr.splitlines()
        errors = [
            line.removeprefix(_ERROR)
            for line in lines
            if line.startswith(_ERROR) and ": warning: " not in line[:30]
        ]
        if not errors:
            raise Broken(
                "message", f"exit 2 without one: {done.stderr[:300]!r}", "none"
            )
        check_message(errors[0], str(places.folder))
        return errors[0]

    return read


def _reading(read: Callable[[Path], object], file: str = "") -> Surface:
    """Return the surface of a function that raises ResultsError."""

    def reads(places: InputPlaces) -> str:
        try:
            read(places.folder / file)
        except ResultsError as error:
            check_message(str(error), str(places.folder))
            return str(error)
        except Exception as error:
            raise traceback_of(error) from error
        return ""

    return reads


def _resumed(path: Path) -> None:
    """Apply the checks of `resume` to a run."""
    read_current_plan(path)
    load_run(path)


def _resumed_ab(path: Path) -> None:
    """Apply the checks of `resume` to an A/B run."""
    ab_folder.check_unaltered(ab_folder.load_ab(path))


def _sampled(places: InputPlaces) -> str:
    """Collect what `plan` learns from a run; a bad one is skipped with a reason."""
    plan = read_current_plan(places.other)
    try:
        _, skipped = collect([places.folder], plan)
    except Exception as error:
        raise traceback_of(error) from error
    for reason in skipped:
        check_message(reason, str(places.folder))
    return skipped[0] if skipped else ""


def _listed(places: InputPlaces) -> str:
    """List the runs of a folder; a damaged one is listed with its error."""
    done = call(["list", "runs", "--results-dir", str(places.folder.parent)])
    check_exit(done, (0, 2))
    check_visible(done.stdout + done.stderr, "text")
    is_run = any((places.folder / kind).is_file() for kind in EVERY_KIND)
    if is_run and places.folder.name not in done.stdout:
        raise Broken("list", f"the run is not listed: {done.stdout[:300]!r}", "list")
    return done.stdout if done.returncode else ""


def _described(places: InputPlaces) -> str:
    text = (places.folder / "describe").read_bytes()
    try:
        parse_description("db_bench_one", "one", honest_answer.OK, text)
    except NotUsable as error:
        check_message(str(error), "db_bench_one")
        return str(error)
    except Exception as error:
        raise traceback_of(error) from error
    return ""


def _judged(places: InputPlaces) -> str:
    text = (places.folder / "answer").read_bytes()
    try:
        checked = judge(honest_answer.EXPECTED, honest_answer.OK, text)
    except Exception as error:
        raise traceback_of(error) from error
    statuses = ("ok", "unsupported", "wrong", "error", "timeout")
    if not isinstance(checked, CheckedAnswer) or checked.status not in statuses:
        raise Broken("answer", f"judged {checked!r:.100}")
    check_visible(checked.reason, "reason")
    if checked.ok != (not checked.reason):
        raise Broken("answer", f"{checked.status} with the reason {checked.reason!r}")
    if checked.ok:
        _store(dict(checked.record))
    return checked.reason


def _store(record: dict[str, Any]) -> None:
    """Check that an answer that is ok can be written and read again."""
    line = validated(record, honest_answer.CONTEXT)
    json.dumps(line, allow_nan=False).encode()


_RUN_EXITS = (0, 2, 5)
_GATE_EXITS = (0, 1, 2, 3, 5)
_FORMATS = ("google", "benchstat", "bencher", "github-bigger", "github-smaller")


def _reports(
    kinds: tuple[str, ...], exits: tuple[int, ...] = (0, 2)
) -> dict[str, Surface]:
    forms = {"html": "html", "csv": "csv", "cells": "csv"}
    forms |= {"md": "text", "benchstat": "text"}
    return {
        f"report {kind}": verb(
            *("report", "{it}", "--format", kind, "-o", "-"),
            exits=exits,
            form=forms.get(kind, "json"),
        )
        for kind in kinds
    }


def _gates(*words: str) -> dict[str, Surface]:
    forms = {"text": "text", "github": "github", "junit": "junit", "json": "json"}
    return {
        f"check {kind} {' '.join(words[:1])}".strip(): verb(
            *("check", "{it}", "--format", kind, *words), exits=_GATE_EXITS, form=form
        )
        for kind, form in forms.items()
    }


def _compares() -> dict[str, Surface]:
    forms = {"table": "text", "md": "text", "csv": "csv", "json": "json"}
    return {
        f"compare {kind}": verb(
            *("compare", *order, "--all", "--format", kind), exits=_RUN_EXITS, form=form
        )
        for (kind, form), order in zip(
            forms.items(), [("{it}", "{other}"), ("{other}", "{it}")] * 2, strict=True
        )
    }


def _histories() -> dict[str, Surface]:
    forms = {"text": "text", "html": "html", "csv": "csv", "json": "json"}
    shown = {
        f"history {kind}": verb(
            *("history", "--history-dir", "{it}", "--format", kind, "-o", "-"),
            exits=_RUN_EXITS,
            form=form,
        )
        for kind, form in forms.items()
    }
    gate = ("check", "{other}", "--against", "history", "--history-dir", "{it}")
    return {**shown, "check against it": verb(*gate, exits=_GATE_EXITS)}


_ADD = verb("history", "add", "{it}", "--history-dir", "{scratch}/history")
_IN_HISTORY = ("--against", "history", "--history-dir", "{history}")

RUN_SURFACES: dict[str, Surface] = {
    "load": _reading(load_run),
    "resume": _reading(_resumed),
    "samples": _sampled,
    **_reports(("html", "md", "csv", "cells", "json")),
    **_reports(_FORMATS, _RUN_EXITS),
    **_compares(),
    **_gates("--against", "{other}"),
    "check history": verb("check", "{it}", *_IN_HISTORY, exits=_GATE_EXITS),
    "history add": _ADD,
    "list runs": _listed,
}
AB_SURFACES: dict[str, Surface] = {
    "load": _reading(load_ab_run),
    "resume": _reading(_resumed_ab),
    **_reports(("html", "md", "csv")),
    **_reports(("benchstat",), _RUN_EXITS),
    **_gates(),
    "check history": verb("check", "{it}", *_IN_HISTORY, exits=_GATE_EXITS),
    "history add": _ADD,
    "list runs": _listed,
}
HISTORY_SURFACES: dict[str, Surface] = {
    "load": _reading(history_folder.load),
    **_histories(),
}


def kept_surfaces(file: str) -> dict[str, Surface]:
    """Return the surfaces of a file of another program."""
    forms = {"table": "text", "csv": "csv", "json": "json"}
    compared = ("compare", f"{{it}}/{file}", f"{{it}}/{file}", "--format")
    add = ("history", "add", f"{{it}}/{file}", "--history-dir", "{scratch}/history")
    return {
        "load": _reading(kept_file.read, file),
        "history add": verb(*add),
        **{
            f"compare {kind}": verb(*compared, kind, exits=_RUN_EXITS, form=form)
            for kind, form in forms.items()
        },
    }


DESCRIPTION_SURFACES: dict[str, Surface] = {"describe": _described}
ANSWER_SURFACES: dict[str, Surface] = {"judge": _judged}


def _loaded(load: Callable[[Path], Config]) -> Surface:
    def reads(places: InputPlaces) -> str:
        try:
            config = load(places.folder)
            for suite in durability_suites(places.folder):
                read_durability_suite(places.folder, suite)
        except ConfigError as error:
            check_message(str(error), str(places.folder))
            return str(error)
        except Exception as error:
            raise traceback_of(error) from error
        for fault in config.broken:
            check_message(str(fault), str(places.folder))
        return "\n".join(map(str, config.broken))

    return reads


def _configured(*words: str, exits: tuple[int, ...] = (0, 2, 3, 4, 5)) -> Surface:
    """Return the surface of a verb that reads a configuration.

    It measures nothing: a dry run, a list or a prediction.
    """

    def read(places: InputPlaces) -> str:
        arguments = [*words, "--configs-dir", str(places.folder)]
        arguments += ["--build-dir", str(places.build)]
        if words[0] != "list":
            arguments += ["--data-dir", str(places.scratch / "data")]
            arguments += ["--results-dir", str(places.scratch / "results")]
        done = call(arguments, quiet_machine(FakeExecutor), {"COLUMNS": "200"})
        check_exit(done, exits)
        check_visible(done.stdout + done.stderr, "text")
        if done.returncode and not done.stderr.strip():
            raise Broken("message", f"exit {done.returncode} without one", "none")
        longest = MOST_MESSAGE_CHARS + len(str(places.folder))
        for line in done.stderr.splitlines():
            if len(line) > longest:
                raise Broken(
                    "message", f"{len(line)} characters: {line[:300]!r}", "long"
                )
        return done.stderr if done.returncode == 2 else ""

    return read


def _workload(places: InputPlaces) -> str:
    """Make a suite of a property file."""
    try:
        workload = read_workload([places.folder / "workload"], {})
        config, notes = with_workload(Config({}, {}, {}), workload)
        again = recorded_workload(workload.name, workload.document())
        made = with_workload(Config({}, {}, {}), again)[0].scenarios[workload.name]
        if made.flags != config.scenarios[workload.name].flags:
            raise Broken("plan", f"other flags than of the file: {made.flags}")
    except ConfigError as error:
        check_message(str(error), str(places.folder))
        return str(error)
    except Broken:
        raise
    except Exception as error:
        raise traceback_of(error) from error
    for note in notes:
        check_visible(note, "note")
    return ""


YCSB_SURFACES: dict[str, Surface] = {"load": _workload}
_CONFIG_LOADS: dict[str, Surface] = {
    "load": _loaded(load),
    "load readable": _loaded(load_readable),
}
CONFIG_SURFACES: dict[str, Surface] = {
    **_CONFIG_LOADS,
    "list": _configured("list", "scenarios", exits=(0, 2)),
    "list cells": _configured("list", "cells", "quick", exits=(0, 2)),
    "list json": _configured("list", "--json", exits=(0, 2)),
}
LAB_SURFACES: dict[str, Surface] = {
    **_CONFIG_LOADS,
    "list": _configured("list", exits=(0, 2)),
    "dry run": _configured("run", "lab", "--dry-run"),
    "dry run json": _configured("run", "lab", "--dry-run", "--json"),
    "plan": _configured("plan", "lab", "--num", "1000"),
}
