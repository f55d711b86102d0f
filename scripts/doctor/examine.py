"""All checks in the order in which they are shown, and the probes."""

from collections.abc import Callable

from scripts.doctor import memory, outfit, processor, storage
from scripts.doctor.finding import Finding
from scripts.doctor.probe_limits import ProbeResults, judged
from scripts.doctor.subject import Subject
from scripts.machine.host import Machine
from scripts.machine.probes import Probes, Progress
from scripts.machine.surroundings import load, other_load

Check = Callable[[Subject], Finding]
ON_MACHINE: tuple[Check, ...] = (
    processor.governor,
    processor.turbo,
    processor.processors,
    processor.load,
    processor.steal,
    processor.clock_source,
    processor.hypervisor,
    memory.memory,
    memory.limits,
    memory.swap,
    memory.huge_pages,
    storage.data_directory,
    storage.barriers,
    storage.disk_space,
    storage.disk,
    storage.write_cache,
    storage.read_ahead,
)
ON_OUTFIT: tuple[Check, ...] = (
    outfit.preload,
    outfit.engines,
    outfit.set_up,
    outfit.counting_tools,
    processor.lost_time,
)


def examine(subject: Subject, probed: ProbeResults | None = None) -> list[Finding]:
    """Return every finding; those of the probes only if `probed` is given."""
    measured = judged(subject, probed) if probed else []
    return [
        *(check(subject) for check in ON_MACHINE),
        *measured,
        *(check(subject) for check in ON_OUTFIT),
    ]


def probe(machine: Machine, probes: Probes, progress: Progress) -> ProbeResults:
    """Run the probes, which needs a few seconds and some disk writes."""
    progress("4 KiB writes and reads")
    overwrites_ns, reads_ns = probes.overwrites_ns(), probes.reads_ns()
    before = load(machine.reader)
    work_ns = probes.work_ns(progress)
    meanwhile = other_load(before, load(machine.reader))
    return ProbeResults(overwrites_ns, reads_ns, work_ns, meanwhile)
