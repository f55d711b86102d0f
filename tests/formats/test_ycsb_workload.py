"""Property files of YCSB and its relatives as suites: syntax, flags, verbs."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from report.config.config_types import Config, ScenarioConfig
from report.config.property_file import read_properties
from report.config.toml_table import ConfigError
from report.config.ycsb_workload import read_workload, unlike_any, with_workload
from report.model.plan_document import PLAN
from tests.support.lab import Lab, make_lab

_ONES = "a=1\nb = 1\nc:1\nd : 1\ne 1\nf\t1\n  g=1\n#h=1\n!i=2\n  # j=3\nk=\nl\n \t\n"
SYNTAX = {
    "": {},
    _ONES: {**dict.fromkeys("abcdefg", "1"), "k": "", "l": ""},
    "a==1": {"a": "=1"},
    "a= :1": {"a": ":1"},
    "a b=1": {"a": "b=1"},
    "a=1 2 ": {"a": "1 2"},
    "a\\=b=1": {"a=b": "1"},
    "a\\ b=1": {"a b": "1"},
    "a\\:b:1": {"a:b": "1"},
    "a=\\u0031": {"a": "1"},
    "a=x\\ty": {"a": "x\ty"},
    "a=\\q": {"a": "q"},
    "a=1\\\n  2": {"a": "12"},
    "a=1\\\r\n\t2\r\nb=3": {"a": "12", "b": "3"},
    "a=1\\\\\nb=2": {"a": "1\\", "b": "2"},
    "a=1\\\n#2": {"a": "1#2"},
    "a=1\\": {"a": "1"},
    "#a=1\\\nb=2": {"b": "2"},
    "a=1\r\nb=2\rc=3\n": {"a": "1", "b": "2", "c": "3"},
    "a=1\na=2": {"a": "2"},
    "a=#1": {"a": "#1"},
}


@pytest.mark.parametrize("text", SYNTAX)
def test_properties_are_read_as_java_reads_them(text: str, tmp_path: Path) -> None:
    path = tmp_path / "x.properties"
    for mark in (b"", b"\xef\xbb\xbf"):
        path.write_bytes(mark + text.encode())
        found, _ = read_properties(path)
        assert {key: p.value for key, p in found.items()} == SYNTAX[text]


def test_the_encoding_of_a_comment_does_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes("# größer\nrecordcount=5".encode("latin-1"))
    assert read_properties(path)[0]["recordcount"].value == "5"
    for encoding in ("utf-16", "utf-16-le", "utf-32"):
        path.write_bytes("recordcount=5\noperationcount=5".encode(encoding))
        with pytest.raises(ConfigError, match=r"x: .*UTF-(16|32).*save it as UTF-8"):
            read_properties(path)


def scenario(
    folder: Path, text: str, *more: str, **given: str
) -> tuple[ScenarioConfig, list[str]]:
    """Return the scenario of property files, the first without counts, and notes."""
    counts = "recordcount=1000\noperationcount=5000\n"
    files = []
    for number, content in enumerate((counts + text, *more)):
        files.append(folder / f"w{number}")
        files[-1].write_text(content)
    config, notes = with_workload(Config({}, {}, {}), read_workload(files, given))
    return config.scenarios["w0"], notes


def flags(folder: Path, text: str, **given: str) -> Mapping[str, Any]:
    return scenario(folder, text, **given)[0].flags


COUNTS = {"num": 1000, "reads": 5000, "threads": 1, "key_size": 23, "value_size": 1000}
CORE = {
    "a": ("read=.5 update=.5 insert=0 scan=0", "zipfian", "read:50,update:50"),
    "b": ("read=0.95 update=0.05", "zipfian", "read:95,update:5"),
    "c": ("read=1 update=0", "zipfian", "read:100"),
    "d": ("read=0.95 update=0 insert=0.05", "latest", "read:95,insert:5"),
    "e": ("read=0 update=0 scan=0.95 insert=0.05", "zipfian", "insert:5,scan:95"),
    "f": (
        "read=0.5 update=0 readmodifywrite=0.5",
        "zipfian",
        "read:50,readmodifywrite:50",
    ),
}
FIELDS = {"fieldcount": 10}
SCANS = {
    "min_scan_length": 1,
    "max_scan_length": 100,
    "scan_length_distribution": "uniform",
}
MORE: dict[str, dict[str, Any]] = {"a": FIELDS, "b": FIELDS, "f": FIELDS, "e": SCANS}


def core(name: str) -> str:
    """Return the text of one of YCSB's own workloads, apart from the counts."""
    shares, request, _ = CORE[name]
    lines = [f"{s.replace('=', 'proportion=')}" for s in shares.split()]
    lines += [f"requestdistribution={request}", "readallfields=true"]
    lines += ["workload=site.ycsb.workloads.CoreWorkload"]
    if name == "e":
        lines += ["maxscanlength=100", "scanlengthdistribution=uniform"]
    return "\n".join(lines)


@pytest.mark.parametrize("name", CORE)
def test_the_six_core_workloads_are_what_ycsb_runs(name: str, tmp_path: Path) -> None:
    made, notes = scenario(tmp_path, core(name))
    law = {"zipfian": "ycsb-zipf", "latest": "ycsb-latest"}[CORE[name][1]]
    shares = {"mix_shares": CORE[name][2], "key_distribution": law}
    assert made.flags == {**COUNTS, **shares, **MORE.get(name, {})}
    assert made.benchmarks == ("mix",)
    (note,) = notes
    assert "readallfields" in note


FLAGS: dict[str, dict[str, Any]] = {
    "": {"mix_shares": "read:95,update:5", "key_distribution": "uniform"},
    "readproportion=80\nupdateproportion=20": {"mix_shares": "read:80,update:20"},
    "readproportion=2\nupdateproportion=1": {
        "mix_shares": "read:66.666666666667,update:33.333333333333"
    },
    "deleteproportion=1\nreadproportion=0\nupdateproportion=0": {
        "mix_shares": "delete:100"
    },
    "requestdistribution=hotspot": {
        "key_distribution": "hotspot",
        "hotspot_data_fraction": 0.2,
        "hotspot_operation_fraction": 0.8,
    },
    "requestdistribution=HotSpot\nhotspotdatafraction=0.01\nhotspotopnfraction=1": {
        "hotspot_data_fraction": 0.01,
        "hotspot_operation_fraction": 1.0,
    },
    "requestdistribution=exponential\nexponential.percentile=90": {
        "exponential_percentile": 90.0,
        "exponential_fraction": 0.8571428571,
    },
    "requestdistribution=sequential": {"key_distribution": "sequential"},
    "requestdistribution=zipfian\nzipfian_const=0.8": {
        "key_distribution": "zipf",
        "zipf_theta": 0.8,
    },
    "threadcount=3": {"threads": 3, "reads": 1667},
    "operationcount=0\nmaxexecutiontime=2min": {"duration": 120.0, "reads": 10**16},
    "target=2500\nwarmuptime=2": {"rate": 2500.0, "warmup": 2.0},
    "insertorder=ordered": {"insert_order": "ordered", "key_size": 16},
    "insertorder=ordered\nzeropadding=20": {"key_size": 24},
    "keyprefix=a-long-prefix-": {"key_size": 33},
    "fieldcount=4\nfieldlength=25": {"value_size": 100, "fieldcount": 4},
    "fieldcount=1\nkeylength=40": {"value_size": 100, "key_size": 40},
    "insertcount=400\ninsertstart=300": {"num": 400},
    "fieldcount=1\nfieldlengthdistribution=uniform\nminfieldlength=50": {
        "value_size_distribution_type": "uniform",
        "value_size_min": 50,
        "value_size_max": 100,
    },
    "field_len_dist=uniform\nfieldlength=99": {"value_size": 500},
    "fieldlengthdistribution=zipfian": {"value_size": 200},
    "scanproportion=1\nminscanlength=5\nscanlengthdistribution=zipfian": {
        "min_scan_length": 5,
        "max_scan_length": 1000,
        "scan_length_distribution": "zipf",
    },
    "scanproportion=1\nscanlengthdistribution=constant\nmaxscanlength=50": {
        "scan_length": 50
    },
    "insertstart=300": {"num": 700},
    "recordcount=1M\noperationcount=1_500": {"num": 1_000_000, "reads": 1500},
}


@pytest.mark.parametrize("text", FLAGS)
def test_a_property_becomes_the_flag_that_does_the_same(
    text: str, tmp_path: Path
) -> None:
    found = flags(tmp_path, text)
    expected = FLAGS[text]
    if text == "fieldlengthdistribution=zipfian":
        assert 10 * 15 < found["value_size"] < 10 * 30  # a mean far below the middle
        return
    assert {key: found[key] for key in expected} == expected


WITHOUT = {
    "writeallfields=true": "fieldcount",
    "fieldcount=1": "fieldcount",
    "readproportion=1\nupdateproportion=0": "fieldcount",
    "insertorder=hashed": "insert_order",
    "maxscanlength=100": "max_scan_length",
    "hotspotdatafraction=0.1": "hotspot_data_fraction",
    "target=0": "rate",
}


@pytest.mark.parametrize("text", WITHOUT)
def test_what_has_no_effect_in_a_workload_is_no_flag(text: str, tmp_path: Path) -> None:
    assert WITHOUT[text] not in flags(tmp_path, text)


# Keys as public files have them, of YCSB, go-ycsb, YCSB-C and YCSB-cpp.
PUBLIC = [
    "table=usertable\ncolumnfamily=f\nmeasurementtype=histogram\nhistogram.buckets=9",
    "measurementtype=timeseries\ntimeseries.granularity=1000\nexportfile=/tmp/x",
    "hdrhistogram.percentiles=95,99\nstatus.interval=1\nmeasurement.trackjvm=true",
    "dropdata=false\nverbose=true\nsilence=false\ndebug.pprof=:6060\ncommand=load",
    "rocksdb.dir=/tmp/r\nrocksdb.optionsfile=o.ini\nleveldb.write_buffer_size=1",
    "mongodb.url=mongodb://user:secret@host/x\nredis.password=secret",
    "field_len_dist=constant\nfieldnameprefix=f\nzeropadding=8\nminscanlength=1",
    "keylength=20\nfieldcount=1\nfieldlength=1024\nscanlengthdistribution=uniform",
    "core_workload_insertion_retry_limit=3\ndataintegrity=true\nlabel=x\nstatus=true",
    "db=site.ycsb.BasicDB\nexporter=x.JSONExporter\nsome_fork_key=7\nbatch.size=1",
]


@pytest.mark.parametrize("text", PUBLIC)
def test_keys_without_effect_are_named_once(text: str, tmp_path: Path) -> None:
    made, notes = scenario(tmp_path, text)
    assert len(notes) <= 1
    for line in text.splitlines():
        key = line.partition("=")[0]
        understood = key in made.analysis or key == "field_len_dist"
        assert understood != (f" {key}" in "".join(notes)), key
    assert "secret" not in made.analysis + "".join(notes)


REFUSED = {
    "recordcount=": "recordcount: '' is not valid",
    "recordcount=0": "recordcount is 0",
    "operationcount=0": "operationcount is 0",
    "operationcount=abc": "w0: line 3: operationcount: 'abc' is not valid",
    "operationcount=-5": "operationcount: '-5' is not valid",
    "operationcount=1.5": "a whole number",
    "operationcount=NaN": "operationcount: 'NaN' is not valid",
    "operationcount=1e999999999": "operationcount: ",
    "operationcount=1e25": "operationcount: ",
    "readproportion=-1": "readproportion: '-1' is not valid",
    "readproportion=0\nupdateproportion=0": "all proportions are 0",
    "requestdistribution=histogram": "unknown distribution 'histogram'",
    "fieldlengthdistribution=histogram": "unknown distribution 'histogram'",
    "scanproportion=1\nscanlengthdistribution=x": "unknown distribution 'x'",
    "scanproportion=1\nminscanlength=9\nmaxscanlength=5": "is above maxscanlength",
    "workload=site.ycsb.workloads.TimeSeriesWorkload": "CoreWorkload",
    "insertcount=2000": "insertcount: '2000' leaves no records",
    "insertcount=900\ninsertstart=300": "insertcount: '900' leaves no records",
    "insertstart=1000": "insertstart: '1000' leaves no records",
    "threadcount=1000": "threadcount: '1000' is not possible; expected an integer",
    "fieldlength=0": "fieldlength: '0' is not possible",
    "writeallfields=maybe": "expected true or false",
    "operationcuont=5\nrecordcont=7": "keys 'operationcuont' (did you mean",
    "mergeproportion=0.5": "unknown key 'mergeproportion'",
    "requestdistrib=zipfian": "unknown key 'requestdistrib'",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_cannot_be_done_is_refused_with_the_place(
    text: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=re.escape(REFUSED[text])):
        scenario(tmp_path, text)


def test_unknown_keys_are_named_in_one_message(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"'recordcont'.*'readproportoin'"):
        scenario(tmp_path, "recordcont=1\nreadproportoin=1")


def test_later_files_and_the_command_line_win(tmp_path: Path) -> None:
    made, _ = scenario(
        *(tmp_path, "threadcount=2", "threadcount=3\nfieldcount=5", "fieldcount=7"),
        fieldcount="8",
    )
    assert (made.flags["threads"], made.flags["value_size"]) == (3, 800)


def test_the_name_of_a_suite_or_scenario_is_not_taken(tmp_path: Path) -> None:
    made, _ = scenario(tmp_path, "")
    config = Config({}, {"w0": made}, {})
    workload = read_workload([tmp_path / "w0"], {})
    assert unlike_any(workload, config).name == "w0-file"
    odd = tmp_path / "My Workload (ü).properties"
    odd.write_text("recordcount=1\noperationcount=1")
    assert read_workload([odd], {}).name == "my-workload-properties"


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    lab = make_lab(tmp_path)
    lab.engine("one", "threaded")
    lab.scenario()
    lab.suite()
    return lab


LOAD = "recordcount=64\noperationcount=64\ndotransactions=false\ninsertorder=hashed\n"


def test_a_file_is_run_resumed_and_recorded_like_a_suite(lab: Lab) -> None:
    path = lab.root / "my.properties"
    path.write_text(LOAD)
    options = ("-n", "2", "--no-latency", "-p", "fieldlength=10")
    done = lab.call("run", str(path), *options)
    assert done.returncode == 0, done.stderr
    document = lab.plan()
    assert document["suite"]["name"] == "my-properties"
    workload = document["suite"]["workload"]
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert workload["files"] == [{"name": "my.properties", "sha256": digest}]
    assert workload["properties"]["fieldlength"] == "10"
    assert document["scenarios"][0]["flags"]["one"]["value_size"] == 100
    lines = lab.measurements.read_text().splitlines(keepends=True)
    lab.measurements.write_text("".join(lines[:1]))
    path.unlink()  # the plan has what the file said
    done = lab.call("resume", lab.run_folder.name)
    assert done.returncode == 0, done.stderr
    assert len(lab.lines()) == 2


def test_a_plan_with_other_properties_is_not_resumed(lab: Lab) -> None:
    path = lab.root / "w"
    path.write_text(LOAD)
    assert lab.call("run", str(path), "-n", "2", "--no-latency").returncode == 0
    plan = lab.run_folder / PLAN
    for old, new in (("64", "65"), ("hashed", "x" * 2000), ("false", "maybe")):
        text = plan.read_text()
        changed = re.sub(
            r',?\s*"checksum".*', "\n}", text.replace(f'"{old}"', f'"{new}"')
        )
        plan.write_text(changed)
        done = lab.call("resume", lab.run_folder.name)
        assert done.returncode == 2, (old, done.stderr)
        plan.write_text(text)


def test_a_file_in_the_current_folder_needs_no_path(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    (lab.root / "workloadx").write_text(LOAD)
    (lab.root / "lab").write_text(LOAD)
    monkeypatch.chdir(lab.root)
    for words in (["workloadx"], ["-P", "workloadx"], ["workloadx", "-P", "lab"]):
        done = lab.call("run", *words, "--dry-run")
        assert done.returncode == 0, done.stderr
        assert "workloadx" in done.stdout
    assert "readseq" in lab.call("run", "lab", "--dry-run").stdout  # the suite
    assert "ycsbload" in lab.call("run", "./lab", "--dry-run").stdout


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("lab", "-p", "recordcount=5"),
        ("lab", "-P", "{w}"),
        ("nosuch", "-P", "{w}"),
        ("-P", "{w}-absent"),
        ("{w}-absent",),
        ("-P", ""),
        ("{folder}",),
        ("-P", "{folder}"),
        ("-P", "{w}", "-p", "recordcount"),
        ("-P", "{w}", "-p", "=5"),
        ("-P", "{w}", "-s", "base"),
        ("{scenario}",),
        ("-p", "recordcount=5"),
    ],
)
def test_wrong_words_are_refused(lab: Lab, words: tuple[str, ...]) -> None:
    path = lab.root / "w"
    path.write_text(LOAD)
    places = {
        "w": path,
        "folder": lab.root,
        "scenario": lab.root / "configs/suites/lab.toml",
    }
    for verb in ("run", "plan"):
        more = ["--dry-run"] if verb == "run" else []
        done = lab.call(verb, *(w.format(**places) for w in words), *more)
        assert done.returncode == 2, done.stdout
        assert done.stderr.strip() and "Traceback" not in done.stderr
    assert not any(lab.results.glob("*"))


@pytest.mark.parametrize("verb", ["fleet run", "list cells", "doctor", "durability"])
def test_other_verbs_name_those_that_take_a_file(verb: str, lab: Lab) -> None:
    (lab.root / "w").write_text(LOAD)
    more = {"fleet run": ["--on", "local", "--dry-run"], "durability": ["--dry-run"]}
    done = lab.call(*verb.split(), str(lab.root / "w"), *more.get(verb, []))
    assert done.returncode == 2
    assert "run, plan and ab" in done.stderr
