"""The answers of synthetic executables to --describe.

Fake executables are processes that import this module, so it imports only the standard
library.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

Document = dict[str, Any]
METHOD = 4

_RULEBOOK = Path(__file__).parents[2] / "report/terms/rulebook.json"
COMMON_FLAGS = json.loads(_RULEBOOK.read_text())["common_flags"]

NAMES = (
    *("fillseq", "fillrandom", "filluniquerandom", "fillseqsync", "overwrite"),
    *("readseq", "readrandom", "readmissing", "deleteseq", "verify"),
    "compact",
)
BUILD: Document = {
    "origin": "synthetic",
    "origin_sha256": "0" * 64,
    "compiler": "GNU 12.2.0",
    "flags": "-O2 -DNDEBUG",
    "engine_flags": "-O2 -DNDEBUG",
    "assertions": "none",
    "allocator": "glibc 2.36",
}
_SOURCE = "https://example.org/durability"
PROMISES: Document = {
    "buffered": {"promise": "may lose the newest", "source": _SOURCE},
    "consistent": None,
    "durable": {"promise": "loses nothing acknowledged", "source": _SOURCE},
}
_KINDS = {
    **{"fill": "write", "overwrite": "write", "delete": "delete", "verify": "verify"},
    **{"ycsb": "mix", "readrandomwriterandom": "mix"},
    **{"mixgraph": "mix", "compact": "compact"},
}


def kind_of(benchmark: str) -> str:
    """Return the kind of a benchmark, by its name."""
    kinds = (kind for name, kind in _KINDS.items() if benchmark.startswith(name))
    return next(kinds, "read")


def has_writer(benchmark: str) -> bool:
    """Return True if a writer runs next to the readers of a benchmark."""
    return benchmark.endswith("whilewriting")


def writes(benchmark: str) -> bool:
    """Return True if a benchmark changes the entries of a database."""
    is_writing = kind_of(benchmark) in ("write", "delete", "mix")
    return is_writing or has_writer(benchmark)


def finds(benchmark: str) -> str:
    """Return the share of its keys that a benchmark finds: all, some or none."""
    if kind_of(benchmark) != "read":
        return "some"
    return "none" if benchmark.endswith("missing") else "all"


def benchmark(name: str, unsupported: str = "") -> Document:
    """Return the description of a benchmark."""
    is_large = name.endswith("100K")
    return {
        "name": name,
        "kind": kind_of(name),
        "prepare": "" if name.startswith("fill") else "filled",
        "ops_divisor": 100 if is_large else 1,
        "operations": 0,
        "value_size": 100_000 if is_large else 0,
        "batch_size": 1,
        "sync": name.endswith("sync"),
        "one_call": name in ("readseq", "verify"),
        "finds": finds(name),
        "fill": "filluniquerandom",
        "writer": has_writer(name),
        "unsupported": unsupported,
    }


def description(
    engine: str, benchmarks: Iterable[Document] | None = None, **changed: Any
) -> Document:
    """Return the description of an executable, with changes."""
    return {
        "schema": 3,
        "method": METHOD,
        "engine": engine,
        "version": "1.0",
        "licence": "MIT",
        "codec": "",
        "scans": "both ways",
        "stores": True,
        "promises": PROMISES,
        "build": BUILD,
        "common_flags": COMMON_FLAGS,
        "flags": [{"name": "page_size", "type": "uint64", "default": "0"}],
        "benchmarks": list(benchmarks or map(benchmark, NAMES)),
        **changed,
    }
