"""A library that its authors have built: found, refused or staged."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from scripts.basis.problem import SetupError
from scripts.library.driver_choice import drivers_of
from scripts.library.installed_library import check, find, stage
from tests.places import ROOT

LMDB = drivers_of("lmdb", ROOT)
# More functions than the check of the optimisation wants to see.
SOURCE = "".join(f"int f{n}(int *p) {{ return *p * {n}; }}\n" for n in range(30))


def compiled(folder: Path, *flags: str) -> Path:
    """Return an object file."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "x.c").write_text(SOURCE)
    words = ["cc", *flags, "-c", "x.c", "-o", "x.o"]
    subprocess.run(words, cwd=folder, check=True)
    return folder / "x.o"


def archive(path: Path, *flags: str, kind: str = "rcs") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    objects = compiled(path.parent / "objects", *(flags or ("-O2",)))
    subprocess.run(["ar", kind, path, objects], check=True)
    return path


def headers(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "lmdb.h").write_text("")


def installed(prefix: Path) -> Path:
    headers(prefix / "include")
    return archive(prefix / "lib/liblmdb.a")


def build_folder(prefix: Path) -> Path:
    headers(prefix)
    return archive(prefix / "liblmdb.a")


def multiarch(prefix: Path) -> Path:
    headers(prefix / "include")
    return archive(prefix / "lib/x86_64-linux-gnu/liblmdb.a")


@pytest.mark.parametrize("make", [installed, build_folder, multiarch])
@pytest.mark.parametrize("of_file", [True, False])
def test_a_library_is_found_by_its_folder_and_its_file(
    tmp_path: Path, make: Callable[[Path], Path], of_file: bool
) -> None:
    prefix = tmp_path / 'it\'s "a" prefix'
    file = make(prefix)
    library = find(file if of_file else prefix, LMDB)
    assert library.file == file
    assert (library.include / "lmdb.h").is_file()
    check(library)
    stage(library, "lmdb", tmp_path / "staged")
    assert (tmp_path / "staged/lib/liblmdb.a").read_bytes() == file.read_bytes()
    assert (tmp_path / "staged/include/lmdb.h").is_file()


def test_a_shared_library_is_copied(tmp_path: Path) -> None:
    headers(tmp_path / "include")
    lib = tmp_path / "lib"
    shared = ["-shared", "-fPIC", "-Wl,-soname,liblmdb.so.0"]
    compiled(tmp_path / "objects", "-O2", "-fPIC")
    lib.mkdir()
    files = [f"{tmp_path}/objects/x.o", "-o", f"{lib}/liblmdb.so.0.9"]
    subprocess.run(["cc", *shared, *files], check=True)
    (lib / "liblmdb.so.0").symlink_to("liblmdb.so.0.9")
    (lib / "liblmdb.so").symlink_to("liblmdb.so.0")
    for place in (tmp_path, lib / "liblmdb.so.0.9"):
        library = find(place, LMDB)
        check(library)
        stage(library, "lmdb", tmp_path / "staged")
        for name in ("liblmdb.so", "liblmdb.so.0"):
            copied = tmp_path / "staged/lib" / name
            assert not copied.is_symlink() or copied.resolve().parent == copied.parent
            assert copied.read_bytes() == (lib / name).read_bytes()


def nothing(prefix: Path) -> None:
    prefix.mkdir()


def another(prefix: Path) -> None:
    installed(prefix).rename(prefix / "lib/libleveldb.a")


def no_headers(prefix: Path) -> None:
    archive(prefix / "lib/liblmdb.a")


def text(prefix: Path) -> None:
    installed(prefix).write_text("!<arch of Noah>")


def thin(prefix: Path) -> None:
    installed(prefix).unlink()
    archive(prefix / "lib/liblmdb.a", kind="rcsT")


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda _: None, "no such file or folder"),
        (nothing, "it has no library"),
        (another, "it has libleveldb.a"),
        (no_headers, "lmdb.h"),
        (text, "neither a static nor a shared library"),
        (thin, "a thin archive"),
    ],
)
def test_what_is_no_such_library_is_refused_by_name(
    tmp_path: Path, make: Callable[[Path], None], problem: str
) -> None:
    make(tmp_path / "prefix")
    with pytest.raises(SetupError, match=re.escape(problem)) as refused:
        find(tmp_path / "prefix", LMDB)
    assert str(tmp_path / "prefix") in str(refused.value)


@pytest.mark.parametrize(
    ("flags", "problem"),
    [
        (["-O2", "-fsanitize=address"], "address sanitizer"),
        (["-O2", "-fsanitize=thread"], "thread sanitizer"),
        (["-O2", "-fsanitize=undefined"], "undefined"),
        (["-O2", "--coverage"], "coverage"),
        (["-O2", "-pg"], "profiling"),
        (["-O0"], "without optimisation"),
        (["-g"], "without optimisation"),
        (["-O1", "-fno-omit-frame-pointer"], ""),
        (["-Og", "-g"], ""),
        (["-O3", "-fPIC"], ""),
    ],
)
def test_a_library_for_something_else_than_speed_is_refused(
    tmp_path: Path, flags: list[str], problem: str
) -> None:
    headers(tmp_path / "include")
    archive(tmp_path / "lib/liblmdb.a", *flags)
    library = find(tmp_path, LMDB)
    if not problem:
        check(library)
        return
    with pytest.raises(SetupError, match=problem):
        check(library)
