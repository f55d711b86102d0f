"""The predicted memory of the table of keys is what executables allocate."""

import json
import subprocess
from pathlib import Path

import pytest

from report.model.description import Description
from report.model.plan import CellName, Engine, Plan, Scenario, Suite
from scripts.planning.oracle_memory import table_bytes
from tests.places import BUILD

FLOOR = BUILD / "drivers/db_bench_null"  # has no memory of its own
NUM = 2_000_000
NEARLY = 1 << 20  # bytes of everything else


def counted(benchmark: str) -> int:
    """Return table_bytes() of a cell of this benchmark."""
    text = subprocess.run(
        [str(FLOOR), "--describe"], check=True, capture_output=True, text=True
    ).stdout
    engine = Engine("null", "", "", "", Description.of(json.loads(text)), "", "")
    flags = {"null": {"num": NUM}}
    scenario = Scenario("base", "", "", (benchmark,), flags, {})
    cell = CellName("null", "base", benchmark)
    plan = Plan("", Suite("", ""), 1, 1, "", (engine,), (scenario,), (cell,), (), {})
    return table_bytes(plan, cell)


@pytest.mark.parametrize(
    "benchmark",
    [
        *("fillseq", "filluniquerandom", "fillrandom", "fillseqbatch"),
        *("fillrandbatch", "fillrand100K", "readrandom", "readseq"),
        *("overwrite", "deleteseq", "deleterandom"),
    ],
)
def test_a_table_is_as_large_as_the_executables(benchmark: str, tmp_path: Path) -> None:
    fresh = benchmark.startswith("fill")
    named = benchmark if fresh else f"filluniquerandom,{benchmark}"
    answer = tmp_path / "answer.json"
    command = [
        str(FLOOR),
        f"--benchmarks={named}",
        f"--num={NUM}",
        f"--db={tmp_path}/db",
    ]
    subprocess.run([*command, f"--json={answer}"], check=True, capture_output=True)
    line = json.loads(answer.read_text().splitlines()[-1])
    assert line["benchmark"] == benchmark
    assert 0 <= line["anonymous_rss_bytes"] - counted(benchmark) < NEARLY
