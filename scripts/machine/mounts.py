"""The file system that holds a folder, from /proc/self/mountinfo."""

from dataclasses import dataclass
from pathlib import Path

UNKNOWN = "unknown"
MEMORY_TYPES = ("tmpfs", "ramfs")
NO_BARRIER = ("nobarrier", "barrier=0")
# Libraries that make a sync do nothing, fail calls, or change the clock.
LIARS = ("eatmydata", "fiu_", "libfiu", "faketime", "nosync")
_OTHER_DISK = "choose a directory on a disk with --data-dir"
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


def why_not_durable(mount: Mount, below: str, preloaded: str) -> str:
    """Return why no write can be called durable there, with a remedy; "" if it can.

    `below` is the type of the file system below an overlay, and `preloaded` the content
    of /etc/ld.so.preload, which applies to the engines.
    """
    kind = below if mount.type == "overlay" else mount.type
    if kind in MEMORY_TYPES:
        return f"the data directory is on {kind}, in memory; {_OTHER_DISK}"
    for option in mount.options.split(","):
        if option in NO_BARRIER:
            effect = f"{option}: a sync does not wait for the disk's own cache"
            return f"{effect}; mount the data directory without {option}"
    for word in LIARS:
        if word in preloaded:
            return f"/etc/ld.so.preload loads {word}; empty it"
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
        point = Path(words[4].replace("\\040", " "))
        holds = folder == point or point in folder.parents
        # stat() reports another device than mountinfo for files on btrfs and overlay.
        matches = device in (None, words[2]) or rest[0] in ("btrfs", "overlay")
        depth = len(point.parts)
        if holds and matches and depth >= best_depth:  # later mounts hide earlier ones
            best, best_depth = (words, rest), depth
    return best


def _mount(words: list[str], rest: list[str]) -> Mount:
    options = list(dict.fromkeys((*words[5].split(","), *rest[2].split(","))))
    source = rest[1] if rest[1].startswith("/dev/") else rest[0]
    return Mount(rest[0], ",".join(_public(o) for o in options), source)


def _public(option: str) -> str:
    """Return an option without its value if that is a path, an address or a user."""
    name, _, value = option.partition("=")
    return name if "/" in value or name in _PRIVATE else option
