"""What the name of a benchmark tells: title, unit, and its baseline twin."""

from __future__ import annotations

from collections.abc import Sequence

_TITLES = {
    "fillseq": "Sequential writes",
    "fillrandom": "Random writes",
    "filluniquerandom": "Random writes, each key once",
    "overwrite": "Overwrites",
    "fillseqbatch": "Sequential writes",
    "fillrandbatch": "Random writes",
    "fillseqsync": "Sequential writes",
    "fillrandsync": "Random writes",
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


def shared(titles: Sequence[str]) -> str:
    """What the titles of one family begin with; "" if they have nothing in common."""
    least, most = min(titles), max(titles)
    pairs = enumerate(zip(least, most, strict=False))
    apart = next((i for i, (one, other) in pairs if one != other), len(least))
    return least if least == most else least[:apart].rstrip(" ,:;=(·-")


def value(flag: object) -> str:
    """A value of a flag as text: whole numbers have separators."""
    if isinstance(flag, int) and not isinstance(flag, bool):
        return f"{flag:,}"
    return str(flag)


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
