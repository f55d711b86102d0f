"""Reading an A/B run: ab.json, environment.json, measurements.jsonl, counts.jsonl.

load_ab_run() raises ResultsError for whatever is not whole, foreign or doubled.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from report import planned
from report.cells import GRAVEST_FIRST, CellName, Engine, Measurement, Scenario
from report.documents import ResultsError, parse_object, read_bytes, validate
from report.regressions.ab_lines import RoundLines, rounds_of, side_of, slot_of
from report.regressions.ab_run import (
    SIDES,
    AbCell,
    AbRun,
    Failure,
    Repetition,
    Round,
    Side,
)
from report.regressions.ab_verdicts import suspects
from report.regressions.count_lines import COUNTS_FILE, read_count_lines
from report.regressions.rule import Rule
from report.results import (
    METHOD,
    NO_MEASUREMENTS,
    SCHEMA,
    read_measurements,
)
from report.text_table import one_line
from report.trust.lines import judged

AB_SCHEMA = 1
_FIRST_SCHEMA = 2  # of the lines of A/B runs
PLAN, LINES = "ab.json", "measurements.jsonl"
# What decides the work of a benchmark, and so must be the same on both sides.
WORK_KEYS = (
    *("kind", "prepare", "ops_divisor", "value_size", "batch_size"),
    *("sync", "one_call", "finds"),
)
Engines = Mapping[str, Engine]


def load_ab_run(path: Path) -> AbRun:
    """Reads and checks the run folder `path`.  Raises ResultsError."""
    place = path / PLAN
    plan = _document(place, "ab")
    environment = _document(path / "environment.json", "environment")
    engines = {s: planned.engines(plan["sides"][s]["engines"], place) for s in SIDES}
    scenarios = planned.scenarios(plan["scenarios"], place)
    names = planned.cell_names(plan["cells"], engines["a"], scenarios, place)
    _check_sides(names, engines, place)
    rule = rule_of(plan, place)
    lines = path / LINES
    found = read_measurements(lines) if lines.exists() else NO_MEASUREMENTS
    for m in found.measurements:
        _check_membership(m, plan["run"], f"{lines}:{m.line}")
    rounds = rounds_of(found.measurements, names, rule, str(lines))
    judged = _judged(found.measurements, engines, scenarios)
    obstacles = {name: obstacle(name, engines, scenarios) for name in names}
    _check_able(rounds, obstacles, lines)
    counts = read_count_lines(path / COUNTS_FILE, plan["run"], names)
    run = AbRun(
        run_id=plan["run"],
        same_build=plan["same_build"],
        seed=int(plan["seed"]),
        command=plan["command"],
        rule=rule,
        suite=plan["suite"],
        a=Side(one_line(plan["sides"]["a"]["label"]), tuple(engines["a"].values())),
        b=Side(one_line(plan["sides"]["b"]["label"]), tuple(engines["b"].values())),
        scenarios=tuple(scenarios.values()),
        cells=tuple(_cell(n, rounds[n], judged, rule, obstacles[n]) for n in names),
        unfinished=False,
        torn=found.torn,
        lines_sha256=found.sha256,
        plan=plan,
        environment=environment,
        counts=counts.lines,
        lines=tuple(m.record for m in found.measurements),
        tools=counts.tools,
    )
    due = suspects(run).all
    _check_confirmed(run, due, rounds, lines)
    return replace(run, unfinished=_is_unfinished(run, due))


def rule_of(plan: Mapping[str, Any], place: Path) -> Rule:
    """The rule of ab.json.  Raises ResultsError for what is not this version's.

    Error rates were measured of this rule; the rounds alone are up to the run.
    """
    given, own = plan["rule"], asdict(Rule())
    for key in own.keys() - {"screen_rounds", "confirm_rounds"}:
        if given[key] != own[key]:
            told = f"rule.{key} is {given[key]}, and that of this version {own[key]}"
            raise ResultsError(f"{place}: {told}: not the rule of this version")
    return Rule(**given)


def obstacle(
    name: CellName, engines: Mapping[str, Engines], scenarios: Mapping[str, Scenario]
) -> Failure | None:
    """Why a cell of the plan cannot run on both sides, or None."""
    for side in SIDES:
        engine = engines[side][name.engine]
        excluded = scenarios[name.scenario].exclude.get(name.engine)
        if excluded is not None:
            return Failure(side, "excluded", excluded)
        if engine.missing or engine.describe is None:
            return Failure(side, "missing", engine.missing or "nothing describes it")
        benchmark = engine.benchmark(name.benchmark)
        if benchmark is None:
            told = "the executable does not know this benchmark"
            return Failure(side, "unsupported", told)
        if reason := benchmark.get("unsupported"):
            return Failure(side, "unsupported", str(reason))
    return None


def _document(place: Path, schema_name: str) -> dict[str, Any]:
    document = parse_object(read_bytes(place), str(place))
    validate(document, schema_name, str(place))
    return document


def _check_sides(
    names: Iterable[CellName], engines: Mapping[str, Engines], place: Path
) -> None:
    """Both sides have the same engines, and each cell is the same work on both."""
    if engines["a"].keys() != engines["b"].keys():
        raise ResultsError(f"{place}: the sides do not list the same engines")
    for name in names:
        works = [_work(engines[side][name.engine], name) for side in SIDES]
        if None not in works and works[0] != works[1]:
            raise ResultsError(f"{place}: {name} is not the same work on both sides")


def _work(engine: Engine, name: CellName) -> dict[str, Any] | None:
    """What decides the work of a cell, or None if the engine cannot say."""
    benchmark = engine.benchmark(name.benchmark)
    return {key: benchmark.get(key) for key in WORK_KEYS} if benchmark else None


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
    rounds: Mapping[CellName, Sequence[RoundLines]],
    obstacles: Mapping[CellName, Failure | None],
    lines: Path,
) -> None:
    for name, made in rounds.items():
        if made and obstacles[name]:
            place = f"{lines}:{made[0].lines[0].line}"
            raise ResultsError(f"{place}: {name} cannot run on both sides")


def _check_confirmed(
    run: AbRun,
    due: Collection[CellName],
    rounds: Mapping[CellName, Sequence[RoundLines]],
    lines: Path,
) -> None:
    """Only suspects are confirmed; of a cell that failed later it is not known."""
    for cell in run.cells:
        if cell.confirm and cell.failure is None and cell.name not in due:
            made = rounds[cell.name][run.rule.screen_rounds]
            place = f"{lines}:{made.lines[0].line}"
            raise ResultsError(f"{place}: {cell.name} is confirmed, and no suspect")


def _judged(
    measurements: Sequence[Measurement],
    engines: Mapping[str, Engines],
    scenarios: Mapping[str, Scenario],
) -> dict[int, Measurement]:
    """The lines by their number, with the status of what cannot be believed changed.

    In a round both sides do the same work from the same seed, and are judged as the
    lines of one engine: two digests of one work cost the cell its verdict.
    """
    shown = judged(
        measurements, lambda m: engines[side_of(m)].get(m.cell.engine), scenarios
    )
    found = {m.line: m for m in shown}
    return {**found, **_disagreeing(found.values())}


def _disagreeing(judged: Iterable[Measurement]) -> dict[int, Measurement]:
    """The wrong lines of rounds in which each side agrees with none but itself."""
    rounds: dict[tuple[CellName, int], list[Measurement]] = {}
    for m in judged:
        if m.record["status"] == "ok":
            rounds.setdefault((m.cell, m.repetition), []).append(m)
    found: dict[int, Measurement] = {}
    for lines in rounds.values():
        a, b = ({m.record["digest"] for m in lines if side_of(m) == s} for s in SIDES)
        if len(a) == len(b) == 1 and a != b:
            told = f"the sides disagree: digest {min(a)} on a, {min(b)} on b"
            reason = f"{told}, in round {lines[0].repetition}"
            wrong = [m for m in lines if m.status == "wrong"]
            found |= {m.line: replace(m, reason=reason) for m in wrong}
    return found


def _cell(
    name: CellName,
    rounds: Sequence[RoundLines],
    judged: Mapping[int, Measurement],
    rule: Rule,
    obstacle: Failure | None,
) -> AbCell:
    lines = [judged[m.line] for one in rounds for m in one.lines]
    whole = [_round(r.number, [judged[m.line] for m in r.lines]) for r in rounds]
    complete = [one for one in whole if one is not None]
    return AbCell(
        name,
        screen=tuple(r for r in complete if r.number <= rule.screen_rounds),
        confirm=tuple(r for r in complete if r.number > rule.screen_rounds),
        failure=obstacle or _gravest(lines),
    )


def _gravest(lines: Iterable[Measurement]) -> Failure | None:
    """The first line of the status that tells most against the cell, if any does."""
    failed = [m for m in lines if m.status != "ok"]
    if not failed:
        return None
    worst = min(failed, key=lambda m: GRAVEST_FIRST.index(m.status))
    return Failure(side_of(worst), worst.status, one_line(worst.reason))


def _round(number: int, lines: Sequence[Measurement]) -> Round | None:
    """The round, if all four repetitions are ok."""
    made: dict[str, list[Repetition]] = {side: [] for side in SIDES}
    for m in lines:
        if m.status == "ok":
            made[side_of(m)].append(_repetition(m))
    if any(len(found) != 2 for found in made.values()):
        return None
    a, b = made.values()
    return Round(number, (a[0], a[1]), (b[0], b[1]))


def _repetition(m: Measurement) -> Repetition:
    assert m.elapsed_ns is not None and m.ops
    return Repetition(
        side=side_of(m),
        slot=slot_of(m),
        order=m.order,
        ns_per_op=m.elapsed_ns / m.ops,
        record=m.record,
        disturbed=m.disturbed,
    )


def _is_unfinished(run: AbRun, due: Collection[CellName]) -> bool:
    """Whether a cell that has not failed lacks rounds that are due, or the counts."""
    if run.plan["counted"] and run.tools is None:
        return True
    able = [cell for cell in run.cells if cell.failure is None]
    if any(len(cell.screen) < run.rule.screen_rounds for cell in able):
        return True
    return any(
        cell.name in due and len(cell.confirm) < run.rule.confirm_rounds
        for cell in able
    )
