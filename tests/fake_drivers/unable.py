"""Cannot do two things: one it declares, one it finds out while it runs."""

from tests.fake_drivers.protocol import FakeDriver, Record


class Driver(FakeDriver):
    unsupported = {"readseq": "keeps no order"}  # noqa: RUF012

    def measure(self, benchmark: str) -> Record:
        if benchmark == "fillseqsync":
            reason = "has no barrier"
            nothing = {"loop_ns": None, "ops": 0, "verified": False}
            return self.answer(
                benchmark, status="unsupported", reason=reason, **nothing
            )
        return super().measure(benchmark)
