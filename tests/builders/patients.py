"""Machines for the doctor: a sound one, and changes of it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scripts.doctor.examine import examine
from scripts.doctor.finding import Finding
from scripts.doctor.probe_limits import ProbeResults
from scripts.doctor.subject import Subject
from scripts.machine.host import Machine, environment_document
from tests.builders.machines import TextMachine
from tests.builders.simple_plans import engine

CPU = "/sys/devices/system/cpu"
QUEUE = "/sys/dev/block/254:0/queue"
THP = "/sys/kernel/mm/transparent_hugepage/enabled"
CLOCK = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
MEMORY = "MemAvailable: {} kB\nSwapTotal: {} kB\nSwapFree: {} kB\n"
GIB = 1 << 20  # in KiB, as /proc/meminfo counts

GOOD: Mapping[str, str] = {
    "/proc/cpuinfo": "\n\n".join(f"processor\t: {n}\nflags\t: fpu" for n in range(4)),
    "/proc/meminfo": MEMORY.format(8 * GIB, GIB, GIB),
    "/proc/loadavg": "0.04 0.05 0.10 1/100 4242\n",
    "/proc/stat": "cpu  10 0 10 7000 5 0 0 0 0 0\n" + "cpu0 1\n" * 4,
    "/proc/self/status": "Cpus_allowed_list:\t0-3\n",
    "/proc/self/maps": "7f0-7f1 r-xp /usr/lib/libc.so.6\n",
    "/proc/self/limits": "Max open files   1048576   1048576   files\n",
    "/proc/self/cgroup": "0::/user.slice/session\n",
    "/proc/self/mountinfo": "2 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard\n",
    "/proc/pressure/memory": "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
    "/proc/self/schedstat": "900 100 3\n",
    **{f"{CPU}/cpu{n}/cpufreq/scaling_governor": "performance\n" for n in range(4)},
    f"{CPU}/intel_pstate/no_turbo": "1\n",
    "/sys/fs/cgroup/user.slice/cpu.max": "max 100000\n",
    CLOCK: "tsc\n",
    THP: "always [madvise] never\n",
    f"{QUEUE}/rotational": "0\n",
    f"{QUEUE}/write_cache": "write back\n",
    f"{QUEUE}/read_ahead_kb": "128\n",
    f"{QUEUE}/scheduler": "[none] mq-deadline\n",
}
QUIET: Mapping[str, float | None] = {
    "steal_share": 0.0,
    "others_share": 0.001,
}
STEADY = ProbeResults(
    overwrites_ns=[200_000 + 10 * n for n in range(100)],
    reads_ns=[80_000 + 10 * n for n in range(100)],
    work_ns=[50_000] * 100_000,
    meanwhile=QUIET,
)


def subject(
    changes: Mapping[str, str | None] | None = None,
    hypervisor: str = "none",
    free_bytes: int = 80 << 30,
    device: str = "254:0",
    **more: Any,
) -> Subject:
    """Return the sound machine with changed files; None removes a file."""
    files = {**GOOD, **(changes or {})}
    readable = {path: text for path, text in files.items() if text is not None}
    reader = TextMachine(readable, {"systemd-detect-virt --vm": hypervisor})
    reader.free, reader.device = free_bytes, device
    machine = Machine(reader, Path("/data"))
    usual: dict[str, Any] = {
        "machine": machine,
        "environment": environment_document(machine, [], {}),
        "engines": (engine("plain"), engine("tree")),
        "needed_bytes": float(1 << 30),
        "variables": {},
        "gaps": (),
        "suite": "quick",
    }
    return Subject(**{**usual, **more})


def finding(
    name: str, patient: Subject, probed: ProbeResults | None = STEADY
) -> Finding:
    """Return the finding of this name."""
    (result,) = (f for f in examine(patient, probed) if f.name == name)
    return result
