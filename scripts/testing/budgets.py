"""Size budgets of source files and functions, in lines."""

from collections.abc import Iterable
from pathlib import Path

import lizard

FILE_LINES = 400
FUNCTION_LINES = 60


def over_budget(path: Path) -> list[str]:
    """Return a message with file, line and size for each budget that is exceeded."""
    text = path.read_text(encoding="utf-8")
    lines = text.count("\n")
    findings = []
    if lines > FILE_LINES:
        findings.append(f"{path}:1: the file has {lines} lines, over {FILE_LINES}")
    analysis = lizard.analyze_file.analyze_source_code(str(path), text)
    for function in analysis.function_list:
        if function.length > FUNCTION_LINES:
            findings.append(
                f"{path}:{function.start_line}: {function.long_name} has "
                f"{function.length} lines, over {FUNCTION_LINES}"
            )
    return findings


def all_over_budget(paths: Iterable[Path]) -> list[str]:
    """Return the messages for all files."""
    return [finding for path in paths for finding in over_budget(path)]
