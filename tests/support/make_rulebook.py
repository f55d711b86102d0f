"""Rewrite report/terms/rulebook.json from the answer of an executable to --describe.

`python -m tests.support.make_rulebook` also rewrites what follows from it:
report/schema/flags.schema.json and the table of flags in configs/README.md.
"""

import json
import subprocess
from operator import itemgetter

from report.terms.rulebook import PATH, FlagRule
from report.terms.schemas import SCHEMA_DIR
from tests.places import BUILD, ROOT
from tests.support.program import refuse_options

README = ROOT / "configs/README.md"
FLAGS_SCHEMA = SCHEMA_DIR / "flags.schema.json"
_HEAD = "| Flag | Of | Meaning | Accepted | Default |\n|---|---|---|---|---|\n"

_OF_ENGINE = ("unsupported",)
# Words of every command line that are no flags of a benchmark: those of a crash test
# (common/crash/crash_flags.cc), what the process is asked to do
# (common/cli/parse_flags.cc), and the file of a plug-in.
_OTHER_WORDS = (
    *("crash_test", "trace", "phases", "crash_after", "cut_ns", "cut_end_ns"),
    *("help", "helpfull", "version", "describe", "check", "driver", "duet"),
)
_TYPES = {"bool": "boolean", "double": "number", "string": "string"}
_IN_PLANS = {"settle"}  # although no scenario sets it


def text() -> str:
    """Return the rulebook, as the built executables describe it."""
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


def with_flags(readme: str, rulebook: str) -> str:
    """Return a README with the table of flags of the rulebook."""
    before, head, rest = readme.partition(_HEAD)
    _, end, after = rest.partition("\n\n")
    flags = json.loads(rulebook)["common_flags"]
    rows = [_row(flag) for flag in flags if flag["in_scenarios"]]
    return before + head + "\n".join(rows) + end + after


def flags_schema(rulebook: str) -> str:
    """Return the schema of flags: names that no engine can define, types of values."""
    flags = json.loads(rulebook)["common_flags"]
    reserved = {flag["name"] for flag in flags if not flag["in_scenarios"]}
    reserved = {*reserved, *_OTHER_WORDS} - _IN_PLANS
    names = {
        "reserved": ("that no configuration can set", reserved),
        "of_all": ("of every executable", {*reserved, *(f["name"] for f in flags)}),
    }
    document = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": "urn:kvmatrix:schema:flags:1",
        "title": "The flags of all executables; made from the rulebook",
        "$defs": {
            **{
                name: {"description": what, "enum": sorted(words)}
                for name, (what, words) in names.items()
            },
            "values": {
                "description": "the types of the values that a run has recorded",
                "properties": {
                    flag["name"]: {"type": _TYPES.get(flag["type"], "integer")}
                    for flag in sorted(flags, key=itemgetter("name"))
                    if flag["in_scenarios"]
                },
            },
        },
    }
    return json.dumps(document, indent=2) + "\n"


def _row(entry: dict[str, object]) -> str:
    rule = FlagRule.of(entry)
    cells = (entry["group"], entry["help"], rule.accepted, json.dumps(rule.default))
    return f"| `{rule.name}` | " + " | ".join(map(str, cells)) + " |"


def _table(name: str, entries: list[dict[str, object]]) -> str:
    """Return a list of entries, one on each line."""
    lines = ",\n".join(json.dumps(entry) for entry in entries)
    return f'"{name}": [\n{lines}\n]'


if __name__ == "__main__":
    refuse_options(__doc__)
    PATH.write_text(text())
    FLAGS_SCHEMA.write_text(flags_schema(text()))
    README.write_text(with_flags(README.read_text(), text()))
