"""Processors: speed, clock, and other users."""

from report.terms import numbers
from report.terms.machine_facts import cpu_numbers
from scripts.doctor.finding import UNKNOWN, Finding, ok, unknown, warn
from scripts.doctor.subject import Subject
from scripts.machine.allotment import cpu_quota

# Five times the 2 % of lost time at which a repetition is disturbed (R54): a load
# average covers the last minutes, and includes waits for a disk.
LOAD_PER_CPU = 0.10
# A quarter of R54's 2 %: the share since the start includes all idle time.
STEAL_SINCE_START = 0.005
# Read without a system call (the kernel's vdso_clock_mode); other sources cost about
# a microsecond, as much as a read.
QUICK_CLOCKS = ("tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter")
_CPUS = "/sys/devices/system/cpu"
_CLOCKS = "/sys/devices/system/clocksource/clocksource0"
_UNSEEN = "not visible in a virtual machine"
_ON_HOST = "a guest cannot set it; for publishable results, use a physical machine"


def governor(subject: Subject) -> Finding:
    """Check that every allowed processor keeps its clock at the maximum."""
    name, set_it = "cpu governor", "sudo cpupower frequency-set -g performance"
    allowed = sorted(cpu_numbers(subject.fact("cpu", "allowed_cpus")))
    texts = {
        subject.machine.text(f"{_CPUS}/cpu{number}/cpufreq/scaling_governor")
        for number in allowed
    }
    if not allowed or UNKNOWN in texts:
        why = _UNSEEN if subject.virtual else "no cpufreq in /sys"
        remedy = "set it in the firmware, or load a cpufreq driver"
        return unknown(name, why, _ON_HOST if subject.virtual else remedy)
    if texts == {"performance"}:
        return ok(name, f"performance on all {len(allowed)} processors")
    return warn(name, f"{', '.join(sorted(texts))}: the clock follows the load", set_it)


def turbo(subject: Subject) -> Finding:
    """Check that the clock does not rise above its nominal rate."""
    name, state = "turbo", subject.fact("cpu", "turbo")
    if state == UNKNOWN:
        why = _UNSEEN if subject.virtual else "not in /sys"
        remedy = "turn it off in the firmware"
        return unknown(name, why, _ON_HOST if subject.virtual else remedy)
    if state == "off":
        return ok(name, "off")
    intel, other = f"{_CPUS}/intel_pstate/no_turbo", f"{_CPUS}/cpufreq/boost"
    has_intel = subject.machine.text(intel) != UNKNOWN
    off = f"echo 1 | sudo tee {intel}" if has_intel else f"echo 0 | sudo tee {other}"
    return warn(name, f"{state}: the speed drifts with temperature and load", off)


def processors(subject: Subject) -> Finding:
    """Check how many processors the runner and the engines may use."""
    name = "processors"
    allowed = len(cpu_numbers(subject.fact("cpu", "allowed_cpus")))
    total = subject.fact("cpu", "logical_cpus")
    if not allowed or not isinstance(total, int):
        return unknown(name, "not in /proc", "run where /proc is mounted")
    state = f"{allowed} of {total} usable"
    quota = cpu_quota(subject.machine.reader)
    if quota < allowed:
        limit = f"a control group limits them to the time of {quota:g}"
        return warn(name, f"{state}, but {limit}", _LIFT)
    if allowed < 2:
        more = "allow a second one: the runner and an engine's threads share it"
        return warn(name, state, more)
    return ok(name, state)


_LIFT = "lift the limit: each time it is reached, the engine stops for up to 0.1 s"


def load(subject: Subject) -> Finding:
    """Check how busy the allowed processors were over the last minute."""
    name, average = "load", subject.fact("load", "minutes_1")
    allowed = len(cpu_numbers(subject.fact("cpu", "allowed_cpus")))
    if not isinstance(average, float) or not allowed:
        return unknown(name, "not in /proc", "run where /proc is mounted")
    state = f"{average:.2f} over the last minute on {allowed} processors"
    if average > LOAD_PER_CPU * allowed:
        return warn(name, state, "stop other programs, and wait a minute")
    return ok(name, state)


def steal(subject: Subject) -> Finding:
    """Check the time that the hypervisor gave to others since the start."""
    name, share = "steal", subject.fact("load", "steal_share")
    elsewhere = "use a host with fewer guests, or a dedicated one"
    if not isinstance(share, float):
        return unknown(name, "not in /proc/stat", elsewhere)
    state = f"{numbers.percent(share)} of the CPU time since the machine started"
    return (
        warn(name, state, elsewhere) if share > STEAL_SINCE_START else ok(name, state)
    )


def clock_source(subject: Subject) -> Finding:
    """Check that reading the clock is cheap."""
    name, source = "clock", subject.fact("cpu", "clock_source")
    if source == UNKNOWN:
        return unknown(name, "no clock source in /sys", "run where /sys is mounted")
    if source in QUICK_CLOCKS:
        return ok(name, f"{source}: reading it needs no system call")
    available = subject.machine.text(f"{_CLOCKS}/available_clocksource").split()
    remedy = "use another machine: the kernel does not trust a faster clock here"
    quick = next((clock for clock in QUICK_CLOCKS if clock in available), None)
    if quick:
        remedy = f"echo {quick} | sudo tee {_CLOCKS}/current_clocksource"
    return warn(name, f"{source}: reading it is a system call", remedy)


def hypervisor(subject: Subject) -> Finding:
    """Check whether this is a physical machine."""
    name, kind = "machine", subject.environment["hypervisor"]
    remedy = "for publishable results, use a machine without a hypervisor"
    if kind == UNKNOWN:
        return unknown(name, "systemd-detect-virt is not installed", remedy)
    if kind == "none":
        return ok(name, "no hypervisor")
    effect = f"virtual ({kind}): other guests and the host's caches are not visible"
    return warn(name, effect, remedy)


def lost_time(subject: Subject) -> Finding:
    """Check that the time that a repetition loses would be detected."""
    name, file = "lost time", subject.machine.reader.file
    blind, remedies = [], []
    if file("/proc/self/schedstat") is None:
        blind.append("the kernel does not count how long threads wait")
        remedies.append("boot a kernel with CONFIG_SCHED_INFO")
    if file("/proc/stat") is None:
        blind.append("the use of the processors is hidden")
        remedies.append("run where /proc is mounted")
    if blind:
        return warn(name, "; ".join(blind), "; ".join(remedies))
    return ok(name, "waiting for a processor and stolen time are counted")
