"""The conditions of a result: settings in force, machine, time spent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from typing import Any

from report.model.build_facts import text_of
from report.model.plan import Engine, Plan, Scenario
from report.model.run import Measurement, Run
from report.published import published_figures
from report.terms import numbers, row_settings
from report.terms.regime import BLOCK, DIRECTORY
from report.terms.rulebook import FLAGS, option_text
from report.verdict.comparison import Chart

UNKNOWN = "unknown"
_NOT_READ_BACK = " (as requested)"
_SPELLINGS = {"cpu": "CPU", "cpus": "CPUs", "mhz": "MHz", "smt": "SMT"}


@dataclass(frozen=True)
class Settings:
    """One engine in one scenario: requested settings and those it reported."""

    engine: Engine
    requested: tuple[tuple[str, str], ...]
    read_back: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Share:
    """One part of the time of the run."""

    title: str
    elapsed_ns: int
    share: float


def settings(scenario: Scenario, charts: Sequence[Chart]) -> list[Settings]:
    """Return the requested and the reported settings of each engine of a scenario."""
    by_engine = []
    rows = [row for c in charts for row in (*c.rows, *c.references, *c.floors)]
    for engine in dict.fromkeys(r.engine.name for r in rows):
        engine_rows = [r for r in rows if r.engine.name == engine]
        values: dict[str, dict[str, None]] = {}
        for m in (m for r in engine_rows for m in r.repetitions):
            for name, text in m.settings.items():
                values.setdefault(name, {})[text] = None
        flags = scenario.flags.get(engine, {})
        by_engine.append(
            Settings(
                engine_rows[0].engine,
                tuple((name, text_of(value)) for name, value in sorted(flags.items())),
                tuple(
                    (
                        name,
                        " or ".join(_in_force(text, name in flags) for text in texts),
                    )
                    for name, texts in sorted(values.items())
                ),
            )
        )
    return by_engine


def whose_settings(plan: Plan, engine: Engine, code: str) -> str:
    """Return whose settings a row has, in words: "settings of 2011"; "" if unknown."""
    if code in published_figures.names():
        year = str(published_figures.origin(code).year)
        is_there = engine.measures in published_figures.engines(code)
        return row_settings.words(code, year, is_there)
    source = next((e.title for e in plan.engines if e.name == code), code)
    return row_settings.words(code, source)


def replaced(plan: Plan, scenario: Scenario) -> str:
    """Return which settings of its rows a scenario replaces, in a sentence; "": none.

    Older plans do not record which, and compared sizes by how they were written.
    """
    if row_settings.REPLACED not in scenario.settings_of.values():
        return ""
    if not scenario.replaced:
        return "Which settings of rows are replaced here, if any, is not recorded."
    texts = []
    for engine in plan.engines:
        flags = scenario.flags.get(engine.name, {})
        pairs = [
            f"{name}={text_of(flags.get(name))} instead of {text_of(value)}"
            for name, value in scenario.replaced.get(engine.name, {}).items()
        ]
        texts += [f"{engine.title} has {', '.join(pairs)}"] if pairs else []
    return f"Settings of rows replaced here: {'; '.join(texts)}."


def _in_force(text: str, is_requested: bool) -> str:
    """Return a setting; one that was not requested is called a default.

    A driver marks every setting that its engine cannot report "(as requested)", even
    if it was not requested (driver.h).
    """
    if is_requested or not text.endswith(_NOT_READ_BACK):
        return text
    return f"{text.removesuffix(_NOT_READ_BACK)} (default, not read back)"


def environment(
    document: Mapping[str, Any],
) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the environment document as groups of (name, value), in its order."""
    loose: list[tuple[str, str]] = []
    groups: list[tuple[str, list[tuple[str, str]]]] = []
    for name, value in document.items():
        if name == "schema":
            continue
        if name == "machines":
            groups += [
                (machine, _of_machine(facts)) for machine, facts in value.items()
            ]
        elif isinstance(value, Mapping):
            groups.append((_words(name), _flat(value)))
        elif name == "doctor":
            groups.append((_words(name), [_finding(entry) for entry in value]))
        else:
            loose.append((_words(name), readable(name, value)))
    return [*groups, *([("other", loose)] if loose else [])]


def _of_machine(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the environment of one machine of many, as one group."""
    others = {name: value for name, value in facts.items() if name != "doctor"}
    return [*_flat(others), *map(_finding, facts.get("doctor", ()))]


def _finding(entry: Mapping[str, str]) -> tuple[str, str]:
    """Return one finding of the doctor, with its level unless it is ok."""
    level = "" if entry["level"] == "ok" else f"{entry['level'].upper()}: "
    return entry["name"], f"{level}{entry['found']}"


def readable(name: str, value: Any) -> str:
    """Format a value by the unit in its name; None and "" become "unknown"."""
    if value is None or value == "":
        return UNKNOWN
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(readable(name, v) for v in value) or "none"
    if name == "allowed_cpus":
        return f"processor numbers {value}"
    if isinstance(value, int) and name.endswith("_bytes"):
        return f"{numbers.size(value)} ({value:,} bytes)"
    return str(value)


def rerun_command(run: Run, engines: str, scenario: str, benchmark: str) -> str:
    """Return the command that measures a chart, or one cell of it, again.

    A part of a suite has a control only with --control, and the control's second
    name cannot be selected.
    """
    words = ["scripts/kvmatrix run", run.plan.suite.name, f"-n {run.plan.repetitions}"]
    words.append(f"--seed {run.plan.seed}")
    regimes = (s.regime for s in run.plan.scenarios if fnmatch(s.name, scenario))
    regime = next(regimes, None)
    if regime and regime.memory_limit_bytes:
        words.append(f"--memory-limit {regime.memory_limit_bytes}B")
    if regime and regime.device in (BLOCK, DIRECTORY):
        words.append("--device PATH")
    suite = run.plan.suite
    chosen = suite.chosen.items()
    words += (option_text(flag, value) for flag, value in chosen if flag in FLAGS)
    if suite.repeat_disturbed is not None:
        words.append(f"--repeat-disturbed {suite.repeat_disturbed}")
    if suite.latency_repetitions == 0:
        words.append("--no-latency")
    elif "--latency" in run.plan.command.split():
        words.append("--latency")
    selected = _selectable(run, engines)
    if suite.control in selected:
        words.append("--control")
    words.append(f"-e {','.join(selected)} -k '*/{scenario}/{benchmark}'")
    return " ".join(words)


def _selectable(run: Run, engines: str) -> list[str]:
    """Return the engines without duplicates, the control by its engine's name."""
    twins = {e.name: e.twin_of for e in run.plan.engines if e.twin_of}
    return list(dict.fromkeys(twins.get(name, name) for name in engines.split(",")))


def time_shares(run: Run) -> list[Share]:
    """Return the parts of the wall time, in the order of a repetition."""
    total, prepared = (_total(run.measurements, n) for n in ("wall_ns", "prepare_ns"))
    retried = {m.line for cell in run.cells.values() for m in cell.superseded}
    earlier = [m for m in run.measurements if m.line in retried]
    latest = [m for m in run.measurements if m.line not in retried]
    audits = (m.record.get("audit") or {} for m in latest)
    retried_ns = _total(earlier, "wall_ns") - _total(earlier, "prepare_ns")
    parts = [
        ("timed work", _total(latest, "loop_ns", "flush_ns")),
        ("settling deferred work", _total(latest, "settle_ns")),
        ("opening and closing", _total(latest, "open_ns", "close_ns")),
        ("preparing databases to read", prepared),
        ("audits after writes", sum(a.get("audit_ns") or 0 for a in audits)),
    ]
    if earlier:
        parts.append(("disturbed attempts", retried_ns))
    rest = total - sum(elapsed_ns for _, elapsed_ns in parts)
    if rest > 0:
        parts.append(("processes, copies, cleanup", rest))
    whole = sum(elapsed_ns for _, elapsed_ns in parts)
    return [Share(title, ns, ns / whole) for title, ns in parts if whole]


def _total(measurements: Iterable[Measurement], *names: str) -> int:
    return sum(m.figure(name) or 0 for m in measurements for name in names)


def _flat(group: Mapping[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    pairs = []
    for name, value in group.items():
        if isinstance(value, Mapping):
            pairs += _flat(value, f"{prefix}{_words(name)}: ")
        else:
            pairs.append((prefix + _words(name), readable(name, value)))
    return pairs


def _words(name: str) -> str:
    if name.isupper():  # an environment variable
        return name
    words = name.removesuffix("_bytes").replace("_", " ").split()
    return " ".join(_SPELLINGS.get(word, word) for word in words)
