"""report/rulebook.json, made of what an executable says: `python -m tests.rulebook`."""

import json
import subprocess

from report.rulebook import PATH
from tests.places import BUILD

_OF_ENGINE = ("unsupported",)


def text() -> str:
    """Return the rulebook as the built executables describe it."""
    done = subprocess.run(
        [BUILD / "drivers/db_bench_null", "--describe"],
        check=True,
        capture_output=True,
        text=True,
    )
    described = json.loads(done.stdout)
    benchmarks = [
        {key: value for key, value in benchmark.items() if key not in _OF_ENGINE}
        for benchmark in described["benchmarks"]
    ]
    tables = {"common_flags": described["common_flags"], "benchmarks": benchmarks}
    return "{" + ",\n".join(_table(*table) for table in tables.items()) + "}\n"


def _table(name: str, entries: list[dict[str, object]]) -> str:
    """Return a list of entries, one in each line."""
    lines = ",\n".join(json.dumps(entry) for entry in entries)
    return f'"{name}": [\n{lines}\n]'


if __name__ == "__main__":
    PATH.write_text(text())
