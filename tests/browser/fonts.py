"""The two fonts in which the pages are laid out, a wide one and a narrow one.

The layout of a page depends on the fonts of the reader's machine.  The tests do not:
each browser has a fontconfig file that offers a single family, which replaces every
font that a page names.
"""

from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

_INSTALLED = Path("/usr/share/fonts/truetype")
_CONFIG = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>{fonts}</dir><cachedir>{cache}</cachedir></fontconfig>
"""


@dataclass(frozen=True)
class Font:
    """A family, the package that contains it, and its files."""

    family: str
    package: str
    files: tuple[Path, ...]

    @property
    def is_installed(self) -> bool:
        return all(path.is_file() for path in self.files)


def _font(family: str, package: str, folder: str, *styles: str) -> Font:
    name = family.replace(" ", "")
    paths = (_INSTALLED / folder / f"{name}{style}.ttf" for style in styles)
    return Font(family, package, tuple(paths))


# The digits of the wide one are 1.4 times as wide as those of the narrow one.
FONTS = {
    "wide": _font("DejaVu Sans", "fonts-dejavu-core", "dejavu", "", "-Bold"),
    "narrow": _font(
        "Liberation Sans Narrow",
        "fonts-liberation",
        "liberation",
        *("-Regular", "-Bold", "-Italic", "-BoldItalic"),
    ),
}


def configured(font: Font, folder: Path) -> Path:
    """Write a fontconfig file that offers only this font; return its path."""
    fonts, config = folder / "fonts", folder / "fonts.conf"
    fonts.mkdir(parents=True)
    for path in font.files:
        (fonts / path.name).symlink_to(path)
    places = {"fonts": escape(str(fonts)), "cache": escape(str(folder / "cache"))}
    config.write_text(_CONFIG.format(**places), encoding="utf-8")
    return config
