"""Memory: how much is free, whether some is swapped, and huge pages."""

import re

from report.terms import numbers
from scripts.doctor.finding import UNKNOWN, Finding, fail, ok, unknown, warn
from scripts.doctor.subject import Subject
from scripts.machine.allotment import group_memory, limit_of
from scripts.planning.process_limits import unusual

# The largest cache that a scenario gives an engine is 128 MiB.  The engine's own
# buffers, the runner and the page cache that reads are served from need more.
LEAST_BYTES = 512 << 20


def memory(subject: Subject) -> Finding:
    """Check that the largest database and its copy fit in the page cache."""
    name, available = "memory", subject.fact("memory", "available_bytes")
    if not isinstance(available, int):
        return unknown(name, "not in /proc", "run where /proc is mounted")
    available = min(available, group_memory(subject.machine.reader))
    state = f"{numbers.size(available)} available"
    needed = subject.needed_bytes
    if available < LEAST_BYTES:
        more = f"stop other programs; at least {numbers.size(LEAST_BYTES)} are needed"
        return fail(name, state, more)
    if needed is not None and available < needed:
        cell = f"the largest cell of suite {subject.suite}"
        state += f", less than the {numbers.size(needed)} of {cell}"
        return warn(name, state, "stop other programs, or run with a smaller --num")
    return ok(name, state)


def swap(subject: Subject) -> Finding:
    """Check that memory was never so short that some was swapped."""
    total = subject.fact("memory", "swap_total_bytes")
    free = subject.fact("memory", "swap_free_bytes")
    if total == 0:
        return ok("swap", "none")
    if not isinstance(total, int) or not isinstance(free, int):
        return unknown("swap", "not in /proc", "run where /proc is mounted")
    if free < total:
        state = f"{numbers.size(total - free)} in use"
        return warn("swap", state, "free some memory, then sudo swapoff -a")
    return ok("swap", f"{numbers.size(total)}, unused")


def limits(subject: Subject) -> Finding:
    """Check what limits of this process leave to the engines: setrlimit(2)."""
    name, reader = "limits", subject.machine.reader
    if low := subject.too_low or tuple(unusual(reader)):
        grade = fail if subject.too_low else warn
        found, remedies = (of.found for of in low), (of.remedy for of in low)
        return grade(name, "; ".join(found), "; ".join(remedies))
    if reader.file("/proc/self/limits") is None:
        return unknown(name, "not in /proc", "run where /proc is mounted")
    return ok(name, f"{limit_of(reader, 'open files'):,.0f} open files")


def huge_pages(subject: Subject) -> Finding:
    """Check that the kernel does not use huge pages unless an engine asks."""
    name, switch = "huge pages", "/sys/kernel/mm/transparent_hugepage/enabled"
    text = subject.fact("memory", "transparent_huge_pages")
    chosen = re.search(r"\[(\w+)\]", str(text))
    remedy = f"echo madvise | sudo tee {switch}"
    if text == UNKNOWN or chosen is None:
        return unknown(name, f"no {switch}", "run where /sys is mounted")
    if chosen[1] == "always":
        return warn(name, "always: memory use and stalls vary unpredictably", remedy)
    return ok(name, f"{chosen[1]}")
