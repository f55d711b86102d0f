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


def test_the_library_and_headers_of_a_prefix_are_used_and_its_origin_told(
    tmp_path: Path,
) -> None:
    own = prefix(tmp_path / "own", "leveldb")
    snappy = prefix(tmp_path / "snappy", "snappy")
    made = configure(
        tmp_path / "build",
        f"-DKVM_PREFIX_leveldb={own}",
        f"-DKVM_PREFIX_snappy={snappy}",
    )
    assert made.returncode == 0, made.stderr
    archive = own / "lib/libleveldb.a"
    facts = (tmp_path / "build/drivers/build_facts_leveldb.cc").read_text()
    told = dict(re.findall(r'\.(\w+) = "(.*)"', facts))
    assert told["origin"] == (
        f"built elsewhere: {archive}, snappy of {snappy}/lib/libsnappy.a"
    )
    assert told["origin_sha256"] == hashlib.sha256(archive.read_bytes()).hexdigest()
    assert told["engine_flags"] == ""
    ninja = (tmp_path / "build/build.ninja").read_text()
    assert set(re.findall(r"\S*libleveldb\.\w+", ninja)) == {str(archive)}
    assert f"-isystem {own}/include" in ninja
    # A rebuilt engine is described anew.
    assert re.search(rf"^build build.ninja: .*{archive}", ninja, re.MULTILINE)


def test_a_prefix_without_the_library_is_an_error_not_another_engine(
    tmp_path: Path,
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    made = configure(tmp_path / "build", f"-DKVM_PREFIX_leveldb={empty}")
    assert made.returncode != 0
    told = " ".join(made.stderr.split())
    assert f"KVM_PREFIX_leveldb={empty}: there is no" in told
