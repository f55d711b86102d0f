"""What is said about machines that differ, and about clocks; nothing is lost."""

from __future__ import annotations

import datetime
import json
import re
from pathlib import Path

import pytest

from report.terms import numbers
from report.trust.judge import load_run
from scripts.fleet.machine_notes import clock_notes, machine_notes
from scripts.machine.host import Machine, machine_name
from tests.builders.machines import TextMachine
from tests.fleet.many_machines import (
    lines_of,
    make_site,
    measure,
    merge,
    moved,
    three_shards,
)
from tests.support.resealed import edit_plan

NOON = datetime.datetime(2026, 11, 28, 12, 0, 0, tzinfo=datetime.UTC)
HOUR = datetime.timedelta(hours=1)


def facts(**changed: str) -> dict[str, object]:
    usual = {"file_system": "ext4", "mount_options": "rw", "hypervisor": "none"}
    return {**usual, **changed}


def cpu(flags: str) -> dict[str, object]:
    return {"cpu": {"flags": flags}}


def test_machines_that_are_alike_need_no_note() -> None:
    machines = {"m-1": facts(), "m-2": facts()}
    environments = {"m-1": cpu("sse4_2 avx2"), "m-2": cpu("avx2 sse4_2")}
    assert list(machine_notes(machines, environments)) == []


def test_another_file_system_is_named_with_a_remedy() -> None:
    machines = {"m-1": facts(), "m-2": facts(file_system="xfs"), "m-3": facts()}
    assert list(machine_notes(machines, {})) == [
        "machine m-2: its file system is xfs, most have ext4; put --data-dir on the"
        " same kind of file system everywhere, or merge --without m-2"
    ]


def test_a_machine_on_which_less_may_be_used_is_named() -> None:
    shares = {"logical_cpus": 4, "allowed_cpus": "0-3", "cpu_quota": "none"}
    usual = {**facts(), **shares, "memory_limit_bytes": "none"}
    few = {**usual, "allowed_cpus": "0,2"}
    slow = {**usual, "cpu_quota": 2.0}
    small = {**usual, "memory_limit_bytes": 1 << 30}
    machines = {"a": usual, "b": few, "c": slow, "d": small, "e": usual, "f": usual}
    notes = list(machine_notes(machines, {}))
    assert [note.split(";")[0] for note in notes] == [
        "machine b: its usable cpus is 2, most have 4",
        "machine c: its usable cpus is 2, most have 4",
        "machine d: its memory limit bytes is 1073741824, most have none",
    ]


def test_a_processor_without_a_flag_is_named_with_a_remedy() -> None:
    all_flags = " ".join(f"flag{n}" for n in range(9))
    environments = {"m-1": cpu(all_flags), "m-2": cpu("flag0"), "m-3": cpu(all_flags)}
    assert list(machine_notes({}, environments)) == [
        "machine m-2: its processor lacks flag1, flag2, flag3, flag4, flag5 and 3 more,"
        " so engines may run other code there; measure on machines of one kind, or"
        " merge --without m-2"
    ]


@pytest.mark.parametrize(
    ("run", "words"),
    [
        ("20261128-150000-quick", "its clock is {} ahead"),
        ("20261128-060000-quick", "its clock is {} behind"),
        ("20261128-115500-quick", ""),
        ("20261128-120500-quick", ""),
        ("renamed", ""),
    ],
)
def test_a_clock_that_is_off_is_named(run: str, words: str) -> None:
    notes = list(clock_notes([("m-1", run)], NOON, since=NOON - HOUR))
    assert len(notes) == bool(words)
    hours = 3 if "ahead" in words else 5
    expected = words.format(numbers.duration(3600.0 * hours))
    assert all(expected in note and "set it (NTP)" in note for note in notes)


def test_without_a_beginning_an_early_run_is_no_fault() -> None:
    assert list(clock_notes([("m-1", "20200101-000000-quick")], NOON)) == []


def test_merging_says_it_and_loses_nothing(tmp_path: Path) -> None:
    lab = make_site(tmp_path)
    folders = three_shards(lab)
    edit_plan(folders[1], lambda plan: plan["machine"].update(file_system="nfs4"))
    tomorrow = datetime.datetime.now(datetime.UTC) + 24 * HOUR
    name = f"{tomorrow:%Y%m%d-%H%M%S}-lab"

    def rename(plan: dict[str, object]) -> None:
        plan["run"] = name

    lines = folders[2] / "measurements.jsonl"
    lines.write_text(re.sub('"run":"[^"]*"', f'"run":"{name}"', lines.read_text()))
    edit_plan(folders[2], rename)
    done = lab.call("merge", *map(str, folders))
    assert done.returncode == 0, done.stderr
    assert "machine m-2: its file system is nfs4" in done.stderr
    assert "machine m-3: its clock is 24" in done.stderr
    assert not load_run(moved(lab, "merged")).is_unfinished


def test_a_machine_can_be_left_out(tmp_path: Path) -> None:
    lab = make_site(tmp_path)
    folders = three_shards(lab)
    whole = merge(lab, *folders)
    of_shard = [x for x in lines_of(folders[1]) if x["pass"] != "canary"]
    blocks = {(line["benchmark"], line["repetition"]) for line in of_shard}
    for parts in (folders, [whole]):
        done = lab.call("merge", *map(str, parts), "--without", "m-2", "--json")
        assert done.returncode == 3
        answer = json.loads(done.stdout)
        assert answer["machines"] == ["m-1", "m-3"]
        assert {line["machine"] for line in lab.lines()} == {"m-1", "m-3"}
        (missing,) = answer["missing"]
        reason = f"machine m-2 was left out: {len(blocks)} blocks missing: base/"
        assert missing.startswith(reason)
    unknown = lab.call("merge", *map(str, folders[:2]), "--without", "zz")
    assert unknown.returncode == 2
    assert "no machine zz; the machines are m-1, m-2\n" in unknown.stderr


def test_two_machines_of_one_name_are_refused(tmp_path: Path) -> None:
    lab = make_site(tmp_path)
    folders = [measure(lab, f"{i}/2", "m-1") for i in (1, 2)]
    edit_plan(folders[1], lambda plan: plan["machine"].update(cpu_model="another"))
    done = lab.call("merge", *map(str, folders))
    assert done.returncode == 2
    assert "machine m-1 is not the one of" in done.stderr
    assert "cpu_model differ" in done.stderr and "--machine" in done.stderr


def test_what_a_process_may_use_is_part_of_the_name_of_its_machine() -> None:
    files = {"/etc/machine-id": "0123\n", "/proc/cpuinfo": "processor : 0\n" * 2}
    names = [
        machine_name(Machine(TextMachine({**files, **more}), Path("/data")))
        for more in (
            {},
            {"/proc/self/status": "Cpus_allowed_list: 0-1"},
            {"/proc/self/status": "Cpus_allowed_list: 1"},
        )
    ]
    assert names[1] != names[2]
