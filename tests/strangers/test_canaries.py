"""The canaries sing: each way of touching one is noticed, and nothing else is."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.places import BUILD, PATIENCE_S
from tests.strangers.canaries import Canaries, library


@pytest.fixture
def canaries(tmp_path: Path) -> Iterator[Canaries]:
    placed = Canaries.placed(tmp_path / "canaries", library())
    yield placed
    placed.close()


def _load(path: Path) -> None:
    program = str(BUILD / "drivers/db_bench_plugin")
    words = [program, f"--driver={path}", "--describe"]
    subprocess.run(words, capture_output=True, timeout=PATIENCE_S, check=False)


def _write_pipe(path: Path) -> None:
    file = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
    os.write(file, b"x")
    os.close(file)


def _read_pipe(path: Path) -> None:
    file = os.open(path, os.O_RDONLY)
    os.read(file, 1)
    os.close(file)


def _touch(path: Path) -> None:
    os.utime(path)


TOUCHES: dict[str, tuple[str, Callable[[Path], object], str]] = {
    "run": ("@program", lambda p: subprocess.run([p, "x"], check=False), "ran.log"),
    "loaded": ("@library", _load, "canary.so.ran"),
    "written": ("@file", lambda p: p.write_text("canary!"), "target"),
    "appended to": ("@file", lambda p: p.open("a").write("x"), "target"),
    "written alike": ("@file", lambda p: p.write_bytes(p.read_bytes()), "target"),
    "removed": ("@file", lambda p: p.unlink(), "target"),
    "filled": ("@folder", lambda p: (p / "more").touch(), "folder/more"),
    "emptied": ("@folder", lambda p: (p / "kept").unlink(), "folder/kept"),
    "formatted": ("@device", lambda p: p.write_bytes(b"disk"), "device"),
    "touched": ("@device", _touch, "device"),
    "read": ("@pipe", _read_pipe, "pipe"),
    "written to": ("@pipe", _write_pipe, "pipe"),
    "created": ("@nothing", lambda p: p.touch(), "nothing"),
}


@pytest.mark.parametrize("way", TOUCHES)
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_canary_that_is_touched_sings(canaries: Canaries, way: str) -> None:
    token, touch, name = TOUCHES[way]
    before = canaries.state()
    touch(canaries.places[token])
    assert name in canaries.touched(before)


def test_a_canary_that_is_only_read_is_silent(canaries: Canaries) -> None:
    before = canaries.state()
    for token in ("@program", "@library", "@file", "@device"):
        canaries.places[token].read_bytes()
    list(canaries.places["@folder"].iterdir())
    assert canaries.touched(before) == []


def test_a_file_that_is_adopted_sings_too(canaries: Canaries, tmp_path: Path) -> None:
    own = tmp_path / "lines"
    own.write_text("line\n")
    own.symlink_to(canaries.adopt(own))
    before = canaries.state()
    with own.open("a") as file:
        file.write("more\n")
    assert canaries.touched(before) == ["adopted-lines"]


def test_names_of_canaries_are_found_everywhere_in_a_value(canaries: Canaries) -> None:
    at = canaries.places
    value = {"flags": ["--driver=@library\n", 3], "@file": None}
    named = {"flags": [f"--driver={at['@library']}\n", 3], str(at["@file"]): None}
    assert canaries.named(value) == named
