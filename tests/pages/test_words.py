"""Words beside numbers: titles, the headline, groups, and what is said once."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from report.formats import markdown
from report.model.run import Measurement, Run
from report.page import report_page
from report.terms import titles
from report.terms.rulebook import BENCHMARKS, Flags
from report.trust.judge import load_run
from report.verdict import comparison, eligibility
from report.verdict.comparison import Chart, Comparison
from report.verdict.engine_groups import engine_groups
from report.words import overview, remarks, sentences, summary_badges
from report.words.remarks import Said
from tests.builders import many_engines, synthetic_run
from tests.builders.synthetic_run import Document
from tests.support.short_cells import short_cells_ranked


def run_of(folder: Path, plan: Document, lines: list[Document]) -> Run:
    return load_run(synthetic_run.write_run(folder, plan, lines))


@pytest.mark.parametrize(
    ("benchmark", "flags", "title"),
    [
        ("mix", {"mix_shares": "update:100"}, "Updates"),
        ("mix", {"mix_shares": "read:100"}, "Reads"),
        ("mix", {"mix_shares": "scan:100"}, "Scans"),
        ("mix", {"mix_shares": "scanreverse:100"}, "Reverse scans"),
        ("mix", {"mix_shares": "missing:100"}, "Reads of absent keys"),
        ("mix", {"mix_shares": "readmodifywrite:100"}, "Read-modify-writes"),
        ("mix", {"mix_shares": "insert:100"}, "Inserts"),
        ("mix", {"mix_shares": "update:5,read:95"}, "95 % reads, 5 % updates"),
        ("mix", {"mix_shares": "no list"}, "Mix"),
        ("readrandomwriterandom", {"readwritepercent": 0}, "Updates"),
        ("readrandomwriterandom", {"readwritepercent": 100}, "Reads"),
        ("readrandomwriterandom", {}, "90 % reads, 10 % updates"),
        ("ycsba", {"mix_shares": "read:100"}, BENCHMARKS["ycsba"].title),
        ("fillseq", {"mix_shares": "read:100"}, BENCHMARKS["fillseq"].title),
    ],
)
def test_a_title_says_what_is_measured(
    benchmark: str, flags: dict[str, str], title: str
) -> None:
    assert titles.title(benchmark, flags) == title


def test_a_title_names_the_largest_shares_and_counts_the_others() -> None:
    shares = "read:40,update:30,insert:20,delete:6,scan:4"
    title = titles.title("mix", {"mix_shares": shares})
    assert title == "40 % reads, 30 % updates, 20 % inserts, and 2 more types"


def test_a_title_leaves_out_the_shares_that_a_sweep_varies() -> None:
    of = titles.of_chart("mix", {"mix_shares": "read:100"}, {"mix_shares": "read:100"})
    assert of == BENCHMARKS["mix"].title
    flags: Flags = {"mix_shares": "scan:100", "scan_length": 10}
    assert titles.of_chart("mix", flags, {"scan_length": 10}) == "Scans"


def _counts(compared: Comparison) -> list[int]:
    first = sentences.verdict_rest(compared).partition(".")[0]
    return [int(number) for number in re.findall(r"(?:^: |, )(\d+) ", first)]


def test_the_charts_of_the_first_sentence_add_up(tmp_path: Path) -> None:
    """Of a run in which some charts have winners, some one engine, some none."""
    plan = synthetic_run.varied_plan()
    lines = synthetic_run.varied_lines(plan)
    for line in lines:
        if line["benchmark"] == "fillseq" and line["status"] == "ok":
            line["build"] = {**line["build"], "assertions": "live"}
    compared = comparison.compare(run_of(tmp_path, plan, lines))
    assert len(_counts(compared)) > 1
    assert sum(_counts(compared)) == len(compared.charts)
    assert not any(chart.accepted for chart in compared.charts[2:3])


@pytest.mark.parametrize("is_ranked", [True, False])
def test_a_page_explains_the_signs_and_words_that_it_has(
    tmp_path: Path, is_ranked: bool
) -> None:
    """What a crash leaves is there, and explained, also where nobody is ranked."""
    plan = synthetic_run.plan()
    lines = synthetic_run.lines(plan)
    for line in () if is_ranked else lines:
        line["build"] = {**line["build"], "assertions": "live"}
    with short_cells_ranked():
        page = report_page.render(run_of(tmp_path, plan, lines))
    glance = page.partition('id="glance"')[2].partition("<table")[0]
    assert ("★ wins" in glance) == is_ranked
    assert "what a crash leaves" in glance and "may lose the newest" in page


@pytest.mark.slow
def test_a_group_stands_for_its_best_ranked_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fastest of all is not ranked; nor is its latency the best of its group."""
    monkeypatch.setattr(eligibility, "obstacle", lambda *_: "")
    plan = many_engines.plan()
    lines = many_engines.lines(plan)
    run = run_of(tmp_path / "all", plan, lines)
    (group, *_) = engine_groups(run.plan.engines)
    chart = comparison.compare(run).charts[1]
    first = chart.fastest_of(group)
    assert first is not None
    for line in lines:
        if line["engine"] == first.engine.name and line["status"] == "ok":
            line["build"] = {**line["build"], "assertions": "live"}
    run = run_of(tmp_path / "one", plan, lines)
    (group, *_) = engine_groups(run.plan.engines)
    compared = comparison.compare(run)
    assert compared.charts[1].fastest is not None
    assert compared.charts[1].fastest.engine.name == first.engine.name
    best = compared.charts[1].fastest_of(group)
    assert best is not None and best.engine.name != first.engine.name
    matrix = overview.tails(run, compared)
    assert matrix is not None
    for entry in matrix.groups[0][1]:
        least = overview.least(group, entry)
        assert least is not None and least.engine.name != first.engine.name
        cell = entry.cell_of(run.plan.engine(first.engine.name))
        assert cell.number and not cell.heat


def ended_early(of: Measurement) -> Measurement:
    """Return a measurement that lacks an operation of its plan."""
    assert of.ops
    return replace(of, truncated=True, record={**of.record, "planned_ops": of.ops + 1})


def cut(chart: Chart, rows: int) -> Chart:
    """Return a chart in which the time limit ended the loops of the first rows."""
    ended = [
        replace(row, repetitions=tuple(map(ended_early, row.repetitions)))
        for row in chart.rows[:rows]
    ]
    return replace(chart, rows=(*ended, *chart.rows[rows:]))


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_what_most_rows_have_is_said_once(tmp_path: Path, rows: int) -> None:
    """Of three: all or none of them; a few say it themselves, with a sign."""
    (chart, *_) = comparison.compare(load_run(synthetic_run.write_run(tmp_path))).charts
    chart = cut(chart, rows)
    said = remarks.said_once(chart)
    assert (Said.CUT in said) == (rows == 3)
    signs = [remarks.flags(row, said) for row in chart.rows]
    texts = [remarks.remarks(row, said) for row in chart.rows]
    alone = 0 if rows == 3 else rows
    assert sum(any(sign == "‡" for sign, _ in of) for of in signs) == alone
    assert sum(any("time limit" in text for text in of) for of in texts) == alone


def test_a_reason_that_the_verdict_has_is_not_said_again(tmp_path: Path) -> None:
    """Nor are the reasons of other rows left out."""
    plan = synthetic_run.plan()
    lines = synthetic_run.lines(plan)
    for line in lines:
        line["build"] = {**line["build"], "assertions": "live"}
    run = run_of(tmp_path, plan, lines)
    for chart in comparison.compare(run).charts:
        said = remarks.said_once(chart)
        assert not any(
            "not ranked" in t for r in chart.rows for t in remarks.notes(r, said)
        )
        other = replace(chart.rows[0], unranked="another reason")
        assert "not ranked: another reason" in remarks.notes(other, said)
    text = markdown.render(run)
    assert text.count("live assertions") < len(run.cells)
    assert text.count("live assertions") == len(run.plan.charts)


@pytest.mark.parametrize(("cut_cells", "warns"), [(1, True), (30, False)])
def test_a_run_that_is_ended_by_time_is_not_warned_of(
    tmp_path: Path, cut_cells: int, warns: bool
) -> None:
    run = load_run(synthetic_run.write_run(tmp_path))
    compared = comparison.compare(run)
    charts = [cut(c, 1 if i < cut_cells else 0) for i, c in enumerate(compared.charts)]
    if not warns:
        charts = [cut(chart, 3) for chart in charts]
    badges = summary_badges.run_badges(run, replace(compared, charts=tuple(charts)))
    (ended,) = (badge for badge in badges if "time limit" in badge.text)
    assert ended.warns == warns


@pytest.mark.parametrize(
    ("first", "others", "expected"),
    [(3, 3, "3"), (2, 1, "1 to 2"), (1, 1, "1"), (2, 0, "2"), (0, 0, "3")],
)
def test_a_median_is_of_as_many_repetitions_as_there_are(
    tmp_path: Path, first: int, others: int, expected: str
) -> None:
    """Of the first engine and of the others, in a run that is still going."""
    plan = synthetic_run.plan()
    made = {"alpha": first}
    lines = [
        line
        for line in synthetic_run.lines(plan)
        if line["repetition"] <= made.get(line["engine"], others)
    ]
    run = run_of(tmp_path, plan, lines)
    assert sentences.median_of(run) == expected
    badges = summary_badges.run_badges(run, comparison.compare(run))
    assert any(b.warns and "3 planned" in b.text for b in badges) == (expected != "3")
    for text in (markdown.render(run), report_page.render(run)):
        assert "stopped" not in text
        assert (f"edians of {expected}" in text) == (expected != "1")


def test_unusual_threads_durability_keys_and_memory_are_said_at_the_top(
    tmp_path: Path,
) -> None:
    """And the usual ones are not."""

    def texts(folder: str, **flags: object) -> str:
        plan = synthetic_run.plan(flags={**synthetic_run.FLAGS, **flags})
        run = run_of(tmp_path / folder, plan, [])
        badges = summary_badges.run_badges(run, comparison.compare(run))
        return " / ".join(badge.text for badge in badges)

    usual = texts("usual")
    assert "threads" not in usual and "Zipf" not in usual
    unusual = texts(
        "unusual", threads=2, durability="consistent", key_distribution="zipf"
    )
    for words in ("2 threads", "consistent writes", "keys: true Zipf"):
        assert words in unusual and words not in usual


def test_a_page_links_to_an_engine_and_says_its_language(tmp_path: Path) -> None:
    """And to the advice that it follows; a run that does not record them has none."""
    plan = synthetic_run.plan()
    usual = report_page.render(run_of(tmp_path / "old", plan, []))
    assert "home page" not in usual and ", advice" not in usual
    assert 'href="#b-alpha"' in usual and 'id="b-alpha"' in usual
    address = "https://example.org/alpha"
    tuning = f"{address}/tuning"
    plan["engines"][0] |= {"url": address, "language": "Zig"}
    plan["engines"][0]["advice"] = {"bloom_bits": tuning, "compression": tuning}
    page = report_page.render(run_of(tmp_path / "new", plan, []))
    assert page.count(f'href="{address}"') == 2  # on its card, and where it was built
    assert page.count("Zig") >= 2
    assert page.count(f'<a href="{tuning}">bloom_bits, compression</a>') == 1


@pytest.mark.parametrize("has_baseline", [True, False])
def test_a_row_is_compared_with_its_baseline_or_else_with_the_best(
    tmp_path: Path, has_baseline: bool
) -> None:
    scenarios = synthetic_run.SCENARIOS[0 if has_baseline else 1 : 2]
    plan = synthetic_run.plan(scenarios=scenarios)
    with short_cells_ranked():
        page = report_page.render(run_of(tmp_path, plan, synthetic_run.lines(plan)))
    chart = page.partition('id="c-batch-fillseqbatch"')[2].partition("</table>")[0]
    compared = re.findall(r'<td class="x">(.*?)</td>', chart)
    assert all(("× baseline" in text) == has_baseline for text in compared[:3])
    assert all((" slower" in text) != has_baseline for text in compared[1:3])


def test_one_of_anything_is_not_called_several(tmp_path: Path) -> None:
    """A run of one engine, one chart and one repetition over one entry."""
    flags = {**synthetic_run.FLAGS, "num": 1}
    scenarios = [("baseline", "Baseline", {"fillseq": 8.0e5})]
    plan = synthetic_run.plan(synthetic_run.ENGINES[:1], scenarios, 1, flags=flags)
    lines = [
        synthetic_run.disturbed(line, "a mark") for line in synthetic_run.lines(plan)
    ]
    run = run_of(tmp_path, plan, lines)
    several = r"\b1 (?:cell|chart|repetition|entrie|engine|run|round|thread|sample)s\b"
    for text in (report_page.render(run), markdown.render(run)):
        shown = re.sub(r"<[^>]*>", "", text.replace("\N{NO-BREAK SPACE}", " "))
        assert re.findall(several, shown) == []
