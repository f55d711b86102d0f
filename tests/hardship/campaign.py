"""The campaign: many trials of each kind, and the table of what they found.

Usage: `python -m tests.hardship.campaign`; --help lists the options.
"""

import argparse
import multiprocessing
import shlex
import signal
import sys
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from tests.hardship.adversities import KILLS, KINDS, OTHERS, VERBS, Kind
from tests.hardship.background_load import busy_processors
from tests.hardship.outcome_table import Campaign, table, write_block
from tests.hardship.trial import Outcome, try_kind

_PROGRAM = "build/venv/bin/python -m tests.hardship.campaign"
_EPILOGUE = """\
exit codes:
  0    nothing was lost, doubled or left behind
  1    some trials failed, or could not be made
  2    invalid usage"""


def options_of(words: Sequence[str]) -> argparse.Namespace:
    """Return the options of a command line."""
    parser = argparse.ArgumentParser(
        prog=_PROGRAM,
        description="Kill, starve and disturb real runs under load; check that nothing"
        " finished is lost, doubled or left behind.",
        epilog=_EPILOGUE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add(
        "--kills",
        type=_count,
        default=100,
        help="kill each verb this often [%(default)s]",
    )
    add("--others", type=_count, default=20, help="trials of other kinds [%(default)s]")
    add("--seed", type=_count, default=1, help="seed of the first trial [%(default)s]")
    add("--jobs", type=_count, default=2, help="trials at the same time [%(default)s]")
    add(
        "--pause",
        type=float,
        default=60.0,
        help="suspend for this long [%(default)s s]",
    )
    add("--only", choices=KINDS, metavar="KIND", help="one trial, of this kind")
    add("--write", type=Path, metavar="FILE", help="put the table into this document")
    return parser.parse_args(words)


def _count(text: str) -> int:
    if not text.isdigit():
        raise ValueError(text)
    return int(text)


def trials(options: argparse.Namespace) -> Iterator[tuple[Kind, int]]:
    """Yield the kind and the seed of each trial."""
    if options.only:
        yield KINDS[options.only], options.seed
        return
    ways = len(KILLS) // len(VERBS)
    for number, kind in enumerate(KILLS):
        count = len(range(number % ways, options.kills, ways))
        yield from ((kind, options.seed + i) for i in range(count))
    for kind in OTHERS:
        yield from ((kind, options.seed + i) for i in range(options.others))


def repeat_command(outcome: Outcome, pause_s: float) -> str:
    """Return the command that repeats a trial."""
    words = f"{_PROGRAM} --only {outcome.kind} --seed {outcome.seed}"
    return f"{words} --pause {pause_s:g}" if outcome.kind == "suspended" else words


def run_campaign(options: argparse.Namespace, command: str) -> Campaign:
    """Run all trials under load, with their progress on stderr."""
    planned = list(trials(options))
    reasons = {kind.name: kind.make(0).why_not() for kind, _ in planned}
    skipped = {name: reason for name, reason in reasons.items() if reason}
    planned = [(kind, seed) for kind, seed in planned if kind.name not in skipped]
    outcomes = []
    # Not forked: a worker must not inherit what the others have open.
    context = multiprocessing.get_context("spawn")
    with (
        tempfile.TemporaryDirectory(prefix="kvmatrix-hardship-") as folder,
        busy_processors(),
        ProcessPoolExecutor(options.jobs, context) as pool,
    ):
        running = [
            pool.submit(_try, kind.name, seed, folder, options.pause)
            for kind, seed in planned
        ]
        try:
            for number, future in enumerate(as_completed(running), 1):
                outcomes.append(future.result())
                _show(f"[{number}/{len(running)}]", outcomes[-1], options.pause)
        finally:  # Ctrl-C: only the trials that run now end
            pool.shutdown(cancel_futures=True)
    return Campaign(command, outcomes, skipped)


def _try(kind: str, seed: int, folder: str, pause_s: float) -> Outcome:
    try:
        return try_kind(KINDS[kind], seed, Path(folder), pause_s)
    except Exception:
        return Outcome(kind, seed, faults=[f"the trial: {traceback.format_exc()}"])


def _show(number: str, outcome: Outcome, pause_s: float) -> None:
    lines = [f"{number} {outcome.kind} {outcome.seed}: {outcome.finished} lines"]
    if not outcome.holds:
        lines += [f"  {fault}" for fault in outcome.faults]
        lines.append(f"  repeat with: {repeat_command(outcome, pause_s)}")
    print("\n".join(lines), file=sys.stderr, flush=True)


def main(words: Sequence[str]) -> int:
    """Run the campaign of a command line; return the exit code."""
    options = options_of(words)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # and so clean up
    shown = [
        w for w in words if not w.startswith("--write") and w != str(options.write)
    ]
    campaign = run_campaign(options, shlex.join([*_PROGRAM.split(), *shown]))
    kinds = [KINDS[options.only]] if options.only else KINDS.values()
    print(table(campaign, kinds))
    if options.write:
        write_block(options.write, campaign)
    return 0 if campaign.holds else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
