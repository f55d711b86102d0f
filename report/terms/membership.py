"""Which plan a stored line or document belongs to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from report.terms.checksum import KEY
from report.terms.documents import ResultsError


def check_belongs(
    written: Mapping[str, Any], plan: Mapping[str, Any], place: str
) -> None:
    """Raise ResultsError unless a line belongs to the plan in run.json or ab.json.

    A line has the name of its run and the checksum of its plan.  Runs from before
    there were checksums have neither checksums nor references to them.
    """
    if written["run"] != plan["run"]:
        raise ResultsError(
            f"{place}: belongs to run {written['run']}, not {plan['run']}"
        )
    check_plan(written, plan, place)


def check_plan(written: Mapping[str, Any], plan: Mapping[str, Any], place: str) -> None:
    """Raise ResultsError unless a line or a document names the checksum of its plan."""
    if KEY in plan and KEY not in written:
        raise ResultsError(f"{place}: {KEY!r} is missing")
    if KEY in written and KEY not in plan:
        raise ResultsError(
            f"{place}: has a checksum, but its plan in run.json or ab.json has none"
        )
    if written.get("plan") != plan.get(KEY):
        raise ResultsError(f"{place}: belongs to another plan than the one in the run")
