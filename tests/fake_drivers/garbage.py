"""Answers nonsense, in another way for each benchmark."""

import json
import sys

from tests.fake_drivers.protocol import FakeDriver


class Driver(FakeDriver):
    def write(self, text: str) -> None:
        benchmark = json.loads(text)["benchmark"]
        if benchmark == "fillseq":
            super().write("\x00\x01 this is not JSON")
            sys.stdout.write("noise " * 200_000)
        elif benchmark == "fillrandom":
            pass  # says nothing and leaves with success
        elif benchmark == "overwrite":
            super().write(text)
            super().write(text)
        elif benchmark == "fillseqsync":
            super().write(text[:40])
            sys.exit(7)
        else:
            super().write(text)
