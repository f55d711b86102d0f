"""What holds for every workflow, here and in the example of an engine's repository."""

import re
import subprocess
from pathlib import Path

import pytest

from scripts.testing.check import CHECKS
from tests.places import ROOT
from tests.setup.other_programs import program
from tests.support.workflow import FOLDER, blocks, jobs

EXAMPLES = ROOT / "tests/out_of_tree/.github/workflows"
WORKFLOWS = sorted(FOLDER.iterdir())
ALL = [*WORKFLOWS, *sorted(EXAMPLES.iterdir())]
TRUSTED = (
    "github.ref == format('refs/heads/{0}', github.event.repository.default_branch) && "
    """contains(fromJSON('["push", "schedule", "workflow_dispatch"]'), """
    "github.event_name)"
)
CALLABLE = ["comment.yml", "engine.yml", "matrix.yml"]


def name_of(path: Path) -> str:
    return path.name


every_workflow = pytest.mark.parametrize("path", ALL, ids=name_of)
each_of_ours = pytest.mark.parametrize("path", WORKFLOWS, ids=name_of)


def test_the_workflows_are_valid() -> None:
    result = subprocess.run(
        [program("actionlint"), *ALL], cwd=ROOT, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stdout


def test_an_auditor_finds_nothing() -> None:
    [check] = [check for check in CHECKS if check.name == "zizmor"]
    assert check.findings() == []


@every_workflow
def test_what_runs_is_pinned_to_one_commit_or_image(path: Path) -> None:
    pins: dict[str, set[str]] = {}
    for text in (other.read_text() for other in ALL):
        for action, pin in re.findall(r"uses: (actions/[\w-]+)\S*?@(.*)", text):
            pins.setdefault(action, set()).add(pin)
    assert all(len(of) == 1 for of in pins.values()), pins
    text = path.read_text()
    for use in re.findall(r"uses: (actions.*)", text):
        assert re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", use)
    images = set(re.findall(r"container: (.*)", text))
    assert len(images) <= 1
    assert all(re.fullmatch(r"debian:12@sha256:[0-9a-f]{64}", of) for of in images)


def test_the_image_of_all_jobs_is_that_which_dependabot_updates() -> None:
    container = (ROOT / "scripts/fleet/examples/Containerfile").read_text()
    [image] = re.findall(r"^FROM docker\.io/library/(.*)", container, re.M)
    texts = [path.read_text() for path in ALL]
    assert {of for text in texts for of in re.findall("container: (.*)", text)} == {
        image
    }


@every_workflow
def test_a_job_has_few_permissions_and_an_end(path: Path) -> None:
    text = path.read_text()
    assert re.search(r"^permissions:( \{\}|\n  contents: read)\n\n?", text, re.M)
    for job in jobs(path).values():
        written = re.findall(r"^      ([\w-]+): write", job, re.M)
        # Whatever may write runs nothing that is checked out.
        assert not written or ("checkout@" not in job and "container:" not in job)
        assert not re.search("contents: write|write-all|secrets: inherit", job)
        if "runs-on:" in job:
            assert re.search(r"^    timeout-minutes: \d+$", job, re.M)
        assert job.count("persist-credentials: false") == job.count("/checkout@")


@every_workflow
def test_no_expression_is_part_of_a_script(path: Path) -> None:
    assert all("${{" not in block for block in blocks(path).values())
    # Other words are split by .ci/split-words, which knows quotes.
    assert "read -ra" not in path.read_text()


@pytest.mark.parametrize("name", CALLABLE)
def test_artefacts_of_two_calls_in_one_workflow_have_different_names(name: str) -> None:
    text = (FOLDER / name).read_text()
    assert "\n  workflow_call:\n" in text
    uploads = re.findall(r"upload-artifact@.*\n +with:\n +name: (.*)", text)
    assert len(uploads) == text.count("upload-artifact@")
    for upload in uploads:
        assert re.match(r"\$\{\{ (steps\.names|needs\.\w+)\.outputs\.\w+ \}\}", upload)


@pytest.mark.parametrize("name", ["regressions.yml", "engine.yml"])
def test_a_workflow_passes_on_what_its_event_compares(name: str) -> None:
    text = (FOLDER / name).read_text()
    passed = dict(re.findall(r"^ {10}([A-Z_]+): \$\{\{ (github\S+) \}\}", text, re.M))
    expected = {
        "EVENT": "github.event_name",
        "BEFORE": "github.event.before",
        "AFTER": "github.event.after",
        "QUEUE_BASE": "github.event.merge_group.base_sha",
        "DEFAULT_BRANCH": "github.event.repository.default_branch",
    }
    assert {name: passed[name] for name in expected} == expected
    assert text.count("fetch-depth: 0") == text.count("which-commits")


@each_of_ours
def test_what_waits_for_a_history_is_not_ended(path: Path) -> None:
    for job in jobs(path).values():
        if "keep-entries" in job:
            assert re.search(
                r"    concurrency:\n      group: .*history.*\n"
                r"      cancel-in-progress: false\n      queue: max\n",
                job,
            )
            places = [job.index(of) for of in ("restore@", "keep-entries", "save@")]
            assert places == sorted(places)


@each_of_ours
def test_a_cache_is_written_only_where_code_is_trusted(path: Path) -> None:
    text = path.read_text()
    assert "actions/cache@" not in text
    for name, job in jobs(path).items():
        if "cache/save@" not in job:
            continue
        whole = job.split("\n    steps:")[0]
        if path.name == "regressions.yml":  # its pull requests have caches of their own
            assert "github.event_name != 'workflow_dispatch'" in whole
            continue
        assert TRUSTED in re.sub(r"\s+", " ", whole), name
        if name == "compare":
            # The harness, before anything of the engine has run.
            assert "if: env.IS_TRUSTED == 'true' && " in job
            assert job.index("cache/save@") < job.index("compare-engine")
