"""A valid input of every kind, small, with every part of its schema that a run has."""

from __future__ import annotations

import atexit
import json
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from report.model.ab_folder import ab_plan_of
from report.model.ab_rule import AbRule
from report.model.count_lines import end_line
from report.model.history_entry import MedianInterval, text
from report.model.plan_document import plan_of, sha256_of_settings
from tests.builders import (
    honest_answer,
    synthetic_ab,
    synthetic_descriptions,
    synthetic_history,
    synthetic_mix,
    synthetic_records,
    synthetic_run,
)
from tests.builders.regime_records import REGIME, figures_of
from tests.durability.strange_disks import DESCRIPTION
from tests.formats.test_kept_files import GO, NEW_FORM, TABLE
from tests.formats.test_ycsb_workload import core
from tests.hostile.json_tokens import written
from tests.hostile.material import FilePart, Material
from tests.hostile.toml_inputs import configs, lab
from tests.strangers.specimens import GIVEN, Specimens

Document = dict[str, Any]
_RATES = {"readrandom": 1.3e5, "fillseq": 8.0e5}
_REPETITIONS = 4  # the fewest that `check` compares
_CELLS = synthetic_ab.CELLS[:2]
OTHER = "20260102-040405-other"  # the run that a run is compared with


def run() -> Material:
    """Return a run of two engines and two benchmarks, one with an open loop."""
    engines = synthetic_run.ENGINES[:2]
    scenarios = [("baseline", "Baseline", _RATES)]
    plan = synthetic_run.plan(engines, scenarios, _REPETITIONS)
    return _run_of(plan, synthetic_run.lines(plan))


def mix() -> Material:
    """Return a run of threads, a writer and mixes, on a disk of its own."""
    plan = synthetic_mix.plan(1)
    engine = plan["engines"][0]["name"]
    plan["engines"] = plan["engines"][:1]
    plan["cells"] = [cell for cell in plan["cells"] if cell["engine"] == engine]
    for scenario in plan["scenarios"]:
        scenario["flags"] = {engine: scenario["flags"][engine]}
        scenario["regime"] = REGIME
    indexes = range(len(plan["cells"]))
    plan["order"] = [[n, [i]] for n in (1, 2) for i in indexes]
    figures = figures_of(synthetic_records.OPS, synthetic_records.ENTRY_BYTES)
    return _run_of(plan, [line | figures for line in synthetic_mix.lines(plan)])


def _run_of(plan: Document, lines: list[Document]) -> Material:
    plan["suite"]["timeout_s"] = 60.0
    plan["settings_sha256"] = sha256_of_settings(plan_of(plan, Path("run.json")))
    measured = tuple(dict(synthetic_run.seeded(plan, line)) for line in lines)
    return Material(
        (
            FilePart("run.json", "run.schema.json", (plan,)),
            _environment(),
            _lines("measurements.jsonl", "measurement.schema.json", measured),
        ),
        has_checksums=True,
        places=("report.html",),
    )


def ab() -> Material:
    """Return an A/B run of two cells, which are also counted."""
    rule = AbRule(screen_rounds=4)
    plan = synthetic_ab.ab_plan(_CELLS, rule=rule, counted=True)
    plan["suite"]["timeout_s"] = 60.0
    plan["settings_sha256"] = sha256_of_settings(ab_plan_of(plan, Path("ab.json")))
    counts = [
        synthetic_ab.count_line(cell, side, number)
        for cell in _CELLS
        for side in "ab"
        for number in (1, 2)
    ]
    end = end_line(plan["run"], len(counts), {"strace": "", "valgrind": ""})
    return Material(
        (
            FilePart("ab.json", "ab.schema.json", (plan,)),
            _environment(),
            _lines(
                "measurements.jsonl",
                "measurement.schema.json",
                tuple(synthetic_ab.ab_lines(plan)),
            ),
            FilePart(
                "counts.jsonl",
                "counts.schema.json",
                (*counts, end),
                has_lines=True,
                last_schema="counts_end.schema.json",
            ),
        ),
        has_checksums=True,
    )


def _environment() -> FilePart:
    document = synthetic_run.environment()
    return FilePart("environment.json", "environment.schema.json", (document,))


def _lines(file: str, schema: str, documents: tuple[Document, ...]) -> FilePart:
    return FilePart(file, schema, documents, has_lines=True)


def history() -> Material:
    """Return six entries of A/B runs, each in its file."""
    band = MedianInterval(25.0, 24.0, 26.0)
    measures = {"cpu_ns_per_op": band, "barriers": band}
    entries = [
        replace(
            entry,
            cells=tuple(replace(cell, measures=measures) for cell in entry.cells),
        )
        for entry in synthetic_history.history(6, reference="0.9")
    ]
    return Material(
        tuple(
            FilePart(f"{e.run}.json", "history.schema.json", (json.loads(text(e)),))
            for e in entries
        )
    )


def google() -> Material:
    """Return a file of Google Benchmark: repetitions, an aggregate, a failure."""
    timed = {"run_type": "iteration", "repetitions": 4, "threads": 1}
    entries: list[Document] = [
        {
            **timed,
            "name": f"BM_{name}",
            "repetition_index": index,
            "iterations": 1000,
            "real_time": 120.5 + index,
            "cpu_time": 119.0,
            "time_unit": "ns",
        }
        for name in ("Get/8", "Put")
        for index in range(4)
    ]
    entries.append({"name": "BM_Put_mean", "run_type": "aggregate"})
    failed = {"name": "BM_Scan", "error_occurred": True, "error_message": "no data"}
    context = {"host_name": "synthetic", "num_cpus": 2, "json_schema_version": 1}
    document = {"context": context, "benchmarks": [*entries, failed]}
    return Material((FilePart("google.json", "google.schema.json", (document,)),))


def _text(file: str, text: str) -> Material:
    """Return a file of text, the values of whose lines are words and blanks."""

    def line_of(words: Any) -> str:
        values = words.values() if isinstance(words, dict) else [words]
        return "".join(v if isinstance(v, str) else written(v) for v in values)

    words = (re.split(r"(\s+)", line) for line in text.splitlines())
    lines = tuple({str(n): word for n, word in enumerate(line)} for line in words)
    rules = {"type": "object"}
    return Material((FilePart(file, "", lines, True, rules=rules, write=line_of),))


def stat_lines() -> Material:
    """Return stat lines of db_bench, of two repetitions."""
    return _text("stats.txt", NEW_FORM)


def result_table() -> Material:
    """Return a table of benchmark.sh."""
    return _text("report.tsv", TABLE)


def go_benchmark() -> Material:
    """Return the output of Go benchmarks."""
    return _text("go.txt", GO)


def ycsb() -> Material:
    """Return a property file of YCSB."""
    return _text("workload", f"recordcount=9\noperationcount=9\n{core('e')}\n")


def description() -> Material:
    """Return what an executable prints for --describe."""
    document = synthetic_descriptions.description("one")
    document["common_flags"] = document["common_flags"][:3]
    document["benchmarks"] = document["benchmarks"][:3]
    return Material((FilePart("describe", "description.schema.json", (document,)),))


def answer() -> Material:
    """Return what an executable writes for one benchmark."""
    document = json.loads(json.dumps(honest_answer.honest()))
    return Material((FilePart("answer", "answer.schema.json", (document,)),))


def durability() -> Material:
    """Return a durability run of two trials, one of which has its line."""
    return Material(
        (
            _given("durability", "durability.json", "durability.schema.json"),
            _given("durability", "trials.jsonl", "trial.schema.json"),
        ),
        has_checksums=True,
        places=("environment.json", "passport.json", "report.html", "reproducers"),
    )


def fleet() -> Material:
    """Return a fleet without a run of one block; another is not finished."""
    return Material(
        (
            _given("fleet", "fleet.json", "fleet.schema.json"),
            _given("fleet", "plan.json", "run.schema.json"),
        ),
        places=("machines", "machines/local", "jobs", "jobs/1", "screen"),
    )


def shard() -> Material:
    """Return one of two shards."""
    return Material(
        (
            _given("shard", "run.json", "run.schema.json"),
            _given("shard", "environment.json", "environment.schema.json"),
            _given("shard", "measurements.jsonl", "measurement.schema.json"),
        ),
        has_checksums=True,
        places=("report.html",),
    )


def cut() -> Material:
    """Return what a reproducer of a durability run says."""
    document = json.loads(json.dumps(DESCRIPTION))
    rules = {"type": "object"}
    return Material((FilePart("cut.json", "", (document,), rules=rules),))


@cache
def specimen(kind: str) -> Path:
    """Return a lab in which a folder of this kind was made, for this process."""
    folder = Path(tempfile.mkdtemp(prefix="kvmatrix-specimens-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    Specimens(folder).copied(kind, folder / "lab")
    return folder / "lab"


def _given(kind: str, file: str, schema: str) -> FilePart:
    path = specimen(kind) / "results" / GIVEN / file
    has_lines = path.suffix == ".jsonl"
    text = path.read_text("utf-8")
    found = [json.loads(line) for line in (text.splitlines() if has_lines else [text])]
    documents = tuple(
        {key: d[key] for key in d if key not in ("checksum", "plan")} for d in found
    )
    return FilePart(file, schema, documents, has_lines)


_MAKERS = (
    *(run, mix, ab, history, google, stat_lines, result_table, go_benchmark, ycsb),
    *(description, answer, configs, lab),
    *(durability, fleet, shard, cut),
)


class Inputs(Mapping[str, Material]):
    """The valid inputs by their names, each made when it is first needed."""

    def __init__(self) -> None:
        self._makers = {make.__name__: cache(make) for make in _MAKERS}

    def __getitem__(self, name: str) -> Material:
        return self._makers[name]()

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)


@cache
def inputs() -> Inputs:
    """Return the valid inputs by their names."""
    return Inputs()
