"""The reference appends and syncs, and no cut of the power makes it lose anything.

`python -m tests.durability.honest_reference 10000` tries far more states.
"""

from pathlib import Path

import pytest

from scripts.trials.trial_spec import LOG
from tests.durability.honest_reference import FILE_SYSTEMS, records
from tests.support.one_trial import outcomes_in, skip_unless_possible


@pytest.mark.slow
def test_the_reference_is_complete_in_every_state(tmp_path: Path) -> None:
    for fs in FILE_SYSTEMS:
        skip_unless_possible(LOG, fs)
    tried = 0
    for record in records(range(1), tmp_path, 240):
        found = outcomes_in(record)
        assert not record["violations"]
        assert found["complete"] == found["tried"]
        tried += found["tried"]
    assert tried >= 300
