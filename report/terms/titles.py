"""What the name of a benchmark tells: title, unit, and its baseline twin."""

from __future__ import annotations

from collections.abc import Sequence

from report.terms import numbers
from report.terms.rulebook import BENCHMARKS, FLAGS


def title(benchmark: str) -> str:
    """A benchmark in words; a name that is not known stays as it is."""
    known = BENCHMARKS.get(benchmark)
    return known.title if known else benchmark


def inside(title: str) -> str:
    """A title within a sentence: a capital stays where it is no sentence's."""
    return title if title[1:2].isupper() else title[:1].lower() + title[1:]


def words(flag: str) -> str:
    """The name of a flag as words."""
    return flag.replace("_", " ")


def member(title: str, flag: str, swept: object) -> str:
    """The title of the scenario that a sweep made for one value."""
    return f"{title}: {words(flag)} {value(swept, flag)}"


def family(titles: Sequence[str], flag: str) -> str:
    """Of scenarios that one sweep made; "" if nothing is before the flag's name."""
    bases = {title.rpartition(f": {words(flag)} ")[0] for title in titles}
    base = bases.pop() if len(bases) == 1 else ""
    return f"{base}: {words(flag)}" if base else ""


def value(swept: object, flag: str = "") -> str:
    """A value of a flag as text: with separators, and sizes with their unit."""
    if isinstance(swept, bool):
        return "true" if swept else "false"
    if not isinstance(swept, int | float):
        return str(swept)
    unit = FLAGS[flag].unit if flag in FLAGS else ""
    if unit == "bytes":
        return numbers.size(swept)
    shown = f"{swept:,}"
    shown = shown.removesuffix(".0")
    return f"{shown} s" if unit == "seconds" else shown


def unit(benchmark: str) -> str:
    """What a rate counts: a batch benchmark counts entries, not batches."""
    known = BENCHMARKS.get(benchmark)
    return "entries/s" if known and known.batch_size > 1 else "ops/s"


def baseline_twin(benchmark: str) -> str | None:
    """The benchmark of the baseline that this one is a multiple of.

    None for other value sizes: the ratio of unlike entries says nothing, and
    the page of 2011 gives none.
    """
    known = BENCHMARKS.get(benchmark)
    if known and (known.value_size or BENCHMARKS[known.fill].value_size):
        return None
    if benchmark.startswith("fillseq"):
        return "fillseq"
    if benchmark.startswith("fillrand"):
        return "fillrandom"
    return benchmark
