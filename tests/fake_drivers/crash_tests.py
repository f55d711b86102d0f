"""Fakes that take part in crash tests: as a writer, and as the audit of what is left.

The database is a file of one line for each commit, synced before it is acknowledged.
"""

import json
import os
import signal
import struct
import sys
import time
from pathlib import Path
from typing import ClassVar

from tests.fake_drivers.protocol import FakeDriver, Record, Signalled

_RECORD = struct.Struct("<QQIIIIII")
_MAGIC, _FORMAT = 0x6B766D6174726163, 1
_BEGINS, _ACKNOWLEDGED, _OPEN_BEGINS, _OPENED, _DONE, _READY = 2, 3, 5, 6, 10, 12
_COMMITS = 20
_MOST_COMMITS = 40  # of other phases than the usual ones
_LINE = b"commit %09d\n"


class CrashTested(FakeDriver):
    """Loses nothing that it has acknowledged; the audit says what is there."""

    magic = _MAGIC
    promise = "loses nothing acknowledged"

    def main(self) -> int:
        """Run one side of a crash test, or what every fake does."""
        side = self.flags.get("crash_test")
        if side is None:
            return super().main()
        return self.write_commits() if side == "write" else self.audit()

    def write_commits(self) -> int:
        """Write until all is written, or as many commits as --crash_after says."""
        self.trace = os.open(
            self.flags["trace"], os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_TRUNC
        )
        os.write(self.trace, self.header())
        self.note(_OPEN_BEGINS)
        # A name of its own: `database` is what a benchmark writes.
        file = os.open(self.commits, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self.note(_OPENED)
        said = {"engine": self.engine, "version": self.version, "source": ""}
        print(json.dumps({**said, "promise": self.promise}), flush=True)
        last = int(self.flags.get("crash_after", 0))
        for commit in range(1, (last or self.planned) + 1):
            self.note(_BEGINS, commit)
            self.commit(file, commit)
            self.note(_ACKNOWLEDGED, commit)
        self.note(_READY if last else _DONE)
        if last:
            signal.pause()
        return 0

    def commit(self, file: int, number: int) -> None:
        """Write a commit."""
        os.write(file, _LINE % number)
        os.fsync(file)

    @property
    def planned(self) -> int:
        """How many commits the phases have."""
        words = self.flags["phases"].split(",")
        counts = dict(word.split(":") for word in words)
        if "cover" in counts:  # nothing at this level
            return _COMMITS if len(counts) > 1 else 0
        return min(_MOST_COMMITS, sum(map(int, counts.values())))

    @property
    def commits(self) -> Path:
        """The file of commits."""
        return Path(self.flags["db"]) / "commits"

    def header(self) -> bytes:
        """Return the first record of a trace."""
        seed = int(self.flags["seed"])
        return _RECORD.pack(self.magic, seed, 0, 0, 0, 0, 0, _FORMAT)

    def note(self, kind: int, commit: int = 0) -> None:
        """Append a record to the trace."""
        words = (commit, kind, 0, 1, 100, 1, 1)
        os.write(self.trace, _RECORD.pack(time.monotonic_ns(), *words))

    def audit(self) -> int:
        """Print what of a trace is in the database."""
        print(json.dumps(self.finding()))
        return 0

    @property
    def is_cut(self) -> bool:
        """True in an audit if the writer had not ended by itself before the cut."""
        content, cut_ns = Path(self.flags["trace"]).read_bytes(), self.flags["cut_ns"]
        return all(
            record[2] != _DONE or record[0] > int(cut_ns)
            for record in _RECORD.iter_unpack(content)
        )

    def finding(self) -> Record:
        """Return what an audit finds."""
        content = Path(self.flags["trace"]).read_bytes()
        acknowledged = sum(
            record[2] == _ACKNOWLEDGED and record[0] <= int(self.flags["cut_ns"])
            for record in _RECORD.iter_unpack(content)
        )
        there = self.commits.read_bytes().count(b"\n") if self.commits.exists() else 0
        return {
            "acknowledged": acknowledged,
            "prefix": there,
            "lost": max(0, acknowledged - there),
            "entries": there,
            "expected_entries": acknowledged,
            "open_ns": 1000,
        }


class HangsInRecovery(CrashTested):
    """Hangs when it opens what a crash has left."""

    def audit(self) -> int:
        """Never end after a crash."""
        if self.is_cut:
            time.sleep(3600)
        return super().audit()


class HangsAtEveryOpening(CrashTested):
    """Hangs when it opens a database that exists."""

    def audit(self) -> int:
        """Never end."""
        time.sleep(3600)
        return 0


class CrashesInRecovery(CrashTested):
    """Dies by a signal when it opens what a crash has left."""

    def audit(self) -> int:
        """Die after a crash."""
        if self.is_cut:
            raise Signalled(signal.SIGSEGV, "last words")
        return super().audit()


class CrashesAtEveryOpening(CrashTested):
    """Dies by a signal when it opens a database that exists."""

    def audit(self) -> int:
        """Die."""
        raise Signalled(signal.SIGSEGV, "last words")


class FailsInAudit(CrashTested):
    """Ends an audit with exit code 1, as for a fault that is not the engine's."""

    def audit(self) -> int:
        """Fail."""
        print("the trace is unreadable", file=sys.stderr)
        return 1


class AuditsInNonsense(CrashTested):
    """Answers an audit after a crash with bytes that are no text, and with no JSON."""

    def audit(self) -> int:
        """Print nonsense."""
        if not self.is_cut:
            return super().audit()
        sys.stdout.buffer.write(b"\xff\xfe{[[[\x00\n")
        return 0


class AlwaysAuditsInNonsense(CrashTested):
    """Answers every audit with no JSON."""

    def audit(self) -> int:
        """Print nonsense."""
        print("{[[[")
        return 0


class WritesNothing(CrashTested):
    """Cannot open its database."""

    def write_commits(self) -> int:
        """Fail before the first commit."""
        print("cannot open it", file=sys.stderr)
        return 1


class HangsAtOpening(CrashTested):
    """Hangs before it has opened a new database."""

    def write_commits(self) -> int:
        """Never end."""
        time.sleep(3600)
        return 0


class FillsTheDisk(CrashTested):
    """Takes all space of the disk, and fails."""

    def write_commits(self) -> int:
        """Write until the disk is full."""
        with self.commits.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(1 << 16))


class TracesNonsense(CrashTested):
    """Writes a trace of another format."""

    magic = 7


class IsUnable(CrashTested):
    """Says that it does not support the setting."""

    def write_commits(self) -> int:
        """Refuse."""
        print(json.dumps({"unsupported": "it has no such level"}))
        return 3


class PromisesNonsense(CrashTested):
    """Promises what no engine can."""

    promise = "the moon"


class LosesTheNewest(CrashTested):
    """Has one commit less than it acknowledged, after a crash."""

    def finding(self) -> Record:
        """Leave out the newest."""
        honest = super().finding()
        if not self.is_cut:
            return honest
        return {**honest, "prefix": max(0, honest["prefix"] - 1), "lost": 1}


class MendsWhatItOpens(CrashTested):
    """Loses its newest commit in the first opening after a crash, and in no other."""

    @property
    def has_opened(self) -> Path:
        """A file that exists after the first opening."""
        return self.commits.with_name("opened")

    def finding(self) -> Record:
        """Leave out the newest, once."""
        honest = super().finding()
        if not self.is_cut or self.has_opened.exists():
            return honest
        self.has_opened.touch()
        return {**honest, "prefix": max(0, honest["prefix"] - 1), "lost": 1}


class AnswersDifferently(MendsWhatItOpens):
    """The same, but whatever the database was."""

    @property
    def has_opened(self) -> Path:
        """A file that is not of the database."""
        return Path(self.flags["trace"]).with_name("opened")


class FailsNowAndThen(CrashTested):
    """Fails in each fourth audit, whatever the database."""

    def finding(self) -> Record:
        """Count the audits of a trial."""
        with Path(self.flags["trace"]).with_name("audits").open("a") as file:
            file.write("x")
            is_failing = file.tell() % 4 == 0
        honest = super().finding()
        return {**honest, "open_error": "busy"} if is_failing else honest


class Misjudged(CrashTested):
    """Has a defect without a crash: what its audits find instead is in `defect`.

    It has the defect in databases of `fewest` to `most` commits.
    """

    defect: ClassVar[Record] = {}
    fewest, most = 0, 10**6

    def finding(self) -> Record:
        """Return what an honest audit does not find."""
        honest = super().finding()
        has_defect = self.fewest <= honest["entries"] <= self.most
        return {**honest, **self.defect} if has_defect else honest


class ScansNothing(Misjudged):
    """Gets every entry, and scans none."""

    defect: ClassVar[Record] = {
        "read_error": "a scan finds 0 entries, and gets find 20"
    }


class ScansNoFewEntries(Misjudged):
    """Scans no database of fewer than seven entries."""

    fewest, most = 1, 6
    defect: ClassVar[Record] = {"read_error": "the cursor is not positioned"}


class ScansNoEmptyDatabase(ScansNoFewEntries):
    """Scans no database without an entry."""

    fewest, most = 0, 0


class CannotReopen(Misjudged):
    """Opens no database that exists."""

    defect: ClassVar[Record] = {"open_error": "locked", "prefix": None}


class AlwaysLosesTheNewest(Misjudged):
    """Does not write its last commit, though it closes the database."""

    defect: ClassVar[Record] = {"prefix": 19, "lost": 1, "entries": 19}


class ReadsForeignValues(Misjudged):
    """Returns values that were never written."""

    defect: ClassVar[Record] = {"foreign": 1, "prefix": None}


class WritesOnce(Misjudged):
    """Fails to write to a database that exists."""

    defect: ClassVar[Record] = {"write_error": "read-only"}


class AuditsAnotherTrace(Misjudged):
    """Knows of fewer commits than the writer acknowledged."""

    defect: ClassVar[Record] = {"acknowledged": 3}


class TiresEarly(CrashTested):
    """Fails to write more commits than the usual phases have."""

    def commit(self, file: int, number: int) -> None:
        """Write one of the first commits."""
        if number > _COMMITS:
            print(json.dumps({"error": "too many open cursors"}), flush=True)
            raise SystemExit(1)
        super().commit(file, number)


class OpensNoLargeDatabase(Misjudged):
    """Opens no database of more commits than the usual phases have."""

    fewest, most = _COMMITS + 1, 10**6
    defect: ClassVar[Record] = {"open_error": "the map is full", "prefix": None}


class EndsInMidair(CrashTested):
    """Ends with success before its last commit."""

    def note(self, kind: int, commit: int = 0) -> None:
        """End where it would say that all is done."""
        if kind == _DONE:
            raise SystemExit(0)
        super().note(kind, commit)


class FailsInMidair(CrashTested):
    """Ends with a failure after its last commit."""

    def write_commits(self) -> int:
        """Write, and fail."""
        return super().write_commits() or 1


class NeedsALicence(CrashTested):
    """Works once there is a file `licence` next to its executable."""

    def write_commits(self) -> int:
        """Write, if it may."""
        if Path(self.path).with_name("licence").exists():
            return super().write_commits()
        print("no licence", file=sys.stderr)
        return 1
