"""Programs that only tests need: built once, and optional."""

import io
from pathlib import Path

import pytest

from scripts.basis.setup_screen import Screen
from scripts.provision import consumers
from scripts.provision.consumers import ConsumerTool
from tests.places import ROOT
from tests.setup.provisioning import put_programs

# A fake of Go and of Python's pip: prints its arguments, writes a file.
MAKER = """
case "$1" in version|--version) echo "maker $MAKER_VERSION"; exit 0 ;; esac
echo "$@" >> "$MAKER_CALLS"
[ "$MAKER_STATUS" = 0 ] || exit "$MAKER_STATUS"
touch made
"""


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[ConsumerTool, ...]:
    folder = put_programs(tmp_path / "programs", {"go": MAKER, "python": MAKER})
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.setenv("MAKER_CALLS", str(tmp_path / "calls"))
    monkeypatch.setenv("MAKER_STATUS", "0")
    monkeypatch.setenv("MAKER_VERSION", "1")
    pins = tmp_path / "pins"
    pins.mkdir()
    for name in ("go.mod", "go.sum", "otava.txt"):
        (pins / name).write_text("pins")
    return consumers.tools_of(pins, folder / "python")


def make(tools: tuple[ConsumerTool, ...], tmp_path: Path) -> str:
    out = io.StringIO()
    consumers.ensure(tools, tmp_path / "to", tmp_path / "log", Screen(out))
    return out.getvalue()


def calls(tmp_path: Path) -> list[str]:
    path = tmp_path / "calls"
    return path.read_text().splitlines() if path.exists() else []


def test_consumers_are_installed_once(
    tools: tuple[ConsumerTool, ...], tmp_path: Path
) -> None:
    assert "Installing benchstat and actionlint" in make(tools, tmp_path)
    assert (tmp_path / "to/bin/made").exists()
    assert (tmp_path / "to/otava/made").exists()
    assert make(tools, tmp_path) == ""
    assert len(calls(tmp_path)) == 2


def test_a_damaged_stamp_reinstalls_its_tool(
    tools: tuple[ConsumerTool, ...], tmp_path: Path
) -> None:
    make(tools, tmp_path)
    (tmp_path / "to/bin/.made-from").write_bytes(b"\xff")
    (tmp_path / "to/otava/.made-from").unlink()
    assert make(tools, tmp_path).count("Installing") == 4  # two lines for each tool
    assert make(tools, tmp_path) == ""


def test_a_changed_pin_reinstalls_its_tool(
    tools: tuple[ConsumerTool, ...], tmp_path: Path
) -> None:
    make(tools, tmp_path)
    (tmp_path / "pins/go.sum").write_text("other pins")
    output = make(tools, tmp_path)
    assert "benchstat" in output
    assert "Otava" not in output


def test_another_go_version_rebuilds_its_programs(
    tools: tuple[ConsumerTool, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tools, tmp_path)
    monkeypatch.setenv("MAKER_VERSION", "2")
    again = consumers.tools_of(tmp_path / "pins", tmp_path / "programs/python")
    assert "benchstat" in make(again, tmp_path)


def test_only_what_is_pinned_and_hashed_is_installed(
    tools: tuple[ConsumerTool, ...], tmp_path: Path
) -> None:
    make(tools, tmp_path)
    go, pip = calls(tmp_path)
    assert "-mod=readonly" in go
    assert "--require-hashes" in pip
    assert "--no-deps" in pip


def test_a_machine_without_go_is_a_notice_and_not_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tools: tuple[ConsumerTool, ...]
) -> None:
    (tmp_path / "programs/go").unlink()
    monkeypatch.setenv("PATH", str(tmp_path / "programs") + ":/usr/bin:/bin")
    parts = consumers.tools_of(tmp_path / "pins", tmp_path / "programs/python")
    output = make(parts, tmp_path)
    assert "Skipped benchstat and actionlint, which only tests use: Go is not" in output
    assert (tmp_path / "to/otava/made").exists()


def test_a_failed_download_is_reported_and_leaves_no_partial_files(
    tools: tuple[ConsumerTool, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MAKER_STATUS", "1")
    output = make(tools, tmp_path)
    assert output.count("Skipped ") == 2
    assert "failed with status 1" in output
    assert not (tmp_path / "to/bin").exists()
    monkeypatch.setenv("MAKER_STATUS", "0")
    make(tools, tmp_path)
    assert (tmp_path / "to/bin/made").exists()


def test_our_pins_have_a_checksum_each() -> None:
    folder = ROOT / "scripts/consumers"
    summed = (folder / "go.sum").read_text()
    for line in (folder / "go.mod").read_text().splitlines():
        if line.endswith("// indirect"):
            name, version = line.split()[:2]
            assert f"{name} {version} h1:" in summed
    pins = (folder / "otava.txt").read_text().split("==")
    assert len(pins) > 8
    assert all("--hash=sha256:" in rest for rest in pins[1:])
