"""Fetching pinned jars with Maven, and source distributions from pip's index.

Maven is the machine's, with its own configuration, such as a mirror.  Its local
repository is a private one, so that nothing in the user's own is trusted or changed.

pip itself would run a part of a package's build to fetch it: `pip download` asks it
for its metadata.  So pip only says where its index is.
"""

import html
import os
import re
import shutil
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import urljoin

from report.config.pinned_source import JarSource, SdistSource
from scripts.basis.commands import output_of, run_logged
from scripts.basis.problem import SetupError

# pip of the Python environment, which exists before the sources are fetched.
PYTHON = Path(__file__).resolve().parents[2] / "build/venv/bin/python"
_PATIENCE_S = 60
_MOST_BYTES = 1 << 30
_INDEX = re.compile(r"--index-url <url>[^(]*\(default ([^\s)]+)\)")


def fetch_jar(source: JarSource, repository: Path, incoming: Path, log: Path) -> None:
    """Have Maven copy a jar to `incoming`.  Raises SetupError with the remedy.

    `repository` is a folder that it fills and that is removed afterwards.
    """
    group, artifact, version, *classifier = source.jar.split(":")
    coordinates = ":".join([group, artifact, version, "jar", *classifier])
    command = [
        *("mvn", "--batch-mode", "--quiet", f"-Dmaven.repo.local={repository}"),
        *("dependency:copy", f"-Dartifact={coordinates}"),
        *(f"-DoutputDirectory={incoming}", "-Dmdep.useBaseVersion=true"),
    ]
    try:
        run_logged(command, log, cwd=incoming)
    except SetupError as error:
        raise SetupError(
            f"{error}\nCheck the network, Maven (Debian has it in the package maven) "
            f"and its configuration: {source.jar}, which {source.file} pins, must be "
            "available from its repository"
        ) from error
    finally:
        shutil.rmtree(repository, ignore_errors=True)


def index_url() -> str:
    """Return the address of pip's index.  Raises SetupError."""
    pip = [str(PYTHON), "-m", "pip", "--disable-pip-version-check"]
    # In a wide terminal, so that the help has an option on one line.
    help_text = output_of(["env", "COLUMNS=9999", *pip, "download", "--help"])
    match = _INDEX.search(help_text)
    if not match or "****" in match[1]:
        problem = "needs a password" if match else "is unknown"
        raise SetupError(
            f"the index of {PYTHON} -m pip {problem}; set PIP_INDEX_URL to one that "
            "needs none"
        )
    return match[1].rstrip("/")


def link_of(page: str, at: str, file: str) -> str:
    """Return the address of a file on an index's page about a package; "" if none."""
    for link in re.findall(r"""href\s*=\s*["']([^"']+)["']""", page):
        address = urljoin(at, html.unescape(link))
        if address.partition("#")[0].rpartition("/")[2] == file:
            return address.partition("#")[0]
    return ""


def fetch_sdist(source: SdistSource, incoming: Path, log: Path) -> None:
    """Download a source distribution to `incoming`.  Raises SetupError."""
    name = re.sub(r"[-_.]+", "-", source.sdist).lower()
    at = f"{index_url()}/{name}/"
    try:
        with log.open("a", encoding="utf-8") as out:
            out.write(f"fetching {source.archive} from {at}\n")
        address = link_of(_read(at).decode(errors="replace"), at, source.archive)
        if not address:
            raise SetupError(
                f"pip's index has no {source.archive}, which {source.file} pins"
            )
        partial = incoming / f"{source.archive}.partial"
        partial.write_bytes(_read(address))
        os.replace(partial, incoming / source.archive)
    except (urllib.error.URLError, TimeoutError, ValueError) as error:
        reason = getattr(error, "reason", error)
        raise SetupError(
            f"cannot fetch {source.archive}, which {source.file} pins: {reason}\n"
            "Check the network and the index that pip is configured for"
        ) from error


def _read(address: str) -> bytes:
    request = urllib.request.Request(address, headers={"Accept": "text/html, */*"})
    with urllib.request.urlopen(request, timeout=_PATIENCE_S) as answer:
        content: bytes = answer.read(_MOST_BYTES)
    return content
