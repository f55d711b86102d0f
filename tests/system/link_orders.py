"""Links an executable several times, its objects in random orders.

    python -m tests.system.link_orders build/release leveldb 4 build/link-orders

writes build/link-orders/1/drivers/db_bench_leveldb and so on.  All have the same
machine code at other addresses: the difference between two of them, measured with
`kvmatrix ab --a build/release --b build/link-orders/1`, is what a linker can do to a
rate.  ERROR_RATES.md, "The least lead", has such differences.
"""

from __future__ import annotations

import random
import shlex
import subprocess
import sys
from pathlib import Path


def link(build: Path, engine: str, seed: int, into: Path) -> Path:
    """Link the executable of an engine in an order that the seed decides."""
    target = Path("drivers") / f"db_bench_{engine}"
    commands = _output(["ninja", "-C", build, "-t", "commands", target], Path())
    words = shlex.split(commands.splitlines()[-1])
    words = words[words.index("&&") + 1 :]
    words = words[: words.index("&&")]
    to = into.absolute() / target
    to.parent.mkdir(parents=True, exist_ok=True)
    words[words.index("-o") + 1] = str(to)
    objects = [word for word in words if word.endswith(".o")]
    members = into.absolute() / "objects"
    for archive in (word for word in words if word.endswith(".a")):
        folder = members / Path(archive).name
        folder.mkdir(parents=True, exist_ok=True)
        _output(["ar", "x", (build / archive).absolute()], folder)
        objects += map(str, sorted(folder.iterdir()))
    random.Random(seed).shuffle(objects)
    others = [word for word in words[1:] if not word.endswith((".o", ".a"))]
    _output([words[0], *objects, *others], build)
    return to


def _output(command: list[str | Path], folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, check=True)
    return done.stdout.decode()


if __name__ == "__main__":
    built, name, count, folder = sys.argv[1:]
    for number in range(1, int(count) + 1):
        print(link(Path(built), name, number, Path(folder) / str(number)))
