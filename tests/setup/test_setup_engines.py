"""The set-up compiles each engine once, completely or not."""

import io
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from report.config.pinned_source import CrateSource, PinnedSource
from scripts.basis.cache import cache_dir, locked, sha256_of
from scripts.basis.problem import SetupError
from scripts.basis.setup_screen import Screen
from scripts.provision import engine_list, prefixes, recipe
from scripts.provision.presets import read_flags
from tests.places import ROOT
from tests.setup.provisioning import (
    COMPILER,
    FLAGS,
    MAKE,
    UNPACK,
    make_source,
    pinned_sources,
    put_downloads,
    put_programs,
)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    programs = put_programs(tmp_path / "bin", {"dpkg-source": UNPACK, "make": MAKE})
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    cache = tmp_path / "cache"
    put_downloads(make_source(), cache / "downloads")
    return cache


def build(cache: Path, *sources: PinnedSource) -> tuple[prefixes.Prefix, str]:
    """Build sources; return the prefix of the first and the messages."""
    out = io.StringIO()
    planned = prefixes.plan(sources or [make_source()], FLAGS, COMPILER, cache)
    screen = Screen(out)
    prefixes.build_all(planned, FLAGS, COMPILER, cache, os.environ, screen)
    return planned[0], out.getvalue()


def test_a_source_is_compiled_into_a_prefix_that_says_what_it_is(cache: Path) -> None:
    prefix, output = build(cache)
    assert (prefix.path / "lib/libfake.a").read_text() == "made\n"
    manifest = json.loads((prefix.path / "manifest.json").read_text())
    assert manifest["origin"] == "Debian source package fake 1-1"
    assert manifest["origin_sha256"] == make_source().upstream_sha256
    assert manifest["compiler"] == "GNU 12.2.0"
    assert manifest["flags"] == FLAGS
    assert "Compiling fake 1-1 (-O2 -DNDEBUG): done in" in output
    assert not any((cache / "work").iterdir())


def test_a_step_says_how_many_there_are(cache: Path) -> None:
    more = make_source("more")
    put_downloads(more, cache / "downloads")
    _, output = build(cache, make_source(), more)
    started = [line for line in output.splitlines() if line.endswith(" ...")]
    assert started == [
        "Compiling fake 1-1 (-O2 -DNDEBUG), 1 of 2 ...",
        "Compiling more 1-1 (-O2 -DNDEBUG), 2 of 2 ...",
    ]


def test_the_second_set_up_does_nothing(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build(cache)
    monkeypatch.setenv("PATH", "/nowhere")
    _, output = build(cache)
    assert output == ""


def test_a_wrong_checksum_is_refused_with_both_sums(cache: Path) -> None:
    name = "fake_1.orig.tar.gz"
    (cache / "downloads" / name).write_text("another archive")
    with pytest.raises(SetupError) as refused:
        build(cache)
    pinned = make_source().sha256[name]
    actual = sha256_of(cache / "downloads" / name)
    for text in (name, pinned, actual, "refused"):
        assert text in str(refused.value)


def test_an_interrupted_build_is_not_reused(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        broken = put_programs(tmp_path / "broken", {"make": "echo 'error: x'; exit 1"})
        patch.setenv("PATH", f"{broken}:{os.environ['PATH']}")
        with pytest.raises(SetupError, match="error: x") as failed:
            build(cache)
    planned = prefixes.plan([make_source()], FLAGS, COMPILER, cache)
    assert not planned[0].is_built
    assert str(cache / "logs") in str(failed.value)
    planned[0].path.mkdir(parents=True)  # as if a build had died while it copied
    (planned[0].path / "half").touch()
    assert not planned[0].is_built
    prefix, _ = build(cache)
    assert prefix.is_built
    assert not (prefix.path / "half").exists()


def test_a_build_with_foreign_flags_is_refused(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = "echo 'cc -O2 -DNDEBUG -march=native -O3 -c fake.c'"
    flagged_path = put_programs(tmp_path / "other", {"make": body})
    monkeypatch.setenv("PATH", f"{flagged_path}:{os.environ['PATH']}")
    with pytest.raises(SetupError, match="was compiled with -O3 -march=native"):
        build(cache)


@pytest.mark.parametrize(
    ("line", "foreign"),
    [
        ("cc -O2 -DNDEBUG -c a.c", []),
        ("cc -O3 -O2 -c a.c", []),
        ("cc -O2 -Os -c a.cc", ["-Os"]),
        ("cc -O2 -flto -c a.c", ["-flto"]),
        ("cc -O2 -DNDEBUG -UNDEBUG -c a.c", ["-UNDEBUG"]),
        ("cc -c a.c", ["no -O"]),
        ("cc -O3 a.o -o program", []),
    ],
)
def test_the_last_optimization_level_is_used(line: str, foreign: list[str]) -> None:
    assert recipe.foreign_flags(line, FLAGS) == foreign


def test_whatever_a_library_depends_on_changes_its_key() -> None:
    source = make_source()
    newer = replace(COMPILER, banner="c++ (Debian 14.2.0-1) 14.2.0")
    keys = [
        prefixes.key_of(source, FLAGS, COMPILER, []),
        prefixes.key_of(source, "-O3 -DNDEBUG", COMPILER, []),
        prefixes.key_of(source, FLAGS, newer, []),
        prefixes.key_of(source, FLAGS, COMPILER, ["snappy-1-abc"]),
        prefixes.key_of(replace(source, version="1-2"), FLAGS, COMPILER, []),
        prefixes.key_of(replace(source, options=()), FLAGS, COMPILER, []),
        prefixes.key_of(
            replace(source, sha256={"a.dsc": "0"}),
            FLAGS,
            COMPILER,
            [],
        ),
    ]
    assert len(set(keys)) == len(keys)
    assert keys[0] == prefixes.key_of(make_source(), FLAGS, COMPILER, [])


def test_a_compiler_that_is_not_installed_is_named() -> None:
    usual = recipe.find_compiler({})
    assert recipe.find_compiler({"CC": "", "CXX": ""}) == usual
    for variable in ("CC", "CXX"):
        for name in ("/nowhere/c++", " "):
            with pytest.raises(SetupError, match=variable):
                recipe.find_compiler({variable: name})


def test_a_build_sees_our_flags_and_the_prefixes_it_needs_only() -> None:
    source = make_source()
    job = replace(job_of(source), dependencies=[Path("/cache/need")])
    env = recipe.environment(job, {"PATH": "/bin", "CFLAGS": "-O3", "LD_PRELOAD": "x"})
    assert env["CFLAGS"] == f"{FLAGS} -ffile-prefix-map=/tree=fake"
    assert env["SOURCE_DATE_EPOCH"] == "0"
    assert env["CPPFLAGS"] == "-I/cache/need/include"
    assert env["LDFLAGS"] == "-L/cache/need/lib"
    assert "LD_PRELOAD" not in env
    configure = recipe.commands(job)[0]
    assert configure[-1] == "--with-x"
    cmake = recipe.commands(replace(job, source=replace(source, build="cmake")))[0]
    assert f"-DCMAKE_CXX_FLAGS_RELEASE={FLAGS}" in cmake
    assert "-DBUILD_SHARED_LIBS=OFF" in cmake


def test_cmake_gets_the_location_of_each_library(cache: Path) -> None:
    prefix, _ = build(cache)
    text = engine_list.cmake_text(engine_list.bundled([prefix], FLAGS))
    assert "set(KVM_ENGINE_PACKAGES fake)" in text
    assert f'set(KVM_ENGINE_fake_PREFIX "{prefix.path}")' in text
    path = cache / "engines" / "bundled.cmake"
    assert engine_list.write_if_changed(path, text)
    assert not engine_list.write_if_changed(path, text)


def test_two_set_ups_do_not_use_one_cache_at_once(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    waited: list[str] = []

    def refuse() -> None:
        waited.append("waited")
        raise TimeoutError

    with locked(path, refuse), pytest.raises(TimeoutError), locked(path, refuse):
        pass
    assert waited == ["waited"]
    with locked(path, refuse):
        pass


def test_the_cache_is_where_the_user_says() -> None:
    assert cache_dir({"KVMATRIX_CACHE": "/c"}) == Path("/c")
    assert cache_dir({"XDG_CACHE_HOME": "/x", "HOME": "/h"}) == Path("/x/kvmatrix")
    assert cache_dir({"HOME": "/h"}) == Path("/h/.cache/kvmatrix")


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
