"""The columns of the tables behind a chart, what they mean, and what they miss.

The page explains them once, so that a table needs short titles only.
"""

from __future__ import annotations

Columns = tuple[tuple[str, str], ...]  # title and meaning

PERCENTILES: Columns = (
    ("p50", "half of the calls took no longer"),
    ("p90", "nine calls of ten took no longer"),
    ("p99", "99 of a hundred; to 0.8 %, rounded up"),
    ("p99.9", "999 of a thousand"),
    ("p99.99", "9,999 of ten thousand"),
    ("max", "the longest, exact"),
)
_SAMPLES: Columns = (
    ("min", "the shortest, exact"),
    ("samples", "calls that were measured"),
)
SERVICE: Columns = (*PERCENTILES, *_SAMPLES)
LATENCY: Columns = (
    *PERCENTILES,
    ("observer", "how much slower the loop is with a clock in it"),
    *_SAMPLES,
)
OPEN_LOOP: Columns = (
    ("asked", "operations a second that were asked for"),
    ("offered", "operations a second that arrived"),
    ("achieved", "operations a second that were finished"),
    ("late starts", "began late, since the one before had not ended"),
    ("longest lag", "the latest start, after its intended time"),
    ("verdict", "saturated: less than 99 % of the offered rate achieved"),
)
WORK: Columns = (
    ("open", "opening the database before the clock starts"),
    ("loop", "the operations: timed"),
    ("flush", "handing everything to the operating system: timed"),
    ("settle", "until no deferred work is left"),
    ("close", "closing the database"),
    ("reopen", "another process opens the closed database, for the audit"),
    ("recover", "another process opens it after a kill, for the audit"),
)
LATER: Columns = (
    ("CPU", "processor time of settle and close"),
    ("CPU / op", "the same for each operation"),
    ("written", "bytes by write calls in settle and close"),
    ("to storage", "bytes sent to storage in settle and close"),
    ("CPU at rest", "processor time in the 10 ms after settle"),
)
PROCESSORS: Columns = (
    ("user", "processor time of all threads outside the kernel, for each operation"),
    ("system", "processor time of all threads in the kernel, for each operation"),
    ("CPUs", "processors in use on average"),
    ("faults", "pages mapped without reading, for each operation"),
    ("major faults", "pages that had to be read, for each operation"),
    ("switches", "context switches, voluntary or not, for each operation"),
)
MEMORY: Columns = (
    ("resident", "the largest resident size, mapped files included"),
    ("anonymous", "the part of it that no file backs, by samples"),
    ("of files", "the part of it that maps files, by samples"),
    ("on disk", "allocated when the database was closed"),
    ("peak", "the most that was allocated"),
    ("× live", "allocated at the end, for each byte of live entries"),
    ("peak × live", "the most allocated, for each byte of live entries"),
)
BYTES: Columns = (
    ("read", "by read calls"),
    ("from storage", "fetched from storage"),
    ("written", "by write calls"),
    ("to storage", "sent to storage"),
)
_TIMES: Columns = (*PERCENTILES[:4], PERCENTILES[-1])
WRITER: Columns = (
    ("asked", "writes a second that it was to make"),
    ("ops/s", "writes a second that it made, until the last reader ended"),
    ("MB/s", "keys and values of them, 2^20 bytes a second"),
    ("writes", "all of them"),
    *_TIMES,
)
TYPES: Columns = (
    ("operations", "of this type"),
    ("share", "of all operations"),
    *_TIMES,
)
EXPLAINED: tuple[tuple[str, Columns], ...] = (
    ("Latency", LATENCY),
    ("Open loop", OPEN_LOOP),
    ("State of the work", WORK),
    ("Left for later", LATER),
    ("Processors", PROCESSORS),
    ("Memory and disk", MEMORY),
    ("Bytes for each byte of entries", BYTES),
    ("A writer beside readers", WRITER[:4]),
    ("Types of operations", TYPES[:2]),
)
COUNTER_LIMITS = (
    "Bytes by read and write calls (rchar and wchar of /proc/self/io) miss what goes "
    "through a memory map, and count files that are not the database's.",
    "Bytes to storage (write_bytes) are counted when a page becomes dirty: a page "
    "that is written twice counts once, data that is deleted before it reaches the "
    "disk counts, and the journal of the file system does not.",
    "Bytes from storage (read_bytes) are exact, read-ahead included; what the page "
    "cache holds is not read again.",
    "Allocated bytes are of the files in the database's folder: after the flush, "
    "after settling, once closed, and ten times a second. A file that lives shorter "
    "can be missed in the peak; a deleted file that is still open always is.",
    "Anonymous and file-mapped memory are the largest of samples, at the end of the "
    "loop and ten times a second, so their sum need not be the largest resident "
    "size, which the kernel keeps.",
    "User and system time are told apart by samples, at the ticks of the kernel (4 to "
    "10 ms): of a short loop only their sum can be relied on, and one of them may be "
    "0.",
    "Processor time is of the whole process, the harness's share included: the floor "
    "shows how much that is.",
)
