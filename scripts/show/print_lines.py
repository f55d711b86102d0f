"""Lines of a comparison on stdout, in colour if it supports that."""

from collections.abc import Iterable
from pathlib import Path

import click
from rich.text import Text

from report.terms.text_table import TextLine, fitted, plain, quiet_page, visible_line
from scripts.show.output import ASCII, Output, glyphs_for, terminal_width
from scripts.store.whole_file import write_whole

_STYLES = {
    **{"regressed": "red", "improved": "green", "failed": "bold red"},
    **{"bold": "bold", "dim": "dim"},
}


def print_lines(lines: Iterable[TextLine], output: Output) -> None:
    """Print the lines, in ASCII if the stream cannot encode more."""
    console = output.stdout()
    is_ascii = glyphs_for(console.encoding) is ASCII
    width = terminal_width()
    for line in fitted(lines, width) if width else lines:
        text = visible_line(plain(line.text) if is_ascii else line.text)
        console.print(Text(text, _STYLES.get(line.style, "")), soft_wrap=True)


def put(report: str | list[TextLine], output: Path | None, color: str) -> None:
    """Write a report to a file, or to stdout if `output` is "-" or None."""
    text = report
    if not isinstance(text, str):
        text = "".join(f"{visible_line(line.text)}\n" for line in text)
    if output is not None and str(output) != "-":
        write_whole(output, text, "-o")
    elif isinstance(report, str):
        click.echo(quiet_page(text), nl=False)
    else:
        print_lines(report, Output(False, False, True, color))
