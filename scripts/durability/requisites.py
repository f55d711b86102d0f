"""Whether this machine can cut the power of a disk of its own, and why it cannot."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from scripts.trials.trial_spec import FULL, KILL, LOG, SHUTDOWN

SET_UP = "run scripts/setup"

NAMESPACES = (
    *("unshare", "--mount", "--pid", "--fork", "--kill-child=KILL", "--mount-proc"),
    *("--propagation", "private"),
)
_PROBE_S = 20
Probe = Callable[[], str]


def requisites(
    methods: Iterable[str], file_systems: Iterable[str], block_log: Path
) -> Mapping[str, str]:
    """Return why each method is impossible here, with a remedy; "": it is not."""
    shared: list[Probe] = [_not_root, _no_namespaces, _no_loop_device]
    shared += [_maker(name) for name in file_systems]
    of_method: Mapping[str, list[Probe]] = {
        KILL: [],
        SHUTDOWN: shared,
        FULL: shared,
        LOG: [*shared, _no_fuse, lambda: _not_built(block_log)],
    }
    return {method: _first(of_method[method]) for method in methods}


def namespaces_of(method: str) -> tuple[str, ...]:
    """Return the start of a command that gives a trial namespaces of its own.

    A kill needs none, and has none where they are impossible.
    """
    is_impossible = method == KILL and _first([_not_root, _no_namespaces])
    return () if is_impossible else NAMESPACES


def _first(probes: Iterable[Probe]) -> str:
    return next((problem for probe in probes if (problem := probe())), "")


def _not_root() -> str:
    return "" if os.geteuid() == 0 else "needs root: run it with sudo"


def _no_namespaces() -> str:
    command = [*NAMESPACES, "true"]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_PROBE_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"cannot run unshare ({error}): install util-linux"
    if done.returncode == 0:
        return ""
    reason = " ".join(done.stderr.split())
    remedy = "in a container, start it with --privileged; leave a chroot"
    return f"no mount namespace of its own ({reason}): {remedy}"


def _no_loop_device() -> str:
    if os.access("/dev/loop-control", os.R_OK | os.W_OK):
        return ""
    remedy = "load the kernel module loop, or pass --privileged to the container"
    return f"no loop devices (/dev/loop-control): {remedy}"


def _no_fuse() -> str:
    if os.access("/dev/fuse", os.R_OK | os.W_OK):
        return ""
    remedy = "load the kernel module fuse, or pass --device /dev/fuse to the container"
    return f"no FUSE (/dev/fuse): {remedy}"


def _maker(file_system: str) -> Probe:
    def probe() -> str:
        name = f"mkfs.{file_system}"
        path = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
        if shutil.which(name, path=path):
            return ""
        package = {"ext4": "e2fsprogs", "xfs": "xfsprogs"}[file_system]
        return f"no {name}: install {package}, or leave {file_system} out with --fs"

    return probe


def _not_built(block_log: Path) -> str:
    return "" if block_log.is_file() else f"{block_log} is not built: {SET_UP}"
