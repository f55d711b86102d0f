"""The engines of configs/, as the tests of whole runs use them.

They use the default ones: those on request have suites of their own (ctest -L NAME),
and tests of one that is not set up are skipped.
"""

import functools
import json
import subprocess
from pathlib import Path

import pytest

from report.config.config_types import Config
from report.config.configuration import load
from tests.places import BUILD, ROOT


@functools.cache
def config() -> Config:
    """Return the configuration of the repository."""
    return load(ROOT / "configs")


# Rows with their own executable: a variant uses that of another row.
ENGINES = tuple(
    e.name for e in config().engines.values() if not (e.variant_of or e.is_on_request)
)
STORES = tuple(e for e in ENGINES if config().engines[e].role != "floor")


def executable(engine: str) -> Path:
    """Return the executable of an engine; skip the test if it is not set up."""
    path = BUILD / "drivers" / f"db_bench_{engine}"
    if engine not in ENGINES and not path.exists():
        pytest.skip(f"needs scripts/setup --with {engine}")
    return path


@functools.cache
def supports(engine: str, benchmark: str) -> bool:
    """Return True if the executable says that it supports the benchmark."""
    command = [str(executable(engine)), "--describe"]
    described = json.loads(subprocess.check_output(command))["benchmarks"]
    return not {b["name"]: b["unsupported"] for b in described}[benchmark]


def excluded(engine: str, scenario: str) -> bool:
    """Return True if the scenario excludes the engine."""
    return engine in config().scenarios[scenario].exclude
