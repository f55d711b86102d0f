"""How the libraries of the engines are compiled."""

from dataclasses import replace
from pathlib import Path

from report.config.pinned_source import CrateSource, PinnedSource
from scripts.provision import engine_list, recipe
from scripts.provision.presets import read_flags
from tests.places import ROOT
from tests.setup.provisioning import COMPILER, FLAGS, make_source, pinned_sources


def pinned() -> dict[str, PinnedSource]:
    """Return the sources of the repository by package."""
    return {s.package: s for s in pinned_sources(ROOT / "configs")}


def test_rocksdb_is_built_without_assertions_and_with_the_snappy_of_leveldb() -> None:
    rocksdb = pinned()["rocksdb"]
    assert {"snappy", "lz4", "libzstd"} <= set(rocksdb.needs)
    assert "-DNDEBUG" in read_flags(ROOT / "CMakePresets.json").split()
    foreign = ("BUILD_TYPE", "C_FLAGS", "FLAGS_RELEASE", "-O", "NDEBUG")
    assert not [o for o in rocksdb.options if any(word in o for word in foreign)]


def test_rocksdb_is_a_release_inside_a_crate() -> None:
    rocksdb = pinned()["rocksdb"]
    assert isinstance(rocksdb, CrateSource)
    release = rocksdb.version.partition("+")[2]
    assert int(release.partition(".")[0]) >= 11
    assert rocksdb.origin == f"crate librocksdb-sys {rocksdb.version}"


def test_every_engine_computes_checksums_by_the_processors_instruction() -> None:
    """Both engines that use CRC-32C, or none: neither may have an advantage."""
    rocksdb, leveldb = pinned()["rocksdb"], pinned()["leveldb"]
    assert "-DCMAKE_CXX_FLAGS_INIT=-msse4.2 -mpclmul" in rocksdb.options
    assert "-DCMAKE_CXX_FLAGS_INIT=-DHAVE_CRC32C=1" in leveldb.options


def test_an_option_may_name_the_repository() -> None:
    options = ("-DX={repository}/drivers",)
    job = job_of(replace(make_source(), build="cmake", options=options))
    assert f"-DX={ROOT}/drivers" in recipe.commands(job)[0]


def test_the_development_package_of_a_library_has_one_prefix() -> None:
    names = [engine_list.development_package(make_source(n)) for n in ("zstd", "libz")]
    assert names == ["libzstd-dev", "libz-dev"]


def job_of(source: PinnedSource) -> recipe.Job:
    return recipe.Job(
        source=source,
        flags=FLAGS,
        compiler=COMPILER,
        tree=Path("/tree"),
        prefix=Path("/cache/fake"),
        stage=Path("/stage"),
        dependencies=[],
        jobs=2,
    )


def test_cmake_builds_only_the_targets_that_are_named() -> None:
    source = replace(
        make_source(), build="cmake", options=("-DA=B", "one", "two_static")
    )
    configure, compile_, install = recipe.commands(job_of(source))
    assert configure[-1] == "-DA=B"
    assert compile_[-3:] == ["--target", "one", "two_static"]
    assert install[-2:] == ["--install", "/tree/kvmatrix-build"]
    everything = recipe.commands(job_of(replace(source, options=("-DA=B",))))[1]
    assert "--target" not in everything


def test_a_makefile_gets_our_flags_and_places() -> None:
    options = ("--directory=deep", "OPT={flags}")
    job = job_of(replace(make_source(), build="make", options=options))
    (make,) = recipe.commands(job)
    assert make[0] == "make"
    assert make[-1] == "install"
    own = replace(make_source(), build="make", options=("install-static", "A=b"))
    assert "install" not in recipe.commands(job_of(own))[0]
    for word in (f"OPT={FLAGS}", "prefix=/cache/fake", "DESTDIR=/stage", "CC=cc"):
        assert word in make


def test_a_variable_of_make_is_no_option_of_configure() -> None:
    options = ("--enable-lzo", "PROGRAMS=one")
    source = replace(make_source(), build="autotools", options=options)
    configure, make, install = recipe.commands(job_of(source))
    assert "--enable-lzo" in configure and "PROGRAMS=one" not in configure
    assert all("PROGRAMS=one" in command for command in (make, install))
