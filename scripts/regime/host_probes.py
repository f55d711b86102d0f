"""Whether this machine can make disks and memory limits, and why it cannot.

A probe returns why something is impossible here, with a remedy; "": it is not.
"""

import os
import subprocess
from collections.abc import Callable, Iterable

from scripts.basis.system_programs import MissingProgram, run_program, without

NAMESPACES = (
    *("unshare", "--mount", "--pid", "--fork", "--kill-child=KILL", "--mount-proc"),
    *("--propagation", "private"),
)
_PROBE_S = 20
Probe = Callable[[], str]


def first_problem(probes: Iterable[Probe]) -> str:
    """Return what the first probe finds that finds anything; "" if none does."""
    return next((problem for probe in probes if (problem := probe())), "")


def not_root() -> str:
    """Probe for the rights of root."""
    return "" if os.geteuid() == 0 else "needs root: run it with sudo"


def no_namespaces() -> str:
    """Probe for mount and process namespaces."""
    try:
        done = run_program((*NAMESPACES, "true"), _PROBE_S)
    except MissingProgram as error:
        return str(error)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"cannot run {NAMESPACES[0]}: {error}"
    if done.returncode == 0:
        return ""
    reason = " ".join(done.stderr.split())
    remedy = "in a container, start it with --privileged; leave a chroot"
    return f"no mount namespace of its own ({reason}): {remedy}"


def no_loop_device() -> str:
    """Probe for loop devices."""
    if os.access("/dev/loop-control", os.R_OK | os.W_OK):
        return ""
    remedy = "load the kernel module loop, or pass --privileged to the container"
    return f"no loop devices (/dev/loop-control): {remedy}"


def no_maker_of(file_system: str, remedy: str = "") -> Probe:
    """Return a probe for mkfs; `remedy` is another one than installing it."""

    def probe() -> str:
        problem = without([f"mkfs.{file_system}"])
        return f"{problem}{remedy}" if problem else ""

    return probe


def no_mount_tools() -> str:
    """Probe for the programs that mount disks."""
    return without(["mount", "umount"])
