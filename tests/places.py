"""Folders of the sources and the executables, and the longest time that tests wait."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = Path(os.environ.get("KVMATRIX_BUILD_DIR", ROOT / "build/release"))
PATIENCE_S = 1800.0  # for a process that should have ended long ago
