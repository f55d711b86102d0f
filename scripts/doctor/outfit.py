"""What the measurements are made with: engines, tools, and nothing slipped in."""

from collections.abc import Iterable

from report.model.plan import Engine
from scripts.doctor.finding import Finding, fail, ok, unknown, warn
from scripts.doctor.subject import Subject

# Libraries that make a sync do nothing, fail calls, or change the clock.
LIARS = ("eatmydata", "fiu_", "libfiu", "faketime", "nosync")
_BUILD = "build with scripts/setup"


def engines(subject: Subject) -> Finding:
    """Which engines are there, and whether they check themselves."""
    name = "engines"
    there = [e for e in subject.engines if e.description]
    missing = [f"{e.name} ({e.missing})" for e in subject.engines if e.missing]
    live = [e.name for e in there if e.description and e.description.assertions_live]
    if not any(e.role == "" for e in there):
        return fail(name, f"none can be used: {'; '.join(missing[:1])}", _BUILD)
    found = ", ".join(
        f"{e.name} {e.description.version}" for e in there if e.description
    )
    if live:
        told = f"{found}; built with live assertions, and slower: {', '.join(live)}"
        remedy = _set_up_commands(subject, [e for e in there if e.name in live])
        return fail(name, told, f"compile without: {remedy}")
    if missing:
        remedy = _set_up_commands(subject, [e for e in subject.engines if e.missing])
        told = f"{found}; missing: {', '.join(missing)}"
        return warn(name, told, f"build with {remedy}")
    return ok(name, found)


def _set_up_commands(subject: Subject, engines: Iterable[Engine]) -> str:
    """Return what compiles these engines from their pinned sources."""
    names = {engine.executable for engine in engines}
    options = [f"--with {name}" for name in sorted(names & {*subject.on_request})]
    return " ".join(["scripts/setup", *options])


def set_up(subject: Subject) -> Finding:
    """Whether all that the runner uses is there."""
    if subject.gaps:
        return fail("set-up", f"missing: {', '.join(subject.gaps)}", "scripts/setup")
    return ok("set-up", "complete")


def counting_tools(subject: Subject) -> Finding:
    """Whether an A/B run can count; no time is worth less without."""
    absent = " ".join(subject.uncounted)
    if absent:
        told = f"absent, so that ab counts less: apt-get install {absent}"
        return ok("counting tools", told)
    return ok("counting tools", "strace and valgrind")


def preload(subject: Subject) -> Finding:
    """Whether a library was slipped under the runner or the engines.

    The engines get an environment of their own, without LD_PRELOAD; the system's
    list in /etc reaches them.
    """
    name, maps = "preload", subject.machine.reader.file("/proc/self/maps")
    listed = subject.machine.reader.file("/etc/ld.so.preload") or ""
    asked = subject.variables.get("LD_PRELOAD", "")
    remedy = "unset LD_PRELOAD, and empty /etc/ld.so.preload"
    liars = [w for w in LIARS if w in f"{asked}\n{listed}\n{maps or ''}"]
    if liars:
        told = f"{liars[0]} is loaded: a sync, an error or the clock is a fake"
        return fail(name, told, remedy)
    if asked.strip() or listed.strip():
        return warn(name, "a library is preloaded into what is measured", remedy)
    if maps is None:
        return unknown(name, "/proc/self/maps cannot be read", remedy)
    return ok(name, "no library is slipped in")
