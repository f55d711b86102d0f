"""From two builds to an ended A/B run: plans, checks, the session, what it left."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from report.config import Config
from report.model.record import Record
from report.regressions.ab_plan import AbPlan
from report.regressions.ab_results import check_unaltered, judge_ab, load_ab
from report.regressions.count_lines import COUNTS_FILE, CountFile
from report.regressions.rule import Rule
from scripts.cli_options import Output
from scripts.doctor.probes import Progress
from scripts.events import Note, RunStarted
from scripts.host import machine_line
from scripts.places import new_name, refuse_small_disk
from scripts.regressions.ab_forecast import AbForecast
from scripts.regressions.ab_plan import paired, same_executables
from scripts.regressions.ab_schedule import MOST_PADDING_BYTES, PADDING
from scripts.regressions.ab_stages import AbSchedule
from scripts.regressions.ab_view import make_ab_view
from scripts.resume import Changed
from scripts.runner import Request, Runner, carry_out, doctors_note, kept_lines
from scripts.store import RunFolder, create_folder, drop_torn_line

_NO_COUNTS = CountFile((), 0, torn=False)
_PADDING_TOLD = f"0 to {MOST_PADDING_BYTES} bytes, drawn for each repetition"
_SAME = "both sides are the same executables; --aa says that this is meant"


@dataclass(frozen=True)
class AbEnding:
    """How a session ended; the verdict is in the folder."""

    plan: AbPlan
    path: Path
    lines: int
    exit_code: int
    message: str  # why it stopped early, or ""


@dataclass
class AbRunner:
    """A runner for each side, which share one executor, one work folder, the locks."""

    a: Runner
    b: Runner

    def plan(
        self,
        request: Request,
        labels: Mapping[str, str],
        rule: Rule,
        *,
        same_build: bool,
        counted: bool,
    ) -> AbPlan:
        """The plan of a new run.  Raises Refused if there is nothing to compare."""
        one, other = self.a.plan(request), self.b.plan(request)
        name = new_name(self.a.places.results, f"ab-{request.suite.name}")
        return paired(
            replace(one, run=name),
            replace(other, run=name),
            labels,
            rule,
            same_build=same_build,
            counted=counted,
        )

    def admit(self, plan: AbPlan, tell: Progress | None) -> dict[str, Any]:
        """environment.json, with what the doctor says of the machine and both builds.

        With `tell` the run is strict, as Runner.admit() has it.
        """
        others = [e for e in plan.b.engines if e not in plan.a.engines]
        both = replace(plan.a, engines=(*plan.a.engines, *others))
        environment = self.a.admit(both, tell)
        variables = {**environment["child_environment"], PADDING: _PADDING_TOLD}
        return {**environment, "child_environment": variables}

    def forecast(self, plan: AbPlan) -> AbForecast:
        """The prediction of both stages."""
        return AbForecast(
            plan, {side: self.a.forecast(of) for side, of in plan.sides.items()}
        )

    def start(
        self, plan: AbPlan, environment: Mapping[str, Any], output: Output
    ) -> AbEnding:
        """Makes the run's folder and does all of it."""
        refuse_small_disk(plan.a, self.a.places.data_dir)
        documents = {"environment": environment, "ab": plan.document()}
        folder = create_folder(self.a.places.results, plan.run, documents)
        notes = [doctors_note(environment)]
        return self._execute(plan, folder, [], _NO_COUNTS, output, notes)

    def resume(self, path: Path, config: Config, output: Output) -> AbEnding:
        """Finishes what is missing of a run.  Raises Changed."""
        recorded = load_ab(path)
        check_unaltered(recorded)
        plan = recorded.plan
        changed = [
            f"side {side}: {text}"
            for side, runner in self.sides.items()
            for text in runner.changes(plan.sides[side], config)
        ]
        if changed:
            raise Changed(changed)
        lines, notes = kept_lines(path, recorded.lines)
        counts = recorded.counts
        if counts.torn:
            drop_torn_line(path, counts.sound_bytes, COUNTS_FILE)
        if judge_ab(recorded).unfinished:
            refuse_small_disk(plan.a, self.a.places.data_dir)
        return self._execute(plan, RunFolder(path), lines, counts, output, notes)

    def _execute(
        self,
        plan: AbPlan,
        folder: RunFolder,
        lines: list[Record],
        counts: CountFile,
        output: Output,
        notes: list[Note],
    ) -> AbEnding:
        begun = RunStarted(machine_line(plan.machine), tuple(lines))
        notes += self._warnings(plan)
        view = make_ab_view(output.stderr(), output.quiet, plan)
        with self.a.loop(folder, lines, view) as loop:
            schedule = AbSchedule(
                plan=plan,
                path=folder.path,
                benches={
                    side: runner.bench(loop, plan.sides[side])
                    for side, runner in self.sides.items()
                },
                forecast=self.forecast(plan),
                listener=view.show,
                lines=lines,
                counts=counts,
            )
            code, message = carry_out(loop, schedule, begun, notes)
        return AbEnding(plan, folder.path, len(lines), code, message)

    @property
    def sides(self) -> Mapping[str, Runner]:
        """Both runners by their side."""
        return {"a": self.a, "b": self.b}

    def _warnings(self, plan: AbPlan) -> list[Note]:
        found = [
            replace(note, text=f"side {side}: {note.text}")
            for side, runner in self.sides.items()
            for note in runner.warnings(plan.sides[side], ())
        ]
        if same_executables(plan) and not plan.same_build:
            found.append(Note(_SAME, "warn"))
        return found


def runner_of(runner: Runner, build_b: Path) -> AbRunner:
    """The runner of both sides, given that of side a."""
    places = replace(runner.places, build_dir=build_b)
    return AbRunner(runner, Runner(places, runner.outside, runner.executor))
