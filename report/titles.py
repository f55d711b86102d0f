"""What the name of a benchmark tells: title, unit, and its baseline twin."""

from __future__ import annotations

from collections.abc import Sequence

from report import figures
from report.config_keys import COMMON_FLAGS

_TITLES = {
    "fillseq": "Sequential writes",
    "fillrandom": "Random writes",
    "filluniquerandom": "Random writes, each key once",
    "overwrite": "Overwrites",
    "fillseqbatch": "Sequential writes",
    "fillrandbatch": "Random writes",
    "fillseqsync": "Synchronous sequential writes",
    "fillrandsync": "Synchronous random writes",
    "fillseq100K": "Sequential writes",
    "fillrand100K": "Random writes",
    "readseq": "Sequential reads",
    "readreverse": "Reverse reads",
    "readrandom": "Random reads",
    "readmissing": "Reads of absent keys",
    "readhot": "Reads of hot keys",
    "seekrandom": "Random seeks",
    "deleteseq": "Sequential deletes",
    "deleterandom": "Random deletes",
    "compact": "Compaction",
    "getseq": "Reads in key order",
    "fillsync": "Random writes, synchronous",
    "fill100K": "Random writes",
    "fillbatch": "Sequential writes",
    "readwhilewriting": "Random reads beside a writer",
    "seekrandomwhilewriting": "Random seeks beside a writer",
    "readrandomwriterandom": "Random reads and writes",
    "seekordered": "Seeks in key order",
    "crc32c": "Checksums of blocks",
    "snappycomp": "Compressing blocks",
    "snappyuncomp": "Uncompressing blocks",
    "ycsbload": "YCSB, load",
    "ycsba": "YCSB A, update heavy",
    "ycsbb": "YCSB B, read mostly",
    "ycsbc": "YCSB C, read only",
    "ycsbd": "YCSB D, read latest",
    "ycsbe": "YCSB E, short ranges",
    "ycsbf": "YCSB F, read-modify-write",
    "mixgraph": "Social graph, as published",
    "mixgraph-c": "Social graph, corrected",
    "overwritebatch": "Overwrites",
    "readrandomsmall": "Random reads, a thousandth",
    "readseq100K": "Sequential reads",
    "readrand100K": "Random reads",
}


def title(benchmark: str) -> str:
    """A benchmark in words; a name that is not known stays as it is."""
    return _TITLES.get(benchmark, benchmark)


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
    kind = COMMON_FLAGS.get(flag)
    if kind == "size":
        return figures.size(swept)
    shown = f"{swept:,}"
    shown = shown.removesuffix(".0")
    return f"{shown} s" if kind == "duration" else shown


def unit(benchmark: str) -> str:
    """What a rate counts: a batch benchmark counts entries, not batches."""
    return "entries/s" if benchmark.endswith("batch") else "ops/s"


def baseline_twin(benchmark: str) -> str | None:
    """The benchmark of the baseline that this one is a multiple of.

    None for other value sizes: the ratio of unlike entries says nothing, and
    the page of 2011 gives none.
    """
    if benchmark.endswith("100K"):
        return None
    if benchmark.startswith("fillseq"):
        return "fillseq"
    if benchmark.startswith("fillrand"):
        return "fillrandom"
    return benchmark
