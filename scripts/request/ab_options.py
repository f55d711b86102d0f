"""The options of an A/B run: its builds, what is compared, and in how many rounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from report.model.ab_rule import DUET, AbRule
from scripts.ab.ab_pairing import AbTerms
from scripts.ab.duet import READS
from scripts.measure.runner import Request
from scripts.planning.engine_choice import finder
from scripts.request import options
from scripts.request.build_folders import BUILDS, BuildFolders, builds_of
from scripts.request.chosen_suite import chosen_suite
from scripts.request.option_types import IntegerType, LabelType
from scripts.request.options import Setting
from scripts.request.selection import RunOptions, selection_of

_RULE = AbRule()
_MOST_ROUNDS = 1000
_ROUNDS = IntegerType(1, _MOST_ROUNDS)


def _rule_of(given: Mapping[str, Any]) -> AbRule:
    """Return the rule.  Raises click.UsageError if so few rounds cannot decide."""
    rule = DUET if given.get("duet") else _RULE
    screen, confirm = given["screen_rounds"], given["confirm_rounds"]
    rule = replace(
        rule,
        screen_rounds=screen or rule.screen_rounds,
        confirm_rounds=confirm or rule.confirm_rounds,
    )
    why = "fewer rounds cannot make a cell a suspect"
    _check_rounds("--screen-rounds", screen, rule.least_screen_rounds, why)
    why = f"fewer rounds cannot decide ten tests at p <= {rule.alpha:g}"
    _check_rounds("--confirm-rounds", confirm, rule.least_confirm_rounds, why)
    return rule


def _check_rounds(option: str, given: int | None, least: int, why: str) -> None:
    if given is not None and given < least:
        raise click.UsageError(
            f"{option}: {given} is too small; expected {least} to {_MOST_ROUNDS:,}"
            f" ({why})"
        )


AB_SELECTION = options.stacked(
    BUILDS,
    click.option(
        "--aa",
        "same",
        is_flag=True,
        help="Measure build A against itself; any difference is the machine's noise.",
    ),
    click.option(
        "--duet",
        is_flag=True,
        help="Measure both builds in one process, as plug-ins that read alternately,"
        " and compare their processor time: for small differences in reads, on a busy"
        " machine.",
    ),
    *(options.ENGINES, options.SCENARIOS, options.CELLS),
    *(options.NUM, options.MEMORY_LIMIT, options.SET, options.SEED),
    *(options.MAX_TIME, options.TIMEOUT),
    click.option(
        "--screen-rounds",
        type=_ROUNDS,
        help="Screen every cell in this many rounds, each ABBA or BAAB, e.g."
        f" --screen-rounds 8.  [default: {_RULE.screen_rounds}, or {DUET.screen_rounds}"
        f" with --duet; {_RULE.least_screen_rounds}, or {DUET.least_screen_rounds}, to"
        f" {_MOST_ROUNDS:,}]",
    ),
    click.option(
        "--confirm-rounds",
        type=_ROUNDS,
        help="Measure each cell that looked different in this many further rounds, and"
        " judge it on those alone, e.g. --confirm-rounds 30."
        f"  [default: {_RULE.confirm_rounds}, or {DUET.confirm_rounds} with --duet;"
        f" {_RULE.least_confirm_rounds}, or {DUET.least_confirm_rounds}, to"
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
        same, rule = given["same"], _rule_of(given)
        chosen = RunOptions.of(given)
        chosen = replace(
            chosen,
            settings=duet_settings(chosen) if rule.duet else chosen.settings,
            repetitions=rule.screen_rounds + rule.confirm_rounds,
            latency=False,
            control=False,
            repeat_disturbed=0,
            shard=None,
        )
        a_dir, b_dir = given["a_dir"], given["b_dir"]
        builds = builds_of(a_dir, b_dir, same=same, plugins=rule.duet)
        labels = _labels(given["label_a"], given["label_b"], same=same)
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


def duet_settings(chosen: RunOptions) -> tuple[Setting, ...]:
    """Return the settings of a duet: more reads, unless the options limit them."""
    if chosen.max_time or {"reads", "duration"} & dict(chosen.settings).keys():
        return chosen.settings
    return (*chosen.settings, ("reads", READS))


def _labels(label_a: str | None, label_b: str | None, *, same: bool) -> dict[str, str]:
    """Return the label of each side.  Raises click.UsageError if they are equal."""
    a = label_a or "base"
    b = label_b or (f"{a} again" if same else "new")
    if a == b and not same:
        raise click.UsageError(
            f"both sides are labelled {a!r}; pass different --label-a and --label-b"
        )
    return {"a": a, "b": b}
