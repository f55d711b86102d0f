"""A simulated machine that can make disks, and what can be missing from it."""

import os
import shutil
from collections.abc import Callable

import pytest

from scripts.regime import host_probes

Take = Callable[[pytest.MonkeyPatch], None]


def has_everything(patch: pytest.MonkeyPatch) -> None:
    """Simulate root, all programs, all devices and namespaces."""
    patch.setattr(os, "geteuid", lambda: 0)
    patch.setattr(os, "access", lambda *_: True)
    patch.setattr(shutil, "which", lambda name, **_: f"/bin/{name}")
    patch.setattr(host_probes, "NAMESPACES", ("env",))


def without(path: str) -> Take:
    """Return what takes a file away."""

    def take(patch: pytest.MonkeyPatch) -> None:
        patch.setattr(os, "access", lambda file, _: str(file) != path)

    return take


def not_root(patch: pytest.MonkeyPatch) -> None:
    """Take the rights of root away."""
    patch.setattr(os, "geteuid", lambda: 1000)


def no_namespaces(patch: pytest.MonkeyPatch) -> None:
    """Have the kernel refuse namespaces."""
    refusal = "echo 'unshare: Operation not permitted' >&2; exit 1"
    patch.setattr(host_probes, "NAMESPACES", ("sh", "-c", refusal))


def no_program(*names: str) -> Take:
    """Return what takes programs away."""

    def take(patch: pytest.MonkeyPatch) -> None:
        patch.setattr(
            shutil,
            "which",
            lambda asked, **_: None if asked in names else f"/bin/{asked}",
        )

    return take


def no_unshare(patch: pytest.MonkeyPatch) -> None:
    """Take the program away that makes namespaces."""
    patch.setattr(host_probes, "NAMESPACES", ("unshare",))
    no_program("unshare")(patch)


no_mkfs = no_program("mkfs.xfs")

# What a disk needs: how it is taken away, and what a message must say then.
MISSING: dict[str, tuple[Take, str, str]] = {
    "root": (not_root, "needs root", "sudo"),
    "namespaces": (no_namespaces, "Operation not permitted", "--privileged"),
    "unshare": (no_unshare, "unshare is not installed", "install util-linux"),
    "loop": (without("/dev/loop-control"), "no loop devices", "kernel module loop"),
    "mkfs": (no_mkfs, "mkfs.xfs is not installed", "install xfsprogs"),
}
