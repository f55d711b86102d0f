"""An A/B run: a session of two builds."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from report.config.config_types import Config
from report.model.ab_folder import (
    ab_plan_document,
    ab_plan_of,
    check_unaltered,
    load_ab,
    read_ab_document,
)
from report.model.ab_plan import AbPlan
from report.model.ab_run import AbRun
from report.model.count_lines import COUNTS_FILE, CountFile
from report.verdict.ab_judge import is_screened, judge_ab
from report.verdict.ab_verdicts import suspects
from scripts.ab.ab_forecast import AbForecast
from scripts.ab.ab_pairing import (
    NOT_COMPARABLE,
    AbTerms,
    paired,
)
from scripts.ab.ab_schedule import MOST_PADDING_BYTES, PADDING
from scripts.ab.ab_shards import confirm_shard, screen_shard
from scripts.ab.ab_stages import AbSchedule
from scripts.ab.count_pass import count_cells
from scripts.ab.duet import check_duet, duet_task, plugin_remedy
from scripts.fleet.plan_likeness import PlannedRun, check_like
from scripts.fleet.shard_request import ShardRequest
from scripts.machine.checkout import harness_of
from scripts.machine.host import identity
from scripts.machine.probes import Progress
from scripts.measure.events import Notice, View
from scripts.measure.loop import Loop, Schedule
from scripts.measure.runner import Request, Runner, other_harness
from scripts.measure.session import RecordedSession, Session
from scripts.planning.resume_check import CannotResume
from scripts.store.run_places import (
    ROOT,
    CannotStart,
    new_name,
    refuse_small_disk,
    refuse_small_memory,
    why_missing,
)
from scripts.store.run_store import drop_torn_line

_NO_COUNTS = CountFile((), 0, torn=False)
_PADDING_TEXT = f"0 to {MOST_PADDING_BYTES} bytes, drawn for each repetition"


@dataclass
class AbSession(Session[AbPlan]):
    """A run of two builds that share one executor, one work folder and the locks.

    `runner` belongs to side a.
    """

    b: Runner
    counts: CountFile = _NO_COUNTS  # on disk when the session begins

    @property
    def sides(self) -> Mapping[str, Runner]:
        """Both runners, by side."""
        return {"a": self.runner, "b": self.b}

    def plan(self, request: Request, terms: AbTerms) -> AbPlan:
        """Return the plan of a new run.  Raises CannotStart if none is possible."""
        plan_a, plan_b = self.runner.plan(request), self.b.plan(request)
        for side, of in {"a": plan_a, "b": plan_b}.items():
            if all(engine.missing for engine in of.engines):
                build_dir = self.sides[side].places.build_dir
                reasons = why_missing(of.engines, f"--{side}", build_dir)
                if terms.rule.duet:
                    reasons += [plugin_remedy(e, build_dir) for e in of.engines]
                where = f"nothing can be measured on side {side}, {build_dir}"
                problem = "; ".join([where, *reasons])
                raise CannotStart(problem, NOT_COMPARABLE)
        name = new_name(self.runner.places.results, f"ab-{request.suite.name}")
        plan = paired(replace(plan_a, run=name), replace(plan_b, run=name), terms)
        if terms.rule.duet:
            folders = {side: of.places.build_dir for side, of in self.sides.items()}
            check_duet(plan, folders)
        return plan

    def screening(self, plan: AbPlan, request: ShardRequest) -> AbPlan:
        """Return the plan of a shard of the screen.  Raises CannotStart."""
        name = request.name_on(self.runner.machine)
        sharded = screen_shard(plan, request, name)
        if request.like:
            document = read_ab_document(request.like)
            expected = PlannedRun(document, ab_plan_of(document, request.like))
            own = PlannedRun(ab_plan_document(sharded), sharded)
            check_like(own, expected, request.like)
        return sharded

    def confirming(
        self, run: AbRun, request: ShardRequest | None, config: Config
    ) -> AbPlan:
        """Return the plan of a shard of the confirmation of a merged run.

        Raises CannotStart, or CannotResume if a build or a setting has changed.
        """
        if request is None:
            problem = f"{run.plan.run} was measured on several machines"
            raise CannotStart(f"{problem}; pass --shard I/N on each of them")
        lacking = [c for c in run.cells if not c.failure and not is_screened(c, run)]
        if lacking:
            problem = f"the screen of {lacking[0].name} is not complete"
            raise CannotStart(f"{problem}; merge the missing shards first")
        machine, results = self.runner.machine, self.runner.places.results
        name = new_name(results, f"ab-{run.plan.suite.name}")
        a, b = (
            replace(side, run=name, machine=identity(machine), harness=harness_of(ROOT))
            for side in (run.plan.a, run.plan.b)
        )
        plan = replace(run.plan, a=a, b=b)
        name_of_machine = request.name_on(machine)
        plan = confirm_shard(plan, suspects(run).all, request, name_of_machine)
        if found := self._changes(plan, config):
            raise CannotResume(found)
        return plan

    def _changes(self, plan: AbPlan, config: Config) -> list[str]:
        return [
            f"side {side}: {text}"
            for side, runner in self.sides.items()
            for text in runner.changes(plan.sides[side], config, in_order=False)
        ]

    def admit(self, plan: AbPlan, notify: Progress | None) -> dict[str, Any]:
        """Check the machine and both builds; return environment.json."""
        others = [e for e in plan.b.engines if e not in plan.a.engines]
        both = replace(plan.a, engines=(*plan.a.engines, *others))
        environment = self.runner.admit(both, notify)
        variables = {**environment["child_environment"], PADDING: _PADDING_TEXT}
        return {**environment, "child_environment": variables}

    def forecast(self, plan: AbPlan) -> AbForecast:
        """Return the predicted time of both stages; no repetition shares a fill."""
        alone = {side: replace(of, order=()) for side, of in plan.sides.items()}
        return AbForecast(
            plan, {side: self.runner.forecast(of) for side, of in alone.items()}
        )

    def check_can_start(self, plan: AbPlan, environment: Mapping[str, Any]) -> None:
        """Raise CannotStart if memory or disk is short; paired() checks the rest."""
        self.refuse_small_disk(plan)
        refuse_small_memory(plan.a, environment["memory"]["total_bytes"])

    def refuse_small_disk(self, plan: AbPlan) -> None:
        """Raise CannotStart if the data directory has too little space."""
        refuse_small_disk(plan.a, self.runner.places.data_dir)

    def control(self, plan: AbPlan) -> dict[str, Any]:
        """Return what the file system of the scenarios' disk writes by itself."""
        return self.runner.control(plan.a)

    def plan_documents(self, plan: AbPlan) -> dict[str, dict[str, Any]]:
        """Return the plan as ab.json."""
        return {"ab": ab_plan_document(plan)}

    def recorded(self, path: Path, config: Config) -> RecordedSession[AbPlan]:
        """Return the state of a run on disk; remember its counts."""
        folder = load_ab(path)
        check_unaltered(folder)
        plan, self.counts = folder.plan, folder.counts
        changes = self._changes(plan, config)
        run = judge_ab(folder)
        # With other settings, lines may only seem to have failed.
        is_doubtful = changes and any(cell.failure for cell in run.cells)
        is_complete = not run.unfinished and not is_doubtful
        return RecordedSession(plan, folder.lines, changes, is_complete)

    def schedule(self, plan: AbPlan, loop: Loop) -> Schedule:
        """Return the schedule of what is left of both stages and of the counts."""
        path = loop.folder.path
        if self.counts.torn:
            drop_torn_line(path / COUNTS_FILE, self.counts.valid_bytes)
        contexts = {
            side: runner.context(loop, plan.sides[side])
            for side, runner in self.sides.items()
        }
        return AbSchedule(
            plan=plan,
            path=path,
            contexts=contexts,
            forecast=self.forecast(plan),
            listener=loop.view.show,
            lines=loop.lines,
            counts=self.counts,
            count=partial(count_cells, contexts["a"], contexts["b"]),
            duet=duet_task,
        )

    def warnings(self, plan: AbPlan) -> list[Notice]:
        """Return notices about missing and unsuitable engines of both sides."""
        notices = [
            replace(note, text=f"side {side}: {note.text}")
            for side, runner in self.sides.items()
            for note in runner.warnings(plan.sides[side], ())
        ]
        notices += other_harness(plan.harness)
        if why := plan.a.not_durable:
            notices.append(Notice(f"no durable write is measured: {why}", "warn"))
        return notices


def session_of(
    runner: Runner, build_b: Path, view_of: Callable[[AbPlan], View]
) -> AbSession:
    """Return the session of both sides, given the runner of side a."""
    places = replace(runner.places, build_dir=build_b)
    b = Runner(places, runner.system, runner.executor, runner.scratch, runner.sites)
    return AbSession(runner, view_of, b)
