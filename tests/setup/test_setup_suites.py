"""A source package of another release of the distribution than the machine's."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from report.config.pinned_source import PinnedSource
from scripts.basis.problem import SetupError
from scripts.provision import fetch, prefixes, sourcelist
from tests.setup.provisioning import (
    COMPILER,
    FLAGS,
    Checkout,
    engines_text,
    make_crate,
    make_source,
    put_checkout,
    put_programs,
    ready,
    refused,
)

OWN = """\
Types: deb
URIs: http://m.example/debian
Suites: bookworm bookworm-updates
Components: main
Signed-By: /keys/archive.gpg

Types: deb
URIs: http://m.example/security
Suites: bookworm-security
Components: main

Types: deb
URIs: http://other.example/tools
Suites: tools-bookworm bookworm-tools
Components: main
"""
# apt-get OPTION... update; apt-get OPTION... source ...: like apt, with one server
# that has the suites $OFFERED, and succeeds in an update only if it has them all.
APT = r"""
list="${2#Dir::Etc::SourceList=}"
cp "$list" "$SEEN"
failed=0
for suite in $(sed -n 's/^Suites: //p' "$list"); do
  case " $OFFERED " in
    *" $suite "*) ;;
    *) echo "E: The repository '$suite Release' does not have a Release file."
       failed=100 ;;
  esac
done
case "$*" in
  *" update") exit "$failed" ;;
  *" source "*)
    case " $OFFERED " in
      *" trixie "*) ;;
      *) echo "E: Can not find version '1-1' of package 'fake'"; exit 100 ;;
    esac
    for name in fake_1-1.dsc fake_1.orig.tar.gz fake_1-1.debian.tar.xz; do
      printf "%s" "$name" > "$name"
    done ;;
esac
"""
RELEASE = "bookworm bookworm-updates bookworm-security tools-bookworm bookworm-tools"


def newer() -> PinnedSource:
    """Return a source package of trixie."""
    return replace(make_source(), suite="trixie")


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Checkout:
    """Return a checkout that pins a package of trixie, on a machine with bookworm."""
    checkout = put_checkout(tmp_path, monkeypatch)
    checkout.engines.write_text(engines_text(newer()))
    put_programs(tmp_path / "bin", {"apt-get": APT})
    (tmp_path / "etc/apt/sources.list.d").mkdir(parents=True)
    (tmp_path / "etc/apt/sources.list.d/debian.sources").write_text(OWN)
    (tmp_path / "etc/os-release").write_text('VERSION_CODENAME="bookworm"\n')
    monkeypatch.setattr(fetch, "APT_CONFIGURATION", tmp_path / "etc/apt")
    monkeypatch.setenv("SEEN", str(tmp_path / "seen"))
    monkeypatch.setenv("OFFERED", f"{RELEASE} trixie trixie-updates trixie-security")
    return checkout


def test_the_release_is_where_the_machines_own_is(
    checkout: Checkout, tmp_path: Path
) -> None:
    ready(checkout)
    *own, main, security = sourcelist.from_stanzas((tmp_path / "seen").read_text())
    assert own == sourcelist.from_stanzas(OWN)
    assert main == own[0] | {"Suites": "trixie trixie-updates"}
    assert security == own[1] | {"Suites": "trixie-security"}


def test_one_line_sources_keep_their_options_and_serve_another_release(
    tmp_path: Path,
) -> None:
    file = tmp_path / "sources.list"
    file.write_text("deb [signed-by=/k.gpg] http://m.example/d bookworm main\n")
    text = sourcelist.private_list([file], "bookworm", ["trixie"])
    first, second = sourcelist.from_stanzas(text)
    assert first["Suites"] == "bookworm"
    assert second == first | {"Suites": "trixie"}


def test_another_release_is_not_read_unless_a_package_to_fetch_needs_it(
    checkout: Checkout, tmp_path: Path
) -> None:
    checkout.engines.write_text(engines_text(make_source()))
    ready(checkout)
    assert "trixie" not in (tmp_path / "seen").read_text()


def test_a_machine_that_lists_the_release_is_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "debian.sources"
    file.write_text(OWN.replace("bookworm", "trixie"))
    for own in ("trixie", "bookworm", ""):
        text = sourcelist.private_list([file], own, ["trixie"])
        assert text == sourcelist.private_list([file])


def test_the_manifest_and_the_executables_say_the_release(checkout: Checkout) -> None:
    ready(checkout)
    origin = "Debian source package fake 1-1 (trixie)"
    assert newer().origin == origin
    assert f'"origin": "{origin}"' in (checkout.prefix / "manifest.json").read_text()
    engines = (checkout.root / "build/engines/bundled.cmake").read_text()
    assert f'fake_ORIGIN "{origin}"' in engines


def test_a_server_without_the_release_is_an_error_that_names_both(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    offered = os.environ["OFFERED"]
    monkeypatch.setenv("OFFERED", RELEASE)
    output = refused(checkout)
    for text in (
        "| E: The repository 'trixie Release' does not have a Release file.",
        "| E: Can not find version '1-1' of package 'fake'",
        "machine offer fake=1-1, which ",
        "configs/engines.toml pins.  The server of this ",
        "machine's own release, bookworm, must also have: trixie\n",
    ):
        assert text in output
    assert not list(checkout.cache.glob("prefix/*"))
    monkeypatch.setenv("OFFERED", offered)
    ready(checkout)


def test_a_server_that_is_not_needed_may_lack_the_release(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OFFERED", "bookworm trixie")
    ready(checkout)


@pytest.mark.parametrize(
    ("release", "named"),
    [('VERSION_CODENAME="noble"\n', "(noble)"), ("", "(unknown)")],
)
def test_a_machine_without_a_source_of_its_release_is_an_error(
    checkout: Checkout, tmp_path: Path, release: str, named: str
) -> None:
    (tmp_path / "etc/os-release").write_text(release)
    output = refused(checkout)
    assert f"no package source of this machine is of its own release {named}" in output
    assert "with 'Suites: trixie' to /etc/apt/sources.list.d" in output


def test_only_the_updates_of_a_release_are_not_enough(tmp_path: Path) -> None:
    file = tmp_path / "sources.list"
    file.write_text("deb http://m.example/d bookworm-updates main\n")
    with pytest.raises(SetupError, match="pins source packages of 'trixie'"):
        sourcelist.private_list([file], "bookworm", ["trixie"])


def test_a_release_changes_the_key_of_its_library_and_of_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The values are from before there was the key: nothing else is recompiled."""
    monkeypatch.setattr(prefixes, "RECIPE", 1)
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    sources = (make_source(), make_crate(), newer())
    own, crate, other = (prefixes.key_of(s, FLAGS, COMPILER, []) for s in sources)
    assert (own, crate) == ("f2d81318c511f9fc", "b2338b196509812f")
    assert other != own


@pytest.mark.parametrize(
    "wrong",
    ['""', '"Trixie"', '"trixie main"', '"trixie/updates"', r'"a\nTypes: deb"', "13"],
)
def test_a_wrong_release_is_refused_with_its_key(
    checkout: Checkout, wrong: str
) -> None:
    text = checkout.engines.read_text()
    checkout.engines.write_text(text.replace('"trixie"', wrong))
    output = refused(checkout)
    assert "engine[engine].source[0].suite: " in output
    assert "is not valid; expected" in output


def test_a_crate_has_no_release(checkout: Checkout) -> None:
    text = engines_text(make_crate()).replace("crate =", 'suite = "trixie"\ncrate =')
    checkout.engines.write_text(text)
    assert "source[0].suite: unknown key 'suite'" in refused(checkout)
