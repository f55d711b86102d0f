"""Rewrite report/docs/picture.png, the top of the report of a committed run.

`python -m tests.browser.make_picture [RUN]`; without RUN, of the run that it shows now.
The file says which run it shows, by which method and with which verdicts, so that
tests/pages/test_pictures.py notices when it no longer shows what the report says.
"""

import hashlib
import struct
import sys
import tempfile
import zlib
from collections.abc import Mapping
from pathlib import Path

from report.model.run import Run
from report.page import report_page
from report.terms.documents import canonical
from report.trust.judge import load_run
from report.verdict import comparison
from report.words import sentences
from tests.browser.pages import FLAGS, Opened, executable
from tests.places import ROOT

PICTURE = ROOT / "report/docs/picture.png"
WIDTH, HEIGHT = 1180, 1500

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_HEADER_BYTES = 33  # of the signature and the first chunk


def facts(run: Run) -> dict[str, str]:
    """Return what the report of a run shows: its run, method, rule and verdicts."""
    charts = comparison.compare(run).charts
    verdicts = [
        (
            c.scenario.name,
            c.benchmark,
            r.group,
            r.verdict.outcome.value,
            r.verdict.leaders,
        )
        for c in charts
        for r in (*c.accepted, *c.finished)
    ]
    return {
        "run": run.plan.run,
        "method": str(run.plan.method),
        "rule": sentences.WIN_RULE,
        "verdicts": hashlib.sha256(canonical(verdicts).encode()).hexdigest(),
    }


def with_texts(png: bytes, texts: Mapping[str, str]) -> bytes:
    """Return a picture with these texts, which are ASCII, in chunks tEXt."""
    chunks = b"".join(
        _chunk(b"tEXt", f"{key}\0{text}".encode("ascii")) for key, text in texts.items()
    )
    return png[:_HEADER_BYTES] + chunks + png[_HEADER_BYTES:]


def texts_of(png: bytes) -> dict[str, str]:
    """Return the texts of a picture."""
    texts, at = {}, len(_SIGNATURE)
    while at < len(png):
        size, kind = struct.unpack_from(">I4s", png, at)
        if kind == b"tEXt":
            key, _, text = png[at + 8 : at + 8 + size].decode("ascii").partition("\0")
            texts[key] = text
        at += size + 12
    return texts


def _chunk(kind: bytes, content: bytes) -> bytes:
    checksum = zlib.crc32(kind + content)
    return (
        struct.pack(">I", len(content)) + kind + content + struct.pack(">I", checksum)
    )


def screenshot(page: Path) -> bytes:
    """Return the top of a page in a light Chromium, as a PNG."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable(), args=FLAGS)
        size = {"width": WIDTH, "height": HEIGHT}
        opened = Opened(browser, page, viewport=size, color_scheme="light")
        picture: bytes = opened.page.screenshot()
        browser.close()
    return picture


def main(arguments: list[str]) -> None:
    """Rewrite the picture."""
    shown = texts_of(PICTURE.read_bytes()).get("run", "") if PICTURE.exists() else ""
    name = arguments[0] if arguments else shown
    if len(arguments) > 1 or not name or name.startswith("-"):
        sys.exit(__doc__)
    run = load_run(ROOT / "results" / name)
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        page.write_text(report_page.render(run), "utf-8")
        PICTURE.write_bytes(with_texts(screenshot(page), facts(run)))


if __name__ == "__main__":
    main(sys.argv[1:])
