"""An engine that its authors have built and installed in another folder."""

import hashlib
import re
import subprocess
from pathlib import Path

from tests.places import ROOT


def configure(build: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["cmake", "--preset", "release", "-B", str(build), *options],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


def prefix(folder: Path, library: str) -> Path:
    (folder / "include").mkdir(parents=True)
    (folder / "lib").mkdir()
    (folder / "lib" / f"lib{library}.a").write_text(f"made in {folder}\n")
    return folder


def test_the_library_and_headers_of_a_prefix_are_used_and_recorded(
    tmp_path: Path,
) -> None:
    custom = prefix(tmp_path / "own", "leveldb")
    snappy = prefix(tmp_path / "snappy", "snappy")
    cmake = configure(
        tmp_path / "build",
        f"-DKVM_PREFIX_leveldb={custom}",
        f"-DKVM_PREFIX_snappy={snappy}",
    )
    assert cmake.returncode == 0, cmake.stderr
    archive = custom / "lib/libleveldb.a"
    facts = (tmp_path / "build/drivers/build_facts_leveldb.cc").read_text()
    values = dict(re.findall(r'\.(\w+) = "(.*)"', facts))
    assert values["origin"] == "built elsewhere, snappy built elsewhere"
    places = (tmp_path / "build/drivers/db_bench_leveldb.origin").read_text()
    assert places == (
        f"built elsewhere: {archive}, snappy built elsewhere: {snappy}/lib/libsnappy.a"
    )
    assert values["origin_sha256"] == hashlib.sha256(archive.read_bytes()).hexdigest()
    assert values["engine_flags"] == ""
    ninja = (tmp_path / "build/build.ninja").read_text()
    assert set(re.findall(r"\S*libleveldb\.\w+", ninja)) == {str(archive)}
    assert f"-isystem {custom}/include" in ninja
    # A rebuilt engine is described again.
    assert re.search(rf"^build build.ninja: .*{archive}", ninja, re.MULTILINE)


def test_the_description_of_a_build_does_not_depend_on_where_its_library_is(
    tmp_path: Path,
) -> None:
    """Equal libraries make equal executables, which ab does not measure."""
    facts = []
    for name in ("one", "two"):
        custom = prefix(tmp_path / name, "lmdb")
        (custom / "lib/liblmdb.a").write_text("equal\n")
        build = tmp_path / f"build-{name}"
        assert configure(build, f"-DKVM_PREFIX_lmdb={custom}").returncode == 0
        facts.append((build / "drivers/build_facts_lmdb.cc").read_bytes())
        # The library of the set-up is described again by the set-up.
        assert configure(build, "-UKVM_PREFIX_lmdb").returncode == 0
        assert not (build / "drivers/db_bench_lmdb.origin").exists()
    assert facts[0] == facts[1]


def test_a_prefix_without_the_library_is_an_error_not_another_engine(
    tmp_path: Path,
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    cmake = configure(tmp_path / "build", f"-DKVM_PREFIX_leveldb={empty}")
    assert cmake.returncode != 0
    error_text = " ".join(cmake.stderr.split())
    assert f"KVM_PREFIX_leveldb={empty}: there is no" in error_text
