"""Scenario files: sweeps, fills, variants, settings that grow."""

from pathlib import Path

import pytest

from report.config.config_types import Config
from report.config.configuration import load
from report.config.toml_table import ConfigError
from scripts.planning.settings import resolve_flags
from tests.builders.simple_plans import description
from tests.configuration.test_configuration import write

ENGINES = """
[[engine]]
name = "one"
title = "One"
summary = "S"
[engine.flags]
cache_size = "1MiB"
page_size = "2KiB"
sync = true
[[engine]]
name = "one-plain"
title = "One, plain"
summary = "S"
role = "variant"
variant_of = "one"
[engine.flags]
page_size = 512
[[engine]]
name = "two"
title = "Two"
summary = "S"
"""
BASE = 'title = "Base"\nanalysis = "A"\nbenchmarks = ["fillseq", "readseq"]\n'
SUITE = 'title = "T"\nsummary = "S"\nscenarios = ["base"]\n'
SWEEP = BASE + "[sweep]\nvalue_size = [4, 64, 8192]\n"
GROWS = """
[settings.one]
page_size = 1024
[[from_num]]
num = 1_000_000
batch_size = 10
[from_num.settings.one]
page_size = "16KiB"
cache_size = "9MiB"
[[from_num]]
num = 1_000
batch_size = 5
"""


def load_config(
    folder: Path,
    base: str = BASE,
    suite: str = SUITE,
    engines: str = ENGINES,
    more: str = "",
) -> Config:
    return load(write(folder, engines, base, suite, more))


def flags(config: Config, engine: str, **chosen: int) -> dict[str, object]:
    scenario, override = config.scenarios["base"], config.suites["all"].override
    engine_entry = config.engines[engine]
    return dict(
        resolve_flags(scenario, engine_entry, override, chosen, description("one"))
    )


def test_a_sweep_is_a_scenario_for_each_value_of_one_flag(tmp_path: Path) -> None:
    config = load_config(tmp_path, SWEEP)
    names = ["base-4", "base-64", "base-8192"]
    assert list(config.scenarios) == list(config.suites["all"].scenarios) == names
    assert config.families() == {"base": tuple(names)}
    last = config.scenarios["base-8192"]
    assert (last.family, last.swept) == ("base", {"value_size": 8192})
    assert last.flags["value_size"] == 8192
    assert last.title == "Base: value size 8,192"


def test_a_suite_may_name_a_member_of_a_sweep(tmp_path: Path) -> None:
    suite = SUITE.replace('"base"', '"base-64", "base"')
    names = load_config(tmp_path, SWEEP, suite).suites["all"].scenarios
    assert names == ("base-64", "base-4", "base-8192")


def test_a_sweep_is_inherited_and_can_be_replaced(tmp_path: Path) -> None:
    more = 'extends = "base"\ntitle = "M"\nanalysis = "A"\nnum = 7\n'
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    config = load_config(tmp_path / "a", SWEEP, more=more)
    assert config.scenarios["more-64"].flags["num"] == 7
    more += '[sweep]\nkey_distribution = ["zipf", "ycsb-zipf"]\n'
    config = load_config(tmp_path / "b", SWEEP, more=more)
    assert config.families()["more"] == ("more-zipf", "more-ycsb_zipf")


@pytest.mark.parametrize(
    ("sweep", "message"),
    [
        ("value_size = []", "a non-empty list of values"),
        ("value_size = 4", "a non-empty list of values"),
        ("value_size = [4, 4]", "without duplicates"),
        ("value_size = [0]", "from 1"),
        ("value_sise = [4]", "did you mean 'value_size'"),
        ("value_size = [4]\nnum = [1]", r"not 2 \(value_size, num\); keep one"),
        ('key_distribution = [""]', "values with a letter or digit"),
        ('cache_size = ["4MB"]', "MiB"),
    ],
)
def test_a_malformed_sweep_is_refused(tmp_path: Path, sweep: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        load_config(tmp_path, f"{BASE}[sweep]\n{sweep}\n")
    assert caught.value.file.endswith("base.toml")
    assert caught.value.key.startswith("sweep")


def test_a_sweep_may_not_make_another_s_name(tmp_path: Path) -> None:
    for name in ("scenarios", "suites"):
        (tmp_path / name).mkdir()
    (tmp_path / "scenarios/base-64.toml").write_text(BASE)
    (tmp_path / "scenarios/base.toml").write_text(SWEEP)
    (tmp_path / "engines.toml").write_text(ENGINES)
    with pytest.raises(ConfigError, match="'base-64', which another file has"):
        load(tmp_path)


def test_fill_and_state_are_what_databases_start_from(tmp_path: Path) -> None:
    base = BASE + 'fill = "fillrandom, overwrite"\nstate = "unsettled"\n'
    more = 'extends = "base"\ntitle = "M"\nanalysis = "A"\nstate = "settled"\n'
    both = load_config(tmp_path, base, more=more).scenarios
    assert both["base"].fill == both["more"].fill == ("fillrandom", "overwrite")
    assert (both["base"].state, both["more"].state) == ("unsettled", "settled")


@pytest.mark.parametrize(
    ("wrong", "key", "message"),
    [
        ('fill = "fillsec"', "fill", "did you mean 'fillseq'"),
        ('fill = "fillseq,,overwrite"', "fill", "'' does not write over a filled"),
        ("fill = 3", "fill", "a string"),
        ('state = "calm"', "state", "expected settled, unsettled or reorganised"),
        ("[[from_num]]\nsync = true", "from_num[0]", "'num' is missing; expected"),
        ("[[from_num]]\nnum = 0", "from_num[0].num", "from 1"),
        ("[[from_num]]\nnum = 9\nsink = 1", "from_num[0].sink", "'sync'"),
        ("[[from_num]]\nnum = 9\n[from_num.settings.on]", "from_num[0].settings",
         "'one'"),
        ("[[from_num]]\nnum = 9\n[from_num.settings.one]\nnum = 3",
         "from_num[0].settings.one.num", "outside of from_num"),
        ('key_format = "bigg"', "key_format", "did you mean 'big'"),
        ("key_format = 3", "key_format", '"decimal", "big" or "little"'),
        ('stream = "levelbd"', "stream", "expected kvmatrix, leveldb or leveldb-301"),
        ("zipf_theta = 0", "zipf_theta", "a number from 0.01"),
        ("zipf_theta = nan", "zipf_theta", "a finite number"),
        ("readwritepercent = 101", "readwritepercent", "to 100"),
        ("transactions = -1", "transactions", "from 0"),
        ('value_size_distribution_type = "normall"', "value_size_distribution_type",
         "did you mean 'normal'"),
    ],
)  # fmt: skip
def test_mistakes_of_a_scenario_are_reported(
    tmp_path: Path, wrong: str, key: str, message: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        load_config(tmp_path, f"{BASE}{wrong}\n")
    assert caught.value.key == key
    assert message in caught.value.problem


@pytest.mark.parametrize(
    ("num", "batch", "page", "cache"),
    [(999, None, 1024, 1 << 20), (1_000, 5, 1024, 1 << 20),
     (1_000_000, 10, 16384, 9 << 20)],
)  # fmt: skip
def test_settings_grow_with_the_entries(
    tmp_path: Path, num: int, batch: int | None, page: int, cache: int
) -> None:
    config = load_config(tmp_path, BASE + GROWS)
    flag_values = flags(config, "one", num=num)
    assert flag_values.get("batch_size") == batch
    assert (flag_values["page_size"], flag_values["cache_size"]) == (page, cache)
    assert flags(config, "two", num=num).get("batch_size") == batch


def test_an_override_s_num_makes_settings_grow_as_well(tmp_path: Path) -> None:
    config = load_config(tmp_path, BASE + GROWS, SUITE + "[override]\nnum = 10\n")
    assert "batch_size" not in flags(config, "one")
    assert flags(config, "one", num=10**6)["page_size"] == 16384


def test_an_engines_own_flags_apply_unless_overridden(tmp_path: Path) -> None:
    base = BASE + "sync = false\n[settings.one]\npage_size = 8192\n"
    config = load_config(tmp_path, base)
    flag_values = flags(config, "one")
    assert flag_values["cache_size"] == 1 << 20
    assert (flag_values["sync"], flag_values["page_size"]) == (False, 8192)


def test_a_variant_has_only_its_own_flags_and_settings(tmp_path: Path) -> None:
    config = load_config(tmp_path, BASE + "[settings.one]\npage_size = 8192\n")
    variant = config.engines["one-plain"]
    assert (variant.executable, variant.variant_of) == ("one", "one")
    assert flags(config, "one-plain") == {"num": 1_000_000, "page_size": 512}
    assert config.default_engines() == ("one", "two")


def test_a_suite_s_engines_are_in_report_order(tmp_path: Path) -> None:
    suite = SUITE + 'engines = ["two", "one-plain"]\n'
    config = load_config(tmp_path, suite=suite)
    assert config.default_engines(config.suites["all"]) == ("one-plain", "two")


@pytest.mark.parametrize(
    ("change", "key", "message"),
    [
        (('variant_of = "one"', 'variant_of = "ome"'), "engine[one-plain].variant_of",
         "did you mean 'one'"),
        (('variant_of = "one"', ""), "engine[one-plain]",
         "expected one or two"),
        (('variant_of = "one"', 'variant_of = "one"\nsources_of = "one"'),
         "engine[one-plain].variant_of", "remove source, library and sources_of"),
        (('name = "two"', 'name = "two"\nvariant_of = "one-plain"'),
         "engine[two].variant_of", "is itself a variant"),
        (("sync = true", "sync = 1"), "engine[one].flags.sync", "true or false"),
    ],
)  # fmt: skip
def test_mistakes_of_variants_are_reported(
    tmp_path: Path, change: tuple[str, str], key: str, message: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        load_config(tmp_path, engines=ENGINES.replace(*change))
    assert (caught.value.file, caught.value.key) == (
        str(tmp_path / "engines.toml"),
        key,
    )
    assert message in caught.value.problem


def test_an_engine_s_flag_is_checked_against_its_executable(tmp_path: Path) -> None:
    engines = ENGINES.replace('page_size = "2KiB"', "page_sise = 1")
    config = load_config(tmp_path, engines=engines)
    with pytest.raises(ConfigError, match=r"engine\[one\].flags.page_sise") as caught:
        flags(config, "one")
    assert caught.value.file.endswith("engines.toml")


@pytest.mark.parametrize(
    ("written", "names"),
    [('"leveldb-2011"', ("leveldb-2011",)), ('""', ()), ("[]", ()),
     ('["leveldb-2011"]', ("leveldb-2011",))],
)  # fmt: skip
def test_a_suite_may_name_several_published_pages(
    tmp_path: Path, written: str, names: tuple[str, ...]
) -> None:
    suite = f"{SUITE}published = {written}\n"
    assert load_config(tmp_path, suite=suite).suites["all"].published == names


@pytest.mark.parametrize("more", ['engines = ["oen"]', 'published = ["nope"]'])
def test_names_in_lists_of_a_suite_are_checked(tmp_path: Path, more: str) -> None:
    with pytest.raises(ConfigError, match="; expected "):
        load_config(tmp_path, suite=f"{SUITE}{more}\n")
