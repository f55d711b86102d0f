"""Engines that are compiled on request; until then the distribution's are used."""

import io
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from report.config.pinned_source import PinnedSource
from scripts.provision import engine_list, on_request, packages, prefixes, recipe
from scripts.provision.pins import read_sources
from scripts.provision.problem import SetupError
from scripts.provision.setup_screen import Screen
from tests.places import ROOT
from tests.setup.provisioning import COMPILER, FLAGS, make_source

COST = "an hour of ten processors"


def two_sources() -> list[PinnedSource]:
    """Return a source that is always compiled, and one that needs it and an hour."""
    large = replace(make_source("large", ("fake",)), engine="huge", on_request=COST)
    return [make_source(), large]


@pytest.fixture
def planned(tmp_path: Path) -> list[prefixes.Prefix]:
    return prefixes.plan(two_sources(), FLAGS, COMPILER, tmp_path)


def names(found_prefixes: list[prefixes.Prefix]) -> list[str]:
    return [prefix.source.package for prefix in found_prefixes]


def test_a_requested_engine_is_compiled_and_used_from_then_on(
    planned: list[prefixes.Prefix],
) -> None:
    assert names(on_request.compiled(planned, [])) == ["fake"]
    assert [s.package for s in on_request.system_sources(planned, [])] == ["large"]
    assert names(on_request.compiled(planned, ["huge"])) == ["fake", "large"]
    assert on_request.system_sources(planned, ["huge"]) == []
    planned[1].path.mkdir(parents=True)
    (planned[1].path / "manifest.json").touch()
    assert names(on_request.compiled(planned, [])) == ["fake", "large"]


def test_the_cost_is_printed_in_advance(planned: list[prefixes.Prefix]) -> None:
    out = io.StringIO()
    on_request.print_costs(on_request.compiled(planned, ["huge"]), Screen(out))
    assert out.getvalue() == f"large 1-1: {COST}\n"


def test_an_engine_that_is_always_compiled_cannot_be_requested() -> None:
    on_request.check(two_sources(), ["huge"])
    with pytest.raises(SetupError, match="--with engine: expected huge; no other"):
        on_request.check(two_sources(), ["engine"])


def test_a_distributions_library_that_cannot_be_installed_is_left_out_and_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = make_source("not-there-at-all")
    out = io.StringIO()
    monkeypatch.setattr(packages, "why_not_installable", lambda: "no root")
    assert on_request.installable([source], Screen(out)) == []
    for text in ("libnot-there-at-all-dev", "no root", "--with"):
        assert text in out.getvalue()
    monkeypatch.setattr(packages, "why_not_installable", lambda: "")
    installable = on_request.installable([source], Screen(out))
    assert [r.package for r in installable] == ["libnot-there-at-all-dev"]


def test_the_time_of_compilation_does_not_change_the_build() -> None:
    source = make_source()
    later = replace(source, on_request=COST)
    assert prefixes.key_of(source, FLAGS, COMPILER, []) == prefixes.key_of(
        later, FLAGS, COMPILER, []
    )


def test_rocksdb_is_built_with_the_snappy_of_leveldb() -> None:
    sources = {s.package: s for s in read_sources(ROOT / "configs/engines.toml")}
    assert sources["rocksdb"].on_request
    assert "snappy" in sources["rocksdb"].needs
    assert [s.package for s in sources.values() if s.on_request] == ["rocksdb"]


def test_a_makefile_gets_our_flags_and_places() -> None:
    options = ("--directory=deep", "OPT={flags}")
    job = recipe.Job(
        source=replace(make_source(), build="make", options=options),
        flags=FLAGS,
        compiler=COMPILER,
        tree=Path("/tree"),
        prefix=Path("/cache/fake"),
        stage=Path("/stage"),
        dependencies=[],
        jobs=2,
    )
    (make,) = recipe.commands(job)
    assert make[0] == "make"
    assert make[-1] == "install"
    for word in (f"OPT={FLAGS}", "prefix=/cache/fake", "DESTDIR=/stage", "CC=cc"):
        assert word in make


def test_cmake_uses_the_distributions_library_and_no_other(tmp_path: Path) -> None:
    """A listed package without a prefix; its version is reported as the system's."""
    libraries = engine_list.system([make_source("gflags")])
    text = engine_list.cmake_text(libraries)
    assert 'set(KVM_ENGINE_gflags_PREFIX "")' in text
    script = tmp_path / "find.cmake"
    script.write_text(
        f"{text}\nset(KVM_ENGINES bundled)\n"
        f"include({ROOT}/drivers/add_driver.cmake)\n"
        "foreach(name gflags z)\n  find_engine_library(${name})\n"
        '  message("${name}=${path}")\nendforeach()\n'
    )
    output = cmake_output(script)
    assert re.search(r"^gflags=/.*libgflags\.so$", output, re.MULTILINE), output
    assert re.search(r"^z=$", output, re.MULTILINE), output


def cmake_output(script: Path) -> str:
    """Return what CMake prints for a project that includes the script."""
    folder = script.parent
    (folder / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(probe LANGUAGES CXX)\n"
        f"include({script})\n"
    )
    done = subprocess.run(
        ["cmake", "-S", str(folder), "-B", str(folder / "build")],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout + done.stderr
