"""Reading the table [regime] of a scenario: memory, disk and cache of its processes."""

from report.config.toml_table import ConfigError, TomlTable, as_number, known
from report.terms.regime import (
    CACHES,
    COLD,
    DEFAULT_READ_AHEAD_BYTES,
    FILE_SYSTEMS,
    LOOP,
    WARM,
    Regime,
)
from report.terms.units import BYTES

_OF_DEVICE = ("device_size", "file_system", "read_ahead", "steady")
_KEYS = ("cache", "memory_limit", "device", *_OF_DEVICE)
_LEAST_LIMIT_BYTES = 4 << 20
_LEAST_DEVICE_BYTES = 64 << 20
_MOST_BYTES = 1 << 44  # 16 TiB, as of the flags that are sizes
_KIB = 1 << 10


def check_regime(table: TomlTable) -> None:
    """Raise ConfigError if a file has an unknown key or value in its [regime]."""
    regime = table.table("regime")
    regime.only(*_KEYS)
    for key, accepted in (
        ("cache", CACHES),
        ("device", (LOOP,)),
        ("file_system", FILE_SYSTEMS),
    ):
        if key in regime.values:
            known(regime, key, regime.text(key), accepted, key.replace("_", " "))
    regime.switch("steady", False)
    _size(regime, "memory_limit", 0, _LEAST_LIMIT_BYTES)
    _size(regime, "device_size", 0, _LEAST_DEVICE_BYTES)
    if _size(regime, "read_ahead", 0, 0) % _KIB:
        raise regime.wrong("read_ahead", "a multiple of 1KiB")


def read_regime(parts: tuple[TomlTable, ...]) -> Regime | None:
    """Return the regime of a scenario; keys of later parts win; None without any key.

    A device size of 0 means one that follows from the amount of data.  Raises
    ConfigError if the keys contradict one another.
    """
    values = {k: v for part in parts for k, v in part.table("regime").values.items()}
    if not values:
        return None
    own = parts[-1]
    table = TomlTable(own.file, own.at("regime"), values)
    device, limit = table.text("device", ""), _size(table, "memory_limit", 0, 0)
    cache = table.text("cache", COLD if device or limit else WARM)
    if cache == WARM and (device or limit):
        reason = "what the preparation left in the page cache is not charged to the"
        reason += " process" if limit else " process, nor read from its disk"
        problem = f'"warm" contradicts a memory limit or a device: {reason}; expected'
        raise ConfigError(table.file, table.at("cache"), f'{problem} "cold"')
    if not device:
        for key in _OF_DEVICE:
            if key in values:
                problem = 'applies only to a device; add device = "loop"'
                raise ConfigError(table.file, table.at(key), problem)
        return Regime(cache, limit)
    return Regime(
        cache,
        limit,
        device,
        _size(table, "device_size", 0, 0),
        table.text("file_system", FILE_SYSTEMS[0]),
        _size(table, "read_ahead", DEFAULT_READ_AHEAD_BYTES, 0),
        table.switch("steady", False),
    )


def limit_bytes(text: str) -> int:
    """Return a memory limit that the command line has.  Raises ConfigError."""
    table = TomlTable("", "", {"memory_limit": text})
    return _size(table, "memory_limit", 0, _LEAST_LIMIT_BYTES)


def _size(table: TomlTable, key: str, default: int, least: int) -> int:
    """Return a size in bytes."""
    if key not in table.values:
        return default
    value = table.values[key]
    size_bytes = as_number(table, key, value, BYTES)
    if type(size_bytes) is not int:
        raise table.wrong(key, 'a size such as "64MiB"')
    if not least <= size_bytes <= _MOST_BYTES:
        fault = "too small" if size_bytes < least else "too large"
        accepted = f"{least >> 20} MiB to 16 TiB" if least else "at most 16 TiB"
        problem = f"{value!r} is {fault}; expected {accepted}"
        raise ConfigError(table.file, table.at(key), problem)
    return size_bytes
