"""Error rates and delays of the detector of steps, by simulation.

`python -m tests.statistics.change_point_rates` prints the rows of ERROR_RATES.md.
Everything is simulated with fixed seeds: logarithms of rates, with three noises.
"""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from report.gate.gate_history import gate_from_history
from report.gate.gate_verdict import GateOutcome
from report.model.plan import CellName
from report.stats.change_points import STRIDE, WINDOW, change_points
from report.stats.critical_values import DRAWS, SEED
from tests.builders import synthetic_history
from tests.setup.other_programs import otava_steps
from tests.support.program import refuse_options

NEAR = 5  # points: a step found within this distance is the simulated one
BEFORE = 60  # points of history before a step
PATIENCE = 40  # points after it, within which it is found or missed
CELLS = tuple(CellName("alpha", "baseline", f"cell{i}") for i in range(60))

HALF = 30  # commits before a step, and after it
Source = np.random.Generator
Noise = Callable[[Source, int, float], Any]
# Series of logarithms of times -> where each has steps
Detector = Callable[[Sequence[Any]], list[list[int]]]


def gauss(source: Source, count: int, sigma: float) -> Any:
    """Return independent normal noise."""
    return source.normal(0, sigma, count)


def outliers(source: Source, count: int, sigma: float, share: float = 0.03) -> Any:
    """Return normal noise with 3 % of the points 10 to 40 % slower."""
    wild = source.random(count) < share
    return source.normal(0, sigma, count) + wild * source.uniform(0.1, 0.4, count)


def rare_outliers(source: Source, count: int, sigma: float) -> Any:
    """Return normal noise with one such point in 100."""
    return outliers(source, count, sigma, 0.01)


def drifting(source: Source, count: int, sigma: float) -> Any:
    """Return AR(1) noise with rho 0.4: each point resembles the previous one."""
    rho, series = 0.4, np.empty(count)
    fresh = source.normal(0, sigma * (1 - rho**2) ** 0.5, count)
    series[0] = source.normal(0, sigma)
    for i in range(1, count):
        series[i] = rho * series[i - 1] + fresh[i]
    return series


@dataclass(frozen=True)
class Rate:
    """A share: hits of a number of tries."""

    found: int
    of: int

    @property
    def share(self) -> float:
        """The share of hits."""
        return self.found / self.of

    @property
    def error(self) -> float:
        """The binomial standard error, of one more hit and miss: it is never 0."""
        share = (self.found + 1) / (self.of + 2)
        return float((share * (1 - share) / self.of) ** 0.5)


def places(logs: Sequence[float]) -> list[int]:
    """Return where change_points() finds steps in times with these logarithms."""
    return [step.index for step in change_points(np.exp(-np.asarray(logs)).tolist())]


def appended(logs: Any, start: int) -> Iterator[tuple[int, list[int]]]:
    """Yield, after each further point, the number of points and the steps found so far.

    Only the newest windows are examined: earlier windows gave their result before.
    """
    for count in range(start, len(logs) + 1):
        first = max(0, (count - WINDOW - STRIDE) // STRIDE * STRIDE)
        yield count, [first + place for place in places(logs[first:count])]


def false_alarms(noise: Noise, sigma: float, streams: int, length: int) -> Rate:
    """Return the rate of false steps per point appended after the first 10."""
    alarms = 0
    for stream in range(streams):
        source = np.random.default_rng((1, stream))
        raised: list[int] = []
        for _, seen in appended(noise(source, length, sigma), 10):
            for place in seen:
                if all(abs(place - step_place) > NEAR for step_place in raised):
                    raised.append(place)
        alarms += len(raised)
    return Rate(alarms, streams * (length - 9))


def delays(noise: Noise, sigma: float, shift: float, replicates: int) -> list[int]:
    """Return the points until a step is found near its index; PATIENCE + 1 if never."""
    delays_seen = []
    for replicate in range(replicates):
        source = np.random.default_rng((2, replicate))
        logs = noise(source, BEFORE + PATIENCE, sigma)
        logs[BEFORE:] += np.log1p(shift)
        late = PATIENCE + 1
        for count, seen in appended(logs, BEFORE + 1):
            if any(abs(place - BEFORE) <= NEAR for place in seen):
                late = count - BEFORE
                break
        delays_seen.append(late)
    return delays_seen


def accuracy(
    noise: Noise, sigma: float, shift: float, replicates: int
) -> tuple[Rate, Rate]:
    """Return recall and precision for one step in the middle of 200 points."""
    hits = seen = 0
    for replicate in range(replicates):
        source = np.random.default_rng((3, replicate))
        logs = noise(source, 200, sigma)
        logs[100:] += np.log1p(shift)
        seen_places = places(logs)
        hits += any(abs(place - 100) <= NEAR for place in seen_places)
        seen += len(seen_places)
    return Rate(hits, replicates), Rate(hits, max(seen, 1))


def gate(
    noise: Noise, sigma: float, runs: int, shift: float = 0, late: int = 0
) -> tuple[Rate, Rate]:
    """Return the rates of runs with a false nomination, and with the slow cell's.

    Runs have 60 cells, histories 12 to 100 runs.  The first cell became slower a given
    number of runs before the last.
    """
    false = hits = 0
    for number in range(runs):
        source = np.random.default_rng((4, number))
        count = int(source.integers(12, 101))
        logs = {name: noise(source, count, sigma) for name in CELLS}
        logs[CELLS[0]][count - 1 - late :] += np.log1p(shift)
        *older, new = synthetic_history.history(
            count,
            CELLS,
            lambda index, name, logs=logs: float(logs[name][index]),  # type: ignore[misc]
            noise=0,
        )
        nominations = gate_from_history(new, older, 0.05).of(GateOutcome.NOMINATED)
        names = {row.name for row in nominations}
        hits += str(CELLS[0]) in names
        false += bool(names - {str(CELLS[0])})
    return Rate(false, runs), Rate(hits, runs)


@dataclass(frozen=True)
class SixtyCommits:
    """How a detector does on series of 60 points with a step at 30, or without one.

    `false` are false steps per series at its end, and `any_false` while it grows.
    """

    false: float
    any_false: float
    power: float
    delays: list[int]


def sixty_commits(
    find: Detector, noise: Noise, sigma: float, shift: float, replicates: int
) -> SixtyCommits:
    """Examine series after each appended point, from the tenth on."""
    counts = range(10, 2 * HALF + 1)
    prefixes = []
    for replicate in range(replicates):
        logs = noise(np.random.default_rng((7, replicate)), 2 * HALF, sigma)
        logs[HALF:] += np.log1p(shift)
        prefixes += [logs[:count] for count in counts]
    false = any_false = hits = 0
    late = []
    found_steps = find(prefixes)
    for start in range(0, len(found_steps), len(counts)):
        seen = found_steps[start : start + len(counts)]
        near = [any(_is_at_step(at, shift) for at in steps) for steps in seen]
        raised: list[int] = []
        for at in itertools.chain(*seen):
            if all(abs(at - earlier) > NEAR for earlier in raised):
                raised.append(at)
        any_false += sum(not _is_at_step(at, shift) for at in raised)
        false += sum(not _is_at_step(at, shift) for at in seen[-1])
        hits += near[-1]
        found = (n - HALF for n, hit in zip(counts, near, strict=True) if hit)
        late.append(next((points for points in found if points > 0), HALF + 1))
    return SixtyCommits(
        false / replicates, any_false / replicates, hits / replicates, late
    )


def _is_at_step(place: int, shift: float) -> bool:
    return shift > 0 and abs(place - HALF) <= NEAR


def ours(many: Sequence[Any]) -> list[list[int]]:
    """Return the steps that change_points() finds in each series of logarithms."""
    return [places(logs) for logs in many]


def otava(max_pvalue: float) -> Detector:
    """Return Apache Otava at a level; its own default is 0.001."""
    return lambda many: otava_steps(
        [np.exp(-logs).tolist() for logs in many], max_pvalue=max_pvalue
    )


def percentile(values: Sequence[int], share: float) -> str:
    """Return a percentile of delays as text: the nearest rank, or "> PATIENCE"."""
    rank = sorted(values)[int(share * (len(values) - 1))]
    return str(rank) if rank <= PATIENCE else f"> {PATIENCE}"


def main() -> None:
    """Print the tables as Markdown."""
    print(f"Limits from {DRAWS:,} draws a length, seed {SEED}.\n")
    print("| noise | CV | false alarms per 1,000 appended points | appended |")
    print("|---|---|---|---|")
    for noise in (gauss, outliers, drifting):
        for sigma in (0.013, 0.03):
            rate = false_alarms(noise, sigma, 60, 509)
            cells = f"{rate.share * 1000:.1f} ± {rate.error * 1000:.1f}"
            print(f"| {noise.__name__} | {sigma:.1%} | {cells} | {rate.of:,} |")
    print("\n| step | noise | CV | points until seen: median, p90 | missed | of |")
    print("|---|---|---|---|---|---|")
    for shift in (0.05, 0.1):
        for noise in (gauss, outliers, drifting):
            for sigma in (0.013, 0.03):
                delay_list = delays(noise, sigma, shift, 400)
                middle = f"{statistics.median(delay_list):.0f}"
                cells = f"{middle}, {percentile(delay_list, 0.9)}"
                missed = sum(late > PATIENCE for late in delay_list)
                kind = f"{shift:.0%} | {noise.__name__} | {sigma:.1%}"
                print(f"| {kind} | {cells} | {missed} | {len(delay_list)} |")
    print("\n| noise | recall | precision | series |")
    print("|---|---|---|---|")
    for noise in (gauss, outliers, drifting):
        recall, precision = accuracy(noise, 0.03, 0.05, 1000)
        cells = f"{recall.share:.2f} | {precision.share:.2f}"
        print(f"| {noise.__name__} | {cells} | {recall.of:,} |")
    print_sixty_commits()
    print_gate()


def print_sixty_commits() -> None:
    """Print the table of 60 commits, of our detector and of Otava at three levels."""
    detectors: dict[str, Detector] = {"ours": ours}
    detectors |= {f"Otava {p:g}": otava(p) for p in (1e-3, 1e-4, 3e-5)}
    print(f"\n| noise, CV | step | {' | '.join(detectors)} |")
    print("|---|---|" + "---|" * len(detectors))
    rows = [(n, s, 0.0) for n in (gauss, outliers, drifting) for s in (0.02, 0.05)]
    rows += [(gauss, 0.02, shift) for shift in (0.03, 0.05, 0.1)]
    rows += [(outliers, 0.02, shift) for shift in (0.05, 0.1)]
    rows += [(gauss, 0.05, 0.05), (gauss, 0.05, 0.1), (outliers, 0.05, 0.1)]
    for noise, sigma, shift in rows:
        cells = []
        for find in detectors.values():
            result = sixty_commits(find, noise, sigma, shift, 300)
            text = f"{result.false:.3f}, {result.any_false:.2f}"
            if shift:
                late = sorted(result.delays)
                ends = [late[int(share * (len(late) - 1))] for share in (0.5, 0.9)]
                shown = [str(n) if n <= HALF else f"> {HALF}" for n in ends]
                text = f"{result.power:.2f}, {', '.join(shown)}"
            cells.append(text)
        kind = f"{noise.__name__}, {sigma:.0%} | {shift:.0%}"
        print(f"| {kind} | {' | '.join(cells)} |", flush=True)


def print_gate() -> None:
    """Print the table of `check --against history`."""
    steps = [(shift, late) for shift in (0.05, 0.1, 0.2) for late in (1, 4, 9)]
    heads = " | ".join(f"+{shift:.0%}, run {late + 1}" for shift, late in steps)
    print(f"\n| noise | CV | false | {heads} |")
    print("|---|---|---|" + "---|" * len(steps))
    for noise in (gauss, rare_outliers, outliers, drifting):
        for sigma in (0.013, 0.03):
            false, _ = gate(noise, sigma, 600)
            rates = [gate(noise, sigma, 60, *step)[1] for step in steps]
            shares = " | ".join(f"{rate.share:.0%}" for rate in rates)
            wrong = f"{false.share:.1%} ± {false.error:.1%}"
            print(
                f"| {noise.__name__} | {sigma:.1%} | {wrong} | {shares} |", flush=True
            )


if __name__ == "__main__":
    refuse_options(__doc__)
    main()
