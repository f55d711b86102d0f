"""Hostile command lines of every verb, attempted only where nothing can be damaged.

The configuration, the builds, the data and the results are those of a temporary folder,
named by environment variables.  No case measures or opens a browser.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import click
from hypothesis import strategies as st

from scripts.cli import verbs
from tests.hostile.contract import check_exit, check_visible, limited_effort
from tests.hostile.hostile_cases import ACCEPTED, REFUSED, write
from tests.hostile.valid_inputs import inputs
from tests.support.command_line import call
from tests.support.fake_executor import FakeExecutor
from tests.support.quiet_machine import quiet_machine

_NOT_USED = ("--open", "--measure", "--version")
# Verbs that measure unless --dry-run is given.
_DRY = (("run",), ("ab",), ("fleet", "run"))
_EXITS = (0, 1, 2, 3, 4, 5)
WORDS = (
    *("", " ", "-", "--", "---", "-1", "0", "1", "4", "1e3", "1e400", "nan", "inf"),
    *("9" * 5000, "-" + "9" * 400, "0x10", "1_000", "١٢", "1.5", "1e-400", "+1"),
    *("5%", "0%", "100%", "1e9%", "10s", "0s", "1e400s", "9" * 400 + "h", "8761h"),
    *("x" * 5000, "a\nb", "a\rb", "\x1b[2J", "\x9b2J", "\u202eabc", "\udcff", "\u2028"),
    *("../../..", "/", ".", "/etc/passwd", "/etc/passwd/x", "/dev/null", "/dev/full"),
    *("/proc/self/mem", "/nowhere/at/all", "a" * 300, "~", "$HOME", "`id`", "a;b|c"),
    *("*", "[", "[!", "**/*", "a,b", ",", "one,two", "one,one", "null", "one", "base"),
    *("lab", "quick", "@last", "@-1", "@-2", "@-0", "@-999999999", "@-9999999999", "@"),
    *("history", "window:5", "html", "md", "csv", "json", "github", "otava", "%s{0}"),
    *(
        "-h",
        "--help",
        "--json",
        "--nonsense",
        "--format",
        "--num=0",
        "-k*",
        "-n4",
        "-o",
    ),
)


@dataclass(frozen=True)
class CommandCase:
    """A command line, and the width that the terminal claims to have."""

    words: tuple[str, ...]
    columns: str

    def document(self) -> dict[str, Any]:
        """Return the case as JSON."""
        return {"words": list(self.words), "columns": self.columns}


# Bytes that are not UTF-8 reach a Python program as these surrogates, and no others do.
_BYTES = st.characters(min_codepoint=0xDC80, max_codepoint=0xDCFF)
_OTHERS = st.characters(min_codepoint=1, max_codepoint=0xD7FF)
_REST = st.characters(min_codepoint=0xE000)


@cache
def command_cases() -> st.SearchStrategy[CommandCase]:
    """Return command lines of every verb."""
    return st.builds(
        CommandCase,
        st.sampled_from(_verbs()).flatmap(_command),
        st.sampled_from(("80", "80", "80", "0", "1", "-1", "x", "9" * 30)),
    )


def _verbs() -> list[tuple[str, ...]]:
    """Return the words of every verb, and of the verbs within a verb."""
    found: list[tuple[str, ...]] = []
    for name in verbs.main.list_commands(_context()):
        found.append((name,))
        command = _found((name,))
        if isinstance(command, click.Group):
            found += [(name, inner) for inner in command.list_commands(_context())]
    return found


def _context() -> click.Context:
    return click.Context(verbs.main)


def _found(words: tuple[str, ...]) -> click.Command:
    command: click.Command = verbs.main
    for word in words:
        assert isinstance(command, click.Group)
        inner = command.get_command(_context(), word)
        assert inner is not None
        command = inner
    return command


def _command(words: tuple[str, ...]) -> st.SearchStrategy[tuple[str, ...]]:
    params = _found(words).params
    names = [n for p in params if isinstance(p, click.Option) for n in p.opts]
    options = [name for name in names if name not in _NOT_USED]
    value = st.one_of(st.sampled_from(WORDS), st.text(_OTHERS | _REST | _BYTES))
    part = value.map(lambda word: (word,))
    if options:
        name = st.sampled_from(options)
        part = st.one_of(part, st.tuples(name, value), st.tuples(name))
    last = ("--dry-run",) if words in _DRY else ()
    return st.lists(part, max_size=5).map(
        lambda parts: (*words, *_safe([w for p in parts for w in p]), *last)
    )


def _safe(words: list[str]) -> list[str]:
    """Return the words without those that measure or open a browser.

    click accepts an unambiguous beginning of an option only if it is told to, but a
    text that is drawn may be one of them.  "--" would make --dry-run an argument.
    """
    return [w for w in words if not w.startswith(_NOT_USED) and w != "--"]


class CommandBench:
    """A temporary folder in which command lines are run."""

    def __init__(self, root: Path) -> None:
        run = inputs()["run"]
        write(inputs()["lab"].contents(()), root / "configs")
        write(run.contents(()), root / "results" / run.parts[0].documents[0]["run"])
        write(inputs()["history"].contents(()), root / "history")
        (root / "here").mkdir()
        self._here = root / "here"
        names = ("configs", "build", "data", "results", "history")
        self._env = {f"KVMATRIX_{n.upper()}_DIR": str(root / n) for n in names}

    def attempt(self, case: CommandCase) -> str:
        """Return ACCEPTED or REFUSED.  Raises Broken if the contract does not hold."""
        os.chdir(self._here)
        env = {**self._env, "COLUMNS": case.columns}
        with limited_effort():
            done = call(case.words, quiet_machine(FakeExecutor), env)
        check_exit(done, _EXITS)
        check_visible(done.stderr, "stderr")
        return REFUSED if done.returncode == 2 else ACCEPTED
