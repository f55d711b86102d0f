"""Whether this machine can cut the power of a disk of its own, and why it cannot."""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from scripts.regime.host_probes import (
    NAMESPACES,
    Probe,
    first_problem,
    no_loop_device,
    no_maker_of,
    no_mount_tools,
    no_namespaces,
    not_root,
)
from scripts.trials.trial_spec import FULL, FULL_FS, KILL, LOG, REPLAY, SHUTDOWN

SET_UP = "run scripts/setup"


def requisites(
    methods: Iterable[str], file_systems: Iterable[str], block_log: Path
) -> Mapping[str, str]:
    """Return why each method is impossible here, with a remedy; "": it is not."""
    shared: list[Probe] = [not_root, no_namespaces, no_mount_tools, no_loop_device]
    makers = [no_maker_of(n, f", or leave {n} out with --fs") for n in file_systems]
    of_method: Mapping[str, list[Probe]] = {
        KILL: [],
        SHUTDOWN: [*shared, *makers],
        FULL: [*shared, no_maker_of(FULL_FS)],
        LOG: [*shared, *makers, _no_fuse, lambda: _not_built(block_log)],
    }
    return {method: first_problem(of_method[method]) for method in methods}


def makeable(file_systems: Sequence[str]) -> Mapping[str, str]:
    """Return why each file system cannot be made here; "": it can.

    Where none can be made, that is the problem of a method, not of a file system.
    """
    why = {name: no_maker_of(name)() for name in file_systems}
    return dict.fromkeys(why, "") if all(why.values()) else why


def namespaces_of(method: str) -> tuple[str, ...]:
    """Return the start of a command that gives a trial namespaces of its own.

    A kill needs none, and has none where they are impossible.  The file of a stranger
    has no network either.
    """
    if method == REPLAY:
        return (*NAMESPACES, "--net", "--ipc")
    is_impossible = method == KILL and first_problem([not_root, no_namespaces])
    return () if is_impossible else NAMESPACES


def _no_fuse() -> str:
    if os.access("/dev/fuse", os.R_OK | os.W_OK):
        return ""
    remedy = "load the kernel module fuse, or pass --device /dev/fuse to the container"
    return f"no FUSE (/dev/fuse): {remedy}"


def _not_built(block_log: Path) -> str:
    return "" if block_log.is_file() else f"{block_log} is not built: {SET_UP}"
