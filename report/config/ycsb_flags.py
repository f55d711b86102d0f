"""The flags of the harness that do what YCSB's properties say."""

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction

from report.config.property_file import Property
from report.config.toml_table import ConfigError, unknown
from report.config.ycsb_keys import PROPORTIONS
from report.terms.rulebook import SCENARIO_FLAGS, Flag
from report.terms.units import COUNT, SECONDS, UnitError, parse

Properties = Mapping[str, Property]
FlagsByKey = dict[str, tuple[Flag, str]]  # flag -> value, the key that decides it
_REQUESTS = {
    "uniform": "uniform",
    "zipfian": "ycsb-zipf",
    "latest": "ycsb-latest",
    "hotspot": "hotspot",
    "exponential": "exponential",
    "sequential": "sequential",
}
_TIMES = ("maxexecutiontime", "warmuptime")  # in seconds
_CLASSES = ("coreworkload", "core")
_HASH_DIGITS = 19  # of nearly all hashes of a number in 64 bits
_MOST_DIGITS = 30
_THETA = 0.99
_MOST_SUMMED = 1_000_000  # lengths of a field


def is_load(properties: Properties) -> bool:
    """Return True if the load phase is measured, not the operations on its records."""
    return not _switch(properties, "dotransactions", True)


def flags_of(properties: Properties) -> tuple[FlagsByKey, list[str]]:
    """Return the flags, and notes about what is not quite the same here.

    Raises ConfigError that names the place of a property.
    """
    notes: list[str] = []
    _check_class(properties)
    flags = _records(properties, notes)
    if not is_load(properties):
        flags |= _operations(properties, notes)
        flags |= _requests(properties)
    for flag, (value, key) in flags.items():
        rule = SCENARIO_FLAGS[flag]
        if not rule.accepts(value):
            raise _wrong(properties, key, f"is not possible; expected {rule.accepted}")
    return flags, notes


def _records(properties: Properties, notes: list[str]) -> FlagsByKey:
    """Return what describes the records and their load."""
    records = _count(properties, "recordcount", 0)
    if not records:
        raise _missing(properties, "recordcount", "the number of records of the load")
    start = _count(properties, "insertstart", 0)
    loaded = _count(properties, "insertcount", max(records - start, 0))
    if not 1 <= loaded <= records - start:
        key = "insertcount" if "insertcount" in properties else "insertstart"
        problem = f"leaves no records: insertstart + insertcount <= {records:,}"
        raise _wrong(properties, key, f"{problem}, the recordcount, is expected")
    key = next((key for key in ("insertcount", "insertstart") if key in properties), "")
    if start:
        notes.append(f"insertstart={start}: the {loaded:,} records are numbered from 0")
    order = _word(properties, "insertorder", "hashed")
    flags: FlagsByKey = {
        "num": (loaded, key),
        "key_size": (_key_size(properties, loaded, order), "zeropadding"),
        "threads": (_count(properties, "threadcount", 1), "threadcount"),
        **_sizes(properties, notes),
    }
    if order != "hashed":
        flags["insert_order"] = ("ordered", "insertorder")
    return flags


def _key_size(properties: Properties, records: int, order: str) -> int:
    """Return the bytes of nearly all of YCSB's keys: a prefix and a number."""
    if "keylength" in properties:
        return _count(properties, "keylength", 0)
    prefix = properties.get("keyprefix")
    digits = _HASH_DIGITS if order == "hashed" else len(str(records))
    padded = max(digits, _count(properties, "zeropadding", 1))
    size = len((prefix.value if prefix else "user").encode()) + padded
    return max(size, 16)  # of which 16 digits number any records


def _sizes(properties: Properties, notes: list[str]) -> FlagsByKey:
    """Return the sizes of values: a value is a record, with all of its fields."""
    fields = _count(properties, "fieldcount", 10)
    most = _count(properties, "fieldlength", 100)
    least = _count(properties, "minfieldlength", 1)
    law = _word(properties, "fieldlengthdistribution", "constant")
    key = "fieldlength" if "fieldlength" in properties else "fieldcount"
    if law == "constant":
        return {"value_size": (fields * most, key)}
    _known(properties, "fieldlengthdistribution", ("constant", "uniform", "zipfian"))
    if not 1 <= least <= most <= _MOST_SUMMED:
        problem = f"expected from minfieldlength, {least:,}, to {_MOST_SUMMED:,}"
        raise _wrong(properties, key, problem)
    if law == "uniform" and fields == 1:
        return {
            "value_size": ((least + most) // 2, key),
            "value_size_distribution_type": ("uniform", "fieldlengthdistribution"),
            "value_size_min": (least, "minfieldlength"),
            "value_size_max": (most, key),
        }
    mean = (least + most) / 2 if law == "uniform" else _mean_of_zipf(least, most)
    size = max(1, round(fields * mean))
    notes.append(
        f"fieldlengthdistribution={law}: every record of {fields:,} fields has the mean"
        f" size, {size:,} bytes"
    )
    return {"value_size": (size, key)}


def _mean_of_zipf(least: int, most: int) -> float:
    """Return the mean of YCSB's Zipfian lengths: the least is most frequent."""
    weights = [float((rank + 1) ** -_THETA) for rank in range(most - least + 1)]
    weighted = (rank * weight for rank, weight in enumerate(weights))
    return float(least + sum(weighted) / sum(weights))


def _operations(properties: Properties, notes: list[str]) -> FlagsByKey:
    """Return which operations there are, how many, and how fast."""
    flags: FlagsByKey = {"mix_shares": _shares(properties, notes)}
    threads = _count(properties, "threadcount", 1)
    operations = _count(properties, "operationcount", 0)
    limit_s = _number(properties, "maxexecutiontime", 0)
    if not operations and not limit_s:
        what = "the number of operations, or maxexecutiontime in seconds"
        raise _missing(properties, "operationcount", what)
    most = int(SCENARIO_FLAGS["reads"].most)
    each = -(-operations // max(threads, 1)) or most
    flags["reads"] = (each, "operationcount")
    if limit_s:
        flags["duration"] = (float(limit_s), "maxexecutiontime")
    if warmup_s := _number(properties, "warmuptime", 0):
        flags["warmup"] = (float(warmup_s), "warmuptime")
    if target := _number(properties, "target", 0):
        flags["rate"] = (float(target), "target")
        notes.append(
            f"target={target:g}: the latency repetitions run at this rate; those for"
            " throughput are not held back"
        )
    shares = str(flags["mix_shares"][0])
    fields = _count(properties, "fieldcount", 10)
    is_update = "update:" in shares or "readmodifywrite:" in shares
    if is_update and fields > 1 and not _switch(properties, "writeallfields", False):
        flags["fieldcount"] = (fields, "fieldcount")
    return {**flags, **(_scans(properties) if "scan:" in shares else {})}


def _shares(properties: Properties, notes: list[str]) -> tuple[Flag, str]:
    """Return the percentages of the operations, in proportion to their weights."""
    weights = {}
    for key, (operation, usual) in PROPORTIONS.items():
        weight = _number(properties, key, Decimal(usual))
        if weight:
            weights[operation] = weight
    total = sum(weights.values())
    first = next((key for key in PROPORTIONS if key in properties), "readproportion")
    if not total:
        raise _wrong(properties, first, "all proportions are 0; expected one above 0")
    if abs(total - 1) > Decimal("1e-9"):
        shown = f"{total.normalize():f}" if len(str(total)) < _MOST_DIGITS else total
        notes.append(f"the proportions add up to {shown}; each is divided by that")
    percents = {name: round(100 * w / total, 12) for name, w in weights.items()}
    percents = {name: percent for name, percent in percents.items() if percent}
    largest = max(percents, key=lambda name: percents[name])
    percents[largest] += 100 - sum(percents.values())
    texts = (f"{name}:{percent.normalize():f}" for name, percent in percents.items())
    return ",".join(texts), first


def _scans(properties: Properties) -> FlagsByKey:
    """Return the lengths of scans."""
    most = _count(properties, "maxscanlength", 1000)
    least = _count(properties, "minscanlength", 1)
    law = _word(properties, "scanlengthdistribution", "uniform")
    _known(properties, "scanlengthdistribution", ("uniform", "zipfian", "constant"))
    if least > most:
        raise _wrong(properties, "minscanlength", f"is above maxscanlength, {most:,}")
    if law == "constant" or least == most:
        return {"scan_length": (most, "maxscanlength")}
    return {
        "min_scan_length": (least, "minscanlength"),
        "max_scan_length": (most, "maxscanlength"),
        "scan_length_distribution": (
            "zipf" if law == "zipfian" else law,
            "scanlengthdistribution",
        ),
    }


def _requests(properties: Properties) -> FlagsByKey:
    """Return how the keys of operations are drawn."""
    key = "requestdistribution"
    request = _word(properties, key, "uniform")
    _known(properties, key, _REQUESTS)
    theta = _number(properties, "zipfian_const", Decimal(str(_THETA)))
    if request == "zipfian" and float(theta) != _THETA:
        law: Flag = float(theta)
        return {"key_distribution": ("zipf", key), "zipf_theta": (law, "zipfian_const")}
    flags: FlagsByKey = {"key_distribution": (_REQUESTS[request], key)}
    more = {
        "hotspot": {
            "hotspot_data_fraction": ("hotspotdatafraction", "0.2"),
            "hotspot_operation_fraction": ("hotspotopnfraction", "0.8"),
        },
        "exponential": {
            "exponential_percentile": ("exponential.percentile", "95"),
            "exponential_fraction": ("exponential.frac", "0.8571428571"),
        },
    }
    for flag, (name, usual) in more.get(request, {}).items():
        flags[flag] = (float(_number(properties, name, Decimal(usual))), name)
    return flags


def _check_class(properties: Properties) -> None:
    word = _word(properties, "workload", "core").rpartition(".")[2]
    if word not in _CLASSES:
        problem = "is not YCSB's CoreWorkload, the only one that is known here"
        raise _wrong(properties, "workload", problem)


def _word(properties: Properties, key: str, usual: str) -> str:
    found = properties.get(key)
    return found.value.strip().lower() if found else usual


def _known(
    properties: Properties, key: str, words: Mapping[str, str] | tuple[str, ...]
) -> None:
    word = _word(properties, key, "")
    if key in properties and word not in words:
        problem = unknown("distribution", word, words)
        raise ConfigError(properties[key].place, key, problem)


def _switch(properties: Properties, key: str, usual: bool) -> bool:
    word = _word(properties, key, str(usual).lower())
    if word not in ("true", "false"):
        raise _wrong(properties, key, "is not valid; expected true or false")
    return word == "true"


def _number(properties: Properties, key: str, usual: Decimal | int) -> Decimal:
    """Return a number that is not negative."""
    if key not in properties:
        return Decimal(usual)
    try:
        found = parse(properties[key].value, SECONDS if key in _TIMES else COUNT)
    except UnitError:
        found = Fraction(-1)
    if not 0 <= found < 10**_MOST_DIGITS:
        raise _wrong(properties, key, "is not valid; expected a number of at least 0")
    return Decimal(found.numerator) / found.denominator


def _count(properties: Properties, key: str, usual: int) -> int:
    number = _number(properties, key, usual)
    if number != number.to_integral_value():
        raise _wrong(properties, key, "is not valid; expected a whole number")
    return int(number)


def _wrong(properties: Properties, key: str, problem: str) -> ConfigError:
    """Return the error for a property; without one, the default is at fault."""
    if key not in properties:
        place = next((p.place for p in properties.values()), "-p")
        return ConfigError(place, "", f"{key} {problem}")
    found = properties[key]
    return ConfigError(found.place, key, f"{found.value!a:.60} {problem}")


def _missing(properties: Properties, key: str, what: str) -> ConfigError:
    place = next((p.place for p in properties.values()), "-p")
    file = place.partition(": line ")[0]
    fault = "is 0; raise" if key in properties else "is missing; add"
    return ConfigError(file, "", f"{key} {fault} it, or -p {key}=N: {what}")
