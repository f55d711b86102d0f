"""The caller's variables that programs of the set-up get: none that change their work.

What is measured depends on the checkout, and not on who set it up.
"""

import re
from collections.abc import Mapping

_FLAGS = r"\w*FLAGS"  # of C, C++, linkers, make, cargo, go
_COMPILERS = r"CPATH|\w+_INCLUDE_PATH|(COMPILER|LIBRARY|LD_RUN)_PATH|(GCC|CCC)_\w+"
_BUILDS = r"CMAKE_\w+|DESTDIR|TAR_OPTIONS|CARGO_(BUILD|PROFILE|TARGET)_\w+|RUSTC\w*"
_GO = r"GO(OS|ARCH|AMD64|ARM64|EXPERIMENT)"
_JAVA = r"_?JAVA_(TOOL_)?OPTIONS|JDK_JAVAC?_OPTIONS|CLASSPATH"
# Where pip finds packages is the caller's affair; where it puts them is not.
_PIP_FINDS = (
    r"\w*INDEX(_URL)?|FIND_LINKS|\w*CERT|PROXY|TRUSTED_HOST|\w*CACHE_DIR"
    r"|\w*TIMEOUT|RETRIES|KEYRING_PROVIDER|CONFIG_FILE"
)
_PIP = rf"PIP_(?!({_PIP_FINDS})$)\w+"
_CHANGING = re.compile("|".join((_FLAGS, _COMPILERS, _BUILDS, _GO, _JAVA, _PIP)))


def neutral(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables without those that change what is built, or where it is."""
    return {k: v for k, v in environ.items() if not _CHANGING.fullmatch(k)}
