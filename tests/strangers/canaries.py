"""Canaries: files that no command may touch, whatever a stranger's folder says.

A program and a library record that they ran.  Of a file, a folder and a device, the
content and the times must stay; from a pipe, nothing may be read or written.
"""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tests.places import PATIENCE_S

TOKENS = ("@program", "@library", "@file", "@folder", "@device", "@pipe", "@nothing")
_LONG_AGO_NS = 10**18  # 2001
_TEXT = b"canary\n"
_RAN = "ran.log"
_SOURCE = """\
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

__attribute__((constructor)) static void sing(void) {
  Dl_info info;
  char path[4096];
  if (!dladdr((void*)sing, &info) || info.dli_fname[0] != '/') return;
  snprintf(path, sizeof path, "%s.ran", info.dli_fname);
  int file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0644);
  if (file >= 0 && write(file, "loaded\\n", 7) == 7) close(file);
}
"""


def _compiled(folder: Path) -> Path:
    """Compile the library, whose constructor writes next to it."""
    compiler = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc")
    assert compiler, "a C compiler is needed, as for the build"
    source, target = folder / "canary.c", folder / "canary.so"
    source.write_text(_SOURCE)
    command = [compiler, "-shared", "-fPIC", "-o", str(target), str(source), "-ldl"]
    subprocess.run(command, check=True, timeout=PATIENCE_S)
    return target


@cache
def library() -> Path:
    """Return the library, compiled once for this process."""
    folder = Path(tempfile.mkdtemp(prefix="kvmatrix-canary-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return _compiled(folder)


@dataclass(frozen=True)
class Canaries:
    """The canaries of one test, in a folder of their own."""

    home: Path
    pipe: int  # both of its ends: whoever opens the other end does not wait

    @classmethod
    def placed(cls, home: Path, library: Path) -> Canaries:
        """Create the canaries in a new folder."""
        home.mkdir()
        program = home / "db_bench_canary"
        program.write_text(f'#!/bin/sh\necho "$0 $*" >> {home}/{_RAN}\nexit 1\n')
        program.chmod(0o755)
        shutil.copy(library, home / "canary.so")
        (home / "target").write_bytes(_TEXT)
        (home / "folder").mkdir()
        (home / "folder/kept").write_bytes(_TEXT)
        (home / "device").write_bytes(bytes(4096))
        os.mkfifo(home / "pipe")
        pipe = os.open(home / "pipe", os.O_RDWR | os.O_NONBLOCK)
        os.write(pipe, _TEXT)
        for path in (*home.rglob("*"), home):
            os.utime(path, ns=(_LONG_AGO_NS, _LONG_AGO_NS))
        return cls(home, pipe)

    @property
    def places(self) -> dict[str, Path]:
        """The path of each canary by its token."""
        names = ("db_bench_canary", "canary.so", "target", "folder", "device", "pipe")
        paths = [self.home / name for name in (*names, "nothing")]
        return dict(zip(TOKENS, paths, strict=True))

    def named(self, value: Any) -> Any:
        """Return a JSON value in which the tokens are the paths of the canaries."""
        if isinstance(value, str):
            for token, path in self.places.items():
                value = value.replace(token, str(path))
            return value
        if isinstance(value, dict):
            return {self.named(k): self.named(v) for k, v in value.items()}
        return [*map(self.named, value)] if isinstance(value, list | tuple) else value

    def adopt(self, path: Path, token: str = "") -> Path:
        """Make a canary of a file or a folder: it is moved to the others.

        Another canary, of `token`, has its name from now on.
        """
        target = self.places[token] if token else self.home / f"adopted-{path.name}"
        if target.is_dir():
            shutil.rmtree(target)
        target.unlink(missing_ok=True)
        shutil.move(path, target)
        for inner in (*target.rglob("*"), target, self.home):
            os.utime(inner, ns=(_LONG_AGO_NS, _LONG_AGO_NS), follow_symlinks=False)
        return target

    def state(self) -> dict[str, bytes]:
        """Return what must stay: of each path its kind and its content."""
        return dict(_entries(self.home))

    def touched(self, before: dict[str, bytes]) -> list[str]:
        """Return which canaries were touched since state() returned `before`."""
        now = self.state()
        found = {p for p in before.keys() | now.keys() if before.get(p) != now.get(p)}
        with os.fdopen(os.dup(self.pipe), "rb", buffering=0) as pipe:
            if (content := pipe.read(1 << 16)) != _TEXT:
                found.add("pipe")
            os.write(self.pipe, content or b"")
        return sorted(found)

    def replaced(self, library: Path) -> Canaries:
        """Return new canaries in the same folder."""
        self.close()
        shutil.rmtree(self.home)
        return Canaries.placed(self.home, library)

    def close(self) -> None:
        """Close the pipe."""
        os.close(self.pipe)


def _entries(home: Path) -> Iterator[tuple[str, bytes]]:
    yield ".", str(home.stat().st_mtime_ns).encode()
    for path in home.rglob("*"):
        status = path.lstat()
        facts = f"{status.st_mode} {status.st_mtime_ns} "
        content = b""
        if path.is_symlink():
            content = os.readlink(path).encode()
        elif path.is_file():
            content = path.read_bytes()
        yield str(path.relative_to(home)), facts.encode() + content
