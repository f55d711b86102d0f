"""The rules of names that runs record, with the standard library alone."""

import json
from pathlib import Path
from typing import Any

_RULES = Path(__file__).parents[1] / "schema/names.schema.json"


def name_rule(kind: str) -> tuple[str, int]:
    """Return the pattern and the most characters of a kind of name."""
    rule: Any = json.loads(_RULES.read_text("utf-8"))["$defs"][kind]
    return rule["pattern"], rule["maxLength"]
