"""The configuration as it is read, and the error for each mistake in it."""

import codecs
from pathlib import Path

import pytest

from report.config.configuration import load
from report.config.toml_table import ConfigError, unknown
from report.terms.rulebook import Flag
from report.terms.units import UnitError, parse_duration, parse_size
from scripts.planning.settings import resolve_flags
from tests.builders.simple_plans import description
from tests.places import ROOT

CONFIGS = ROOT / "configs"
ENGINES = '[[engine]]\nname = "one"\ntitle = "One"\nsummary = "S"\n'
BASE = """
title = "Base"
analysis = "A"
benchmarks = ["fillseq", "readseq"]
num = 1000
cache_size = "4MiB"
[settings.one]
cache_size = "2MiB"
page_size = "1KiB"
"""
SUITE = 'title = "T"\nsummary = "S"\nscenarios = ["base"]\n'


def write(
    folder: Path,
    engines: str = ENGINES,
    base: str = BASE,
    suite: str = SUITE,
    more: str = "",
) -> Path:
    (folder / "scenarios").mkdir()
    (folder / "suites").mkdir()
    (folder / "engines.toml").write_text(engines)
    (folder / "scenarios/base.toml").write_text(base, errors="surrogateescape")
    if more:
        (folder / "scenarios/more.toml").write_text(more)
    (folder / "suites/all.toml").write_text(suite)
    return folder


def test_the_repository_s_own_configuration_is_sound() -> None:
    config = load(CONFIGS)
    page = config.suites["leveldb-2011"]
    assert ("advised", *page.scenarios) == config.suites["quick"].scenarios
    assert sum(len(config.scenarios[name].benchmarks) for name in page.scenarios) == 18
    assert page.override["num"] == 1_000_000
    assert all(config.scenarios[name].analysis for name in page.scenarios)


def test_sizes_are_bytes_and_durations_seconds(tmp_path: Path) -> None:
    suite = SUITE + 'timeout = "2min"\n[override]\nduration = "500ms"\n'
    config = load(write(tmp_path, suite=suite))
    assert config.scenarios["base"].flags["cache_size"] == 4 << 20
    assert config.suites["all"].timeout_s == 120.0
    assert config.suites["all"].override == {"duration": 0.5}


def test_a_suite_has_latency_and_no_control_by_default(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    (tmp_path / "explicit").mkdir()
    suite = load(write(tmp_path / "plain")).suites["all"]
    assert (suite.latency_repetitions, suite.control) == (3, "")
    assert suite.repeat_disturbed == 2
    explicit = (
        SUITE + 'latency_repetitions = 0\ncontrol = "one"\n[override]\nrate = 2_500\n'
    )
    suite = load(write(tmp_path / "explicit", suite=explicit)).suites["all"]
    assert (suite.latency_repetitions, suite.control) == (0, "one")
    assert suite.override == {"rate": 2500.0}


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("repeat_disturbed = 3", "an integer from 0 to 2"),
        ("repeat_disturbed = -1", "an integer from 0 to 2"),
        ("repetitions = 0", "an integer from 1 to 10,000"),
        ('latency_repetitions = "yes"', "an integer from 0 to 10,000"),
        ('control = "onne"', "did you mean 'one'"),
        ("control = 7", "expected a string"),
        ("timeout = true", 'expected a duration such as 30 or "30s"'),
        ("[override]\nrate = true", "from 0.01 to 1,000,000,000"),
        ('[override]\nrate = "fast"', "from 0.01 to 1,000,000,000"),
        ("[override]\nrate = 1e10", "from 0.01 to 1,000,000,000"),
        ("[override]\nrate = 0.001", "from 0.01 to 1,000,000,000"),
        ("[override]\nrate = nan", "expected a finite number"),
        ("[override]\nrate = inf", "expected a finite number"),
    ],
)
def test_a_suite_s_new_keys_are_checked(
    tmp_path: Path, more: str, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        load(write(tmp_path, suite=f"{SUITE}{more}\n"))


def test_a_control_s_second_name_must_be_free(tmp_path: Path) -> None:
    again = ENGINES + ENGINES.replace('"one"', '"one-control"')
    suite = SUITE + 'control = "one"\n'
    with pytest.raises(ConfigError, match="'one-control', which is an engine"):
        load(write(tmp_path, engines=again, suite=suite))


def test_a_scenario_changes_its_base_one_flag_at_a_time(tmp_path: Path) -> None:
    more = 'extends = "base"\ntitle = "M"\nanalysis = "B"\n'
    more += '[settings.one]\npage_size = "4KiB"'
    scenario = load(write(tmp_path, more=more)).scenarios["more"]
    assert scenario.benchmarks == ("fillseq", "readseq")
    assert scenario.flags["num"] == 1000
    assert scenario.settings["one"] == {"cache_size": 2 << 20, "page_size": "4KiB"}


def test_without_num_there_are_as_many_entries_as_executables_make(
    tmp_path: Path,
) -> None:
    base = BASE.replace("num = 1000\n", "")
    more = 'extends = "base"\ntitle = "M"\nanalysis = "B"\n'
    config = load(write(tmp_path, base=base, more=more))
    assert config.scenarios["base"].flags["num"] == 1_000_000
    assert config.scenarios["more"].flags["num"] == 1_000_000


def test_flags_later_and_nearer_win(tmp_path: Path) -> None:
    config = load(write(tmp_path, engines=ENGINES + ENGINES.replace("one", "two")))
    scenario, engines = config.scenarios["base"], config.engines
    override = {"num": 5, "cache_size": 1}
    flags = resolve_flags(
        scenario, engines["one"], override, {"num": 7}, description("one")
    )
    assert flags == {"num": 7, "cache_size": 2 << 20, "page_size": 1024}
    flags_of_two = resolve_flags(
        scenario, engines["two"], override, {}, description("two")
    )
    assert flags_of_two == {"num": 5, "cache_size": 1}


@pytest.mark.parametrize(
    ("chosen", "keeps"),
    [
        ({}, True),
        ({"num": 7}, True),
        ({"duration": 1.0}, False),
        ({"warmup": 1.0}, False),
        ({"stream": "leveldb"}, False),
        ({"stream": "kvmatrix"}, True),
        ({"duration": 1.0, "min_time": 0.5}, True),  # and is refused
    ],
)
def test_some_flags_of_the_command_line_take_the_place_of_passes(
    tmp_path: Path, chosen: dict[str, Flag], keeps: bool
) -> None:
    config = load(write(tmp_path))
    scenario, engine = config.scenarios["base"], config.engines["one"]
    override = {"min_time": 0.5}
    flags = resolve_flags(scenario, engine, override, chosen, description("one"))
    assert ("min_time" in flags) == keeps


@pytest.mark.parametrize(
    ("part", "wrong", "file", "key", "message"),
    [
        ("base", "nun = 3", "base.toml", "nun", "did you mean 'num'"),
        ("base", "num = 0", "base.toml", "num", "0 is too small; expected an"),
        ("base", "num = true", "base.toml", "num", "true is not valid; expected an"),
        ("base", 'sync = "yes"', "base.toml", "sync", "true or false"),
        ("base", 'cache_size = "4MB"', "base.toml", "cache_size", "MiB"),
        ("base", 'cache_size = "4M"', "base.toml", "cache_size", "'MiB'"),
        ("base", 'duration = "4 s m"', "base.toml", "duration", "10s"),
        ("base", "compression_ratio = 2", "base.toml", "compression_ratio", "0 to 1"),
        ("base", "compression_ratio = -0.1", "base.toml", "compression_ratio",
         "0 to 1"),
        ("base", "num = 10000000000000001", "base.toml", "num",
         "too large; expected an integer from 1 to 10^16"),
        ("base", "threads = 257", "base.toml", "threads", "to 256"),
        ("base", "key_size = 3", "base.toml", "key_size", "from 8"),
        ("base", "key_size = 1025", "base.toml", "key_size", "to 1,024"),
        ("base", "reads = 0", "base.toml", "reads", "or -1"),
        ("base", "reads = -7", "base.toml", "reads", "or -1"),
        ("base", "batch_size = 5000000", "base.toml", "batch_size", "to 1,000,000"),
        ("base", "value_size = 1073741825", "base.toml", "value_size", "1,073,741,824"),
        ("base", 'cache_size = "-1MiB"', "base.toml", "cache_size", "MiB"),
        ("base", 'cache_size = "9999999999GiB"', "base.toml", "cache_size", "at most"),
        ("base", 'duration = "-1s"', "base.toml", "duration", "10s"),
        ("base", 'duration = "300000h"', "base.toml", "duration", "at most"),
        ("suite", "[override]\nreads = 0", "all.toml", "override.reads", "or -1"),
        ("base", 'extends = "bass"', "base.toml", "extends", "no base scenario is"),
        ("base", 'benchmarks = ["fillsec"]', "base.toml", "benchmarks", "'fillseq'"),
        ("base", "benchmarks = []", "base.toml", "benchmarks", "a non-empty list"),
        ("base", "[exclude]\nonne = 'x'", "base.toml", "exclude", "did you mean 'one'"),
        ("base", "[settings.on]\nnum = 1", "base.toml", "settings", "'one'"),
        ("base", "[settings.one]\nnum = 0", "base.toml", "settings.one.num", "from 1"),
        ("base", "title = ''", "base.toml", "title", "not blank"),
        ("base", "= 3", "base.toml", "", "not valid TOML"),
        ("base", "x = '\udcff'", "base.toml", "", "byte 0xff at offset"),
        ("suite", 'scenarios = ["bse"]', "all.toml", "scenarios", "mean 'base'"),
        ("suite", "repetitions = 0", "all.toml", "repetitions", "from 1 to 10,000"),
        ("suite", 'timeout = "5m"', "all.toml", "timeout", "min"),
        ("suite", 'published = "nope"', "all.toml", "published", "leveldb-2011"),
        ("suite", "[override]\nnumm = 1", "all.toml", "override.numm", "'num'"),
        ("engine", 'role = "flor"', "engines.toml", "engine[one].role", "'floor'"),
        ("engine", 'sources_of = "tow"', "engines.toml", "engine[one].sources_of",
         "expected one"),
        ("engine", "versoin = 1", "engines.toml", "engine[one].versoin", "expected"),
        ("engine", '[[engine]]\nname = "one"\ntitle = "x"\nsummary = "x"',
         "engines.toml", "engine[one].name", "twice"),
    ],
)  # fmt: skip
def test_a_mistake_is_reported_with_file_key_and_accepted_values(
    tmp_path: Path, part: str, wrong: str, file: str, key: str, message: str
) -> None:
    texts = {"base": "title = 'T'\nanalysis = 'A'\nbenchmarks = ['fillseq']\n",
             "suite": SUITE, "engine": ENGINES}  # fmt: skip
    name = wrong.partition(" =")[0]
    rest = [x for x in texts[part].splitlines() if not x.startswith(f"{name} =")]
    text = "\n".join([*rest, wrong])
    parts = {"base": "base", "suite": "suite", "engine": "engines"}
    with pytest.raises(ConfigError) as caught:
        load(write(tmp_path, **{parts[part]: text}))
    assert caught.value.file.endswith(file)
    assert caught.value.key == key
    assert message in caught.value.problem


def test_an_unknown_base_offers_only_scenarios_without_one(tmp_path: Path) -> None:
    folder = write(tmp_path, more='extends = "moore"\ntitle = "M"\nanalysis = "B"\n')
    with pytest.raises(ConfigError) as caught:
        load(folder)
    assert caught.value.problem == ("unknown base scenario 'moore'; expected base")


def test_a_long_list_of_known_names_is_cut() -> None:
    names = [f"n{number}" for number in range(14)]
    assert unknown("x", "z", names[:12]).endswith("n9, n10 or n11")
    assert unknown("x", "z", names).endswith("n10, n11 or one of 2 more")


def test_two_levels_of_extending_are_refused(tmp_path: Path) -> None:
    folder = write(tmp_path, more='extends = "base"\ntitle = "M"\nanalysis = "B"\n')
    text = 'extends = "more"\ntitle = "L"\nanalysis = "C"\n'
    (folder / "scenarios/last.toml").write_text(text)
    with pytest.raises(ConfigError, match="itself extends 'base', and only one level"):
        load(folder)


@pytest.mark.parametrize(
    ("setting", "message"),
    [("page_sise = 1", "did you mean 'page_size'"), ('page_size = "1KB"', "KiB"),
     ("page_size = true", "an integer of at least 0, or a size"),
     ("page_size = -1", "an integer of at least 0, or a size")],
)  # fmt: skip
def test_a_flag_of_one_engine_is_checked_against_its_executable(
    tmp_path: Path, setting: str, message: str
) -> None:
    base = BASE.replace('page_size = "1KiB"', setting)
    config = load(write(tmp_path, base=base))
    scenario, engine = config.scenarios["base"], config.engines["one"]
    with pytest.raises(ConfigError, match=r"base\.toml: settings\.one\.page") as caught:
        resolve_flags(scenario, engine, {}, {}, description("one"))
    assert message in caught.value.problem


@pytest.mark.parametrize("text", ["4M", "4 mib", "MiB", "1 MiB 2", "0.3B", "1eKiB"])
def test_an_invalid_size_is_refused(text: str) -> None:
    with pytest.raises(UnitError):
        parse_size(text)


def test_quantities_are_read() -> None:
    assert [parse_size(t) for t in ("7B", "1.5KiB", "2 TiB")] == [7, 1536, 2 << 40]
    assert [parse_duration(t) for t in ("250ms", "2min", "1.5h")] == [0.25, 120, 5400]


def test_a_byte_order_mark_is_skipped_and_other_encodings_are_named(
    tmp_path: Path,
) -> None:
    folder = write(tmp_path)
    plain = load(folder)
    files = sorted(folder.rglob("*.toml"))
    assert len(files) >= 3
    for file in files:
        text = file.read_bytes()
        file.write_bytes(codecs.BOM_UTF8 + text)
        assert load(folder) == plain
        for encoding in ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-be"):
            file.write_bytes(text.decode().encode(encoding))
            with pytest.raises(ConfigError, match=r"UTF-(16|32).*save it as UTF-8"):
                load(folder)
        file.write_bytes(text)
