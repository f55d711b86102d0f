"""The values that options accept: lists, durations, names with a nearest match."""

import fnmatch
import re
from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from report.config.toml_table import nearest, unknown
from report.terms.rulebook import FLAGS
from report.terms.text_table import one_line
from report.terms.units import COUNT, UnitError, parse, parse_duration, parse_number

_LABEL_CHARS = 100
MOST_ENTRIES = int(FLAGS["num"].most)
_PERCENTAGE = re.compile(r"\s*(\d{1,20}(?:\.\d{1,6})?)\s*%\s*", re.ASCII)


def _integer(text: str) -> Fraction | None:
    """Return the integer of 5000, 5_000, 5e3 or 5k; None if the text is not one."""
    try:
        number = parse(text, COUNT)
    except UnitError:
        return None
    return number if number.denominator == 1 else None


class DurationType(click.ParamType[float]):
    """A duration with its unit, as seconds; at most `most` seconds."""

    name = "duration"

    def __init__(self, most: float) -> None:
        self._most = most

    def convert(
        self,
        value: Any,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> float:
        """Return the seconds of a text such as 30 or 30s."""
        if isinstance(value, float):
            return value
        try:
            seconds = parse_duration(value)
        except UnitError as error:
            self.fail(str(error), param, ctx)
        if seconds <= 0:
            self.fail(f"expected a positive duration, not {value!r}", param, ctx)
        if seconds > self._most:
            longest = f"expected at most {int(self._most // 3600):,}h"
            self.fail(f"{value!r} is too large; {longest}", param, ctx)
        return seconds


def _outside(
    text: object,
    number: Fraction | float,
    least: float,
    most: float | None,
    accepted: str,
) -> str:
    """Return what is wrong with a number outside its range, or ""."""
    if number < least:
        return f"{text} is too small; expected {accepted}"
    if most is not None and number > most:
        return f"{text} is too large; expected {accepted}"
    return ""


class IntegerType(click.ParamType[int]):
    """An integer from `least` to `most`; without `most`, at least `least`."""

    name = "integer"

    def __init__(self, least: int, most: int | None = None, shown: str = "") -> None:
        self._least, self._most = least, most
        within = f"{least:,} to {most:,}" if most else f"at least {least:,}"
        self.accepted = shown or within  # for --help

    def convert(
        self,
        value: Any,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> int:
        """Return the integer of a text such as 12."""
        if isinstance(value, int):
            return value
        number = _integer(value)
        if number is None:
            expected = f"expected {self.accepted}"
            self.fail(f"{value!r} is not an integer; {expected}", param, ctx)
        if problem := _outside(value, number, self._least, self._most, self.accepted):
            self.fail(problem, param, ctx)
        return int(number)


class ChoiceType(click.Choice[str]):
    """One of several words."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        """Return what is wrong with a word, in the project's own form."""
        return unknown("value", str(value), map(str, self.choices))


class CountType(click.ParamType[int]):
    """A count of entries, 1 to 10^16: 5000, 5_000, 5e3 or 5k."""

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
        number = _integer(value)
        if number is None:
            expected = "expected 1 to 10^16, such as 5000, 1e9 or 1M"
            self.fail(f"{value!r} is not a count; {expected}", param, ctx)
        if problem := _outside(value, number, 1, MOST_ENTRIES, "1 to 10^16"):
            self.fail(problem, param, ctx)
        return int(number)


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


class LabelType(click.ParamType[str]):
    """A label of a build: a few words on one line."""

    name = "text"

    def convert(self, value: Any, param: Any, ctx: Any) -> str:
        """Return the label."""
        if not 1 <= len(value) <= _LABEL_CHARS or value != one_line(value):
            expected = f"1 to {_LABEL_CHARS} visible characters on one line"
            self.fail(f"expected {expected}", param, ctx)
        return str(value)


class RateType(click.ParamType[float]):
    """Operations per second, in the range that the executables accept."""

    name = "rate"

    def convert(
        self,
        value: Any,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> float:
        """Return the number of a text such as 10000."""
        rule = FLAGS["rate"]
        accepted = f"{rule.least:g} to {rule.most:,.0f} operations per second"
        try:
            rate = value if isinstance(value, float) else parse_number(value)
        except UnitError:
            self.fail(f"{value!r} is not a rate; expected {accepted}", param, ctx)
        if problem := _outside(value, rate, rule.least, rule.most, accepted):
            self.fail(problem, param, ctx)
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
            fault = "is not a percentage"
            if match:
                fault = "is too large" if share else "is too small"
            expected = "expected a percentage between 0 and 100, such as 5%"
            self.fail(f"{value!r} {fault}; {expected}", param, ctx)
        return share


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
    if word in accepted:
        return word
    if Path(word).is_file():
        problem = f"SUITE: {word} is a file; run, plan and ab measure property files of"
        raise click.UsageError(f"{problem} YCSB; other commands take only suites")
    raise click.UsageError(unknown("suite", word, accepted))


def matching(globs: Sequence[str], cells: Iterable[str]) -> list[str]:
    """Return the cells that match a pattern; all of them without patterns."""
    if not globs:
        return list(cells)
    return [c for c in cells if any(fnmatch.fnmatch(c, glob) for glob in globs)]


def check_globs(globs: Sequence[str], cells: Iterable[str], suite: str = "") -> None:
    """Raise click.UsageError unless every pattern matches a cell, here of `suite`."""
    known = list(cells)
    listed = f"see: scripts/kvmatrix list cells {suite}"
    if not suite:
        listed = f"such as {known[0]}" if known else "and there are none here"
    for glob in globs:
        if not any(fnmatch.fnmatch(cell, glob) for cell in known):
            hint = nearest(glob, known)
            raise click.UsageError(
                f"--cells: no cell matches {glob!r}{hint}; cells are named"
                f" engine/scenario/benchmark, {listed}"
            )
