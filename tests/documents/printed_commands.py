"""The commands that documents and --help print, each with its file and line.

A command is a line of a code block that begins with one of our programs, any line of a
block of shell, an inline code span that begins with one of our programs, or an example
of a --help text.  Lines are joined and divided as a shell does.
"""

import re
import shlex
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from tests.places import ROOT

# Documents that only hold the output of commands.
_OUTPUT = ("tests/formats/golden/", "results/")
_OURS = (
    r"(?:sudo |[A-Z_]+=\S* )*(?:kvmatrix/)?(?:scripts/|build/|kvmatrix [a-z]|python -m)"
)
_PROGRAM = re.compile(rf"{_OURS}|(?:ctest|cmake|ssh|scp|git|pip) ")
_INLINE = re.compile(rf"(?<!`)`((?:{_OURS}|ctest )[^`]*)`(?!`)")
_FENCE = re.compile(r"^( *)```+ *(\w*)")
# What precedes a command in a session, or in the YAML of a CI.
_PROMPT = re.compile(r"^\s*(\$ |- (run: )?|run: )?")
_SHELL = {"sh", "bash", "console", "shell"}
_BREAKS = {"&&", "||", ";", "|", "&", "(", ")", "\n"}
_KEYWORDS = {"do", "then", "else", "if", "!", "sudo", "time", "nice"}
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_SOURCES = r"scripts/((cli|request|provision|testing)/\w+\.py|[\w-]+)|\.github/.*\.yml"
_GLOB = re.compile(r"""(?:-k|--cells)[ =](?:'([^']+)'|([\w*?\[/][\w*?\[\],./-]*))""")


@dataclass(frozen=True)
class Printed:
    """One command: where it is printed, and its words as a shell divides them."""

    place: str
    words: tuple[str, ...]

    def __str__(self) -> str:
        """Return the place and the command."""
        return f"{self.place}: {shlex.join(self.words)}"


@cache
def printed_commands() -> tuple[Printed, ...]:
    """Return the commands of all documents and --help texts, each once."""
    found: dict[tuple[str, ...], Printed] = {}
    for name in _names():
        for printed in _of_file(name):
            found.setdefault(printed.words, printed)
    return tuple(found.values())


def printed_globs() -> dict[str, str]:
    """Return each pattern of cells that is printed, within a command or alone.

    The value is a file that has it.  Words in capitals stand for what the reader has.
    """
    found: dict[str, str] = {}
    for name in filter(
        lambda n: _is_document(n) or re.fullmatch(_SOURCES, n), _names()
    ):
        for match in _GLOB.finditer((ROOT / name).read_text("utf-8")):
            glob = match[1] or match[2]
            if not glob.isupper():
                found.setdefault(glob, name)
    return found


@cache
def _names() -> tuple[str, ...]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return tuple(sorted(n for n in listed.stdout.splitlines() if (ROOT / n).is_file()))


def _is_document(name: str) -> bool:
    return name.endswith(".md") and (not name.startswith(_OUTPUT) or "README" in name)


def _of_file(name: str) -> Iterator[Printed]:
    if _is_document(name):
        lines = _of_document((ROOT / name).read_text("utf-8"))
    elif re.fullmatch(r"scripts/(cli/\w+\.py|[\w-]+|provision/\w+\.py)", name):
        lines = _of_help((ROOT / name).read_text("utf-8"))
    else:
        return
    for number, line in lines:
        for words in commands_of(line):
            yield Printed(f"{name}:{number}", words)


def _of_document(text: str) -> Iterator[tuple[int, str]]:
    """Yield the number and the text of each line, or span, that is a command."""
    prose: list[str] = []
    language: str | None = None
    lines = text.splitlines()
    taken = 0  # lines that belong to a command before them
    for index, line in enumerate(lines):
        fence = _FENCE.match(line)
        if fence:
            language = fence.group(2) if language is None else None
        is_code = language is not None or line.startswith("    ")
        prose.append("" if is_code or fence else line)
        if fence or index < taken or not is_code or not line.strip():
            continue
        text = _PROMPT.sub("", line) if language not in _SHELL else line.strip()
        if language in _SHELL or _PROGRAM.match(text):
            taken = index + 1
            while lines[taken - 1].endswith("\\"):
                taken += 1
            text = "\n".join([text, *lines[index + 1 : taken]])
            yield index + 1, text.replace("\\\n", " ")
    for span in _INLINE.finditer("\n".join(prose)):
        if "..." not in span.group(1):
            number = "\n".join(prose).count("\n", 0, span.start()) + 1
            yield number, _mentioned(span.group(1))


def _mentioned(span: str) -> str:
    """A verb that is only named has a manual."""
    verb = r"(scripts/)?kvmatrix (\w+|history add|fleet \w+)"
    return f"{span} --help" if re.fullmatch(verb, span) else span


def _of_help(text: str) -> Iterator[tuple[int, str]]:
    """Yield the examples in a help text: lines that begin with one of our programs."""
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(r" {4,8}(scripts/kvmatrix|kvmatrix) [a-z]", line):
            yield number, line


def commands_of(line: str) -> Iterator[tuple[str, ...]]:
    """Yield the words of each simple command of a line, without comment and prefixes.

    Other machines' commands (ssh) are commands, too.
    """
    text = re.sub(r"<(\w+)>", "NAME", line)
    lexer = shlex.shlex(text, posix=True, punctuation_chars=True)
    lexer.whitespace_split, lexer.commenters = True, "#"
    words: list[str] = []
    for word in [*lexer, "\n"]:
        if word not in _BREAKS:
            words.append(word)
            continue
        while words and (words[0] in _KEYWORDS or _ASSIGNMENT.match(words[0])):
            del words[0]
        if words and words[0] == "ssh":
            yield from commands_of(words[-1])
        elif words and words[0] not in ("for", "done", "fi", "cd"):
            words[0] = re.sub(r"^kvmatrix$", "scripts/kvmatrix", words[0])
            yield (words[0].removeprefix("kvmatrix/"), *words[1:])
        words = []
