"""The values that options accept: lists, durations, names with a nearest match."""

import fnmatch
import importlib
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

import click

from report.config.toml_table import nearest, unknown
from report.terms.rulebook import FLAGS
from report.terms.units import UnitError, parse_duration

MOST_ENTRIES = int(FLAGS["num"].most)
_MOST_DIGITS = 20  # of a number that is parsed
_PERCENTAGE = re.compile(r"\s*(\d{1,3}(?:\.\d{1,6})?)\s*%\s*", re.ASCII)
# Options whose value is a folder of this machine: not part of a recorded command.
_PLACES = (
    *("--data-dir", "--results-dir", "--build-dir", "--configs-dir"),
    *("--a", "--b"),
)


class DurationType(click.ParamType[float]):
    """A duration with its unit, as seconds."""

    name = "duration"

    def convert(
        self,
        value: Any,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> float:
        """Return the seconds of a text such as 30s."""
        if isinstance(value, float):
            return value
        try:
            seconds = parse_duration(value)
        except UnitError as error:
            self.fail(str(error), param, ctx)
        if seconds <= 0:
            self.fail(f"{value!r} must be positive", param, ctx)
        return seconds


def _count(text: str) -> int | None:
    """Return the integer of 5000, 5_000 or 5e3; None if the text is not one."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    if not number.is_finite() or abs(number.adjusted()) > _MOST_DIGITS:
        return None
    return int(number) if number == int(number) else None


class CountType(click.ParamType[int]):
    """A count of entries, 1 to 10^16: 5000, 5_000 or 5e3."""

    name = "count"

    def convert(
        self,
        value: Any,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> int:
        """Return the number of a text such as 1e9."""
        if isinstance(value, int):
            return value
        number = _count(value)
        if number is None or not 1 <= number <= MOST_ENTRIES:
            expected = "expected 1 to 10^16, such as 5000 or 1e9"
            self.fail(f"{value!r} is not a count; {expected}", param, ctx)
        return number


class CountsType(click.ParamType[tuple[int, ...]]):
    """Counts separated by commas, each once, in ascending order."""

    name = "counts"

    def convert(
        self,
        value: Any,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> tuple[int, ...]:
        """Return the numbers of a text such as 30000,1e5."""
        if isinstance(value, tuple):
            return value
        count = CountType()
        return tuple(
            sorted({count.convert(word, param, ctx) for word in value.split(",")})
        )


class RateType(click.ParamType[float]):
    """Operations per second, in the range that the executables accept."""

    name = "rate"

    def convert(
        self,
        value: Any,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> float:
        """Return the number of a text such as 10000; "nan" is out of range."""
        rate: float = click.FLOAT.convert(value, param, ctx)
        rule = FLAGS["rate"]
        if not rule.least <= rate <= rule.most:
            accepted = f"{rule.least:g} to {rule.most:g} per second"
            self.fail(f"{value} is not a rate; expected {accepted}", param, ctx)
        return rate


class ShareType(click.ParamType[float]):
    """A percentage between 0 and 100, with its sign, as a share."""

    name = "percentage"

    def convert(
        self,
        value: Any,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> float:
        """Return 0.05 for the text 5%."""
        if isinstance(value, float):
            return value
        match = _PERCENTAGE.fullmatch(value)
        share = float(match[1]) / 100 if match else 0.0
        if not 0 < share < 1:
            expected = "expected one between 0 and 100, such as '5%'"
            self.fail(f"{value!r} is not a percentage; {expected}", param, ctx)
        return share


class VerbGroup(click.Group):
    """A group that suggests the nearest verb, and remembers the command line.

    `verbs` are the modules and functions of the verbs.  A verb is imported when it is
    called, since most need libraries that load slowly.
    """

    def __init__(self, *args: Any, verbs: Mapping[str, str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._verbs = verbs

    def list_commands(self, _ctx: click.Context) -> list[str]:
        """Return the names of all verbs."""
        return sorted(self._verbs)

    def get_command(self, _ctx: click.Context, name: str) -> click.Command | None:
        """Import and return a verb; None if the name is unknown."""
        module, _, function = self._verbs.get(name, "").partition(":")
        if not module:
            return None
        command: click.Command = getattr(importlib.import_module(module), function)
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the options before the verb, and record the command line."""
        ctx.meta["command"] = recorded_command(args)
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the verb.  Raises click.UsageError that names the nearest one."""
        if args and self.get_command(ctx, args[0]) is None:
            ctx.fail(unknown("verb", args[0], self.list_commands(ctx)))
        return super().resolve_command(ctx, args)


def recorded_command(args: Sequence[str]) -> str:
    """Return the command as it is recorded: without the folders of this machine."""
    recorded: list[str] = []
    words = iter(args)
    for word in words:
        if word in _PLACES:
            next(words, None)
        elif not word.startswith(tuple(f"{place}=" for place in _PLACES)):
            recorded.append(word)
    return shlex.join(["kvmatrix", *recorded])


def names(
    given: Iterable[str], accepted: Iterable[str], kind: str, option: str
) -> tuple[str, ...]:
    """Return the words of comma lists, each once.  Raises click.UsageError."""
    words = [word.strip() for text in given for word in text.split(",")]
    known = list(accepted)
    for word in words:
        if word not in known:
            raise click.UsageError(f"{option}: {unknown(kind, word, known)}")
    return tuple(dict.fromkeys(words))


def suite_name(word: str, accepted: Iterable[str]) -> str:
    """Return `word` if it is a suite.  Raises click.UsageError."""
    if word not in accepted:
        raise click.UsageError(unknown("suite", word, accepted))
    return word


def matching(globs: Sequence[str], cells: Iterable[str]) -> list[str]:
    """Return the cells that match a pattern; all of them without patterns."""
    if not globs:
        return list(cells)
    return [c for c in cells if any(fnmatch.fnmatch(c, glob) for glob in globs)]


def check_globs(globs: Sequence[str], cells: Iterable[str]) -> None:
    """Raise click.UsageError unless every pattern matches a cell."""
    known = list(cells)
    for glob in globs:
        if not any(fnmatch.fnmatch(cell, glob) for cell in known):
            hint = nearest(glob, known)
            raise click.UsageError(
                f"--cells: {glob!r} does not match a cell{hint}; cells are named"
                " engine/scenario/benchmark, see: kvmatrix list cells SUITE"
            )
