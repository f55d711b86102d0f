"""Reading the stat lines of db_bench, as its several programs and versions print them.

    fillseq      :       1.765 micros/op;   62.7 MB/s
    fillseq      :       2.345 micros/op 426393 ops/sec;   47.2 MB/s
    fillseq      :  2.345 micros/op 426393 ops/sec 2.345 seconds 1000000 operations; ...

Averages of repetitions, progress, statistics and whatever else a log has are skipped.
With several threads, a line without ops/sec has the time of one thread per operation.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from report.foreign.kept_results import (
    KeptResults,
    SampleCollector,
    moment_of,
    one_value,
    rate_of,
)

KIND = "db_bench"
_NUMBER = r"[-+]?(?:\d[\d.]*(?:e[-+]?\d+)?|nan|inf(?:inity)?)"
_STAT = re.compile(
    r"(?P<name>[A-Za-z]\w*(?:[.,+-]\w+)*)\s*:\s*"
    rf"(?P<micros>{_NUMBER}) micros/op\b"
    rf"(?:\s+(?P<rate>{_NUMBER}) ops/sec\b)?"
    rf"(?:\s+(?P<seconds>{_NUMBER}) seconds\s+(?P<count>\d+) operations\b)?",
    re.IGNORECASE,
)
_VERSION = re.compile(r"^\s*([A-Za-z][\w ]{0,40}?):\s+version (\S+?),?(?:\s|$)")
_HEADER = re.compile(r"^\s*([A-Za-z][A-Za-z ]{0,40}?):\s+(\S.*?)\s*$")
# Lines of the header that describe the work or the machine, alike in all versions.
_SETTINGS = (
    *("Keys", "Values", "Entries", "Prefix", "Keys per prefix", "Write rate"),
    *("Read rate", "Compression", "Perf Level", "CPU"),
)
_NO_TIMESTAMP = " (+ 0 bytes user-defined timestamp)"  # of newer versions
_VARYING = ("CPUCache",)
_DATE = "Date"
_FORM = "%a %b %d %H:%M:%S %Y"
_EXACT = 1000.0  # ops/s, below which the rate is printed with fewer than four digits


def has_one(line: str) -> bool:
    """Return True for a line that has the time of a benchmark."""
    return "micros/op" in line and _STAT.search(line) is not None


def results(lines: Sequence[str]) -> KeptResults:
    """Return the results of a file.  Raises ValueError."""
    samples = SampleCollector()
    facts: dict[str, dict[str, int]] = {}
    for number, line in enumerate(lines, 1):
        if "micros/op" in line and (stat := _STAT.search(line)):
            try:
                samples.add(stat["name"], _rate(stat))
            except ValueError as error:
                samples.fail(stat["name"], f"line {number}: {error}")
        elif version := _VERSION.match(line):
            facts.setdefault("program", {}).setdefault(version[1], number)
            facts.setdefault("version", {}).setdefault(version[2], number)
        elif header := _HEADER.match(line):
            value = header[2].removesuffix(_NO_TIMESTAMP)
            facts.setdefault(header[1], {}).setdefault(value, number)
    known = {name: one_value(name, facts.get(name, {})) for name in _SETTINGS}
    program = one_value("program", facts.get("program", {}))
    identity = {"program": program, **known}
    dates = [moment_of(text, _FORM) for text in facts.get(_DATE, {})]
    varying = {name: ", ".join(facts.get(name, {})) for name in _VARYING}
    return KeptResults(
        kind=KIND,
        samples=samples.finished(),
        failed=samples.failed,
        identity={name: value for name, value in identity.items() if value},
        context={name: value for name, value in varying.items() if value},
        unrecorded="stat lines do not record all flags, the disk or executables",
        program=program,
        version=one_value("version", facts.get("version", {})),
        time=max(filter(None, dates), default=None),
    )


def _rate(stat: re.Match[str]) -> float:
    """Return operations per second, with as many digits as the line has."""
    rate = float(stat["rate"]) if stat["rate"] else math.nan
    if rate >= _EXACT:
        return rate_of(rate, 1.0, stat["rate"], "ops/sec")
    if stat["seconds"]:
        count, seconds = float(stat["count"]), float(stat["seconds"])
        return rate_of(count, seconds, stat["seconds"], "seconds")
    if stat["rate"]:
        return rate_of(rate, 1.0, stat["rate"], "ops/sec")
    return rate_of(1.0, float(stat["micros"]) / 1e6, stat["micros"], "micros/op")
