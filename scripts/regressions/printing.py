"""Lines of a comparison on stdout, in colour where it can show it."""

from collections.abc import Iterable

from rich.text import Text

from report.text_table import TextLine, plain, visible
from scripts.cli_options import Output
from scripts.table import ASCII, glyphs_for

_STYLES = {
    **{"regressed": "red", "improved": "green", "failed": "bold red"},
    **{"bold": "bold", "dim": "dim"},
}


def print_lines(lines: Iterable[TextLine], output: Output) -> None:
    """Prints them; in ASCII where the stream has no more."""
    console = output.stdout()
    is_ascii = glyphs_for(console.encoding) is ASCII
    for line in lines:
        text = visible(plain(line.text) if is_ascii else line.text)
        console.print(Text(text, _STYLES.get(line.style, "")), soft_wrap=True)
