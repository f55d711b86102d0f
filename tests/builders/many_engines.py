"""Runs of more engines than a table has columns for, and of two tables."""

from pathlib import Path

from report.model.run import Run
from report.trust.judge import load_run
from tests.builders import synthetic_records, synthetic_run
from tests.builders.synthetic_run import Document

COUNT = 25
GROUPS = ("lsm", "btree", "hash")
SPEEDS = (1.0, 0.3, 0.7, 0.1, 0.9, 0.5, 0.2)  # factors on rates, in turn
# The variants, by the engine whose executable they run; both are in one group.
VARIANTS = {
    "engine-22": "engine-01",
    "engine-23": "engine-01",
    "engine-24": "engine-05",
}
UNABLE = ("engine-02", "readseq")  # a cell without a rate


def plan() -> Document:
    """Return a plan of COUNT engines in three groups, a floor and a control."""
    names = [f"engine-{number:02}" for number in range(COUNT)]
    engines = [(name, f"Engine {name[-2:]}, with a name", "", 1.0) for name in names]
    floor = ("floor", "floor", "floor", 60.0)
    control = ("engine-00-control", "Engine 00, again", "control", 1.0)
    document = synthetic_run.plan((*engines, floor, control))
    document["suite"]["control"] = names[0]
    document["engines"][-1]["twin_of"] = names[0]
    for number, engine in enumerate(document["engines"][:COUNT]):
        engine["group"] = GROUPS[number % len(GROUPS)]
        if base := VARIANTS.get(engine["name"]):
            engine["variant_of"] = base
            engine["group"] = GROUPS[names.index(base) % len(GROUPS)]
            engine["describe"]["engine"] = base
    return document


def lines(document: Document) -> list[Document]:
    """Return an ok line for each repetition of each cell but UNABLE."""
    speeds = {
        engine["name"]: SPEEDS[number % len(SPEEDS)]
        for number, engine in enumerate(document["engines"])
    }
    rates = {name: rate for s in synthetic_run.SCENARIOS for name, rate in s[2].items()}

    def make(cell: Document, repetition: int) -> Document:
        if (cell["engine"], cell["benchmark"]) == UNABLE:
            return synthetic_records.failure(cell, "unsupported", "keeps no key order")
        speed = 60.0 if cell["engine"] == "floor" else speeds[cell["engine"]]
        rate = rates[cell["benchmark"]] * speed * (1 + repetition * 0.002)
        return synthetic_records.line(cell, repetition, rate)

    return synthetic_run.lines_of(document, make)


def run(folder: Path) -> Run:
    """Return the run, which is written to the folder."""
    document = plan()
    return load_run(synthetic_run.write_run(folder, document, lines(document)))


def two_tables(folder: Path) -> Run:
    """Return a run whose last scenario has other rows than those before it.

    Alpha's advised row, and Gamma with its defaults; the others are as published.
    """
    advised = ("alpha-advised", "Alpha, as advised", "", 1.7)
    engines = (*synthetic_run.ENGINES, advised)
    last = ("advised", "As advised, data in memory", synthetic_run.SCENARIOS[0][2])
    scenarios = (*synthetic_run.SCENARIOS, last)
    plan = synthetic_run.plan(engines, scenarios)
    plan["engines"][-1]["variant_of"] = "alpha"
    rows = {"alpha-advised": "advised", "gamma": "defaults"}
    for scenario in plan["scenarios"]:
        is_last = scenario["name"] == "advised"
        usual = {engine[0]: "leveldb-2011" for engine in synthetic_run.ENGINES[:3]}
        scenario["settings_of"] = rows if is_last else usual
    plan["cells"] = [
        cell
        for cell in plan["cells"]
        if (cell["engine"] in (*rows, "floor") and cell["scenario"] == "advised")
        or (cell["engine"] != "alpha-advised" and cell["scenario"] != "advised")
    ]
    rounds = range(1, plan["repetitions"] + 2)
    plan["order"] = [[n, [i]] for n in rounds for i in range(len(plan["cells"]))]
    rates = {s[0]: s[2] for s in scenarios}
    factors = {e[0]: e[3] for e in engines}

    def line(cell: Document, repetition: int) -> Document:
        rate = rates[cell["scenario"]][cell["benchmark"]] * factors[cell["engine"]]
        made = synthetic_records.line(cell, repetition, rate * (1 + repetition / 200))
        buffered = {"cache_size": "none: it maps", "write_buffer_size": "2097152"}
        made["options"] = {**made["options"], "cache_size_bytes": 4 << 20}
        return {**made, "settings": buffered if cell["engine"] == "gamma" else {}}

    return load_run(
        synthetic_run.write_run(folder, plan, synthetic_run.lines_of(plan, line))
    )
