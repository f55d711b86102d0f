"""An A/B run folder: ab.json, environment.json, measurements.jsonl, counts.jsonl.

load_ab() reads it and raises ResultsError for what is not whole, foreign or doubled;
judge_ab() says which of its lines can be believed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from report.model.ab_lines import RoundLines, rounds_of
from report.model.ab_plan import (
    AB_PLAN,
    AbPlan,
    ab_plan_of,
    read_ab_document,
)
from report.model.count_lines import COUNTS_FILE, CountFile, read_count_lines
from report.model.plan import METHOD, SCHEMA, CellName
from report.model.plan_document import check_amounts, check_settings
from report.model.run import Measurement
from report.model.run_folder import LINES, MeasurementFile, read_environment, read_lines
from report.terms.documents import ResultsError

_FIRST_SCHEMA = 2  # of the lines of A/B runs


@dataclass(frozen=True)
class RecordedAbRun:
    """An A/B run as its files have it; what its lines say has not been judged.

    `document` is ab.json as it stands.
    """

    path: Path
    plan: AbPlan
    lines: MeasurementFile
    rounds: Mapping[CellName, Sequence[RoundLines]]
    counts: CountFile
    environment: Mapping[str, Any]
    document: Mapping[str, Any]


def load_ab(path: Path) -> RecordedAbRun:
    """Read and check the run folder `path`; what its lines are worth is not asked."""
    document = read_ab_document(path)
    plan = ab_plan_of(document, path / AB_PLAN)
    lines, lines_path = read_lines(path), path / LINES
    for m in lines.measurements:
        _check_membership(m, plan.run, f"{lines_path}:{m.line}")
    rounds = rounds_of(lines.measurements, plan.cells, plan.rule, str(lines_path))
    _check_able(rounds, plan, lines_path)
    counts = read_count_lines(path / COUNTS_FILE, plan.run, plan.cells)
    environment = read_environment(path)
    return RecordedAbRun(path, plan, lines, rounds, counts, environment, document)


def check_unaltered(recorded: RecordedAbRun) -> None:
    """Raise ResultsError if a run cannot go on: its plan was altered."""
    place = recorded.path / AB_PLAN
    for plan in recorded.plan.sides.values():
        check_amounts(plan, place)
    check_settings(recorded.plan.settings(), recorded.document, place)


def _check_membership(m: Measurement, run: str, place: str) -> None:
    """Whether a line belongs to this run at all."""
    record = m.record
    if record["run"] != run:
        raise ResultsError(f"{place}: belongs to run {record['run']}")
    known = range(_FIRST_SCHEMA, SCHEMA + 1)
    if record["schema"] not in known or record["method"] != METHOD:
        told = f"schema {record['schema']} and method {record['method']}"
        raise ResultsError(f"{place}: {told} are not of an A/B run")
    if "ab" not in record:
        raise ResultsError(f"{place}: not a line of an A/B run: it has no side")


def _check_able(
    rounds: Mapping[CellName, Sequence[RoundLines]], plan: AbPlan, lines: Path
) -> None:
    for name, made in rounds.items():
        if made and plan.obstacle(name):
            place = f"{lines}:{made[0].lines[0].line}"
            raise ResultsError(f"{place}: {name} cannot run on both sides")
