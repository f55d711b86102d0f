"""The file system that holds a folder, from /proc/self/mountinfo.

And whether a write to it can be durable at all.
"""

import re
from dataclasses import dataclass
from pathlib import Path

UNKNOWN = "unknown"
OTHER_DISK = "choose a directory on a disk with --data-dir"
NO_PRELOAD = "unset LD_PRELOAD, and empty /etc/ld.so.preload"
_MEMORY_TYPES = ("tmpfs", "ramfs")
_NO_BARRIER = ("nobarrier", "barrier=0")
# Libraries that make a sync do nothing, fail calls, or change the clock.
_LIARS = ("eatmydata", "fiu_", "libfiu", "faketime", "nosync")
_PRIVATE = ("addr", "clientaddr", "mountaddr", "username", "user", "domain", "ip")


@dataclass(frozen=True)
class Mount:
    """A mounted file system; no field names a host or a user."""

    type: str
    options: str
    device: str  # "/dev/..."; the type again if the source is not a device


def mount_of(mountinfo: str, folder: Path, device: str) -> Mount:
    """Return the mount that holds an absolute folder on the device major:minor."""
    halves = _innermost(mountinfo, folder, device)
    return _mount(*halves) if halves else Mount(UNKNOWN, UNKNOWN, UNKNOWN)


def points_in(mountinfo: str, folder: Path) -> list[Path]:
    """Return where something is mounted in an absolute folder, or on it."""
    lines = (line.split() for line in mountinfo.splitlines())
    points = [_point(words[4]) for words in lines if words[5:]]
    return [point for point in points if point.is_relative_to(folder)]


def upper_type(mountinfo: str, folder: Path) -> str:
    """Return the type of the file system below an overlay, or "unknown".

    It is the one that holds the overlay's upperdir, where files are written.
    """
    _, rest = _innermost(mountinfo, folder, None) or ([], ["", "", ""])
    for option in rest[2].split(","):
        name, _, value = option.partition("=")
        upper = _innermost(mountinfo, Path(value), None) if name == "upperdir" else None
        if upper:
            return upper[1][0]
    return UNKNOWN


def in_memory(mount: Mount, below: str) -> str:
    """Return the file system if it is in memory, such as "overlay on tmpfs", or "".

    `below` is the type of the file system below an overlay.
    """
    if mount.type == "overlay" and below in _MEMORY_TYPES:
        return f"overlay on {below}"
    return mount.type if mount.type in _MEMORY_TYPES else ""


def missing_barrier(mount: Mount) -> str:
    """Return the option that makes syncs not wait for the disk's own cache, or ""."""
    return next((o for o in mount.options.split(",") if o in _NO_BARRIER), "")


def faking_library(*loaded: str | None) -> str:
    """Return the word for a library that fakes syncs in texts with libraries, or ""."""
    return next((w for w in _LIARS if any(w in (text or "") for text in loaded)), "")


def why_not_durable(mount: Mount, below: str, *loaded: str | None) -> str:
    """Return why no write can be called durable there, with a remedy; "" if it can.

    `below` is as in in_memory(), and `loaded` are texts that name the libraries which
    are preloaded into the runner or the engines.
    """
    if kind := in_memory(mount, below):
        return f"the data directory is on {kind}, in memory; {OTHER_DISK}"
    if option := missing_barrier(mount):
        return f"the data directory is mounted with {option}; mount it without"
    if word := faking_library(*loaded):
        return f"the library {word} fakes syncs, errors or the clock; {NO_PRELOAD}"
    return ""


def _innermost(
    mountinfo: str, folder: Path, device: str | None
) -> tuple[list[str], list[str]] | None:
    """Return both halves of the line of the innermost mount that holds a folder.

    They are the words before and after " - "; see proc(5).  `device` is major:minor,
    or None for any.
    """
    best, best_depth = None, -1
    for line in mountinfo.splitlines():
        head, _, tail = line.partition(" - ")
        words, rest = head.split(), tail.split()
        if len(words) < 6 or len(rest) < 3:
            continue
        point = _point(words[4])
        holds = folder == point or point in folder.parents
        # stat() reports another device than mountinfo for files on btrfs and overlay.
        matches = device in (None, words[2]) or rest[0] in ("btrfs", "overlay")
        depth = len(point.parts)
        if holds and matches and depth >= best_depth:  # later mounts hide earlier ones
            best, best_depth = (words, rest), depth
    return best


def _point(word: str) -> Path:
    """Return a path in mountinfo, where blanks, line ends and backslashes are octal."""
    return Path(re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), word))


def _mount(words: list[str], rest: list[str]) -> Mount:
    options = list(dict.fromkeys((*words[5].split(","), *rest[2].split(","))))
    source = rest[1] if rest[1].startswith("/dev/") else rest[0]
    return Mount(rest[0], ",".join(_public(o) for o in options), source)


def _public(option: str) -> str:
    """Return an option without its value if that is a path, an address or a user."""
    name, _, value = option.partition("=")
    return name if "/" in value or name in _PRIVATE else option
