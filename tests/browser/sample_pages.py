"""The nine kinds of page, from synthetic runs that show everything they can show."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from report.model.ab_plan import Failure
from report.page import ab_page, durability_page, report_page
from report.trust.judge import load_run
from report.verdict.ab_verdicts import judge
from tests.builders import (
    ab_rounds,
    ab_showcase,
    many_engines,
    synthetic_durability,
    synthetic_history,
    synthetic_mix,
    synthetic_run,
    synthetic_sweep,
)
from tests.fleet.many_machines import (
    machine_times,
    many_machines_run,
    on_machines,
)
from tests.pages import test_history_page

_REASON = "a reason of many words, " * 12 + "/a/path/without/a/break" * 8
_LABEL = "a-label-of-many-words-without-a-break-" * 5
_SIZES = (4, 64, 1024, 8192)


def report(folder: Path) -> Path:
    """Write a report with every status, a tie, long texts and published figures."""
    plan = synthetic_run.varied_plan()
    plan["suite"]["published"] = "leveldb-2011"
    lines = synthetic_run.varied_lines(plan)
    for line in lines:
        if line["status"] == "error":
            line["reason"] = _REASON
    text = json.dumps([plan, lines])
    for engine, published in (("alpha", "leveldb"), ("beta-tree", "treedb")):
        text = text.replace(f'"{engine}"', f'"{published}"')
    return _of_run(folder, *json.loads(text))


def mix(folder: Path) -> Path:
    """Write a report of four threads: reads, reads next to a writer, two mixes."""
    plan = synthetic_mix.plan()
    return _of_run(folder, plan, synthetic_mix.lines(plan))


def sweep(folder: Path) -> Path:
    """Write a sweep of six engines at four sizes, with a gap and three sources."""
    plan = synthetic_sweep.plan(_SIZES)
    plan["engines"][3]["title"] = "SQLite3, WITHOUT ROWID"
    plan["suite"]["published"] = ["kyoto-ceda", "leveldb-1.1", "rocksdb-vs-leveldb"]
    lines = [
        synthetic_run.disturbed(line, "other processes 31 %") if line["ops"] else line
        for line in synthetic_sweep.lines(plan)
    ]
    return _of_run(folder, plan, lines)


def many(folder: Path) -> Path:
    """Write a report of 25 engines, in groups."""
    return _written(folder, report_page.render(many_engines.run(folder)))


def tables(folder: Path) -> Path:
    """Write a report whose last charts have other rows, in a table of their own."""
    return _written(folder, report_page.render(many_engines.two_tables(folder)))


def machines(folder: Path) -> Path:
    """Write a report of six machines: one out of line, and one that disagrees."""
    names = [f"m-{number:08x}" for number in range(1, 6)]
    order = [*names, "a-machine-with-a-long-name"] * 8
    times = machine_times(order, {order[0]: 0.8}, noisy=order[1])
    return _written(folder, report_page.render(many_machines_run(times, order, folder)))


def ab(folder: Path) -> Path:
    """Write an A/B page: every verdict, counts, long texts, machines that disagree."""
    names = [f"m-{number:08x}" for number in range(1, 6)]
    names.append("a-machine-with-a-long-name")
    cell = "beta-tree/batch/fillseqbatch"
    run = on_machines(ab_showcase.varied(), names, {names[2]: 0.3}, cell)
    cells = list(run.cells)
    cells[-1] = replace(cells[-1], screen=(), failure=Failure("b", "error", _REASON))
    run = ab_rounds.labelled(replace(run, cells=tuple(cells)), "next-" * 12)
    result = replace(judge(run), counts=ab_showcase.counts())
    return _written(folder, ab_page.render(result))


def history(folder: Path) -> Path:
    """Write a history: every state of a step, ratios, long labels, two machines."""
    entries = test_history_page.entries()
    entries[45] = replace(entries[45], label=_LABEL)
    cpu = {**synthetic_history.MACHINE, "cpu_model": "Another CPU " * 8}
    reads = test_history_page.READS
    step = synthetic_history.step_at(50, 0.05, cell=reads)
    ratios = synthetic_history.history(70, [reads], step, reference="pinned")
    entries += [replace(e, machine=cpu, run=f"{e.run}-there") for e in ratios]
    return _written(folder, test_history_page.page(entries))


def durability(folder: Path) -> Path:
    """Write a passport: each proof, violations, a full disk, failures, long texts."""
    made = synthetic_durability
    plan = made.plan(
        made.setting(title=_REASON),
        made.setting(f"beta/{_LABEL}"),
        made.setting("gamma/durable"),
        requisites={"kill": "", "shutdown": "", "log": _REASON, "full": ""},
    )
    states = {"random": made.outcomes(complete=1_234_567, hole=2)}
    file = f"reproducers/{_LABEL}.kvmcut"
    violation = made.violation("hole", count=2, detail=_REASON, reproducer=file)
    records = [
        made.trial("log", states=states, violations=[violation]),
        made.trial("full", full=[made.stage(error=_REASON, found=_REASON)]),
        made.trial("log", name=f"beta/{_LABEL}"),
        made.failed("kill", _REASON),
    ]
    return _written(folder, durability_page.render(made.recorded(records, plan)))


KINDS: dict[str, Callable[[Path], Path]] = {
    "report": report,
    "mix": mix,
    "sweep": sweep,
    "many": many,
    "tables": tables,
    "machines": machines,
    "ab": ab,
    "history": history,
    "durability": durability,
}


def _of_run(folder: Path, plan: Any, lines: Any) -> Path:
    """Write the report of a synthetic run into its folder; return its path."""
    return _written(
        folder,
        report_page.render(load_run(synthetic_run.write_run(folder, plan, lines))),
    )


def _written(folder: Path, text: str) -> Path:
    path = folder / "report.html"
    path.write_text(text, encoding="utf-8")
    return path
