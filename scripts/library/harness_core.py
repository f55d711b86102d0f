"""The core of the harness, which drivers are linked with: once in the cache."""

import hashlib
import json
import os
import platform
import shutil
from pathlib import Path

from scripts.basis.cache import claim, locked, sha256_of
from scripts.basis.commands import run_logged
from scripts.basis.manifest import MANIFEST, SCHEMA, check, checksums
from scripts.basis.remedy import removing
from scripts.provision.installing import Workshop
from scripts.provision.recipe import processors

# What it is made of, and how.
_SOURCES = ("CMakeLists.txt", "CMakePresets.json", "common", "drivers")


def ensure_core(root: Path, shop: Workshop) -> Path:
    """Return where the core of a checkout is installed; compile it if it is not.

    Raises SetupError.
    """
    path = shop.cache / "prefix" / f"kvmatrix-core-{_key(root, shop)}"
    claim(shop.cache)
    waiting = "Waiting for another set-up that uses the same cache ..."
    with locked(shop.cache / "lock", lambda: shop.screen.warn(waiting)):
        if (path / MANIFEST).is_file():
            check(path, f"To compile it again: {removing([path])}")
        else:
            _compile(root, shop, path)
    return path


def _key(root: Path, shop: Workshop) -> str:
    compiler = shop.compiler
    facts = [compiler.cc, compiler.cxx, compiler.banner, platform.machine()]
    for name in _SOURCES:
        files = sorted(p for p in (root / name).rglob("*") if p.is_file())
        for file in files or [root / name]:
            facts += [str(file.relative_to(root)), sha256_of(file)]
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()[:16]


def _compile(root: Path, shop: Workshop, path: Path) -> None:
    log = root / "build/logs/core.log"
    log.unlink(missing_ok=True)
    build, stage = root / "build/core", shop.cache / "work/core"
    shutil.rmtree(stage, ignore_errors=True)
    text = "Compiling the core of the harness"
    with shop.screen.step(text):
        progress = shop.screen.build_progress(text, log)
        for words in (
            ["--preset", "release", "-B", str(build)],
            [
                "--build",
                str(build),
                "--target",
                "kvmatrix_core",
                "-j",
                f"{processors()}",
            ],
            ["--install", str(build), "--component", "core", "--prefix", str(stage)],
        ):
            run_logged(["cmake", *words], log, cwd=root, heartbeat=progress)
    document = {"schema": SCHEMA, "files": checksums(stage)}
    (stage / MANIFEST).write_text(json.dumps(document, indent=2) + "\n", "utf-8")
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(path, ignore_errors=True)
    os.rename(stage, path)
