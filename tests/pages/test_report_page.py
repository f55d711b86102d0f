"""The HTML report: its texts, escaping, and the same bytes each time."""

import json
import os
import re
import shlex
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from report.formats import markdown
from report.model.run import Run
from report.page import frame, raw_data, report_page
from report.trust.judge import load_run
from tests.builders import synthetic_descriptions, synthetic_records, synthetic_run
from tests.places import ROOT

pytestmark = pytest.mark.usefixtures("ranked_short_cells")

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>'\"{{7*7}}"


class Page(HTMLParser):
    """Elements, their attributes and the visible text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self._inside: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self._inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._inside and self._inside[-1] == tag:
            self._inside.pop()

    def handle_data(self, data: str) -> None:
        if not self._inside:
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).replace("\u00ad", "").split())

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


def run_of(folder: Path, plan: Any = None, lines: Any = None) -> Run:
    return load_run(synthetic_run.write_run(folder, plan, lines))


@pytest.fixture
def varied(tmp_path: Path) -> Run:
    return load_run(synthetic_run.write_varied(tmp_path))


def test_the_verdict_counts_charts(tmp_path: Path) -> None:
    page = Page(report_page.render(run_of(tmp_path)))
    assert "3 engines in 8 charts : 8 with a winner." in page.text
    assert "Wins Baseline (sequential reads, random reads, " in page.text
    assert page.text.count("Wins no chart") == 2


def test_every_status_is_a_word_with_its_reason(varied: Run) -> None:
    page = Page(report_page.render(varied))
    for status, reason in synthetic_run.VARIETY.values():
        assert page.text.count(status) >= 2, status
        assert reason in page.text, reason


def test_limitations_of_a_result_are_reported(varied: Run) -> None:
    text = Page(report_page.render(varied)).text
    for phrase in (
        "3 cells failed",
        "ended by the time limit",
        "not ranked: live assertions",
        "harness-bound cell",
        "cell spread over 5 %",
        "stopped by the time limit after 1,000 of 5,000",
        "settling takes another",
    ):
        assert phrase in text, phrase


def test_the_sizes_of_values_are_those_that_were_run(tmp_path: Path) -> None:
    plan = synthetic_run.plan()
    lines = synthetic_run.lines(plan)
    law: Any = {"value_size_distribution_type": "uniform"}
    law |= {"value_size_min": 200, "value_size_max": 2000}
    bytes_each = 16 + 1100
    for scenario in plan["scenarios"][:1]:
        for engine, flags in scenario["flags"].items():
            scenario["flags"][engine] = {**flags, **law}
    for line in lines:
        if line["scenario"] == "baseline":
            line["options"] = {**line["options"], **law}
            line["bytes"] = bytes_each * (
                line["bytes"] // synthetic_records.ENTRY_BYTES
            )
    for name, made_lines in (("measured", lines), ("planned", [])):
        text = Page(report_page.render(run_of(tmp_path / name, plan, made_lines))).text
        assert "16 B keys, 100 or 200 to 2,000 B values" in text, name


def test_disturbed_and_suspect_have_different_signs(varied: Run) -> None:
    text = Page(report_page.render(varied)).text
    assert "⚠ disturbed by other work on the machine." in text
    assert "¶ suspect: works outside the clock, or its memory, size" in text
    assert "⚠ disturbed in 1 of 4 repetitions" in text
    assert "¶ closing took 8.00× the timed work" in text


def test_an_engine_alone_is_not_fastest(tmp_path: Path) -> None:
    plan = synthetic_run.plan((synthetic_run.ENGINES[0], synthetic_run.ENGINES[-1]))
    text = Page(report_page.render(run_of(tmp_path / "one", plan))).text
    assert "1 engine measured: Alpha, in 8 of 8 charts" in text
    assert "8 charts with a rate Measured alone, so there is no ranking" in text
    for word in ("best ranked rate", "wins", "How far from the best", "★", ": best"):
        assert word not in text.partition("Latency")[0], word
    gone = dict.fromkeys(("beta-tree", "gamma"), "not built")
    run = run_of(tmp_path / "rest", synthetic_run.plan(missing=gone))
    sentence = "1 of 3 engines has a rate: Alpha, in 8 of 8 charts"
    assert sentence in markdown.render(run)


def test_a_reference_alone_is_not_called_unmeasured(tmp_path: Path) -> None:
    roles = [engine for engine in synthetic_run.ENGINES if engine[2]]
    run = run_of(tmp_path, synthetic_run.plan(roles))
    assert "**No engine was compared**" in markdown.render(run)
    assert "has a rate yet" not in Page(report_page.render(run)).text


def test_equal_engines_are_level_and_marked(tmp_path: Path) -> None:
    plan = synthetic_run.plan()
    lines = [m for m in synthetic_run.lines(plan) if m["engine"] != "beta-tree"]
    twins = [{**m, "engine": "beta-tree"} for m in lines if m["engine"] == "alpha"]
    page = report_page.render(run_of(tmp_path, plan, [*lines, *twins]))
    assert "Alpha and Beta Tree are level within 5 %" in Page(page).text
    assert page.count('≈<span class="vh">level</span>') == 2 * 8


def test_single_repetitions_win_nothing(tmp_path: Path) -> None:
    page = Page(report_page.render(run_of(tmp_path, synthetic_run.plan(repetitions=1))))
    assert ": none with a winner, 8 undecided." in page.text
    assert "only 1 repetition (8 rankings)" in page.text
    assert "★" not in page.text.replace("★ wins", "").replace("★ and ≈ mark", "")


def test_a_run_without_a_result_still_reports(tmp_path: Path) -> None:
    page = Page(report_page.render(run_of(tmp_path, None, [])))
    assert "No engine has a rate yet" in page.text
    assert "not measured" in page.text


def test_disputed_charts_are_not_ranked(tmp_path: Path) -> None:
    plan = synthetic_run.plan()
    lines = synthetic_run.lines(plan)
    for line in lines:
        if line["benchmark"] == "readseq" and line["engine"] == "gamma":
            line["digest"] = "f" * 16
    run = run_of(tmp_path, plan, lines)
    page = Page(report_page.render(run))
    assert "3 engines in 8 charts : 7 with a winner," in page.text
    assert "digests disagree in 1 chart: not ranked" in page.text
    assert "The digests disagree: no engine is ranked" in page.text
    assert "ffffffffffffffff from gamma" in page.text
    assert "disputed" in markdown.render(run)


def test_a_missing_engine_is_shown_with_its_reason(tmp_path: Path) -> None:
    plan = synthetic_run.plan(missing={"beta-tree": "its executable was not built"})
    page = Page(report_page.render(run_of(tmp_path, plan)))
    assert "2 engines in 8 charts : 8 with a winner." in page.text
    assert "8 cells without" in page.text
    assert "Beta Tree missing" in page.text
    assert page.text.count("its executable was not built") > 8
    built = page.text.partition("Engines as built")[2].partition("Gamma")[0]
    assert built.count("codec none") == 1  # of Alpha; Beta Tree's is not known
    assert "Beta Tree no rate in any chart" in page.text


def test_multiples_are_of_our_own_baseline(tmp_path: Path) -> None:
    plan = synthetic_run.plan(repetitions=1)
    slow = {"fillseq": 1_000, "fillseqbatch": 500, "fillseqsync": 50_000}
    lines = [
        synthetic_records.retimed(
            {**line, "flush_ns": 0}, slow[line["benchmark"]] * 1000
        )
        if line["engine"] == "alpha" and line["benchmark"] in slow
        else line
        for line in synthetic_run.lines(plan)
    ]
    text = Page(report_page.render(run_of(tmp_path, plan, lines))).text
    assert "2.00× baseline" in text
    assert "1/50 baseline" in text


def test_the_floor_and_the_reference_are_never_ranked(tmp_path: Path) -> None:
    plan = synthetic_run.plan()
    plan["engines"][0]["role"] = "reference"
    text = report_page.render(run_of(tmp_path, plan))
    page = Page(text)
    cards = page.text.partition("Benchmark")[2].partition("How far from")[0]
    assert cards.count("Wins Baseline") == cards.count("Wins no chart") == 1
    assert cards.index("Wins Baseline") < cards.index("Wins no chart")
    assert "the reference, not ranked" in page.text
    values = {attributes.get("value") for attributes in page.named("input")}
    assert not {"alpha", "floor"} & values


def test_every_text_of_the_files_is_escaped(tmp_path: Path) -> None:
    plan = synthetic_run.plan()
    plan["command"] = shlex.join(["kvmatrix", "run", HOSTILE])
    plan["suite"]["title"] = HOSTILE
    plan["machine"] = {"cpu_model": HOSTILE}
    for engine in plan["engines"]:
        engine |= {"title": HOSTILE, "summary": HOSTILE}
        engine["describe"] |= {
            "version": HOSTILE,
            "codec": HOSTILE,
            "build": {
                **synthetic_descriptions.BUILD,
                "origin": HOSTILE,
                "flags": HOSTILE,
            },
        }
    for scenario in plan["scenarios"]:
        scenario |= {"title": HOSTILE, "analysis": HOSTILE}
        scenario["flags"] = {"alpha": {"hostile": HOSTILE}}
    lines = synthetic_run.varied_lines(plan)
    for line in lines:
        line["reason"] = HOSTILE if line["status"] != "ok" else ""
        line["settings"] = {HOSTILE: HOSTILE}
    folder = synthetic_run.write_run(tmp_path, plan, lines)
    (folder / "environment.json").write_text(json.dumps({HOSTILE: {HOSTILE: HOSTILE}}))
    page = Page(report_page.render(load_run(folder)))
    assert len(page.named("script")) == 2
    assert not page.named("img")
    assert not [a for _, a in page.elements if any(n.startswith("on") for n in a)]
    assert page.text.count("alert(1)") > 50


def test_every_linked_document_exists(varied: Run) -> None:
    named = re.findall(r"[\w/]+\.md\b", Page(report_page.render(varied)).text)
    assert named
    assert [name for name in named if not (ROOT / name).is_file()] == []


def test_nothing_is_fetched(varied: Run) -> None:
    text = report_page.render(varied)
    page = Page(text)
    for tag in ("link", "img", "iframe", "object", "embed", "video", "source", "base"):
        assert not page.named(tag), tag
    assert not [a for a in page.named("script") if "src" in a]
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL)
    assert style
    assert not re.search(r"url\(|@import|@font-face", style[1])
    (policy,) = (a for a in page.named("meta") if a.get("http-equiv"))
    assert str(policy["content"]).startswith("default-src 'none';")


def test_the_allowed_script_is_the_script_of_the_page(varied: Run) -> None:
    text = report_page.render(varied)
    script = text[text.rindex("<script>") + 8 : text.rindex("</script>")]
    assert frame.content_hash(script) in text
    assert len(script.encode()) <= 9500


def test_all_raw_results_are_embedded(varied: Run) -> None:
    text = report_page.render(varied)
    match = re.search(
        r'<script type="application/json" id="raw">(.*?)</script>', text, re.DOTALL
    )
    assert match
    assert "<" not in match[1]
    document = json.loads(match[1])
    assert raw_data.unpacked(document) == [m.record for m in varied.measurements]
    assert document["run"] == varied.document
    assert document["environment"] == varied.environment


def test_ids_are_unique_and_anchors_have_targets(varied: Run) -> None:
    page = Page(report_page.render(varied))
    ids = [a["id"] for _, a in page.elements if "id" in a]
    assert len(ids) == len(set(ids))
    anchors = [str(a["href"])[1:] for _, a in page.elements if "href" in a]
    assert not {a for a in anchors if not a.startswith("ttps:")} - set(ids)


def test_published_figures_are_next_to_ours(tmp_path: Path) -> None:
    plan = synthetic_run.plan()
    plan["suite"]["published"] = "leveldb-2011"
    text = json.dumps(plan).replace('"alpha"', '"leveldb"')
    text = text.replace('"beta-tree"', '"treedb"')
    plan = json.loads(text)
    lines = [
        json.loads(
            json.dumps(line)
            .replace('"alpha"', '"leveldb"')
            .replace('"beta-tree"', '"treedb"')
        )
        for line in synthetic_run.lines(synthetic_run.plan())
    ]
    page = Page(report_page.render(run_of(tmp_path, plan, lines)))
    assert "2011 and now" in page.text
    assert "2011: 779,000" in page.text
    assert "order of engines: " in page.text
    assert "The page prints 0.003×" in page.text
    assert "not comparable" in page.text


def test_unknown_published_figures_are_reported_and_omitted(tmp_path: Path) -> None:
    plan = synthetic_run.plan()
    plan["suite"]["published"] = "nothing"
    run = run_of(tmp_path, plan)
    notice = "unknown published source “nothing”"
    page = Page(report_page.render(run))
    assert notice in page.text
    assert ": 8 with a winner." in page.text
    assert "published" not in [a.get("id") for a in page.named("section")]
    assert notice in markdown.render(run)


def test_extreme_figures_can_be_rendered(tmp_path: Path) -> None:
    plan = synthetic_run.plan()
    most = 2**64 // synthetic_records.ENTRY_BYTES - 1
    extremes, lines = {"alpha": most, "gamma": 1}, []
    for scenario in plan["scenarios"]:
        for engine, num in extremes.items():
            scenario["flags"][engine] = {**synthetic_run.FLAGS, "num": num}
    for line in synthetic_run.lines(plan):
        ops = extremes.get(line["engine"])
        if ops is not None:
            found = ops if line["found"] else 0
            line |= {"planned_ops": ops, "found": found, "flush_ns": 0}
            line["wall_ns"] = 2**64 - 1
            line["options"] = {**line["options"], "num": ops}
            line = synthetic_records.retimed(line, most, ops)
        lines.append(line)
    text = Page(report_page.render(run_of(tmp_path, plan, lines))).text
    assert ": 8 with a winner." in text


@pytest.mark.slow
def test_the_page_depends_only_on_the_files(tmp_path: Path) -> None:
    synthetic_run.write_varied(tmp_path / "one")
    program = (
        "import sys, pathlib; from report.page import report_page;"
        "from report.trust.judge import load_run;"
        "run = load_run(pathlib.Path(sys.argv[1]));"
        "sys.stdout.buffer.write(report_page.render(run).encode())"
    )
    outputs = set()
    for seed, zone, locale in (("1", "UTC", "C"), ("2", "Asia/Tokyo", "C.UTF-8")):
        settings = {"PYTHONHASHSEED": seed, "TZ": zone, "LC_ALL": locale}
        command = [sys.executable, "-c", program, str(tmp_path / "one")]
        done = subprocess.run(
            command,
            cwd=ROOT,
            env={**os.environ, **settings},
            capture_output=True,
            check=True,
        )
        outputs.add(done.stdout)
    assert len(outputs) == 1
