"""Files that are replaced as a whole, or left as they were."""

import os
from pathlib import Path


def write_whole(target: Path, text: str, option: str = "") -> None:
    """Replaces a file by a text, or leaves it as it was.

    What is no ordinary file (a pipe, /dev/null) is written to as it is.  Raises
    OSError, which names the target and the option that gave it.
    """
    try:
        _replace(target, text)
    except OSError as error:
        named = f"{option} {target}".strip()
        raise OSError(error.errno, error.strerror or str(error), named) from None


def _replace(target: Path, text: str) -> None:
    if target.exists() and not target.is_file():
        target.write_text(text, encoding="utf-8")
        return
    place = target.resolve()
    building = place.with_name(f".{place.name}.{os.getpid()}.unfinished")
    try:
        with building.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        building.replace(place)
    finally:
        building.unlink(missing_ok=True)
