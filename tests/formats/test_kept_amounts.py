"""Values of Go's and Google's files that are no rates: kept, named, and not judged."""

import json
from pathlib import Path

import pytest

from report.foreign.kept_file import read
from tests.formats.test_kept_files import GO, GOOGLE, kept
from tests.support.command_line import call

FLUSHES = [("flushes of BenchmarkPut-8", "3.5", "7")]


def google_of(**changed: float) -> str:
    entries = [
        {"name": "BM_Get/8", "real_time": time, "time_unit": "us", "threads": 2}
        | {"cpu_time": 0.2, "misses": 7, "iterations": time * 1000, **changed}
        for time in (0.25, 0.26, 0.27, 0.28)
    ]
    return json.dumps({"context": {}, "benchmarks": entries})


@pytest.mark.parametrize(
    ("old", "new", "names", "moved"),
    [
        (GO, GO, ["B/op", "allocs/op", "flushes"], []),
        (
            GO,
            GO.replace(" 56 B/op", " 64 B/op").replace("3.5 fl", "7 fl"),
            ["B/op", "allocs/op", "flushes"],
            [("B/op of BenchmarkGet/size=10-8", "56", "64"), *FLUSHES],
        ),
        (
            GO,
            GO.replace(" 56 B/op", " 64 B/op", 1),  # not in every repetition
            ["B/op", "allocs/op", "flushes"],
            [],
        ),
        (GO, GO.replace("56 B/op", ""), ["allocs/op", "flushes"], []),
        (GOOGLE, GOOGLE, [], []),
        (
            google_of(),
            google_of(misses=8),
            ["misses"],
            [("misses of BM_Get/8", "7", "8")],
        ),
        (google_of(), google_of(cpu_time=0.3), ["misses"], []),
    ],
)
def test_values_without_a_verdict_are_named_and_shown_if_they_moved(
    old: str,
    new: str,
    names: list[str],
    moved: list[tuple[str, str, str]],
    tmp_path: Path,
) -> None:
    files = [str(kept(tmp_path, text, name)) for name, text in (("o", old), ("n", new))]
    done = call(["compare", *files, "--format", "json"])
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["unjudged"] == names
    assert [(d["what"], d["base"], d["new"]) for d in document["moved"]] == moved
    text = call(["compare", *files]).stdout
    assert ("unjudged" in text) == bool(names)
    assert all(change[0] in text for change in moved)
    assert ("a run compared with itself" in text) == (old == new)


def test_processor_time_of_google_is_kept_by_itself(tmp_path: Path) -> None:
    sample = read(kept(tmp_path, google_of())).samples["BM_Get/8"]
    assert sample.cpu_ns == pytest.approx((200,) * 4)
    assert sample.amounts == {"misses": (7,) * 4}
    unknown = read(kept(tmp_path, google_of(cpu_time=0))).samples["BM_Get/8"]
    assert unknown.cpu_ns == ()


def test_a_file_with_aggregates_only_is_refused_with_the_remedy(
    tmp_path: Path,
) -> None:
    document = json.loads(google_of())
    for entry in document["benchmarks"]:
        entry |= {"run_type": "aggregate", "aggregate_name": "mean"}
    done = call(["compare", *[str(kept(tmp_path, json.dumps(document)))] * 2])
    assert done.returncode == 2
    assert "--benchmark_report_aggregates_only=false" in done.stderr
