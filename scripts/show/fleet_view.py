"""The views of a fleet in progress, on stderr: one live view, or a line per event."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from report.terms import numbers
from report.terms.text_table import visible_line
from scripts.fleet.fleet_folder import Fleet
from scripts.fleet.fleet_progress import FleetProgress, FleetView
from scripts.fleet.fleet_site import SLURM, FleetSite
from scripts.show.output import can_redraw, shown

_HEARTBEAT_S = 60.0
_MOST_RUNNING = 20  # blocks that are listed
_MOST_BAR_CHARS = 60


def fleet_view(console: Console, fleet: Fleet, quiet: bool) -> FleetView:
    """Return the view that suits a console."""
    if can_redraw(console) and not quiet:
        return LiveFleet(console, fleet)
    return PlainFleet(console, fleet, quiet)


def progress_words(progress: FleetProgress, blocks: int) -> str:
    """Return how far a fleet is, in one line."""
    reasons = f" ({', '.join(progress.reasons)})" if progress.reasons else ""
    parts = [
        f"{progress.finished}/{blocks} blocks finished",
        f"{len(progress.running)} running",
        f"{progress.queued} queued{reasons}",
        *([f"{progress.given_up} given up"] if progress.given_up else []),
        f"{numbers.clock(progress.elapsed_s)} elapsed",
    ]
    nodes = max(1, len(progress.running))
    if progress.left_s and progress.running:
        parts.append(f"~{numbers.clock(progress.left_s / nodes)} left")
    return ", ".join(parts)


class PlainFleet(FleetView):
    """A line for each block that ends, and a heartbeat; notes only if quiet."""

    def __init__(self, console: Console, fleet: Fleet, quiet: bool) -> None:
        self._console, self._fleet, self._quiet = console, fleet, quiet
        self._finished, self._said_at_s = 0, 0.0

    def progress(self, progress: FleetProgress) -> None:
        """Print the progress once a minute."""
        if progress.elapsed_s - self._said_at_s >= _HEARTBEAT_S and not self._quiet:
            self._said_at_s = progress.elapsed_s
            self._print(progress_words(progress, len(self._fleet.blocks)))

    def finished(self, block: int, run: Path) -> None:
        """Print that a block has a finished run."""
        self._finished += 1
        if not self._quiet:
            name, node = self._fleet.block(block).name, run.parent.name
            blocks = len(self._fleet.blocks)
            ended = f"{self._finished:>{len(str(blocks))}}/{blocks}"
            self._print(f"[{ended}] {name}: {node}")

    def note(self, text: str) -> None:
        """Print what happened to a block."""
        self._print(f"warning: {text}")

    def _print(self, text: str) -> None:
        self._console.print(Text(visible_line(text)), soft_wrap=True)


class LiveFleet(PlainFleet):
    """One view of all blocks that is refreshed, below the lines of those that ended."""

    def __init__(self, console: Console, fleet: Fleet) -> None:
        super().__init__(console, fleet, quiet=False)
        self._live = Live(console=console, auto_refresh=False, transient=True)

    def progress(self, progress: FleetProgress) -> None:
        """Draw the bar, and the blocks that are measured now."""
        self._live.start()
        self._live.update(Group(*self._lines(progress)), refresh=True)

    def _lines(self, progress: FleetProgress) -> list[Text]:
        blocks = len(self._fleet.blocks)
        width = min(_MOST_BAR_CHARS, self._console.width)
        full = round(width * progress.finished / blocks)
        bar = Text("━" * full, "cyan") + Text("─" * (width - full), "dim")
        lines = [bar, Text(progress_words(progress, blocks))]
        for running in progress.running[:_MOST_RUNNING]:
            name = self._fleet.block(running.block).name
            done = numbers.count(running.repetitions, "repetition")
            lines.append(Text(visible_line(f"{running.node}  {name}  {done} on disk")))
        if more := progress.running[_MOST_RUNNING:]:
            lines.append(Text(f"and {len(more)} more"))
        return lines

    def close(self) -> None:
        """Remove the view."""
        self._live.stop()


def dry_run_text(fleet: Fleet, site: FleetSite, as_json: bool) -> str:
    """Return what a fleet would do, for people or programs."""
    if as_json:
        return json.dumps(_fleet_document(fleet, site), indent=1, allow_nan=False)
    return "\n".join(map(visible_line, _fleet_lines(fleet, site)))


def _fleet_document(fleet: Fleet, site: FleetSite) -> dict[str, Any]:
    return {
        "blocks": [asdict(block) for block in fleet.blocks],
        "predicted_s": round(sum(block.predicted_s for block in fleet.blocks), 3),
        "where": site.where,
        "nodes": site.nodes_for(len(fleet.blocks)),
    }


def _fleet_lines(fleet: Fleet, site: FleetSite) -> list[str]:
    total_s = sum(block.predicted_s for block in fleet.blocks)
    rows = [
        f"{number:>4}  {numbers.duration(block.predicted_s):>9}  {block.name}"
        for number, block in enumerate(fleet.blocks, 1)
    ]
    count = numbers.count(len(fleet.blocks), "block")
    where = "on this machine"
    if site.where == SLURM:
        nodes = site.nodes_for(len(fleet.blocks))
        where = f"on nodes of Slurm, at most {nodes} at a time"
    total = f"{count}, {numbers.duration(total_s)} of measuring, {where}"
    return [*rows, "", total]


def why_lost(fleet: Fleet, lost: Mapping[int, str]) -> str:
    """Return why blocks were given up: each reason once, with its block or how many."""
    blocks: dict[str, list[int]] = {}
    for block, reason in sorted(lost.items()):
        blocks.setdefault(reason, []).append(block)
    return "; ".join(
        f"{numbers.count(len(of), 'block') if of[1:] else fleet.block(of[0]).name}"
        f": {reason}"
        for reason, of in blocks.items()
    )


def interrupted_words(fleet: Fleet, finished: int) -> str:
    """Return what is kept of a fleet that was interrupted, in words."""
    blocks = numbers.count(len(fleet.blocks), "block")
    kept = f"{finished} of {blocks} {'is' if finished == 1 else 'are'} kept"
    if fleet.is_confirmation:
        return f"interrupted in the confirmation; the screen and {kept}"
    return f"interrupted; {kept}"


def resuming(fleet: Fleet, site: FleetSite) -> str:
    """Return the command that continues a fleet at the same site."""
    words = ["scripts/kvmatrix", "fleet", "resume", shown(fleet.path), *site.again]
    return shlex.join(words)


def suspects_words(suspected: int, cells: int, blocks: int) -> str:
    """Return how many cells of a screen are confirmed, and in how many blocks."""
    differ, them = ("looks", "it") if suspected == 1 else ("look", "them")
    found = f"{suspected} of {numbers.count(cells, 'cell')} {differ} different"
    confirming = f"; confirming {them} in {numbers.count(blocks, 'block')}"
    return found + (confirming if blocks else "")
