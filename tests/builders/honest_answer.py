"""An honest answer of an executable, which tests change and judge."""

import json
from typing import Any

from report.model.description import Description
from report.trust.cell_context import context_of
from scripts.machine.child_process import ProcessResult
from scripts.measure.result_check import Expected, judge
from tests.builders import synthetic_descriptions, synthetic_records, synthetic_run

OK = ProcessResult("0", 10_000_000, "")
FLAGS = {**synthetic_run.FLAGS, "num": 100}
ONE = Description.of(synthetic_descriptions.description("one"))
CONTEXT = context_of(ONE, "readseq", FLAGS)
EXPECTED = Expected("one", "1.0", "readseq", 7, CONTEXT)


def honest(**changed: Any) -> dict[str, Any]:
    """Return an answer of 100 operations in 5 us, with changes."""
    return synthetic_records.answer("readseq", 100, 5000) | {"seed": 7} | changed


def verdict(
    outcome: ProcessResult = OK, expected: Expected = EXPECTED, **changed: Any
) -> Any:
    """Return the judgement of the honest answer with these changes."""
    answer = json.dumps(honest(**changed)) + "\n"
    return judge(expected, outcome, answer.encode())
