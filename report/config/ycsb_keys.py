"""The keys of YCSB's property files, and of those of its relatives.

Each is understood, or has no effect here for a reason, or is not known.
"""

import re
from collections.abc import Iterable, Mapping

from report.config.property_file import Property
from report.config.toml_table import ConfigError, nearest

PROPORTIONS = {  # key -> type of operation, default
    "readproportion": ("read", "0.95"),
    "updateproportion": ("update", "0.05"),
    "insertproportion": ("insert", "0"),
    "scanproportion": ("scan", "0"),
    "readmodifywriteproportion": ("readmodifywrite", "0"),
    "deleteproportion": ("delete", "0"),
}
# Other names of relatives, or of earlier versions.
_ALIASES = {
    "field_len_dist": "fieldlengthdistribution",
    "zero_padding": "zeropadding",
    "key_prefix": "keyprefix",
}
UNDERSTOOD = (
    *("recordcount", "operationcount", "insertcount", "insertstart", "threadcount"),
    *("maxexecutiontime", "target", "warmuptime", "dotransactions", "workload"),
    *PROPORTIONS,
    *("requestdistribution", "hotspotdatafraction", "hotspotopnfraction"),
    *("exponential.percentile", "exponential.frac", "zipfian_const"),
    *("insertorder", "zeropadding", "keyprefix", "keylength"),
    *("fieldcount", "fieldlength", "minfieldlength", "fieldlengthdistribution"),
    *("writeallfields", "minscanlength", "maxscanlength", "scanlengthdistribution"),
)
_CLIENT = "belongs to YCSB's client or its measurements"
_IGNORED = {
    "readallfields": "an engine of keys and values reads the whole record",
    "dataintegrity": "every value is checked in any case",
    **dict.fromkeys(
        ("table", "fieldnameprefix", "columnfamily", "dropdata"),
        "an engine of keys and values has no tables or fields",
    ),
    **dict.fromkeys(
        (
            *("db", "exporter", "exportfile", "measurementtype", "status", "label"),
            *("reportlatencyforeacherror", "latencytrackederrors", "silence"),
            *("core_workload_insertion_retry_limit", "verbose", "outputstyle"),
            *("core_workload_insertion_retry_interval", "fieldlengthhistogram"),
            *("command", "sleepafterload", "threads", "printstats"),
        ),
        _CLIENT,
    ),
}
_IGNORED_GROUPS = (
    *("measurement.", "hdrhistogram.", "histogram.", "timeseries.", "status."),
    *("debug.", "limit.", "basicdb.", "jvm."),
)
_SHOWN_CHARS = 60
_SIMILAR = 0.85  # of a key that is taken for a mistake
_ODD = re.compile(r"proportion$|^requestdist")


def with_usual_names(properties: Mapping[str, Property]) -> dict[str, Property]:
    """Return the properties with the names that YCSB has for them."""
    return {_ALIASES.get(key, key): value for key, value in properties.items()}


def ignored(properties: Mapping[str, Property]) -> list[str]:
    """Return why keys have no effect here: a text for each reason, with its keys.

    Raises ConfigError that names all keys that look like mistakes.
    """
    reasons: dict[str, list[str]] = {}
    mistakes = []
    for key in properties:
        if key in UNDERSTOOD:
            continue
        reason = _reason(key)
        if not reason and (_ODD.search(key.lower()) or _meant(key)):
            mistakes.append(key)
        shown = ascii(key)[1:-1][:_SHOWN_CHARS]
        reasons.setdefault(reason or "not a key of YCSB", []).append(shown)
    if mistakes:
        raise _unknown(mistakes, properties)
    return [f"{', '.join(keys)} ({reason})" for reason, keys in reasons.items()]


def _meant(key: str) -> str:
    return nearest(key.lower(), UNDERSTOOD, _SIMILAR)


def _reason(key: str) -> str:
    """Return why a key has no effect here; "" if it is not known."""
    if key.startswith(_IGNORED_GROUPS):
        return _CLIENT
    if key not in _IGNORED and "." in key:
        return "belongs to a database; use --set, or the engine's settings"
    return _IGNORED.get(key, "")


def _unknown(keys: Iterable[str], properties: Mapping[str, Property]) -> ConfigError:
    named = [f"{key!a:.60}{_meant(key)}" for key in keys]
    first = next(iter(keys))
    plural = "s" if len(named) > 1 else ""
    problem = f"unknown key{plural} {', '.join(named)}; correct or remove them"
    return ConfigError(properties[first].place, "", problem)
