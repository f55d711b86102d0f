"""When a writer is killed."""

from dataclasses import replace
from pathlib import Path

import pytest

from scripts.trials.kill_trial import kill_trial
from scripts.trials.trial_spec import KILL
from tests.places import BUILD
from tests.support.one_trial import durable_spec

KILLS = 12


@pytest.mark.slow
def test_a_third_of_the_kills_come_within_a_batch(tmp_path: Path) -> None:
    """The timer of one may come a little late."""
    reported = []
    program = BUILD / "drivers/db_bench_memory"
    spec = durable_spec(program, KILL, "", KILLS, 7, "first:5,single:60,batch:8")
    record = kill_trial(
        replace(spec, folder=str(tmp_path)), lambda *progress: reported.append(progress)
    )
    assert not record["violations"]
    assert record["states"]["batch"]["tried"] >= KILLS // 4
    assert reported[-1] == (KILLS, KILLS)
