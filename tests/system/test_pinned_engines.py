"""The engines of set-up are the pinned releases, compiled alike, without assertions."""

import json
import os
import subprocess

import pytest

from report.config.pinned_source import CrateSource, PinnedSource
from scripts.basis.cache import cache_dir
from scripts.provision.presets import read_flags
from tests.places import ROOT
from tests.support.real_engines import ENGINES, config, executable

PINNED = [
    name
    for name in (*ENGINES, "rocksdb")
    if config().engines[name].sources or config().engines[name].sources_of
]


def own_source(engine: str) -> PinnedSource:
    """Return the pinned source of the engine itself, the last one of its block."""
    block = config().engines[engine]
    return config().engines[block.sources_of or engine].sources[-1]


def release_of(source: PinnedSource) -> str:
    """Return the engine's own version: part of that of the package or crate."""
    if isinstance(source, CrateSource):
        return source.version.partition("+")[2]
    return source.version.rpartition("-")[0]


@pytest.mark.parametrize("engine", PINNED)
def test_an_executable_has_the_pinned_engine_without_assertions(engine: str) -> None:
    source = own_source(engine)
    command = [str(executable(engine)), "--describe"]
    described = json.loads(subprocess.check_output(command))
    build = described["build"]
    assert described["version"] == release_of(source)
    assert build["origin"].split(", ")[0] == source.origin
    assert build["origin_sha256"] == source.upstream_sha256
    assert build["engine_flags"] == read_flags(ROOT / "CMakePresets.json")
    assert build["assertions"] == "none"


@pytest.mark.parametrize("engine", PINNED)
def test_an_executable_does_not_depend_on_where_the_sources_are(engine: str) -> None:
    program = executable(engine).read_bytes()
    assert b"drivers/options" in program
    assert f"{ROOT}/drivers".encode() not in program
    assert str(cache_dir(os.environ)).encode() not in program


def test_an_executable_does_not_depend_on_when_it_was_built() -> None:
    program = executable("rocksdb").read_bytes()
    assert b"rocksdb_build_date:1970-01-01" in program


def test_the_page_of_a_version_shows_all_of_that() -> None:
    source = own_source("leveldb")
    command = [str(executable("leveldb")), "--version"]
    lines = subprocess.check_output(command, text=True).splitlines()
    for name, value in (
        ("engine", f"leveldb {release_of(source)}"),
        ("origin", f"{source.origin}, snappy "),
        ("engine code", read_flags(ROOT / "CMakePresets.json")),
        ("assertions", "none"),
        ("codec", "snappy, linked and working"),
    ):
        assert any(line.startswith(f"{name + ':':<13}{value}") for line in lines), lines
