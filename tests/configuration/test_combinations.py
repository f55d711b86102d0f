"""Flags and benchmarks that exclude each other, as the executable reports."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from report.config.toml_table import ConfigError
from report.terms.rulebook import FLAGS, PATH, SCENARIO_FLAGS, Flag, recorded
from scripts.machine.child_process import Spawner, Stop
from scripts.planning.engine_program import Program
from scripts.planning.executable import refusal
from tests.configuration.test_scenario_file import BASE, load_config
from tests.places import BUILD, ROOT
from tests.support import make_rulebook
from tests.support.lab import Lab, make_lab

EARLIER = "20261121-121446-leveldb-1.1"  # a committed run
UNIFORM: dict[str, Flag] = {"value_size_distribution_type": "uniform"}
PARETO: dict[str, Flag] = {"value_size_distribution_type": "pareto"}
THEIRS: dict[str, Flag] = {"stream": "leveldb"}
AFTER: dict[str, Flag] = {"use_existing_db": True}
# Flags, a benchmark, and the contradicting flag; "": the flags are accepted.
CASES: tuple[tuple[Mapping[str, Flag], str, str], ...] = (
    ({"value_size_min": 5}, "fillseq", "value_size_min"),
    ({"value_size_max": 5}, "fillseq", "value_size_max"),
    (UNIFORM | {"value_size_min": 9, "value_size_max": 8}, "fillseq", "value_size_min"),
    (UNIFORM | {"value_size_min": 200}, "fillseq", "value_size_min"),
    (UNIFORM | {"value_size_min": 199}, "fillseq", ""),
    (
        {"value_size_distribution_type": "normal", "value_size_max": 24},
        "fillseq",
        "value_size_min",
    ),
    (
        {"value_size_distribution_type": "normal", "value_size_max": 25},
        "fillseq",
        "",
    ),
    (PARETO | {"value_size": 1 << 26}, "fillseq", "value_size_max"),
    (PARETO | {"value_k": 1.5}, "fillseq", "value_k"),
    (PARETO | {"value_k": 1.5, "value_sigma": 2.0}, "fillseq", ""),
    ({"transactions": 10, "batch_size": 2}, "fillseq", "transactions"),
    ({"transactions": 1, "num": 2_000_000}, "fillseq", "transactions"),
    ({"transactions": 11, "num": 10}, "fillseq", "transactions"),
    ({"transactions": 10, "num": 10}, "fillseq", ""),
    ({"key_size": 8, "num": 10**8 + 1}, "fillseq", "key_size"),
    ({"key_size": 8, "num": 60_000_000}, "fillseq", ""),
    ({"key_size": 8, "num": 60_000_000}, "ycsba", "key_size"),
    ({"key_format": "little"}, "readseq", "key_format"),
    ({"key_format": "little"}, "seekrandomwhilewriting", "key_format"),
    ({"key_format": "little"}, "ycsbe", "key_format"),
    ({"key_format": "little"}, "mixgraph", "key_format"),
    ({"key_distribution": "ycsb-zipf", "zipf_theta": 0.5}, "fillrandom", "zipf_theta"),
    ({"zipf_theta": 0.5}, "readrandom", "zipf_theta"),
    ({"key_distribution": "zipf", "zipf_theta": 0.5}, "readrandom", ""),
    ({"key_distribution": "latest", "zipf_theta": 0.5}, "ycsbd", "zipf_theta"),
    ({"key_distribution": "hot"}, "ycsba", "key_distribution"),
    ({"key_distribution": "hot"}, "ycsbload", ""),
    ({"num": 2}, "ycsba", "num"),
    ({"num": 29}, "mixgraph", "keyrange_num"),
    ({"key_distribution": "zipf"}, "mixgraph", "key_distribution"),
    ({"threads": 2}, "mixgraph", "threads"),
    ({}, "mixgraph-c", "value_size_distribution_type"),
    (THEIRS | {"threads": 2}, "fillseq", "threads"),
    (THEIRS | {"batch_size": 2}, "fillseq", "batch_size"),
    (THEIRS | {"key_format": "big"}, "fillseq", "key_format"),
    (THEIRS | {"key_distribution": "zipf"}, "fillseq", "key_distribution"),
    (THEIRS | {"transactions": 7}, "fillseq", "transactions"),
    (THEIRS | UNIFORM, "fillseq", "value_size_distribution_type"),
    (THEIRS, "filluniquerandom", "stream"),
    (THEIRS | {"num": 2_147_482_648}, "fillseq", "num"),
    (THEIRS | {"value_size": 1_000_001}, "fillseq", "value_size"),
    ({"stream": "leveldb-301", "duration": 1.0}, "fillseq", "duration"),
    ({"stream": "leveldb-301"}, "readhot", "stream"),
    (AFTER | {"after": "fillseqbatch"}, "mix", "after"),
    (AFTER | {"after": "fillrandom,overwrite"}, "ycsbe", "after"),
    (AFTER | {"after": "ycsbload,overwrite"}, "mix", ""),
    (AFTER | {"after": "fillseqbatch"}, "readrandomwriterandom", ""),
)


def refusal_of(flags: Mapping[str, Flag], *benchmarks: str) -> tuple[str, str] | None:
    """Return why the executable that does nothing would not run these."""
    executor = Spawner({}, Stop())
    program = Program(BUILD / "drivers/db_bench_null")
    return refusal(executor, program, benchmarks, flags)


@pytest.mark.parametrize(("flags", "benchmark", "flag"), CASES)
def test_an_executable_names_the_contradicting_flag(
    flags: Mapping[str, Flag], benchmark: str, flag: str
) -> None:
    fault = refusal_of(flags, benchmark)
    assert (fault[0] if fault else "") == flag
    assert fault is None or fault[1]


def _invalid_value(name: str) -> Flag:
    """Return a value that is not accepted of this flag."""
    rule = FLAGS[name]
    if rule.choices:
        return "nonsense"
    return rule.most * 2 if rule.type == "double" else int(rule.most) + 1


@pytest.mark.parametrize(
    "name", [name for name, rule in SCENARIO_FLAGS.items() if rule.type != "bool"]
)
def test_executables_refuse_what_the_rulebook_refuses(name: str) -> None:
    value = _invalid_value(name)
    assert not FLAGS[name].accepts(value)
    fault = refusal_of({name: value}, "fillseq")
    assert fault is not None
    assert fault[0] == name


def test_the_rulebook_equals_the_executables_descriptions() -> None:
    text = make_rulebook.text()
    assert PATH.read_text() == text
    assert make_rulebook.FLAGS_SCHEMA.read_text() == make_rulebook.flags_schema(text)
    assert make_rulebook.README.read_text() == make_rulebook.with_flags(
        make_rulebook.README.read_text(), text
    )


def test_a_run_records_the_same_keys_of_a_benchmark_as_earlier_runs() -> None:
    earlier = json.loads((ROOT / "results" / EARLIER / "run.json").read_text())
    keys = earlier["engines"][0]["describe"]["benchmarks"][0].keys()
    done = subprocess.run(
        [BUILD / "drivers/db_bench_null", "--describe"], capture_output=True, check=True
    )
    now = recorded(json.loads(done.stdout))
    assert "common_flags" not in now
    expected_keys = keys | {"key_order", "types"}
    assert all(benchmark.keys() == expected_keys for benchmark in now["benchmarks"])


def test_a_flag_that_no_executable_has_is_refused() -> None:
    fault = refusal_of({"bogus": 1}, "fillseq")
    assert fault is not None
    assert fault[0] == ""
    assert "unknown flag --bogus" in fault[1]


@pytest.mark.parametrize(
    ("fill", "message"),
    [
        ("readrandom", "'readrandom' does not fill an empty database"),
        ("compact", "does not fill an empty database"),
        ("ycsba", "did you mean 'ycsbload'"),
        ("overwrite", "does not fill an empty database"),
        ("fillseq,fillrandom", "'fillrandom' does not write over a filled database"),
        ("fillseq,deleteseq,verify", "expected overwrite, overwritebatch, delete"),
    ],
)
def test_a_benchmark_that_writes_nothing_is_not_a_fill(
    tmp_path: Path, fill: str, message: str
) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        load_config(tmp_path, f'{BASE}fill = "{fill}"\n')
    assert caught.value.key == "fill"


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    workspace = make_lab(tmp_path)
    workspace.engine("alpha", "honest")
    return workspace


@pytest.mark.parametrize(
    ("more", "words", "message"),
    [
        ("value_size_min = 5\n", (), "scenarios/base.toml: value_size_min: "),
        (
            "transactions = 64\n",
            ("--num", "63"),
            "transactions: 64 transactions are more",
        ),
        (
            'stream = "leveldb"\nthreads = 2\n',
            (),
            "base.toml: threads: leave it out with --stream=leveldb",
        ),
        (
            'value_size_distribution_type = "normal"\n'
            "[settings.alpha]\nvalue_size_min = 900\n",
            (),
            "base.toml: settings.alpha.value_size_min: 900 is above",
        ),
        (
            'stream = "leveldb"\nfill = "filluniquerandom"\n',
            (),
            "stream: the stream leveldb has no filluniquerandom",
        ),
        (
            "rate_share = 0.5\n",
            (),
            "base.toml: rate_share: is a share of the rate of the warm-up; add",
        ),
        (
            'rate_share = 0.5\nwarmup = "1s"\n',
            ("--rate", "9", "--latency"),
            "rate_share: cannot be used with --rate; leave one of them out",
        ),
        (
            '[settings.beta]\nstream = "leveldb"\n',
            (),
            "stream: must be the same for all engines",
        ),
    ],
)
def test_a_dry_run_reports_a_contradiction(
    lab: Lab, more: str, words: tuple[str, ...], message: str
) -> None:
    lab.engine("beta", "honest")
    lab.scenario(more=more)
    lab.suite()
    done = lab.call("run", "lab", "--dry-run", *words)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_executables_without_the_check_are_not_asked(lab: Lab) -> None:
    lab.engine("beta", "older")
    lab.scenario(more="[settings.beta]\nvalue_size_min = 5\n")
    lab.suite()
    done = lab.call("run", "lab", "-e", "beta", "--dry-run")
    assert done.returncode == 0, done.stderr


def test_an_excluded_engine_contradicts_nothing(lab: Lab) -> None:
    lab.engine("beta", "honest")
    wrong = "[settings.beta]\nvalue_size_min = 5\n"
    lab.scenario(more=f'{wrong}[exclude]\nbeta = "not asked"\n')
    lab.suite()
    assert lab.call("run", "lab", "--dry-run").returncode == 0


def test_leveldb_s_stream_is_filled_as_its_program_does(lab: Lab) -> None:
    lab.scenario(benchmarks=("readrandom",), more='stream = "leveldb"\n')
    lab.suite()
    done = lab.call("run", "lab")
    assert done.returncode == 0, done.stderr
    (folder,) = lab.results.iterdir()
    assert '"fill": ["fillrandom"]' in " ".join(
        (folder / "run.json").read_text().split()
    ).replace("[ ", "[").replace(" ]", "]")
