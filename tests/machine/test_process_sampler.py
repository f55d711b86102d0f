"""Samples of a process: peaks, unknown values, and the cost of sampling."""

import os
from pathlib import Path

from scripts.machine.process_sampler import ProcessPeaks
from scripts.machine.reader import SystemReader
from tests.builders.machines import TextMachine

DATABASE = Path("/data/db")


def status(anonymous_kib: int, file_kib: int, shared_kib: int) -> str:
    return (
        f"Name:\tx\nVmRSS:\t 99 kB\nRssAnon:\t {anonymous_kib} kB\n"
        f"RssFile:\t {file_kib} kB\nRssShmem:\t {shared_kib} kB\n"
    )


def test_the_largest_of_each_figure_is_kept() -> None:
    machine = TextMachine({"/proc/9/status": status(10, 3, 1)})
    watch = ProcessPeaks(9, DATABASE, machine)
    machine.allocated = 4096
    watch.sample()
    machine.files["/proc/9/status"] = status(7, 8, 2)
    machine.allocated = 1024
    watch.sample()
    assert watch.document() == {
        "samples": 2,
        "peak_disk_bytes": 4096,
        "peak_anonymous_rss_bytes": 11 << 10,
        "peak_file_rss_bytes": 8 << 10,
        "runner_cpu_ns": 0,
    }


def test_shared_memory_is_of_files_only_where_files_are_in_memory() -> None:
    for kind, peaks in (("ext4", (15, 3)), ("tmpfs", (10, 8))):
        mount = f"1 1 254:0 / / rw - {kind} /dev/vda rw\n"
        files = {"/proc/9/status": status(10, 3, 5), "/proc/self/mountinfo": mount}
        watch = ProcessPeaks(9, DATABASE, TextMachine(files))
        watch.sample()
        document = watch.document()
        names = ("peak_anonymous_rss_bytes", "peak_file_rss_bytes")
        assert tuple(document[name] >> 10 for name in names) == peaks


def test_without_a_sample_every_value_is_unknown() -> None:
    document = ProcessPeaks(9, DATABASE, TextMachine({})).document()
    assert document["samples"] == 0
    assert document["peak_disk_bytes"] is None
    assert document["peak_anonymous_rss_bytes"] is None


def test_a_process_that_has_ended_spoils_nothing() -> None:
    machine = TextMachine({"/proc/9/status": status(10, 3, 1)})
    watch = ProcessPeaks(9, DATABASE, machine)
    watch.sample()
    machine.files["/proc/9/status"] = "Name:\tx\nState:\tZ (zombie)\n"
    watch.sample()
    machine.files.clear()
    watch.sample()
    document = watch.document()
    assert (document["samples"], document["peak_file_rss_bytes"]) == (3, 3 << 10)


def test_walks_use_no_more_than_their_share_of_a_processor() -> None:
    machine = TextMachine({})
    machine.walk_cost_ns = 5_000_000  # a database of some thousand files
    watch = ProcessPeaks(9, DATABASE, machine)
    for _ in range(100):  # ten seconds
        watch.sample()
        machine.now_ns += 100_000_000
    assert watch.document()["runner_cpu_ns"] == 20 * 5_000_000


def test_a_small_database_is_walked_at_every_sample() -> None:
    machine = TextMachine({})
    machine.walk_cost_ns = 600_000
    watch = ProcessPeaks(9, DATABASE, machine)
    for _ in range(10):
        watch.sample()
        machine.now_ns += 100_000_000
    assert watch.document()["runner_cpu_ns"] == 10 * 600_000


def test_allocated_bytes_are_those_of_all_below(tmp_path: Path) -> None:
    reader = SystemReader()
    assert reader.allocated_bytes(tmp_path / "none") == 0
    (tmp_path / "sub").mkdir()
    (tmp_path / "a").write_bytes(b"x" * 10_000)
    (tmp_path / "sub/b").write_bytes(b"x" * 5000)
    (tmp_path / "link").symlink_to("/")
    below = [p for p in tmp_path.rglob("*") if p.name != "link"]
    expected = sum(os.lstat(p).st_blocks for p in [*below, tmp_path / "link"]) * 512
    assert reader.allocated_bytes(tmp_path) == expected >= 15_000


def test_this_process_has_memory_and_a_cost() -> None:
    watch = ProcessPeaks(os.getpid(), Path(__file__).parent)
    watch.sample()
    document = watch.document()
    assert document["peak_anonymous_rss_bytes"] > 1 << 20
    assert document["peak_disk_bytes"] > 0
    assert document["runner_cpu_ns"] > 0
