"""Damaged pins, flags and folders end the set-up with a remedy and status 2."""

import errno
import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from scripts.basis.remedy import system_text
from scripts.provision import setup
from tests.setup.provisioning import (
    Checkout,
    engines_text,
    make_source,
    presets_text,
    put_checkout,
    refused,
    refused_pin,
)


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Checkout:
    monkeypatch.chdir(tmp_path)
    return put_checkout(tmp_path, monkeypatch)


def test_a_sound_checkout_is_set_up(checkout: Checkout) -> None:
    for _ in range(2):
        status, output = checkout.set_up()
        assert (status, output.splitlines()[-1]) == (0, "Ready.")


UNREADABLE: dict[str, Callable[[Path], object]] = {
    "not TOML, not JSON": lambda path: path.write_text("{[["),
    "not UTF-8": lambda path: path.write_bytes(b"\xff\xfe"),
    "nested": lambda path: path.write_text("x = " * path.match("*.toml") + "[" * 10**5),
    "empty": lambda path: path.write_text(""),
    "cut": lambda path: path.write_text(path.read_text()[:40]),
    "folder": lambda path: path.mkdir(),
    "fifo": lambda path: os.mkfifo(path),
    "loop": lambda path: path.symlink_to(path),
    "missing": lambda path: None,
    "endless": lambda path: path.symlink_to("/dev/zero"),
}


LONG_VERSION = f'version = "1{"0" * 99}"'


@pytest.mark.parametrize("damage", UNREADABLE)
@pytest.mark.parametrize("name", ["configs/engines.toml", "CMakePresets.json"])
def test_an_unreadable_file_is_named_with_the_command_that_restores_it(
    checkout: Checkout, name: str, damage: str
) -> None:
    path = checkout.root / name
    if damage != "cut":
        path.unlink()
    UNREADABLE[damage](path)
    output = refused(checkout)
    assert f"{name}: " in output
    assert re.search(rf"^To restore .*: git checkout -- \S*{name}$", output, re.M)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('name = "engine"', "", "engine[0]: 'name' is missing"),
        ('package = "fake"', "", "'package' is missing"),
        ('version = "1-1"', "", "'version' is missing"),
        ('version = "1-1"', "version = 1", "version: 1 is not valid"),
        ('version = "1-1"', 'version = "../1"', "version: '../1' is not valid"),
        ('version = "1-1"', 'version = "1-2"', "no checksum of a fake_1-2.dsc file"),
        ('version = "1-1"', LONG_VERSION, "... is not valid; expected"),
        ('package = "fake"', 'package = "-fake"', "package: '-fake' is not valid"),
        ('package = "fake"', 'package = "a/b"', "package: 'a/b' is not valid"),
        ('package = "fake"', 'package = "fa ke"', "package: 'fa ke' is not valid"),
        ('package = "fake"', r'package = "f\u001b"', "has control characters"),
        ('package = "fake"', 'package = ""', "package: '' is not valid"),
        (
            'package = "fake"',
            'package = "fakir"',
            "is not a file of the source package",
        ),
        ('"fake_1-1.dsc"', '"../fake_1-1.dsc"', "'../fake_1-1.dsc' is not a file of"),
        ('"fake_1-1.dsc"', '"fake_1-1.dsc/x"', "'fake_1-1.dsc/x' is not a file of"),
        ('"fake_1-1.dsc"', '"fake_1-1.dsc.x"', "no checksum of a fake_1-1.dsc file"),
        ("fake_1.orig.tar.gz", "fake_1.tar.gz", "no checksum of a .orig.tar. file"),
        (
            'sha256]\n"fake_1-1.dsc" = "',
            'sha256]\n"fake_1-1.dsc" = "g',
            "64 hexadecimal",
        ),
        ('build = "autotools"', 'build = "meson"', "unknown build system 'meson'"),
        ('["--with-x"]', '["--with-x", 1]', "a list of strings"),
        ('["--with-x"]', r'["a\u0000"]', "has control characters"),
        ('["--with-x"]', '["x"]\nneeds = ["fakr"]', "unknown package of an earlier"),
        ('["--with-x"]', '["x"]\nneeds = ["fake"]', "unknown package of an earlier"),
        (
            "[engine.source.sha256]",
            "sha256 = 1\n[engine.flags]",
            "sha256: 1 is not valid",
        ),
        ("[[engine.source]]", "[engine.source]", "source: "),
    ],
)
def test_a_wrong_pin_is_refused_with_its_key(
    checkout: Checkout, old: str, new: str, message: str
) -> None:
    output = refused_pin(checkout, old, new)
    assert message in output
    assert "configs/engines.toml: " in output
    assert "git checkout -- " in output
    assert not checkout.cache.exists()


def test_a_package_that_is_pinned_twice_is_refused(checkout: Checkout) -> None:
    checkout.engines.write_text(
        engines_text(make_source())
        + engines_text(replace(make_source(), engine="other"))
    )
    assert "'fake' is pinned twice; remove one of the two" in refused(checkout)


@pytest.mark.parametrize(
    "flags", [None, 5, "", "-DNDEBUG", "-O2\n", '-O2 "x"', "-O2;x"]
)
def test_compiler_flags_that_cannot_be_passed_on_are_refused(
    checkout: Checkout, flags: object
) -> None:
    (checkout.root / "CMakePresets.json").write_text(presets_text(flags))
    output = refused(checkout)
    assert "configurePresets[release].cacheVariables.CMAKE_CXX_FLAGS_RELEASE" in output


@pytest.mark.parametrize("name", ["release", "cacheVariables"])
def test_a_preset_without_flags_is_refused(checkout: Checkout, name: str) -> None:
    path = checkout.root / "CMakePresets.json"
    path.write_text(path.read_text().replace(name, "other"))
    assert 'missing; expected such as "-O2 -DNDEBUG"' in refused(checkout)


@pytest.mark.parametrize("name", ["build", "build/lock", "build/engines/bundled.cmake"])
@pytest.mark.parametrize("kind", ["file", "folder", "loop"])
def test_what_is_in_the_way_in_build_is_named_and_can_be_removed(
    checkout: Checkout, name: str, kind: str
) -> None:
    path = checkout.root / name
    if name == "build":
        path.rename(checkout.root / "old")
    path.parent.mkdir(exist_ok=True)
    if kind == "file":
        path.touch()
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(path)
    is_harmless = {
        "build": kind == "folder",
        "build/lock": kind == "file",
        "build/engines/bundled.cmake": kind != "folder",
    }[name]
    words = ["--no-build"] if name != "build" else ["--python-only"]
    if name == "build" and is_harmless:
        (checkout.root / "old").rename(path)
    if not is_harmless:
        output = refused(checkout, *words)
        assert f"{path}: " in output
        checkout.mend(output)
        if name == "build":
            (checkout.root / "old").rename(path)
    assert checkout.set_up(*words)[0] == 0


def test_a_damaged_list_of_engines_is_written_again(checkout: Checkout) -> None:
    checkout.set_up()
    path = checkout.root / "build/engines/bundled.cmake"
    text = path.read_text()
    path.write_bytes(b"\xff\x00")
    assert checkout.set_up()[0] == 0
    assert path.read_text() == text
    assert (checkout.root / "calls").read_text().count("--preset release\n") == 2


def test_a_build_that_was_configured_for_another_checkout_is_configured_again(
    checkout: Checkout, tmp_path: Path
) -> None:
    build, other = checkout.root / "build/release", tmp_path / "other"
    link = tmp_path / "link"
    link.symlink_to(checkout.root)

    def configured(root: Path, folder: Path) -> int:
        """Return how often a set-up of a build of this root and folder configures."""
        (build / "CMakeCache.txt").write_text(
            f"CMAKE_CACHEFILE_DIR:INTERNAL={folder}\n"
            f"CMAKE_HOME_DIRECTORY:INTERNAL={root}\n"
        )
        calls = checkout.root / "calls"
        calls.unlink()
        assert checkout.set_up()[0] == 0
        return calls.read_text().count("--preset release\n")

    checkout.set_up()
    assert configured(checkout.root, build) == 0
    assert configured(link, link / "build/release") == 0
    for root, folder in ((other, build), (checkout.root, other / "build/release")):
        (build / "stale.o").touch()
        assert configured(root, folder) == 1
        assert not (build / "stale.o").exists()


@pytest.mark.parametrize("preset", ["release", "system", "asan", "tsan"])
def test_a_copied_checkout_keeps_no_build_of_another(
    checkout: Checkout, tmp_path: Path, preset: str
) -> None:
    """Whatever is built next, as by scripts/test; a link is another's on purpose."""
    checkout.set_up()
    copied, linked = (checkout.root / "build" / name for name in (preset, "linked"))
    other = tmp_path / "other"
    for folder in (copied, other):
        folder.mkdir(exist_ok=True)
        (folder / "CMakeCache.txt").write_text(
            f"CMAKE_HOME_DIRECTORY:INTERNAL={tmp_path / 'elsewhere'}\n"
        )
    linked.symlink_to(other)
    status, output = checkout.set_up("--no-build")
    assert status == 0 and f"Removing build/{preset}, which was conf" in output
    assert not (copied / "CMakeCache.txt").exists()
    assert (linked / "CMakeCache.txt").exists()


def error_at(number: int, path: Path | None) -> OSError:
    name = str(path) if path else None
    return OSError(number, os.strerror(number), name)


@pytest.mark.parametrize(
    ("number", "name", "remedy"),
    [
        (errno.ENOSPC, "checkout/build/x", "Free space on the file system of "),
        (errno.EDQUOT, "cache/x", "Free space on the file system of "),
        (errno.EACCES, "checkout/build/x", "Run as the user who owns this checkout"),
        (errno.EROFS, "checkout/build", "Run as the user who owns this checkout"),
        (errno.EACCES, "cache/prefix/x", "Set KVMATRIX_CACHE to a directory that "),
        (errno.EROFS, "cache", "Set KVMATRIX_CACHE to a directory that "),
        (errno.EPERM, "", "Set KVMATRIX_CACHE to a directory that "),
        (errno.ENOENT, "cache/prefix/x", "Run scripts/setup again"),
        (errno.EIO, "checkout/build", "Run scripts/setup again"),
        (errno.EIO, "elsewhere", "Make /.*/elsewhere readable for this user"),
    ],
)
def test_an_error_of_the_system_names_the_path_and_the_change_that_mends_it(
    checkout: Checkout,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    number: int,
    name: str,
    remedy: str,
) -> None:
    def run(*_: object) -> None:
        raise error_at(number, tmp_path / name)

    (checkout.root / "build").mkdir(exist_ok=True)
    monkeypatch.setattr(setup, "run", run)
    first, second = refused(checkout).splitlines()
    assert first == f"scripts/setup: {tmp_path / name}: {os.strerror(number)}"
    assert re.match(remedy, second)


def test_a_full_disk_without_a_path_names_the_folders_that_are_written_to(
    tmp_path: Path,
) -> None:
    text = system_text(error_at(errno.ENOSPC, None), tmp_path, tmp_path / "cache")
    assert text.startswith("No space left on device; free space in the folders")
    assert f"{tmp_path}/build, {tmp_path}/cache, /" in text
    assert str(tmp_path / "build") in system_text(OSError("odd"), tmp_path, None)


def test_a_pin_with_an_epoch_has_files_without_it(checkout: Checkout) -> None:
    source = replace(make_source(), version="2:1-1")
    checkout.engines.write_text(engines_text(source))
    assert checkout.set_up()[0] == 0
    assert checkout.prefix.name.startswith("fake-2_1-1-")
