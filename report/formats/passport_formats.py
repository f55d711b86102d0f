"""A passport as Markdown, as CSV, and as lines for a terminal."""

from collections.abc import Iterator, Mapping
from typing import Any

from report.durability import passport_tables as tables
from report.durability.durability_folder import RecordedDurability
from report.durability.passport import OUTCOMES, passport_of
from report.model.build_facts import machine_words, started
from report.terms.class_stamp import CLASSES, PROOF_MEANINGS
from report.terms.text_table import TextLine, TextTable, csv_text, escaped, one_line

_COLUMNS = (
    *("engine", "version", "setting", "flags", "promise", "documented_class"),
    *("found_class", "may_be_corrupt", "proof", "proof_states"),
    *("covers_tried", "covers_held", "most_lost_commits"),
    *("open_ms_median", "open_ms_max", "barriers_per_write"),
    *("method", "fs", "aim", "tried", *OUTCOMES),
    "not_tried",
)


def render_md(recorded: RecordedDurability) -> str:
    """Return the passport of a run as Markdown."""
    passport = passport_of(recorded.plan, recorded.trials)
    return "\n".join([*_markdown(recorded, passport)]) + "\n"


def render_csv(recorded: RecordedDurability) -> str:
    """Return one row for each setting, method, file system and aim.

    A setting of which no state was tried has one row.
    """
    passport = passport_of(recorded.plan, recorded.trials)
    return csv_text(_COLUMNS, _rows(passport))


def summary_lines(passport: Mapping[str, Any], folder: str) -> list[TextLine]:
    """Return the result of a run for a terminal; `folder` is where the run is."""
    entries = passport["settings"]
    lines = [*tables.matrix(entries).lines()]
    parts = {**tables.seen(entries, folder), "Not tried": tables.not_tried(entries)}
    for title, more in parts.items():
        if more.rows:
            lines += [TextLine(""), TextLine(title), *more.lines()]
    missing = [
        f"missing: {name}: {one_line(why)}" for name, why in passport["missing"].items()
    ]
    texts = ["", *_legend(), "", *missing, tables.summary_sentence(passport)]
    return [*lines, *map(TextLine, texts)]


def _legend() -> Iterator[str]:
    for name, meaning in (*CLASSES, *PROOF_MEANINGS):
        yield f"{name}: {meaning}"


def _markdown(
    recorded: RecordedDurability, passport: Mapping[str, Any]
) -> Iterator[str]:
    entries = passport["settings"]
    yield from (f"# Durability: {escaped(one_line(recorded.plan.run))}", "")
    yield from (f"{tables.summary_sentence(passport)}.", "")
    when = filter(
        None, (started(recorded.plan.run), machine_words(passport["machine"]))
    )
    yield from (escaped(one_line(" · ".join(when))), "")
    yield from (tables.matrix(entries).markdown(), "")
    yield from (f"* {line}" for line in _legend())
    yield from ("", tables.by_engine(entries).markdown())
    folder = tables.published_folder(recorded.plan.run)
    for title, table in (
        *tables.seen(entries, folder).items(),
        ("Full disk", tables.full_disk(entries)),
        ("Not tried", tables.not_tried(entries)),
    ):
        yield from _section(title, table)
    for engine, why in recorded.plan.missing.items():
        yield from ("", f"Missing: {engine}: {escaped(one_line(why))}")
    for method, why in recorded.plan.requisites.items():
        if why:
            yield from ("", f"Not possible here: {method}: {escaped(one_line(why))}")


def _section(title: str, table: TextTable) -> Iterator[str]:
    if table.rows:
        yield from ("", f"## {title}", "", table.markdown())


def _rows(passport: Mapping[str, Any]) -> Iterator[list[Any]]:
    for entry in passport["settings"]:
        times = entry["open_ms"] or {"median": None, "max": None}
        head = [
            *(entry["engine"], entry["version"], entry["setting"]),
            " ".join(entry["flags"]),
            *(entry["documented"]["promise"], entry["documented"]["class"]),
            *(entry["found"]["class"], entry["found"]["may_be_corrupt"]),
            *(entry["proof"]["kind"], entry["proof"]["states"]),
            *(entry["covers"]["tried"], entry["covers"]["held"]),
            *(entry["most_lost"], times["median"], times["max"]),
            entry["barriers_per_write"],
        ]
        why = "; ".join(entry["not_tried"])
        if not entry["states"]:
            yield [*head, *[None] * (len(_COLUMNS) - len(head) - 1), why]
        for row in entry["states"]:
            counts = [row[key] for key in ("tried", *OUTCOMES)]
            yield [*head, row["method"], row["fs"], row["aim"], *counts, why]
