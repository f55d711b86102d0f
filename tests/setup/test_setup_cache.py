"""A damaged cache is refused with the command that mends it; leftovers are not used."""

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from scripts.basis.cache import cache_dir, claim
from scripts.basis.manifest import checksums
from scripts.basis.problem import SetupError
from tests.setup.provisioning import (
    Checkout,
    make_source,
    put_checkout,
    put_programs,
    ready,
    refused,
)

ARCHIVE = "fake_1.orig.tar.gz"


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Checkout:
    monkeypatch.chdir(tmp_path)
    return put_checkout(tmp_path, monkeypatch)


def change(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1] + b"x")


def relink(path: Path) -> None:
    path.unlink()
    path.symlink_to("/elsewhere")


def fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


DAMAGES: list[tuple[str, Callable[[Path], object], str]] = [
    ("lib/libfake.a", change, "changed since it was compiled\n  expected sha256 "),
    ("lib/libfake.a", Path.unlink, "a file of the compiled library is missing"),
    ("lib/libfake.a", relink, "changed since it was compiled"),
    ("lib/libfake.a", fifo, "changed since it was compiled"),
    ("lib/libfake.so", relink, "  actual   sha256 link to /elsewhere"),
    ("include/fake.h", change, "changed since it was compiled"),
    ("include/more.h", Path.touch, "not a file of the compiled library"),
    ("include/deep", lambda path: path.symlink_to("/usr"), "not a file of the"),
    ("lib", shutil.rmtree, "is missing"),
    ("manifest.json", change, "damaged"),
    ("manifest.json", lambda path: path.write_text(""), "damaged"),
    ("manifest.json", lambda path: path.write_text("[" * 10**5), "damaged"),
    ("manifest.json", lambda path: path.write_bytes(b"\xff"), "damaged"),
    ("manifest.json", lambda path: path.write_text("{}"), "damaged"),
    ("manifest.json", lambda path: path.write_text('{"files": [1]}'), "damaged"),
]


@pytest.mark.parametrize(("name", "damage", "message"), DAMAGES)
def test_a_damaged_library_is_refused_until_it_is_compiled_again(
    checkout: Checkout, name: str, damage: Callable[[Path], object], message: str
) -> None:
    ready(checkout)
    sums = checksums(checkout.prefix)
    damage(checkout.prefix / name)
    built = (checkout.root / "calls").read_text()
    for words in ((), ("--no-build",)):
        output = refused(checkout, *words)
        assert f"{checkout.prefix / name}" in output
        assert message in output
        remedy = f"To compile fake again: rm -r {checkout.prefix} && scripts/setup\n"
        assert output.endswith(remedy)
    assert (checkout.root / "calls").read_text() == built
    checkout.mend(output)
    assert "Compiling fake" in ready(checkout)
    assert checksums(checkout.prefix) == sums


def test_many_changed_files_are_counted(checkout: Checkout) -> None:
    ready(checkout)
    for number in range(9):
        (checkout.prefix / f"new{number}").touch()
    output = refused(checkout)
    assert output.count("not a file of the compiled library") == 5
    assert "and 4 more files" in output


def test_the_checksums_are_those_of_the_files(checkout: Checkout) -> None:
    ready(checkout)
    manifest = json.loads((checkout.prefix / "manifest.json").read_text())
    assert manifest["files"] == {
        "include/fake.h": hashlib.sha256(b"header\n").hexdigest(),
        "lib/libfake.a": hashlib.sha256(b"made\n").hexdigest(),
        "lib/libfake.so": "link to libfake.a",
    }


def forget_checksums(checkout: Checkout) -> None:
    path = checkout.prefix / "manifest.json"
    manifest = json.loads(path.read_text())
    del manifest["files"]
    path.write_text(json.dumps(manifest | {"schema": 1}))


def test_a_library_without_checksums_is_compiled_again(checkout: Checkout) -> None:
    ready(checkout)
    forget_checksums(checkout)
    change(checkout.prefix / "lib/libfake.a")
    output = ready(checkout)
    assert "fake 1-1 was compiled before checksums of its files were recorded" in output
    assert (checkout.prefix / "lib/libfake.a").read_text() == "made\n"
    assert "Compiling" not in ready(checkout)


def test_a_changed_archive_is_refused_until_it_is_downloaded_again(
    checkout: Checkout,
) -> None:
    ready(checkout)
    path = checkout.cache / "downloads" / ARCHIVE
    sound = path.read_text()
    change(path)
    shutil.rmtree(checkout.prefix)
    for _ in range(2):
        output = refused(checkout)
        source = make_source()
        actual = hashlib.sha256(path.read_bytes()).hexdigest()
        for text in (str(path), source.sha256[ARCHIVE], actual, "configs/engines.toml"):
            assert text in output
        assert output.endswith(f"again: rm {path} && scripts/setup\n")
    checkout.mend(output)
    ready(checkout)
    assert path.read_text() == sound


def test_a_download_that_is_not_the_pinned_one_is_not_kept(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TAMPERED", "!")
    output = refused(checkout)
    pinned = make_source().sha256[ARCHIVE]
    actual = hashlib.sha256(f"{ARCHIVE}!".encode()).hexdigest()
    for text in (
        f'"{ARCHIVE}" in the sha256',
        "'fake' in ",
        "configs/engines.toml\n",
        pinned,
    ):
        assert text in output
    assert f"  actual   sha256 {actual}\n" in output
    assert "Nothing was kept." in output
    assert not list(checkout.cache.rglob("fake_1*"))
    monkeypatch.setenv("TAMPERED", "")
    ready(checkout)


def test_a_download_without_a_pinned_file_is_refused(
    checkout: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = put_programs(tmp_path / "idle", {"apt-get": "true"})
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    assert "actual   sha256 none: there is no such file" in refused(checkout)


def test_leftovers_of_an_interrupted_set_up_are_made_again(checkout: Checkout) -> None:
    ready(checkout)
    prefix, downloads = checkout.prefix, checkout.cache / "downloads"
    (prefix / "manifest.json").unlink()  # as if killed while it removed the folder
    (prefix / "lib/libfake.a").write_text("half")
    (downloads / ARCHIVE).unlink()  # as if killed between two renames
    for name in ("work/incoming/x_1.dsc", "work/fake/source/x", "apt/lists/odd"):
        path = checkout.cache / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("half")
    output = ready(checkout)
    assert "Fetching sources: fake" in output
    assert (prefix / "lib/libfake.a").read_text() == "made\n"
    assert not list(checkout.cache.glob("work/*"))
    assert not (checkout.cache / "apt/lists/odd").exists()


def test_a_build_that_installs_nothing_is_refused(
    checkout: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = put_programs(tmp_path / "idle", {"make": "true"})
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    assert "fake was compiled, but nothing was installed" in refused(checkout)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("downloads", "file"),
        ("logs", "file"),
        ("prefix", "file"),
        ("work", "file"),
        ("apt", "file"),
        ("lock", "folder"),
        ("lock", "loop"),
        (f"downloads/{ARCHIVE}", "folder"),
    ],
)
def test_what_is_in_the_way_in_the_cache_is_named_and_can_be_removed(
    checkout: Checkout, name: str, kind: str
) -> None:
    claim(checkout.cache)
    path = checkout.cache / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == "file":
        path.touch()
    elif kind == "folder":
        (path / "x").mkdir(parents=True)
    else:
        path.symlink_to(path)
    output = refused(checkout)
    assert f"{path}: " in output
    checkout.mend(output)
    ready(checkout)


@pytest.mark.parametrize("kind", ["file", "below a file", "loop", "read-only"])
def test_a_cache_that_is_no_folder_is_named_with_the_variable(
    checkout: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    path = tmp_path / "odd"
    cache = {"below a file": path / "cache", "read-only": Path("/proc/odd")}.get(
        kind, path
    )
    if kind == "loop":
        path.symlink_to(path)
    else:
        path.touch()
    monkeypatch.setenv("KVMATRIX_CACHE", str(cache))
    output = refused(checkout)
    assert "Set KVMATRIX_CACHE to a directory that this user can write" in output
    assert str(path if kind != "read-only" else cache) in output


@pytest.mark.parametrize(
    "folder",
    ["cache", ".", "//cache", "/a b", "/a\n", '/a"', "/$a", "/\udcff", "/" * 300],
)
@pytest.mark.parametrize("variable", ["KVMATRIX_CACHE", "XDG_CACHE_HOME", "HOME"])
def test_a_cache_in_which_nothing_can_be_compiled_is_refused(
    variable: str, folder: str
) -> None:
    with pytest.raises(SetupError, match=f"{variable}: .*; set KVMATRIX_CACHE to an"):
        cache_dir({variable: folder})


def test_a_refused_name_of_the_cache_ends_the_set_up(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KVMATRIX_CACHE", "cache")
    assert "KVMATRIX_CACHE: cannot compile below 'cache'" in refused(checkout)
    (checkout.root / "build/lock").unlink()
    (checkout.root / "build/lock").mkdir()  # found first, and not in that cache
    assert f"rm -r {checkout.root}/build/lock" in refused(checkout)


def test_an_empty_variable_counts_as_unset(monkeypatch: pytest.MonkeyPatch) -> None:
    empty = {"KVMATRIX_CACHE": "", "XDG_CACHE_HOME": "", "HOME": "/h"}
    assert cache_dir(empty) == Path("/h/.cache/kvmatrix")
    assert cache_dir({}).parts[-2:] == (".cache", "kvmatrix")

    def unknown(_: int) -> None:
        raise KeyError

    monkeypatch.setattr("pwd.getpwuid", unknown)
    with pytest.raises(SetupError, match=r"home directory of this user: .* set KVM"):
        cache_dir({})


@pytest.mark.parametrize(
    "name", ["work/precious", "prefix/mine", "notes", "CACHEDIR.TAG"]
)
def test_a_folder_of_somebody_else_is_not_taken_for_the_cache(
    checkout: Checkout, name: str
) -> None:
    """Not even if its folders have the names that a cache has."""
    file = checkout.cache / name
    file.parent.mkdir(parents=True)
    file.write_text("precious")
    before = sorted(path.name for path in checkout.cache.rglob("*"))
    output = refused(checkout)
    assert f"{checkout.cache}: is not a cache of kvmatrix and not empty" in output
    assert "Set KVMATRIX_CACHE to a new directory" in output
    assert sorted(path.name for path in checkout.cache.rglob("*")) == before
    assert file.read_text() == "precious"


def test_a_cache_from_before_there_was_a_tag_is_used(checkout: Checkout) -> None:
    ready(checkout)
    (checkout.cache / "CACHEDIR.TAG").unlink()
    shutil.rmtree(checkout.prefix)
    ready(checkout)
    assert (checkout.cache / "CACHEDIR.TAG").is_file()
