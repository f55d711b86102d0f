"""How each kind of printed command is tried: one table.

The first rule whose words begin a command applies; a command without one fails its
test, so that a new kind of command gets a rule.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

STEADY = ("20261130-060012-steady-state", "20261130-082141-steady-state")
COMPARED = ("20261127-183906-steady-state", "20261127-181349-larger-than-memory")
AB = ("20261127-190452-ab-larger-than-memory",)


@dataclass(frozen=True)
class Rule:
    """How commands with these first words are tried.

    `how` is "run" (in this process, with the words of `more`), "parsed" (by click, and
    not run), "small" (an executable, with `more`), "options" (each option is one of
    --help), "module" (it can be found), "listed" (ctest has such tests), "preset" or
    "exists" (the file).  `codes`: the exit codes that say that the command was
    understood.  `runs`: the committed runs in the results directory, the newest last.
    `why`: the reason why it is not run.
    """

    words: tuple[str, ...]
    how: str
    more: tuple[str, ...] = ()
    codes: tuple[int, ...] = (0,)
    runs: tuple[str, ...] = ()
    without: tuple[str, ...] = ()  # options that are left out
    having: str = ""  # only for commands with this word
    why: str = ""


def _verb(words: str, how: str, *more: str, **options: object) -> Rule:
    return Rule(("scripts/kvmatrix", *words.split()), how, more, **options)  # type: ignore[arg-type]


_CONTINUES = "needs a run of this machine with these executables: tests/measuring"
_MERGES = "needs folders of several machines: tests/fleet"
HELP = _verb("--help", "run")
RULES = (
    HELP,
    _verb(
        "durability --replay", "parsed", why="root, and the engine of the reproducer"
    ),
    _verb("durability", "run", "--dry-run", codes=(0, 4, 5)),
    _verb("run", "run", "--dry-run"),
    _verb("ab", "parsed", having="--duet", why="needs plug-ins: tests/system"),
    _verb("ab", "run", "--dry-run"),
    _verb(
        "fleet run", "run", "--dry-run", "--on", "local", without=("--nodes", "--slurm")
    ),
    _verb("fleet ab", "run", "--dry-run", "--on", "local"),
    _verb("fleet resume", "parsed", why=_CONTINUES),
    _verb("resume", "parsed", why=_CONTINUES),
    _verb("merge", "parsed", why=_MERGES),
    _verb("plan", "parsed", having="--against", why=_CONTINUES),
    _verb("plan", "run", codes=(0, 4, 5), runs=STEADY, without=("--measure",)),
    _verb("doctor", "run", codes=(0, 4)),
    _verb("list", "run", runs=STEADY),
    _verb("report", "run", runs=STEADY, without=("--open",)),
    _verb("check", "run", codes=(0, 1, 3, 5), runs=AB),
    _verb("compare", "run", codes=(0, 1, 5), runs=COMPARED),
    _verb("history add", "run", runs=STEADY),
    _verb("history", "run", codes=(0, 5), runs=STEADY, without=("--open",)),
    Rule(("build/release/drivers/db_bench_",), "small", ("--num=1000",)),
    Rule(("scripts/bench",), "options", why="sets up and measures for minutes"),
    Rule(("scripts/test-the-gate",), "options", why="builds and measures for minutes"),
    Rule(("scripts/test",), "options", why="runs this test"),
    Rule(("scripts/check",), "options", why="a step of scripts/test"),
    Rule(("scripts/setup",), "options", why="downloads and compiles"),
    Rule(("scripts/compare-commits",), "options", why="builds two commits"),
    Rule(
        ("scripts/compare-engine",), "options", why="tests/system has such a repository"
    ),
    Rule(
        ("scripts/compare-library",), "options", why="tests/library has such libraries"
    ),
    Rule(("scripts/",), "exists"),
    Rule(("python",), "module", why="simulations and tables take minutes to hours"),
    Rule(("build/venv/bin/python",), "module", why="as python"),
    Rule(("build/",), "exists", why="what a build makes is not there everywhere"),
    Rule(("ctest",), "listed"),
    Rule(("cmake",), "preset", why="builds"),
    Rule(("scp",), "exists", why="another machine"),
    Rule(("git",), "exists", why="the reader's own repository"),
)
_STAT_LINES = """\
fillseq      :       0.734 micros/op;  150.7 MB/s
readrandom   :       4.452 micros/op; (1000000 of 1000000 found)
"""
# Files that a reader may have, by the names that commands give them.
FILES = {
    "workloads/workloada": """\
recordcount=1000
operationcount=1000
workload=site.ycsb.workloads.CoreWorkload
readallfields=true
readproportion=0.5
updateproportion=0.5
requestdistribution=zipfian
""",
    "old.txt": _STAT_LINES,
    "new.txt": _STAT_LINES,
    "kept/v1.txt": _STAT_LINES,
}
# Words in capitals and names of runs, which stand for what the reader has.
_RUN = re.compile(r"(results/)?(RUN\d?|BASE|NEW|20\d{6}(-[\w-]*)?)")
_SIDES = ("--a", "--b")
_NAMES = {
    "SUITE": "quick",
    "mine": "sqlite3",
    "mine,lmdb": "sqlite3,lmdb",
    "NAME": "leveldb",
    "ENGINE": "leveldb",
    "N": "100000",
}


def rule_of(words: Sequence[str]) -> Rule | None:
    """Return the first rule whose words begin a command."""
    if "--help" in words and words[0] == "scripts/kvmatrix":
        return HELP
    for rule in RULES:
        size = len(rule.words)
        *first, last = rule.words
        if list(words[: size - 1]) != first or len(words) < size:
            continue
        fits = words[0].startswith(last) if size == 1 else words[size - 1] == last
        if fits and (not rule.having or rule.having in words):
            return rule
    return None


def tried(words: Sequence[str], rule: Rule, builds: Sequence[str]) -> list[str]:
    """Return a command with what is there in the place of what the reader has."""
    names = list(rule.runs)
    result: list[str] = []
    for word in words:
        before = result[-1] if result else ""
        if before in _SIDES:
            word = builds[_SIDES.index(before)]
        elif rule.runs and _RUN.fullmatch(word):
            word = names[0] if len(names) == 1 else names.pop(0)
        elif word.startswith("@-"):
            word = rule.runs[0] if rule.runs else word
        result.append(_NAMES.get(word, word))
    return [*_without(result, rule.without), *rule.more]


def _without(words: Sequence[str], options: Sequence[str]) -> list[str]:
    """Leave out options; those with a value are --nodes and --slurm."""
    result: list[str] = []
    skip = False
    for word in words:
        if skip or word in options:
            skip = not skip and word in ("--nodes", "--slurm")
            continue
        result.append(word)
    return result
