"""Schemas use only keywords that the library which compiles them understands."""

import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest
from fastjsonschema.draft07 import CodeGeneratorDraft07
from jsonschema import Draft7Validator
from referencing import Registry, Resource

from report.model import record
from report.model.count_lines import CountLine
from report.terms.documents import ResultsError, validate
from report.terms.schemas import SCHEMA_DIR, published, schema, schema_names
from tests.hostile.valid_inputs import inputs
from tests.places import ROOT

FILES = sorted(path.name for path in SCHEMA_DIR.glob("*.schema.json"))
WORDS = {"$schema", "$id", "$defs", "title", "description", "then", "else"}
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
    for part in schemas_in(json.loads((SCHEMA_DIR / file).read_text())):
        assert part.keys() <= KNOWN
        if "$ref" in part:  # keywords next to it would be ignored
            assert part.keys() <= {"$ref", "description"}


@cache
def by_ids(name: str) -> Draft7Validator:
    """Return another program's validator, which finds all schemas by their $id."""
    contents = [schema(other) for other in schema_names()]
    found = [
        (document["$id"], Resource.from_contents(document)) for document in contents
    ]
    return Draft7Validator(schema(name), registry=Registry().with_resources(found))


@cache
def alone(name: str) -> Draft7Validator:
    """Return another program's validator of what `list schemas NAME` prints."""
    return Draft7Validator(published(name))


VALIDATORS = pytest.mark.parametrize("validator", [by_ids, alone])
MATERIALS = (
    *("run", "mix", "ab", "history", "google", "description", "answer"),
    # Those that a run of fake engines makes first.
    *(
        pytest.param(m, marks=pytest.mark.slow)
        for m in ("durability", "fleet", "shard")
    ),
)


@pytest.mark.parametrize("name", schema_names())
def test_a_schema_is_one_of_its_draft_with_an_id_of_its_own(name: str) -> None:
    for document in (schema(name), published(name)):
        Draft7Validator.check_schema(document)
        assert document["$schema"] == Draft7Validator.META_SCHEMA["$id"]
        assert re.fullmatch(rf"urn:kvmatrix:schema:{name}:[1-9]\d*", document["$id"])


@VALIDATORS
@pytest.mark.parametrize("material", MATERIALS)
def test_other_programs_accept_every_kind_of_file(
    validator: Callable[[str], Draft7Validator], material: str
) -> None:
    for part in inputs()[material].parts:
        last = len(part.documents) - 1
        for number in {*range(0, last, last // 10 + 1), last}:
            name = part.schema_of(number).removesuffix(".schema.json")
            validator(name).validate(part.documents[number])


@VALIDATORS
@pytest.mark.parametrize(
    ("name", "keys", "value"),
    [
        ("measurement", ("timeline",), [[0, 1]]),
        ("measurement", ("timeline",), [[1, 1, 1]]),
        ("measurement", ("engine",), "A b"),
        ("run", ("suite", "override"), {"driver": "x.so"}),
    ],
)
def test_other_programs_refuse_what_ours_refuses(
    validator: Callable[[str], Draft7Validator],
    name: str,
    keys: tuple[str, ...],
    value: object,
) -> None:
    parts = {p.schema: p for p in inputs()["run"].parts}
    valid = parts[f"{name}.schema.json"].documents[0]
    document = inner = json.loads(json.dumps(valid))
    for key in keys[:-1]:
        inner = inner[key]
    inner[keys[-1]] = value
    assert not validator(name).is_valid(document)
    with pytest.raises(ResultsError):
        validate(document, name, "")


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
