"""The machine's package sources and the pins, as the set-up reads them."""

import subprocess
import sys
from pathlib import Path

import pytest

from report.config.pinned_source import CrateSource
from scripts.basis.problem import SetupError
from scripts.provision import requested, sourcelist
from scripts.provision.presets import read_flags
from tests.places import ROOT
from tests.setup.provisioning import pinned_sources

STANZAS = """\
# A comment
Types: deb
URIs: http://mirror.example/debian
Suites: bookworm bookworm-updates
Components: main
# one inside
Signed-By:
 -----BEGIN KEY-----
 .
 -----END KEY-----

Types: deb deb-src
URIs: http://mirror.example/security
Suites: bookworm-security
Components: main contrib
Architectures: amd64
Signed-By: /keys/archive.gpg

Enabled: no
Types: deb
URIs: http://off.example
Suites: stable
"""


def test_stanzas_become_sources_of_source_packages() -> None:
    first, second = sourcelist.from_stanzas(STANZAS)
    assert first == {
        "Types": "deb-src",
        "URIs": "http://mirror.example/debian",
        "Suites": "bookworm bookworm-updates",
        "Components": "main",
        "Signed-By": "\n -----BEGIN KEY-----\n .\n -----END KEY-----",
    }
    assert second == {
        "Types": "deb-src",
        "URIs": "http://mirror.example/security",
        "Suites": "bookworm-security",
        "Components": "main contrib",
        "Signed-By": "/keys/archive.gpg",
    }


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "deb http://m.example/debian bookworm main contrib  # why",
            {
                "URIs": "http://m.example/debian",
                "Suites": "bookworm",
                "Components": "main contrib",
            },
        ),
        (
            "deb [arch=amd64 signed-by=/k.gpg trusted=yes] file:/srv ./",
            {
                "URIs": "file:/srv",
                "Suites": "./",
                "Signed-By": "/k.gpg",
                "Trusted": "yes",
            },
        ),
        (
            "deb-src http://m.example/debian bookworm main",
            {
                "URIs": "http://m.example/debian",
                "Suites": "bookworm",
                "Components": "main",
            },
        ),
    ],
)
def test_a_line_becomes_a_source_of_source_packages(
    line: str, expected: dict[str, str]
) -> None:
    assert sourcelist.from_lines(line) == [{"Types": "deb-src"} | expected]


@pytest.mark.parametrize(
    "line", ["", "# deb http://m.example/ x y", "deb cdrom:[disc]/ bookworm main"]
)
def test_a_line_that_names_no_source_becomes_nothing(line: str) -> None:
    assert sourcelist.from_lines(line) == []


def test_both_formats_end_in_one_list_without_doubles(tmp_path: Path) -> None:
    parts = tmp_path / "sources.list.d"
    parts.mkdir()
    line = "deb http://m.example/debian bookworm main\n"
    (tmp_path / "sources.list").write_text(line)
    (parts / "same.list").write_text(line)
    (parts / "debian.sources").write_text(STANZAS)
    (parts / "off.list.disabled").write_text("deb http://off.example x y\n")
    text = sourcelist.private_list(sourcelist.source_files(tmp_path))
    assert text.count("Types: deb-src\n") == 3
    assert "off.example" not in text
    assert "Types: deb\n" not in text
    assert sourcelist.from_stanzas(text) == sourcelist.from_stanzas(
        sourcelist.private_list(sourcelist.source_files(tmp_path))
    )


def test_a_list_that_is_not_utf_8_is_read(tmp_path: Path) -> None:
    line = b"deb http://m.example/debian bookworm main # \xff\n"
    (tmp_path / "sources.list").write_bytes(line)
    assert "bookworm" in sourcelist.private_list(sourcelist.source_files(tmp_path))


def test_our_pins_are_whole_and_in_the_order_of_need() -> None:
    sources = pinned_sources(ROOT / "configs")
    seen: set[str] = set()
    for source in sources:
        assert set(source.needs) <= seen
        described = source.archive if isinstance(source, CrateSource) else source.dsc
        assert described in source.sha256
        assert len(source.upstream_sha256) == 64
        seen.add(source.package)
    assert {"leveldb", "kyotocabinet", "sqlite3"} <= seen


def test_every_engine_gets_one_set_of_flags() -> None:
    assert read_flags(ROOT / "CMakePresets.json") == "-O2 -DNDEBUG"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ('packge = "x"', r"source\[0\].packge: unknown key 'packge' \(did you mean"),
        (
            'package = "xx"\nversion = "1"\nbuild = "make"\n'
            f'sha256 = {{"xx_1.dsc" = "{"0" * 64}"}}',
            r"source\[0\].sha256: no checksum of a .orig.tar. file",
        ),
    ],
)
def test_a_wrong_pin_is_refused(source: str, message: str, tmp_path: Path) -> None:
    engine = '[[engine]]\nname = "e"\ntitle = "T"\nsummary = "S"\n'
    (tmp_path / "engines.toml").write_text(f"{engine}[[engine.source]]\n{source}\n")
    with pytest.raises(SetupError, match=rf"engines.toml: engine\[e\].{message}"):
        requested.read(tmp_path)


def test_the_set_up_needs_nothing_but_the_standard_library() -> None:
    words = (sys.executable, "-S", "-c", "import scripts.provision.setup")
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
