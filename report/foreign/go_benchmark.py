"""Reading benchmarks in Go's text format, as benchstat does.

    goos: linux
    cpu: a processor
    BenchmarkGet/size=100-8   1000000   1234 ns/op   56 B/op   2 allocs/op

Times per operation and rates of operations are read.  Values of other units, such as
B/op, are kept without a judgement; MB/s is left out because it is the rate again.  The
output of `go test -json` has the same lines within its events.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence

from report.foreign.kept_results import KeptResults, SampleCollector, one_value, rate_of

KIND = "Go benchmark"
_LINE = re.compile(r"(?:^|\s)(Benchmark\S*)\s+(\d+)\s+(\S.*)$")
_FAILED = re.compile(r"--- (?:FAIL|SKIP): (Benchmark\S*)")
_FACT = re.compile(r"^\s*(goos|goarch|cpu|pkg):\s*(\S.*?)\s*$")
_SECONDS = {
    **{"ns/op": 1e-9, "us/op": 1e-6, "µs/op": 1e-6, "μs/op": 1e-6, "ms/op": 1e-3},
    **{"s/op": 1.0, "sec/op": 1.0},
}
_PER_SECOND = ("ops/s", "op/s", "ops/sec", "op/sec")
_UNITS = {*_SECONDS, *_PER_SECOND}
_IDENTITY = ("goos", "goarch", "cpu")


def has_one(line: str) -> bool:
    """Return True for the line of a benchmark that was measured."""
    match = _LINE.search(line)
    return match is not None and not _UNITS.isdisjoint(match[3].split())


def unwrapped(lines: Sequence[str]) -> list[str]:
    """Return the lines of `go test -json` as `go test` prints them."""
    texts = []
    for line in lines:
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(event, dict) and isinstance(event.get("Output"), str):
            texts.append(event["Output"])
    return "".join(texts).splitlines()


def results(lines: Sequence[str]) -> KeptResults:
    """Return the results of a file.  Raises ValueError."""
    samples = SampleCollector()
    facts: dict[str, dict[str, int]] = {}
    packages = {m[2] for line in lines if (m := _FACT.match(line)) and m[1] == "pkg"}
    package = ""
    for number, line in enumerate(lines, 1):
        if fact := _FACT.match(line):
            package = fact[2] if fact[1] == "pkg" and len(packages) > 1 else package
            facts.setdefault(fact[1], {}).setdefault(fact[2], number)
        elif failed := _FAILED.search(line):
            samples.fail(_named(package, failed[1]), f"line {number}: it failed")
        elif has_one(line) and (match := _LINE.search(line)):
            name = _named(package, match[1])
            try:
                words = match[3].split()
                samples.add(name, _rate(words), more=_amounts(words))
            except ValueError as error:
                samples.fail(name, f"line {number}: {error}")
    identity = {name: one_value(name, facts.get(name, {})) for name in _IDENTITY}
    return KeptResults(
        kind=KIND,
        samples=samples.finished(),
        failed=samples.failed,
        identity={name: value for name, value in identity.items() if value},
        unrecorded="these files do not record settings, disk or executables",
        program=next(iter(packages)).rsplit("/", 1)[-1] if len(packages) == 1 else "",
    )


def _named(package: str, name: str) -> str:
    return f"{package}.{name}" if package else name


def _rate(words: Sequence[str]) -> float:
    """Return operations per second of pairs of a value and its unit."""
    values = dict(zip(words[1::2], words[::2], strict=False))
    for unit, seconds in _SECONDS.items():
        if unit in values:
            time = float(values[unit]) * seconds
            return rate_of(1.0, time, values[unit], unit)
    for unit in _PER_SECOND:
        if unit in values:
            return rate_of(float(values[unit]), 1.0, values[unit], unit)
    raise ValueError("no value before a unit of time or of rate")


def _amounts(words: Sequence[str]) -> dict[str, float]:
    """Return the values of other units."""
    amounts = {}
    for value, unit in zip(words[::2], words[1::2], strict=False):
        if unit not in {*_UNITS, "MB/s"} and unit not in amounts:
            try:
                amounts[unit] = float(value)
            except ValueError:
                break  # the rest of a log
    return {unit: value for unit, value in amounts.items() if math.isfinite(value)}
