"""Numbers have one spelling: in files, in options, and in the executables."""

import subprocess
from pathlib import Path

import click
import pytest

from report.config.toml_table import ConfigError, TomlTable, read_flag
from report.terms.units import BYTES, COUNT, SECONDS, UnitError, parse, parse_whole
from scripts.request.option_types import CountType, DurationType, IntegerType, RateType
from scripts.request.options import SettingType
from tests.places import BUILD

FLAG = {COUNT: "num", BYTES: "cache_size", SECONDS: "duration"}
ACCEPTED = [
    *(("5000", COUNT, 5000), ("5_000", COUNT, 5000), (" 5000 ", COUNT, 5000)),
    *(("1e5", COUNT, 100_000), ("1E+5", COUNT, 100_000), ("1.5k", COUNT, 1500)),
    *(("1K", COUNT, 1000), ("1M", COUNT, 10**6), ("2G", COUNT, 2 * 10**9)),
    *(("0.001T", COUNT, 10**9), ("2500e-2", COUNT, 25), ("\n7 \n", COUNT, 7)),
    *(("8388608", BYTES, 8 << 20), ("8MiB", BYTES, 8 << 20), ("8 MiB", BYTES, 8 << 20)),
    *(("1.5KiB", BYTES, 1536), ("1e6", BYTES, 10**6), ("7B", BYTES, 7)),
    *(("10", SECONDS, 10), ("10s", SECONDS, 10), ("2000ms", SECONDS, 2)),
    *(("1.5h", SECONDS, 5400), ("2 min", SECONDS, 120)),
]
REFUSED = [
    *((text, COUNT) for text in ("", "k", "1.5", "1e-1", "nan", "inf", "0x10", "1,0")),
    *(
        (text, COUNT)
        for text in ("1__0", "_1", "1_", "1 0", "--1", "-1", "1KiB", "1kk", "1e1_0")
    ),
    *((text, COUNT) for text in ("0", "1e17", "18446744073709551616", "1e999", "1s")),
    *(
        (text, BYTES)
        for text in ("8M", "8MB", "8k", "8mib", "-8", "1.5", "8s", "32TiB")
    ),
    *((text, SECONDS) for text in ("5m", "1d", "-1", "nan", "1e12", "1k", "5S")),
]


def _is_accepted_by_an_executable(folder: Path, flag: str, text: str) -> bool:
    command = [str(BUILD / "drivers/db_bench_memory"), "--check", f"--db={folder}"]
    done = subprocess.run([*command, f"--{flag}={text}"], capture_output=True)
    assert done.returncode in (0, 2)
    return done.returncode == 0


@pytest.mark.parametrize(("text", "measure", "value"), ACCEPTED)
def test_a_number_is_read_alike_everywhere(
    tmp_path: Path, text: str, measure: str, value: int
) -> None:
    flag = FLAG[measure]
    assert parse(text, measure) == value
    assert read_flag(TomlTable("", "", {flag: text}), flag, text) == value
    assert SettingType().convert(f"{flag}={text}", None, None) == (flag, value)
    assert _is_accepted_by_an_executable(tmp_path, flag, text)


@pytest.mark.parametrize(("text", "measure"), REFUSED)
def test_what_is_not_such_a_number_is_refused_everywhere(
    tmp_path: Path, text: str, measure: str
) -> None:
    flag = FLAG[measure]
    with pytest.raises(ConfigError):
        read_flag(TomlTable("", "", {flag: text}), flag, text)
    with pytest.raises(click.BadParameter):
        SettingType().convert(f"{flag}={text}", None, None)
    assert not _is_accepted_by_an_executable(tmp_path, flag, text)


def test_files_have_plain_numbers_too() -> None:
    for flag, value, read in (
        *(("num", 1e5, 100_000), ("cache_size", 8388608, 8388608)),
        *(("duration", 10, 10.0), ("duration", 0.5, 0.5)),
        *(("value_size", "1KiB", 1024), ("key_size", "16", 16)),
    ):
        assert read_flag(TomlTable("", "", {flag: value}), flag, value) == read
    with pytest.raises(ConfigError, match="an integer"):
        read_flag(TomlTable("", "", {"num": 1.5}), "num", 1.5)


def test_options_have_the_same_spelling() -> None:
    assert CountType().convert("1M", None, None) == 10**6
    assert IntegerType(1, 5000).convert("1k", None, None) == 1000
    assert RateType().convert("1.5k", None, None) == 1500
    assert DurationType(100).convert("10", None, None) == 10
    assert DurationType(100).convert("500ms", None, None) == 0.5
    for kind, text in (
        *((CountType(), t) for t in ("1.5", "nan", "1KiB", "1e99")),
        *((IntegerType(1, 9), t) for t in ("1.5", "1e1", "x")),
        *((RateType(), t) for t in ("nan", "inf", "-1", "1e400")),
        *((DurationType(9), t) for t in ("0", "-1", "nan", "10", "1d")),
    ):
        with pytest.raises(click.BadParameter):
            kind.convert(text, None, None)


def test_an_ambiguous_size_names_the_unit() -> None:
    for text in ("8M", "8MB", "8mib"):
        with pytest.raises(UnitError, match="MiB"):
            parse_whole(text, BYTES)
