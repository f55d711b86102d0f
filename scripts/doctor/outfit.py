"""The measuring software: engines, tools, and no preloaded library."""

from scripts.doctor.finding import Finding, fail, ok, unknown, warn
from scripts.doctor.subject import Subject
from scripts.machine.mounts import LIARS

_BUILD = "build with scripts/setup, or pass another --build-dir"
_SET_UP = "scripts/setup"


def engines(subject: Subject) -> Finding:
    """Check which engines are built, and that none has live assertions."""
    name = "engines"
    there = [e for e in subject.engines if e.description]
    missing = [f"{e.name} ({e.missing})" for e in subject.engines if e.missing]
    live = [e.name for e in there if e.description and e.description.assertions_live]
    ranked = [e for e in subject.engines if e.role == ""]
    if not there or (ranked and not any(e.description for e in ranked)):
        return fail(name, f"no engine is usable: {'; '.join(missing[:1])}", _BUILD)
    versions = ", ".join(
        f"{e.name} {e.description.version}" for e in there if e.description
    )
    if live:
        state = f"{versions}; slower, with live assertions: {', '.join(live)}"
        return fail(name, state, f"rebuild without assertions: {_SET_UP}")
    if missing:
        state = f"{versions}; missing: {', '.join(missing)}"
        return warn(name, state, f"build with {_SET_UP}")
    return ok(name, versions)


def set_up(subject: Subject) -> Finding:
    """Check that everything the runner uses is installed."""
    if subject.gaps:
        return fail(
            "set-up", f"missing: {', '.join(subject.gaps)}", "run scripts/setup"
        )
    return ok("set-up", "complete")


def counting_tools(subject: Subject) -> Finding:
    """Report whether an A/B run can count; times do not depend on it."""
    absent = " ".join(subject.uncounted)
    if absent:
        effect = f"not installed, so ab counts less: apt-get install {absent}"
        return ok("counting tools", effect)
    return ok("counting tools", "strace and valgrind")


def preload(subject: Subject) -> Finding:
    """Check that no library is preloaded into the runner or the engines.

    The engines run without LD_PRELOAD, but /etc/ld.so.preload applies to them.
    """
    name, maps = "preload", subject.machine.reader.file("/proc/self/maps")
    listed = subject.machine.reader.file("/etc/ld.so.preload") or ""
    preloaded = subject.variables.get("LD_PRELOAD", "")
    remedy = "unset LD_PRELOAD, and empty /etc/ld.so.preload"
    liars = [w for w in LIARS if w in f"{preloaded}\n{listed}\n{maps or ''}"]
    if liars:
        effect = f"{liars[0]} is loaded: it fakes syncs, errors or the clock"
        return fail(name, effect, remedy)
    if preloaded.strip() or listed.strip():
        return warn(name, "a library is preloaded into the measured process", remedy)
    if maps is None:
        return unknown(name, "/proc/self/maps cannot be read", remedy)
    return ok(name, "no preloaded library")
