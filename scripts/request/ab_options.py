"""The options of an A/B run: its builds, what is compared, and in how many rounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from report.model.ab_rule import LEAST_CONFIRM_ROUNDS, AbRule
from scripts.ab.ab_pairing import AbTerms
from scripts.measure.runner import Request
from scripts.planning.engine_choice import finder
from scripts.request import options
from scripts.request.build_folders import BUILDS, BuildFolders, builds_of
from scripts.request.chosen_suite import chosen_suite
from scripts.request.option_types import IntegerType, LabelType
from scripts.request.selection import RunOptions, selection_of

_RULE = AbRule()
_MOST_ROUNDS = 1000
_ROUNDS = IntegerType(1, _MOST_ROUNDS)


def _enough_to_confirm(_ctx: object, _param: object, rounds: int) -> int:
    """Return `rounds`.  Raises click.BadParameter if so few cannot confirm."""
    if rounds >= LEAST_CONFIRM_ROUNDS:
        return rounds
    raise click.BadParameter(
        f"{rounds} is too small; expected {LEAST_CONFIRM_ROUNDS} to {_MOST_ROUNDS:,}"
        f" (fewer rounds can confirm at most one suspect at p <= {_RULE.alpha:g})"
    )


AB_SELECTION = options.stacked(
    BUILDS,
    click.option(
        "--aa",
        "same",
        is_flag=True,
        help="Measure build A against itself; any difference is the machine's noise.",
    ),
    *(options.ENGINES, options.SCENARIOS, options.CELLS),
    *(options.NUM, options.MEMORY_LIMIT, options.SET, options.SEED),
    *(options.MAX_TIME, options.TIMEOUT),
    click.option(
        "--screen-rounds",
        type=_ROUNDS,
        default=_RULE.screen_rounds,
        help="Screen every cell in this many rounds, each ABBA or BAAB, e.g."
        f" --screen-rounds 6.  [default: {_RULE.screen_rounds}; {_ROUNDS.accepted}]",
    ),
    click.option(
        "--confirm-rounds",
        type=_ROUNDS,
        default=_RULE.confirm_rounds,
        callback=_enough_to_confirm,
        help="Measure each cell that looked different in this many further rounds, and"
        " judge it on those alone, e.g. --confirm-rounds 30."
        f"  [default: {_RULE.confirm_rounds}; {LEAST_CONFIRM_ROUNDS:,} to"
        f" {_MOST_ROUNDS:,}]",
    ),
    click.option(
        "--label-a",
        type=LabelType(),
        help="Label side A in the results, e.g. --label-a v1.2.  [default: base]",
    ),
    click.option(
        "--label-b",
        type=LabelType(),
        help="Label side B in the results, e.g. --label-b 1a2b3c4.  [default: new]",
    ),
    click.option(
        "--counts/--no-counts",
        default=True,
        show_default=True,
        help="Count instructions and system calls too, if strace and valgrind are"
        " installed.",
    ),
)

SKIP_IDENTICAL = click.option(
    "--skip-identical",
    is_flag=True,
    help="If the executables of all selected engines are the same on both sides,"
    " measure nothing and exit 0.  [default: exit 2]",
)


@dataclass(frozen=True)
class AbOptions:
    """The options of an A/B run."""

    builds: BuildFolders
    terms: AbTerms
    chosen: RunOptions

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> AbOptions:
        """Return the options of a verb.  Raises click.UsageError or CannotStart."""
        same, rounds = given["same"], (given["screen_rounds"], given["confirm_rounds"])
        chosen = replace(
            RunOptions.of(given),
            repetitions=sum(rounds),
            latency=False,
            control=False,
            repeat_disturbed=0,
            shard=None,
        )
        builds = builds_of(given["a_dir"], given["b_dir"], same=same)
        labels = _labels(given["label_a"], given["label_b"], same=same)
        screen, confirm = rounds
        rule = replace(_RULE, screen_rounds=screen, confirm_rounds=confirm)
        skip = given.get("skip_identical", False)
        return cls(builds, AbTerms(labels, rule, same, given["counts"], skip), chosen)

    def request(self, suite: str | None, configs: Path, ctx: click.Context) -> Request:
        """Return what is asked for.

        Raises ConfigError, click.UsageError or CannotStart.
        """
        config, chosen = chosen_suite(configs, suite, self.chosen)
        find = finder(config, ctx.obj, self.builds.a, self.builds.b)
        selection = selection_of(config, chosen, self.chosen, find)
        return Request(config, chosen, selection, ctx.meta["command"])


def _labels(label_a: str | None, label_b: str | None, *, same: bool) -> dict[str, str]:
    """Return the label of each side.  Raises click.UsageError if they are equal."""
    a = label_a or "base"
    b = label_b or (f"{a} again" if same else "new")
    if a == b and not same:
        raise click.UsageError(
            f"both sides are labelled {a!r}; pass different --label-a and --label-b"
        )
    return {"a": a, "b": b}
