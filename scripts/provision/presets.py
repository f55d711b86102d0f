"""The compiler flags that the harness and every engine get."""

import json
import re
from pathlib import Path
from typing import Any

from report.config.toml_table import ConfigError, short_path
from report.terms.encoding import bounded_content, decoded
from report.terms.limits import MOST_CONFIG_BYTES
from scripts.basis.problem import SetupError
from scripts.basis.remedy import restoring

# Words that CMake, make and a shell all pass on unchanged, one of them -O.
_FLAGS = re.compile(r"(?=(?:.* )?-O)-[\w=./+-]+(?: -[\w=./+-]+)*", re.ASCII)


def read_flags(presets: Path) -> str:
    """Return the compiler flags of the release preset, which engines get as well.

    Raises SetupError if the file is not valid.
    """
    try:
        document = json.loads(decoded(bounded_content(presets, MOST_CONFIG_BYTES)))
        return _release_flags(short_path(presets), document)
    except ConfigError as error:
        problem = str(error)
    except (ValueError, RecursionError) as error:
        problem = f"{short_path(presets)}: not valid JSON: {error}"
    raise SetupError(f"{problem}\n{restoring(presets)}")


def _release_flags(file: str, document: Any) -> str:
    try:
        named = {preset["name"]: preset for preset in document["configurePresets"]}
        flags = named["release"]["cacheVariables"]["CMAKE_CXX_FLAGS_RELEASE"]
    except (LookupError, TypeError):
        flags = ""
    if not isinstance(flags, str) or not _FLAGS.fullmatch(flags):
        key = "configurePresets[release].cacheVariables.CMAKE_CXX_FLAGS_RELEASE"
        problem = f"{flags!r} is not valid" if flags else "missing"
        raise ConfigError(file, key, f'{problem}; expected such as "-O2 -DNDEBUG"')
    return flags
