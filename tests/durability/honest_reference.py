"""Cut the power of the reference until it has had enough distinct states.

    python -m tests.durability.honest_reference STATES

Prints the states by outcome, and ends with 1 if one is not complete.  Those of a
recovery that was cut come on top, as they may be equal to others.  10,000 states need
about ten minutes on two cores, and root.
"""

import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scripts.durability.requisites import requisites
from scripts.trials.crash_trace import RECOVERY
from scripts.trials.evidence import COMPLETE
from scripts.trials.trial_spec import LOG
from tests.places import BUILD
from tests.support.one_trial import BLOCK_LOG, durable_spec, outcomes_in, records_of

REFERENCE = BUILD / "drivers/db_bench_memory"
FILE_SYSTEMS = ("ext4", "xfs")
_STATES_OF_ONE = 1000  # of a recording: more than there are


def records(
    recordings: range, folder: Path, states: int = _STATES_OF_ONE
) -> Iterator[dict[str, Any]]:
    """Yield the records of a log for each number and file system."""
    specs = [
        durable_spec(REFERENCE, LOG, fs, states, seed)
        for seed in recordings
        for fs in FILE_SYSTEMS
    ]
    yield from records_of(specs, folder)


def main(states: int) -> int:
    """Try the states of one recording after another, which all differ."""
    if why := requisites((LOG,), FILE_SYSTEMS, BLOCK_LOG)[LOG]:
        print(why, file=sys.stderr)
        return 4
    totals: Counter[str] = Counter()
    number = 0
    with tempfile.TemporaryDirectory() as folder:
        while totals["tried"] < states:
            for record in records(range(number, number + 5), Path(folder)):
                recovery = record["states"].pop(RECOVERY, {})
                totals.update(outcomes_in(record))
                totals["recovered"] += recovery.get(COMPLETE, 0)
                for violation in record["violations"]:
                    print(violation)
                    totals["violations"] += 1
            number += 5
            print(dict(totals), flush=True)
    return 1 if totals["violations"] else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
