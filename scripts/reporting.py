"""Writing a report: the only place where the report package meets a file."""

import importlib
import os
from pathlib import Path

import click

from report.results import load_run

_MODULES = {"html": "report.html", "md": "report.markdown", "csv": "report.csv_out"}
FORMATS = tuple(_MODULES)


def write_report(path: Path, kind: str, output: Path | None) -> Path | None:
    """Writes the report of a run folder; returns the file, or None for stdout.

    Without an output, HTML goes into the run's folder and the rest to stdout.
    Raises ResultsError or OSError.
    """
    render = importlib.import_module(_MODULES[kind]).render
    text = render(load_run(path))
    target = output or (path / "report.html" if kind == "html" else Path("-"))
    if str(target) == "-":
        click.echo(text, nl=False)
        return None
    write_whole(target, text)
    return target


def write_whole(target: Path, text: str) -> None:
    """Replaces a file by a text, or leaves it as it was.  Raises OSError.

    What is no ordinary file (a pipe, /dev/null) is written to as it is.
    """
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
