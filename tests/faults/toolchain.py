"""Executables of the tests, built from sources with one change.

Only the units that see the change are compiled, without optimisation, by the commands
of the build; they are linked before the existing objects and libraries.
"""

import functools
import json
import re
import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)


@dataclass(frozen=True)
class Unit:
    """A translation unit as the build compiles it."""

    source: str  # relative to the repository
    output: str  # relative to the build folder
    command: tuple[str, ...]


@dataclass(frozen=True)
class Change:
    """A file of the repository and its new text."""

    file: str
    text: str


@dataclass(frozen=True)
class Toolchain:
    """The build in one folder."""

    root: Path  # of the sources
    build: Path

    def link_test(
        self, source: str, change: Change, folder: Path, units: Sequence[str] = ()
    ) -> Path:
        """Build the tests of one source with the change; return the executable.

        It is that of the source's folder, without the tests of the other sources.
        """
        name = f"{Path(source).parent.name}_test"
        own = f"/{Path(source).parent.name}/{Path(source).name}.o"
        words = self._link_command(f"tests/{name}")
        command = [w for w in words if not w.endswith("_test.cc.o") or w.endswith(own)]
        return self._link(name, command, change, folder, units)

    def link(
        self, target: str, change: Change, folder: Path, units: Sequence[str] = ()
    ) -> Path:
        """Build `target` with the change in `folder`; return the executable.

        Compile `units`, or without them every unit that includes the changed file.
        """
        command = self._link_command(target)
        return self._link(target, command, change, folder, units)

    def _link(
        self,
        target: str,
        command: Sequence[str],
        change: Change,
        folder: Path,
        units: Sequence[str],
    ) -> Path:
        path = folder / "source" / change.file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(change.text)
        replaced = {}
        for unit in self._units(command):
            if units and unit.source not in units:
                continue
            if change.file in included_by(self.root, unit.source):
                replaced[unit.output] = self._compile(unit, change, folder)
        assert replaced, f"{target} does not depend on {change.file}"
        result = folder / Path(target).name
        words = [replaced.pop(word, word) for word in command]
        output = words.index("-o")
        words[output + 1] = str(result)
        self._call([*words[:output], *replaced.values(), *words[output:]])
        return result

    def _compile(self, unit: Unit, change: Change, folder: Path) -> str:
        output = str(folder / unit.output.replace("/", "_"))
        source = folder / "source" if unit.source == change.file else self.root
        words = [
            word
            for word in unit.command
            if not word.startswith(("-O", "-W")) and word != f"-I{self.root}"
        ]
        words[words.index("-o") + 1] = output
        words[words.index("-c") + 1] = str(source / unit.source)
        words[1:1] = ["-O0", "-w", f"-I{folder / 'source'}", f"-I{self.root}"]
        self._call(words)
        return output

    def _call(self, words: list[str]) -> str:
        done = subprocess.run(words, cwd=self.build, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    @functools.lru_cache(maxsize=8)  # noqa: B019 (lives as long as the tests)
    def _link_command(self, target: str) -> tuple[str, ...]:
        last = self._call(["ninja", "-t", "commands", target]).splitlines()[-1]
        words = shlex.split(last)
        return tuple(word for word in words if word not in (":", "&&"))

    def _units(self, link_command: Sequence[str]) -> list[Unit]:
        """Return the units of the executable and of its library, except main.cc."""
        return [
            unit
            for unit in self._all_units
            if unit.output in link_command
            or (
                unit.source.startswith("common/")
                and unit.source != "common/cli/main.cc"
            )
        ]

    @functools.cached_property
    def _all_units(self) -> list[Unit]:
        units = []
        for entry in json.loads((self.build / "compile_commands.json").read_text()):
            words = tuple(shlex.split(entry["command"]))
            path = Path(entry["file"])
            if path.is_relative_to(self.root):
                name = str(path.relative_to(self.root))
                units.append(Unit(name, words[words.index("-o") + 1], words))
        return units


@functools.cache
def included_by(root: Path, name: str) -> frozenset[str]:
    """Return a file of the repository and all files that it includes."""
    path = root / name
    if not path.is_file():
        return frozenset()
    sources = {name}
    for included in _INCLUDE.findall(path.read_text()):
        sources |= included_by(root, included)
    return frozenset(sources)
