"""The verbs of the command line: their help, their errors, and the recorded command."""

import importlib
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

import click

from report.config.toml_table import nearest, unknown
from report.terms import numbers
from report.terms.recorded_command import recorded_command
from report.terms.text_table import one_line

_SIMILAR = 0.7  # of an option that is suggested
_EXTRA = re.compile(r"Got unexpected extra argument(s?) \((.*)\)", re.DOTALL)
# The verbs that begin what `resume` finishes, and why that lacks their other options.
_BEGINNING = ("run", "ab", "durability")
_DECIDED = (
    "was decided when the run began, and decides its results; leave the option out, or"
    " start a new run"
)
_OF_CLIENT = "; YCSB's -threads and -target are -p threadcount=N and -p target=N"
_NAMED = 8  # words that are not expected
_MOST_CHARS = 1000  # of an error
# Of click: a path of the wrong kind.
_WRONG_KIND = re.compile(r"(Directory|File) (.+) is a (file|directory)\.", re.DOTALL)
# What lists the values of a missing argument, by the argument's name in the help.
_LISTED = {"SUITE": "scripts/kvmatrix list suites"}


@contextmanager
def plain_errors() -> Iterator[None]:
    """Turn click's usage errors into the form of this project's errors.

    They then begin with the option or argument, do not end with a full stop, and show
    no control character of a word.
    """
    try:
        yield
    except click.exceptions.NoArgsIsHelpError:
        raise  # its message is --help
    except click.UsageError as error:
        problem = one_line(_problem(error))
        if len(problem) > _MOST_CHARS:
            half = _MOST_CHARS // 2
            problem = f"{problem[:half]} ... {problem[-half:]}"
        raise click.UsageError(problem, error.ctx) from None


def _problem(error: click.UsageError) -> str:
    """Return what is wrong with a command line."""
    match error:
        case click.NoSuchOption():
            options = error.ctx.command.params if error.ctx else []
            long = (name for option in options for name in option.opts if name[2:])
            if error.option_name in _decided(error.ctx):
                return f"{error.option_name}: {_DECIDED}"
            hint = nearest(error.option_name, long, _SIMILAR)
            if error.option_name == "-t" and any("-p" in o.opts for o in options):
                hint = _OF_CLIENT
            return f"unknown option {error.option_name!r}{hint}; see --help"
        case click.NoSuchCommand():
            verbs: list[str] = []
            if error.ctx and isinstance(error.ctx.command, click.Group):
                group = error.ctx.command
                hidden = {n for n, verb in group.commands.items() if verb.hidden}
                every = group.list_commands(error.ctx)
                verbs = [name for name in every if name not in hidden]
            return unknown("verb", error.command_name, verbs)
        case click.MissingParameter():
            name = _shown_name(error.param, error.ctx)
            listed = _LISTED.get(name, "scripts/kvmatrix list runs")
            return f"{name} is missing; see: {listed}"
        case click.BadParameter():
            name = _shown_name(error.param, error.ctx)
            message = _plain(error.message)
            return f"{name}: {message}" if name else message
        case click.BadOptionUsage() | click.BadArgumentUsage():
            return _plain(error.message)
    if match := _EXTRA.fullmatch(error.message):
        words = match[2].split(" ")
        more = len(words) - _NAMED
        rest = f" and {numbers.count(more, 'more word')}" if more > 0 else ""
        named = " ".join(words[:_NAMED])
        return f"unexpected extra argument{match[1]} ({named}{rest}); see --help"
    return error.message


def _decided(ctx: click.Context | None) -> set[str]:
    """Return the options of the verbs that begin runs, if the verb is resume."""
    group = ctx.parent.command if ctx and ctx.parent else None
    if not (ctx and ctx.info_name == "resume" and isinstance(group, click.Group)):
        return set()
    verbs = (group.get_command(ctx, name) for name in _BEGINNING)
    params = (param for verb in verbs if verb for param in verb.params)
    return {name for of in params for name in (*of.opts, *of.secondary_opts)}


def _shown_name(param: click.Parameter | None, ctx: click.Context | None) -> str:
    """Return an option's long name, or an argument's name in the help."""
    if isinstance(param, click.Option):
        return max(param.opts, key=len)
    return param.make_metavar(ctx).strip("[].") if param and ctx else ""


def _plain(message: str) -> str:
    """Return one of click's sentences without its capital and its full stop."""
    if match := _WRONG_KIND.fullmatch(message):
        expected, path, kind = match.groups()
        return f"{path} is a {kind}; expected a {expected.lower()}"
    return message[:1].lower() + message[1:].removesuffix(".")


def _refuse_empty(
    ctx: click.Context, name: str | None, verb: click.Command, words: list[str]
) -> None:
    """Raise click.BadParameter if a word that a verb takes is empty.

    An unset variable of a shell makes one, and none means anything: as a path it would
    be the current directory.
    """
    inner = click.Context(verb, parent=ctx, info_name=name)
    given, _, _ = verb.make_parser(inner).parse_args(list(words))
    for param in verb.params:
        value = given.get(param.name or "")
        values = value if isinstance(value, list | tuple) else [value]
        for word in values:
            if isinstance(word, str) and not word.strip():
                raise click.BadParameter("is empty; give it a value", inner, param)


class HelpGroup(click.Group):
    """A group whose --help calls its commands verbs, as errors and documents do.

    No verb of it accepts an empty word.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"subcommand_metavar": "VERB [ARGS]...", **kwargs})

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the verb that words name, and the words that it takes."""
        name, verb, words = super().resolve_command(ctx, args)
        if verb:
            with suppress(click.NoSuchOption, click.BadOptionUsage):
                _refuse_empty(ctx, name, verb, words)  # the verb reports other errors
        return name, verb, words

    def format_commands(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """Print the verbs, each with one line of help."""
        listed = ((n, self.get_command(ctx, n)) for n in self.list_commands(ctx))
        verbs = [(name, verb) for name, verb in listed if verb and not verb.hidden]
        names = [name for name, _ in verbs]
        limit = formatter.width - 6 - max(map(len, names))  # as click has it
        with formatter.section("Verbs"):
            formatter.write_dl(
                [(name, verb.get_short_help_str(limit)) for name, verb in verbs]
            )


class VerbGroup(HelpGroup):
    """A group with the project's own error texts, which records the command line.

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
        with plain_errors():
            return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Parse the options of the verb and run it; errors are plain_errors()."""
        with plain_errors():
            return super().invoke(ctx)
