"""The results of one file of another program, and what it says about their origin."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from report.terms.documents import shown
from report.terms.text_table import one_line

# An operation shorter than a picosecond or longer than 30 years is not credible.
_SHORTEST_S, _LONGEST_S = 1e-12, 1e9
_FACT_CHARS = 200
CPU_NS = "cpu_ns"  # the name of processor time among the amounts of a repetition


@dataclass(frozen=True)
class KeptSample:
    """The repetitions of one benchmark, in the order of the file.

    `rates` are in `unit`, more is better.  `cpu_ns` has the processor time of an
    operation in each, or nothing.  `amounts` are other values that each repetition has,
    by name: whether less of them is better is unknown.
    """

    rates: tuple[float, ...]
    unit: str = "ops/s"
    cpu_ns: tuple[float, ...] = ()
    amounts: Mapping[str, tuple[float, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class KeptResults:
    """A file: its samples by name, and what it records about them.

    `failed` maps benchmarks with a failed repetition to the reason; they are not among
    the samples.  `identity` has facts that must be equal in files that are compared, as
    far as both have them, and `context` those that vary from run to run on one machine.
    `unrecorded` says in words what such files do not record.
    """

    kind: str
    samples: Mapping[str, KeptSample]
    unrecorded: str
    failed: Mapping[str, str] = field(default_factory=dict)
    identity: Mapping[str, object] = field(default_factory=dict)
    context: Mapping[str, object] = field(default_factory=dict)
    program: str = ""  # that was measured, or ""
    version: str = ""  # of it, or ""
    time: datetime.datetime | None = None  # when it was measured


class SampleCollector:
    """The samples of a file while it is read."""

    def __init__(self) -> None:
        self._rates: dict[tuple[str, str], list[float]] = {}
        self._more: dict[tuple[str, str], list[Mapping[str, float]]] = {}
        self.failed: dict[str, str] = {}

    def add(
        self,
        name: str,
        rate: float,
        unit: str = "ops/s",
        more: Mapping[str, float] = MappingProxyType({}),
    ) -> None:
        """Add one repetition of a benchmark; `more` has CPU_NS and other amounts."""
        self._rates.setdefault((name, unit), []).append(rate)
        self._more.setdefault((name, unit), []).append(more)

    def fail(self, name: str, reason: str) -> None:
        """Record why a repetition of a benchmark has no rate."""
        self.failed.setdefault(name, reason)

    def finished(self) -> dict[str, KeptSample]:
        """Return the samples of the benchmarks that did not fail.

        Raises ValueError if there is neither a sample nor a failure.
        """
        if not self._rates and not self.failed:
            raise ValueError("it has no results of a benchmark")
        samples = {}
        for (name, unit), rates in self._rates.items():
            if name not in self.failed:
                more = self._more[name, unit]
                of_all = [key for key in more[0] if all(key in m for m in more)]
                amounts = {key: tuple(m[key] for m in more) for key in of_all}
                cpu_ns = amounts.pop(CPU_NS, ())
                samples[name] = KeptSample(tuple(rates), unit, cpu_ns, amounts)
        return samples


def rate_of(number: float, seconds: float, written: object, what: str) -> float:
    """Return operations per second: `number` in `seconds`.

    Raises ValueError that shows the value as it was written, unless one operation takes
    from a picosecond to 30 years.
    """
    if number > 0 and _SHORTEST_S <= seconds / number <= _LONGEST_S:
        return number / seconds
    remedy = "correct it, or remove the benchmark"
    raise ValueError(f"{what}: {shown(written)} is out of range; {remedy}")


def one_value(what: str, values: Mapping[str, int]) -> str:
    """Return the only value of a fact of a file, or "".

    `values` has the line of each.  Raises ValueError if there are several: results of
    different settings or builds are not repetitions.
    """
    if len(values) < 2:
        return one_line(next(iter(values), ""))[:_FACT_CHARS]
    (first, line), (other, later) = list(values.items())[:2]
    found = f"{shown(first)} in line {line} and {shown(other)} in line {later}"
    raise ValueError(f"{what}: {found}; split the file, one for each")


def moment_of(text: str, form: str) -> datetime.datetime | None:
    """Return a time in UTC, or None if the text has not this form.

    A time without a zone is taken as it is.
    """
    try:
        moment = (
            datetime.datetime.strptime(" ".join(text.split()), form)
            if form
            else datetime.datetime.fromisoformat(text)
        )
        if moment.tzinfo is None:
            return moment.replace(tzinfo=datetime.UTC)
        return moment.astimezone(datetime.UTC)
    except (ValueError, OverflowError):
        return None
