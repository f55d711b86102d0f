"""The measuring software: engines, tools, and no preloaded library."""

from scripts.doctor.finding import Finding, fail, ok, unknown, warn
from scripts.doctor.subject import Subject
from scripts.machine.mounts import NO_PRELOAD, faking_library
from scripts.planning.executable import NOT_BUILT, SET_UP_WITH

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
        f"{e.name} {e.description.version}"
        for e in there
        if e.description and not e.variant_of
    )
    if live:
        state = f"{versions}; slower, with live assertions: {', '.join(live)}"
        return fail(name, state, f"rebuild without assertions: {_SET_UP}")
    if missing:
        state = f"{versions}; missing: {', '.join(missing)}"
        return warn(name, state, _building(subject))
    if subject.on_request:
        count, first = len(subject.on_request), subject.on_request[0]
        more = f"{count} on request are not built, such as {first}"
        return ok(name, f"{versions}; {more} ({SET_UP_WITH}{first})")
    return ok(name, versions)


def _building(subject: Subject) -> str:
    """Return how engines that are missing get built."""
    unbuilt = [e for e in subject.engines if e.missing.startswith(NOT_BUILT)]
    names = " ".join(dict.fromkeys(engine.executable for engine in unbuilt))
    return f"build with {SET_UP_WITH}{names}" if names else "see the reason"


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
    if liar := faking_library(preloaded, listed, maps):
        effect = f"{liar} is loaded: it fakes syncs, errors or the clock"
        return fail(name, effect, NO_PRELOAD)
    if preloaded.strip() or listed.strip():
        effect = "a library is preloaded into the measured process"
        return warn(name, effect, NO_PRELOAD)
    if maps is None:
        return unknown(name, "/proc/self/maps cannot be read", NO_PRELOAD)
    return ok(name, "no preloaded library")
