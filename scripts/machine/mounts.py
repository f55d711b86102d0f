"""Which file system a folder is on, from /proc/self/mountinfo."""

from dataclasses import dataclass
from pathlib import Path

UNKNOWN = "unknown"
_PRIVATE = ("addr", "clientaddr", "mountaddr", "username", "user", "domain", "ip")


@dataclass(frozen=True)
class Mount:
    """One file system as it is mounted; no field names a host or a user."""

    type: str
    options: str
    device: str  # "/dev/..." or the kind of thing that stands for one


def mount_of(mountinfo: str, folder: Path, device: str) -> Mount:
    """The mount that holds an absolute folder on the device major:minor."""
    found = _innermost(mountinfo, folder, device)
    return _mount(*found) if found else Mount(UNKNOWN, UNKNOWN, UNKNOWN)


def upper_type(mountinfo: str, folder: Path) -> str:
    """The file system under the overlay that holds a folder, or "unknown"."""
    _, rest = _innermost(mountinfo, folder, None) or ([], ["", "", ""])
    for option in rest[2].split(","):
        name, _, value = option.partition("=")
        found = _innermost(mountinfo, Path(value), None) if name == "upperdir" else None
        if found:
            return found[1][0]
    return UNKNOWN


def _innermost(
    mountinfo: str, folder: Path, device: str | None
) -> tuple[list[str], list[str]] | None:
    """Both halves of the line of the mount that holds a folder, of any device."""
    best, best_depth = None, -1
    for line in mountinfo.splitlines():
        left, _, right = line.partition(" - ")
        words, rest = left.split(), right.split()
        if len(words) < 6 or len(rest) < 3:
            continue
        point = Path(words[4].replace("\\040", " "))
        holds = folder == point or point in folder.parents
        same = device in (None, words[2]) or rest[0] in ("btrfs", "overlay")
        depth = len(point.parts)
        if holds and same and depth >= best_depth:  # a later mount hides an earlier
            best, best_depth = (words, rest), depth
    return best


def _mount(words: list[str], rest: list[str]) -> Mount:
    options = list(dict.fromkeys((*words[5].split(","), *rest[2].split(","))))
    source = rest[1] if rest[1].startswith("/dev/") else rest[0]
    return Mount(rest[0], ",".join(_public(o) for o in options), source)


def _public(option: str) -> str:
    """An option whose value is a path, an address or a user: keep only its name."""
    name, _, value = option.partition("=")
    return name if "/" in value or name in _PRIVATE else option
