"""Schemas use only keywords that the library which compiles them understands."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from fastjsonschema.draft07 import CodeGeneratorDraft07

from report.model import record
from report.model.count_lines import CountLine
from report.terms.documents import ResultsError, validate
from report.terms.schemas import SCHEMA_DIR
from tests.places import ROOT

FILES = sorted(path.name for path in SCHEMA_DIR.glob("*.schema.json"))
OWN = {"countPairs", "notFlag"}
WORDS = {"$schema", "$defs", "title", "description", "then", "else", *OWN}
KNOWN = WORDS | {"$ref", *CodeGeneratorDraft07({})._json_keywords_to_function}  # type: ignore[no-untyped-call]
OF_NAMES = ("properties", "$defs", "dependencies")


def schemas_in(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield a schema and every schema inside of it."""
    if not isinstance(schema, dict):
        return
    yield schema
    for key, value in schema.items():
        inner = list(value.values()) if key in OF_NAMES else value
        for subschema in inner if isinstance(inner, list) else [inner]:
            yield from schemas_in(subschema)


@pytest.mark.parametrize("file", FILES)
def test_no_keyword_is_ignored(file: str) -> None:
    for schema in schemas_in(json.loads((SCHEMA_DIR / file).read_text())):
        assert schema.keys() <= KNOWN
        if "$ref" in schema:  # keywords next to it would be ignored
            assert schema.keys() <= {"$ref", "description"}


@pytest.mark.parametrize("file", FILES)
def test_names_are_defined_once(file: str) -> None:
    text = (SCHEMA_DIR / file).read_text()
    assert ("[a-z0-9]+([-" in text) == (file == "names.schema.json")


NO_NAMES = ("../../x", "a b", "-x", "x\n", "/x", "A", "é")
RESERVED = ("driver", "crash_test", "db", "json")


def _check(change: Callable[[Any, Any], object], value: object) -> None:
    path = ROOT / "results/20261121-121446-leveldb-1.1/run.json"
    plan = json.loads(path.read_text())
    change(plan, value)
    validate(plan, "run", path.name)


@pytest.mark.parametrize(
    "key", ["variant_of", "twin_of", "floor", "binding_of", "group"]
)
def test_a_run_names_engines_by_names(key: str) -> None:
    def check(name: str) -> None:
        _check(lambda d, name: d["engines"][0].update({key: name}), name)

    for name in ("", "level", "level-db"):
        check(name)
    for name in NO_NAMES:
        with pytest.raises(ResultsError, match=rf"engines\.0\.{key}: "):
            check(name)


FLAGS_OF: dict[str, Callable[[Any, dict[str, int]], object]] = {
    "flags": lambda d, flags: d["scenarios"][0]["flags"].update(leveldb=flags),
    "swept": lambda d, flags: d["scenarios"][0].update(swept=flags),
    "override": lambda d, flags: d["suite"].update(override=flags),
    "chosen": lambda d, flags: d["suite"].update(chosen=flags),
}


@pytest.mark.parametrize("key", FLAGS_OF)
def test_a_run_sets_only_flags_that_a_configuration_can_set(key: str) -> None:
    _check(FLAGS_OF[key], {"level_2": 1})
    for word in ("", *NO_NAMES, *RESERVED):
        with pytest.raises(ResultsError, match=rf"{key}"):
            _check(FLAGS_OF[key], {word: 1})


def test_shipped_names_are_valid_in_results() -> None:
    def entry(name: str, **named: str) -> dict[str, Any]:
        path = ROOT / "results/20261121-121446-leveldb-1.1/run.json"
        plan: dict[str, Any] = json.loads(path.read_text())
        plan["suite"]["name"] = name
        plan["cells"] = [{**plan["cells"][0], **named}]
        return plan

    for path in (ROOT / "configs/suites").glob("*.toml"):
        validate(entry(path.stem), "run", path.stem)
    for path in (ROOT / "configs/scenarios").glob("*.toml"):
        validate(entry("quick", scenario=path.stem), "run", path.stem)
    with pytest.raises(ResultsError, match=r"suite.name: 'A b' must match pattern"):
        validate(entry("A b"), "run", "run.json")


DEFS = json.loads((SCHEMA_DIR / "measurement.schema.json").read_text())
TYPED = {
    "histogram": record.Histogram,
    "deferred": record.DeferredFigures,
    "open_loop": record.OpenLoopFigures,
    "writer": record.WriterFigures,
    "disturbance": record.DisturbanceFigures,
    "watch": record.WatchFigures,
    "ab": record.AbPlace,
}


def test_a_typed_line_has_the_keys_of_its_schema() -> None:
    """Types serve readers of the code; the schema decides what a file may contain."""
    parts = DEFS["$defs"]
    answer, line = parts["answer"]["properties"], DEFS["properties"]
    assert {*record.Record.__annotations__} == {*answer, *line}
    for name, typed in TYPED.items():
        assert {*typed.__annotations__} == {*parts[name]["properties"]}, name
    inner = (("stalls", record.StallFigures), ("shares", record.ShareFigures))
    for name, typed in inner:
        assert {*typed.__annotations__} == {*parts[name]["items"]["properties"]}, name
    counts = json.loads((SCHEMA_DIR / "counts.schema.json").read_text())
    assert {*CountLine.__annotations__} == {*counts["properties"]}
    audit = line["audit"]["properties"]
    assert {*record.AuditFigures.__annotations__} == {*audit}


@pytest.mark.parametrize("advice", [False, True])
def test_what_a_page_of_an_engine_links_to_is_an_address(advice: bool) -> None:
    """A page of a stranger's run has a link to it."""

    def check(url: str) -> None:
        link = {"advice": {"bloom_bits": url}} if advice else {"url": url}
        _check(lambda d, link: d["engines"][0].update(link), link)

    check("https://example.org/engine")
    for url in ("javascript:alert(1)", "//example.org", 'https://x/" onclick="', ""):
        with pytest.raises(ResultsError, match=r"engines\.0\.(url|advice)"):
            check(url)
