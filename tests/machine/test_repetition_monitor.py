"""The monitor of a measured process: what it samples, and when."""

from pathlib import Path
from typing import Any

from scripts.machine.child_process import PeriodicCall, Spawner
from scripts.machine.repetition_monitor import RepetitionMonitor
from tests.places import PATIENCE_S


class Recorder:
    """Surroundings that record their calls."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def snapshot(self) -> int:
        self.calls.append("snapshot")
        return len(self.calls)

    def disturbance(self, *arguments: Any) -> dict[str, Any]:
        self.calls.append(arguments)
        return {"marks": []}

    def watch(self, pid: int, database: Path) -> "Recorder":
        self.calls.append((pid, database))
        return self

    def sample(self) -> None:
        self.calls.append("sample")

    def document(self) -> dict[str, Any]:
        return {"samples": self.calls.count("sample")}


def test_a_process_is_sampled_before_during_and_after() -> None:
    recorder, database = Recorder(), Path("a database")
    observer = RepetitionMonitor(recorder, database)
    observer.begin()
    observer.tick.call(17)
    observer.tick.call(17)
    observer.end()
    record: Any = {"lost": None}
    fields = observer.fields(record)
    watched = [(17, database), "sample", "sample"]
    assert recorder.calls == ["snapshot", *watched, "snapshot", (1, 5, record)]
    assert fields == {"disturbance": {"marks": []}, "watch": {"samples": 2}}


def test_a_process_that_ended_before_the_first_sample_was_not_watched() -> None:
    observer = RepetitionMonitor(Recorder(), Path())
    observer.begin()
    observer.end()
    assert observer.fields({})["watch"] is None


def test_each_tick_keeps_its_own_period_and_knows_the_process(tmp_path: Path) -> None:
    seen, often, seldom = tmp_path / "seen", list[int](), list[int]()

    def look(pid: int) -> None:
        often.append(pid)
        if len(often) == 3:
            seen.touch()

    ticks = (PeriodicCall(look, 0.01), PeriodicCall(seldom.append, PATIENCE_S))
    spawner = Spawner({"PATH": "/usr/bin:/bin"})
    until_seen = ("sh", "-c", f"until [ -e '{seen}' ]; do sleep 0.01; done")
    outcome = spawner.run(until_seen, PATIENCE_S, ticks)
    assert outcome.exit == "0"
    assert len(often) >= 3 and len(set(often)) == 1 and often[0] > 1
    assert seldom == []


def test_ticks_do_not_keep_a_process_from_its_time_limit() -> None:
    tick = PeriodicCall(lambda _pid: None, 0.01)
    outcome = Spawner({"PATH": "/usr/bin:/bin"}).run(("sleep", "3600"), 0.3, (tick,))
    assert outcome.timed_out
