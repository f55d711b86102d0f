"""A source inside a crate: cargo fetches it, and only the pinned file is used."""

import json
import os
import re
import shutil
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from report.config.pinned_source import PinnedSource
from scripts.basis.problem import SetupError
from scripts.basis.setup_screen import Screen
from scripts.provision import crates, installing, prefixes, requested, setup
from tests.setup.provisioning import (
    COMPILER,
    FLAGS,
    Checkout,
    crate_bytes,
    engines_text,
    make_crate,
    make_source,
    put_checkout,
    put_programs,
    ready,
    refused,
    refused_pin,
)

ARCHIVE = "fake-sys-0.1.0+1.2.3.crate"
# cargo --version; cargo fetch, which does not replace what is in its cache
CARGO = """
case "$1" in
  --version) echo "cargo 1.96.0 (Debian)"; exit ;;
esac
grep -q '{ package = "fake-sys", .* version = "=0.1.0" }' Cargo.toml || exit 1
place="$CARGO_HOME/registry/cache/mirror-1"
mkdir -p "$place"
[ -f "$place/$ARCHIVE" ] || cp "$OFFERED" "$place/$ARCHIVE"
"""


def put_cargo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a cargo on PATH, and the crate that it fetches."""
    put_programs(tmp_path / "bin", {"cargo": CARGO})
    (tmp_path / "offered").write_bytes(crate_bytes())
    monkeypatch.setenv("CARGO_HOME", str(tmp_path / "cargo"))
    monkeypatch.setenv("ARCHIVE", ARCHIVE)
    monkeypatch.setenv("OFFERED", str(tmp_path / "offered"))


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Checkout:
    """Return a checkout whose only source is in a crate."""
    monkeypatch.chdir(tmp_path)
    checkout = put_checkout(tmp_path, monkeypatch)
    checkout.engines.write_text(engines_text(make_crate()))
    put_cargo(tmp_path, monkeypatch)
    failing = "echo 'error: not for crates'; exit 1"
    put_programs(tmp_path / "bin", {"apt-get": failing, "dpkg-source": failing})
    return checkout


def cached(tmp_path: Path) -> Path:
    """Return the crate in the cache of cargo."""
    return tmp_path / "cargo/registry/cache/mirror-1" / ARCHIVE


def test_a_crate_is_compiled_into_a_prefix_that_says_what_it_is(
    checkout: Checkout,
) -> None:
    output = ready(checkout)
    assert "Fetching sources: fake: done" in output
    assert "Compiling fake 0.1.0+1.2.3 (-O2 -DNDEBUG): done in" in output
    manifest = json.loads((checkout.prefix / "manifest.json").read_text())
    assert manifest["origin"] == "crate fake-sys 0.1.0+1.2.3"
    assert manifest["origin_sha256"] == make_crate().sha256[ARCHIVE]
    engines = (checkout.root / "build/engines/bundled.cmake").read_text()
    assert 'fake_ORIGIN "crate fake-sys 0.1.0+1.2.3"' in engines
    assert not list(checkout.cache.glob("work/*"))
    assert "Compiling" not in ready(checkout)


def test_only_the_pinned_folder_is_unpacked(
    checkout: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = put_programs(tmp_path / "failing", {"make": "exit 1"})
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    refused(checkout)
    tree = checkout.cache / "work/fake/source"
    assert sorted(path.name for path in tree.rglob("*")) == ["configure", "prefix"]
    assert (tree / "configure").stat().st_uid == os.geteuid()


def test_a_folder_that_the_crate_does_not_have_is_named(checkout: Checkout) -> None:
    checkout.engines.write_text(engines_text(make_crate("deep/none")))
    output = refused(checkout)
    assert "fake-sys-0.1.0+1.2.3/deep/none: Not found in archive" in output


def test_cargo_is_asked_for_exactly_the_pinned_versions() -> None:
    other = replace(make_crate(), crate="other_sys", version="2.0.1-rc.1")
    document = tomllib.loads(crates.cargo_manifest([make_crate(), other]))
    assert list(document["dependencies"].values()) == [
        {"package": "fake-sys", "version": "=0.1.0", "default-features": False},
        {"package": "other_sys", "version": "=2.0.1-rc.1", "default-features": False},
    ]
    assert document["workspace"] == {}


def test_whatever_a_crate_is_changes_the_key_of_its_library() -> None:
    source = make_crate()
    sources: list[PinnedSource] = [
        source,
        replace(source, crate="fake_sys"),
        replace(source, folder="deep/other"),
        replace(source, version="0.1.1"),
        replace(source, sha256={ARCHIVE: "0"}),
    ]
    keys = {prefixes.key_of(source, FLAGS, COMPILER, []) for source in sources}
    assert len(keys) == len(sources)


def test_packages_and_crates_are_fetched_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkout = put_checkout(tmp_path, monkeypatch)
    put_cargo(tmp_path, monkeypatch)
    package = make_source()
    crate = replace(make_crate(), engine="other", package="crated")
    checkout.engines.write_text(engines_text(package) + engines_text(crate))
    assert "Fetching sources: fake, crated: done" in ready(checkout)
    names = {path.name for path in (checkout.cache / "downloads").iterdir()}
    assert names == {ARCHIVE, *package.sha256}


def test_a_changed_crate_is_refused_until_it_is_downloaded_again(
    checkout: Checkout,
) -> None:
    ready(checkout)
    path = checkout.cache / "downloads" / ARCHIVE
    path.write_bytes(path.read_bytes() + b"x")
    shutil.rmtree(checkout.prefix)
    output = refused(checkout)
    assert make_crate().sha256[ARCHIVE] in output
    assert f"\"{ARCHIVE}\" in the sha256 of the package 'fake'" in output
    assert output.endswith(f"again: rm {path} && scripts/setup\n")
    checkout.mend(output)
    ready(checkout)
    assert path.read_bytes() == crate_bytes()


def test_a_crate_that_is_not_the_pinned_one_is_removed_from_the_cache_of_cargo(
    checkout: Checkout, tmp_path: Path
) -> None:
    """Cargo would use its copy again, and trust it."""
    copy = cached(tmp_path)
    copy.parent.mkdir(parents=True)
    copy.write_bytes(b"another crate")
    output = refused(checkout)
    assert "wrong checksum; the file is refused" in output
    assert "Nothing was kept.  Correct a wrong pin; to download the source" in output
    assert output.endswith(f"again: rm {copy} && scripts/setup\n")
    assert not list(checkout.cache.rglob(ARCHIVE))
    checkout.mend(output)
    ready(checkout)


def test_a_sound_copy_of_another_mirror_is_used(
    checkout: Checkout, tmp_path: Path
) -> None:
    stale = tmp_path / "cargo/registry/cache/mirror-0" / ARCHIVE
    stale.parent.mkdir(parents=True)
    stale.write_bytes(b"another crate")
    os.utime(stale, (2**32, 2**32))  # the newest
    ready(checkout)
    assert stale.read_bytes() == b"another crate"


def test_a_folder_of_cargo_may_be_relative(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CARGO_HOME", "beside")
    ready(checkout)


def test_leftovers_of_an_interrupted_fetch_are_not_used(checkout: Checkout) -> None:
    for name in ("work/crates/Cargo.lock", f"work/incoming/{ARCHIVE}"):
        path = checkout.cache / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("half")
    (checkout.cache / "lock").touch()
    (checkout.cache / "prefix").mkdir()
    ready(checkout)
    assert not list(checkout.cache.glob("work/*"))


@pytest.mark.parametrize(
    ("cargo", "message"),
    [
        ("echo 'error: failed to fetch'; exit 101", "  | error: failed to fetch\n"),
        ("exit 0", "actual   sha256 none: there is no such file"),
    ],
)
def test_a_crate_that_cannot_be_fetched_is_named_with_a_remedy(
    checkout: Checkout, tmp_path: Path, cargo: str, message: str
) -> None:
    put_programs(tmp_path / "bin", {"cargo": cargo})
    output = refused(checkout)
    assert message in output
    assert ("Check the network, cargo (at least 1.85;" in output) is ("101" in cargo)
    assert "configs/engines.toml" in output
    assert not list(checkout.cache.rglob(ARCHIVE))
    put_programs(tmp_path / "bin", {"cargo": CARGO})
    ready(checkout)


def test_without_cargo_the_package_that_has_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(SetupError, match=r"cargo is not installed\n.*cargo-web"):
        crates.fetch([make_crate()], tmp_path / "work", tmp_path / "log")


@pytest.mark.parametrize(
    ("answer", "is_enough"),
    [
        ("cargo 0.66.0", False),
        ("cargo 1.84.1 (66221abde 2024-11-19)", False),
        ("cargo 1.85.0", True),
        ("cargo 1.96.0 (Debian 1.96.0+dfsg1-1)", True),
        ("cargo 2.0.0", True),
        ("no such command", False),
        ("", False),
    ],
)
def test_an_old_cargo_does_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str, is_enough: bool
) -> None:
    programs = put_programs(tmp_path / "bin", {"cargo": f"echo '{answer}'"})
    monkeypatch.setenv("PATH", str(programs))
    assert crates.is_cargo_new_enough() is is_enough


def test_cargo_is_required_until_the_crate_is_in_the_cache(
    checkout: Checkout,
) -> None:
    chosen, _ = requested.chosen(
        requested.Choice(), requested.read(checkout.engines.parent)
    )

    def required(*words: str, sources: tuple[PinnedSource, ...] = ()) -> set[str]:
        options = setup.parser().parse_args(words)
        shop = installing.workshop(
            setup.ROOT,
            chosen.sources.values(),
            Screen(),
            is_system=options.engines == "system",
        )
        sources = sources or tuple(chosen.sources.values())
        return {r.package for r in setup._requirements(options, sources, shop)}

    crate_packages = {"cargo-web", "ca-certificates"}
    assert crate_packages <= required()
    assert not crate_packages & required("--engines", "system")
    ready(checkout)
    assert not crate_packages & required()
    shutil.rmtree(checkout.cache)
    assert not crate_packages & required(sources=(make_source(),))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"fake-sys"', '"../sys"', "crate: '../sys' is not valid; expected the name"),
        ('"fake-sys"', '"-sys"', "crate: '-sys' is not valid"),
        ('"fake-sys"', r'"s\n[x]"', r"crate: 's\n[x]' is not valid"),
        ('"fake-sys"', '""', "crate: '' is not valid"),
        ('"fake-sys"', "1", "crate: 1 is not valid"),
        ('crate = "fake-sys"\n', "", "is not a file of the source package 'fake'"),
        ('version = "0.1.0+1.2.3"', 'version = "0.1"', "version: '0.1' is not valid"),
        ('version = "0.1.0+1.2.3"', 'version = "*"', "version: '*' is not valid"),
        ('"0.1.0+1.2.3"\n', '"0.1.1"\n', "the checksum of 'fake-sys-0.1.1.crate', and"),
        ('"deep/fake"', '"../fake"', "folder: '../fake' is not valid; expected a"),
        ('"deep/fake"', '"deep/../fake"', "folder: 'deep/../fake' is not valid"),
        ('"deep/fake"', '"/fake"', "folder: '/fake' is not valid"),
        ('"deep/fake"', '"deep//fake"', "folder: 'deep//fake' is not valid"),
        ('"deep/fake"', '""', "folder: '' is not valid"),
        ("+1.2.3.crate", "+1.2.4.crate", f"expected the checksum of '{ARCHIVE}'"),
        ("sha256]\n", 'sha256]\n"x_1.dsc" = "0"\n', "and of no other file"),
        ('.crate" = "', '.crate" = "g', "64 hexadecimal"),
    ],
)
def test_a_wrong_pin_of_a_crate_is_refused_with_its_key(
    checkout: Checkout, old: str, new: str, message: str
) -> None:
    output = refused_pin(checkout, old, new)
    assert message in output
    assert re.search(r"engine\[engine\]\.source\[0\]", output)
    assert not checkout.cache.exists()
