"""The table in which an executable records the contents of a growing database."""

from dataclasses import replace
from typing import Any

import pytest

from report.model.description import Description
from report.model.plan import CellName, Plan
from report.terms.rulebook import BENCHMARKS
from scripts.planning.oracle_memory import table_bytes
from scripts.store.run_places import CannotStart, refuse_small_memory
from tests.builders import synthetic_descriptions
from tests.builders.simple_plans import FLAGS, engine, plan

NUM = 1_000_000


def plan_of(benchmark: str, **flags: Any) -> Plan:
    """Return a plan of one benchmark, described as the executables do."""
    known = BENCHMARKS[benchmark]
    entry = synthetic_descriptions.benchmark(benchmark)
    entry |= {"kind": known.kind, "prepare": known.prepare, "fill": known.fill}
    described = Description.of(synthetic_descriptions.description("a", [entry]))
    of = plan(
        [replace(engine("a"), description=described)],
        (benchmark,),
        flags={"a": {**FLAGS, "num": NUM, **flags}},
    )
    assert of.cells == (CellName("a", "base", benchmark),)
    return of


@pytest.mark.parametrize(
    ("benchmark", "flags", "keys"),
    [
        ("ycsbc", {"reads": 10**12}, 2 * NUM + 64),
        ("ycsbd", {"reads": NUM}, 2 * NUM + 64),
        ("ycsbd", {"reads": 100 * NUM, "duration": 2.0}, 2 * NUM + 64),
        ("ycsbe", {"reads": 10 * NUM, "threads": 4}, 4 * NUM + 128),
        ("mix", {"mix_shares": "read:50,insert:50", "reads": 8 * NUM}, 8 * NUM + 256),
        ("mix", {"mix_shares": "read:50,update:50"}, 2 * NUM + 64),
        ("readrandomwriterandom", {"reads": 100 * NUM}, NUM),
    ],
)
def test_the_table_of_a_mix_follows_what_it_can_insert(
    benchmark: str, flags: dict[str, Any], keys: int
) -> None:
    of = plan_of(benchmark, **flags)
    assert table_bytes(of, of.cells[0]) == 4 * keys
    refuse_small_memory(of, 4 * keys)
    cause = "reads" if keys > 2 * NUM + 64 else "--num"
    with pytest.raises(CannotStart, match=f"lower {cause}"):
        refuse_small_memory(of, 4 * keys - 1)
