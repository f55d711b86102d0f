"""The command line that a run records, and what of it a user may be told to repeat.

A run folder can come from a stranger, who may have written any text there.
"""

import shlex
from collections.abc import Sequence

# Options whose value is a path of this machine, or its part of a run of many: not part
# of a recorded command.
PLACES = (
    *("--data-dir", "--results-dir", "--build-dir", "--configs-dir"),
    *("--a", "--b", "--device", "--format-device"),
    *("--shard", "--machine", "--times", "--like", "--on", "--nodes", "--slurm"),
)
_VERBS = ("run", "ab", "resume")
_OF_OUTPUT, _COLOR = ("--quiet", "-q", "--json", "--no-report"), "--color"


def recorded_command(args: Sequence[str]) -> str:
    """Return the command as it is recorded: without the folders of this machine."""
    return shlex.join(["kvmatrix", *_without(args, PLACES)])


def repeated_command(recorded: str) -> str:
    """Return the command that repeats a recorded one, without options of output.

    It is "" unless the text can have been recorded: words of one visible line, of a
    verb that measures, without a folder of a machine.
    """
    try:
        program, verb, *options = shlex.split(recorded)
    except ValueError:  # no such words, or a quotation that does not end
        return ""
    is_own = program == "kvmatrix" and verb in _VERBS and recorded.isprintable()
    if not is_own or _without(options, PLACES) != options:
        return ""
    if any(map(_is_path, options)) or (verb == "resume" and "/" in "".join(options)):
        return ""
    kept = [word for word in _without(options, (_COLOR,)) if word not in _OF_OUTPUT]
    return shlex.join(["scripts/kvmatrix", verb, *kept])


def _is_path(word: str) -> bool:
    """Return True for a path that is no pattern of cells, alone or after a "="."""
    return word.rpartition("=")[2].startswith(("/", "~", "./", "../"))


def _without(words: Sequence[str], options: tuple[str, ...]) -> list[str]:
    """Return words without these options and their values."""
    kept: list[str] = []
    rest = iter(words)
    for word in rest:
        if word in options:
            next(rest, None)
        elif not word.startswith(tuple(f"{option}=" for option in options)):
            kept.append(word)
    return kept
