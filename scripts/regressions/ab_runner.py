"""From two builds to an ended A/B run: plans, checks, the session, what it left."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from report.config import Config
from report.regressions.ab_results import load_ab_run
from report.regressions.count_lines import (
    COUNTS_FILE,
    CountFile,
    read_count_lines,
)
from report.regressions.rule import Rule
from scripts import session
from scripts.calls import Bench
from scripts.cli_options import Output
from scripts.doctor.probes import Progress
from scripts.driver_process import Tick
from scripts.events import Note
from scripts.host import identity, machine_line
from scripts.plan import Turn
from scripts.predict import Forecast, load_history
from scripts.regressions.ab_forecast import AbForecast
from scripts.regressions.ab_plan import (
    AbPlan,
    ab_document,
    paired,
    read_ab_plan,
    same_executables,
)
from scripts.regressions.ab_schedule import MOST_PADDING_BYTES, PADDING
from scripts.regressions.ab_session import AbSession
from scripts.regressions.ab_view import AbView
from scripts.resume import Changed, check_unchanged
from scripts.session import Request, Runner
from scripts.store import RunFolder, create_folder, drop_torn_line, read_lines

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
        name = session.new_name(self.a.places.results, f"ab-{request.suite.name}")
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
        results = self.a.places.results
        sides = {
            side: Forecast(of, load_history(results, of))
            for side, of in plan.sides.items()
        }
        return AbForecast(plan, sides)

    def start(
        self, plan: AbPlan, environment: Mapping[str, Any], output: Output
    ) -> AbEnding:
        """Makes the run's folder and does all of it."""
        session.refuse_small_disk(plan.a, self.a.places.data_dir)
        documents = {"environment": environment, "ab": ab_document(plan)}
        folder = create_folder(self.a.places.results, plan.run, documents)
        notes = [session.doctors_note(environment)]
        return self._execute(plan, folder, [], _NO_COUNTS, output, notes)

    def resume(self, path: Path, config: Config, output: Output) -> AbEnding:
        """Finishes what is missing of a run.  Raises Changed."""
        plan, run = read_ab_plan(path), load_ab_run(path)
        self._check_unchanged(plan, config)
        notes = []
        found = read_lines(path)
        if found.torn:
            drop_torn_line(path, found.sound_bytes)
            notes.append(Note("dropped the unfinished last line; it is done again"))
        counts = read_count_lines(
            path / COUNTS_FILE, plan.run, {cell.name for cell in run.cells}
        )
        if counts.torn:
            drop_torn_line(path, counts.sound_bytes, COUNTS_FILE)
        if run.unfinished:
            session.refuse_small_disk(plan.a, self.a.places.data_dir)
        lines = [measurement.record for measurement in found.measurements]
        return self._execute(plan, RunFolder(path), lines, counts, output, notes)

    def _check_unchanged(self, plan: AbPlan, config: Config) -> None:
        """Raises Changed, each difference with its side."""
        found: list[str] = []
        machine = identity(self.a.machine)
        for side, runner in (("a", self.a), ("b", self.b)):
            of = plan.sides[side]
            runner.stamp(engine.executable for engine in of.engines)
            try:
                check_unchanged(of, config, runner.places.build_dir, machine)
            except Changed as changed:
                found += [f"side {side}: {text}" for text in changed.found]
        if found:
            raise Changed(found)

    def _execute(
        self,
        plan: AbPlan,
        folder: RunFolder,
        lines: list[Mapping[str, Any]],
        counts: CountFile,
        output: Output,
        notes: list[Note],
    ) -> AbEnding:
        view = AbView(output.stderr(), output.quiet)
        try:
            made = self._session(plan, folder, lines, counts, view)
            view.say(_first_line(plan, len(lines)))
            view.say(f"machine {machine_line(plan.a.machine)}")
            for note in (*notes, *self._warnings(plan)):
                view.show(note)
            code, message = session.outcome_of(made.execute)
        finally:
            folder.close()
            view.close()
        return AbEnding(plan, folder.path, len(made.lines), code, message)

    def _session(
        self,
        plan: AbPlan,
        folder: RunFolder,
        lines: list[Mapping[str, Any]],
        counts: CountFile,
        view: AbView,
    ) -> AbSession:
        sides: dict[str, Bench] = {}
        made = AbSession(
            plan=plan,
            folder=folder,
            benches=sides,
            forecast=self.forecast(plan),
            view=view,
            lines=lines,
            counts=counts,
        )
        for side, runner in (("a", self.a), ("b", self.b)):
            sides[side] = Bench(
                plan=plan.sides[side],
                build_dir=runner.places.build_dir,
                stamps=runner.stamps,
                work=runner.places.work,
                executor=runner.executor,
                surroundings=runner.outside.surroundings(runner.machine),
                tick=Tick(made.look, view.period_s),
                starts=_nobody_listens,
            )
        return made

    def _warnings(self, plan: AbPlan) -> list[Note]:
        found = [
            replace(note, text=f"side {side}: {note.text}")
            for side, runner in (("a", self.a), ("b", self.b))
            for note in runner.warnings(plan.sides[side], ())
        ]
        if same_executables(plan) and not plan.same_build:
            found.append(Note(_SAME, "warn"))
        return found


def runner_of(runner: Runner, build_b: Path) -> AbRunner:
    """The runner of both sides, given that of side a."""
    places = replace(runner.places, build_dir=build_b)
    return AbRunner(runner, Runner(places, runner.outside, runner.executor))


def _nobody_listens(_turn: Turn) -> None:
    """The session itself knows whose turn it is."""


def _first_line(plan: AbPlan, done: int) -> str:
    rule = plan.rule
    return (
        f"kvmatrix ab {plan.run}  cells={len(plan.able)} of {len(plan.cells)}"
        f" screen={rule.screen_rounds} confirm={rule.confirm_rounds} rounds of 4"
        f" done={done} seed={plan.seed}"
    )
