"""Files that are replaced as a whole or not at all."""

import os
from pathlib import Path


def write_whole(target: Path, text: str, option: str = "") -> None:
    """Replace a file by a text atomically.

    A target that is not an ordinary file (a pipe, /dev/null) is written to directly.
    Raises OSError, which names the target and the option that gave it.
    """
    try:
        _replace(target, text)
    except OSError as error:
        name, reason = f"{option} {target}".strip(), error.strerror or str(error)
        if not target.parent.exists():
            reason = f"directory {target.parent} does not exist"
        raise OSError(error.errno, reason, name) from None


def _replace(target: Path, text: str) -> None:
    if target.exists() and not target.is_file():
        target.write_text(text, encoding="utf-8")
        return
    path = target.resolve()  # so that a link stays a link
    building = path.with_name(f".{path.name}.{os.getpid()}.unfinished")
    try:
        with building.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        building.replace(path)
    finally:
        building.unlink(missing_ok=True)
