"""The columns of the tables behind a chart: meaning and limitations.

The page explains them once, so that the tables can have short titles.
"""

from __future__ import annotations

from report.terms.class_stamp import CLASSES, PROOF_MEANINGS

Columns = tuple[tuple[str, str], ...]  # title and meaning

PERCENTILES: Columns = (
    ("p50", "half of the calls took this long or less"),
    ("p90", "9 of 10 calls took this long or less"),
    ("p99", "99 of 100; accurate to 1 %"),
    ("p99.9", "999 of 1,000"),
    ("p99.99", "9,999 of 10,000"),
    ("max", "longest call, exact"),
)
_SAMPLES: Columns = (
    ("min", "shortest call, exact"),
    ("samples", "number of measured calls"),
)
TOO_FEW = "– marks a percentile with fewer than ten samples above it."
SERVICE: Columns = (*PERCENTILES, *_SAMPLES)
LATENCY: Columns = (
    *PERCENTILES,
    ("observer", "how much reading the clock slows down the loop"),
    *_SAMPLES,
)
OPEN_LOOP: Columns = (
    ("requested", "requested operations per second"),
    ("offered", "operations per second that arrived"),
    ("achieved", "operations per second that finished"),
    ("late starts", "started late because the previous one had not finished"),
    ("longest lag", "longest delay of a start after its intended time"),
    ("verdict", "saturated: less than 99 % of the offered rate achieved"),
)
WORK: Columns = (
    ("open", "opening the database before the clock starts, per pass"),
    ("loop", "the operations, per pass: timed"),
    ("flush", "handing everything to the operating system, per pass: timed"),
    ("settle", "waiting until no deferred work is left, per pass"),
    ("close", "closing the database, per pass"),
    ("reopen", "another process opens the closed database, for the audit"),
    ("recover", "another process opens it after a kill, for the audit"),
)
LATER: Columns = (
    ("CPU", "processor time of settle and close, of all passes"),
    ("CPU / op", "the same per operation"),
    ("written", "bytes written by write calls in settle and close, of all passes"),
    ("to storage", "bytes sent to storage in settle and close, of all passes"),
    ("CPU at rest", "share of a processor in use after settle"),
)
DURABILITY: Columns = (
    ("promise", "what a crash of the machine may cost, as the engine documents it"),
    ("class", "the lower of what is documented and found: report/docs/DURABILITY.md"),
    ("barriers", "flushes and durable writes in the loop and the flush"),
    ("per op", "the same per operation"),
    ("later", "the same in settle and close"),
    ("device", "bytes written by the device while the process ran, by anyone"),
)
PROCESSORS: Columns = (
    ("user", "user processor time of all threads, per operation"),
    ("system", "system processor time of all threads, per operation"),
    ("CPUs", "processors in use on average"),
    ("faults", "pages mapped without reading them, per operation"),
    ("major faults", "pages that had to be read, per operation"),
    ("switches", "voluntary and involuntary context switches, per operation"),
)
MEMORY: Columns = (
    ("resident", "largest resident size, mapped files included"),
    ("anonymous", "the part that is not backed by files, sampled"),
    ("of files", "the part that maps files, sampled"),
    ("on disk", "bytes allocated when the database was closed"),
    ("peak", "most bytes allocated at any time, sampled"),
    ("× live", "bytes allocated at the end per byte of live entries"),
    ("peak × live", "most bytes allocated per byte of live entries"),
)
LIMITS: Columns = (
    ("limited by", "what took most of the time, if it took at least half of it"),
    ("processor", "processor time per thread, as a share of the time"),
    ("device reads", "share of the time in which the disk read"),
    ("device writes", "share in which it wrote"),
    ("flushes", "share in which it emptied its cache, or in which syncs waited for it"),
)
DEVICE: Columns = (
    ("reads / op", "read requests to the disk per operation"),
    ("read / op", "bytes read from the disk per operation, read-ahead included"),
    ("read ×", "bytes read from the disk per byte returned"),
    ("written / op", "bytes written to the disk per operation, also by reads"),
    ("written ×", "bytes written to the disk until settled, per byte accepted"),
    ("accepted ×", "the part of them that was written until the last acknowledgement"),
    ("debt ×", "the rest: what the engine and the system still owed then"),
    ("disk flushes", "requests to empty the cache of the disk"),
    ("first call", "time of the first operation"),
    ("memory", "most memory charged to the process, page cache included"),
    ("page cache", "most page cache charged to the process, sampled"),
)
STEADY: Columns = (
    ("course", "shape of the rate, by its change points"),
    ("rewrites", "how often the data were rewritten"),
    ("steady after", "rewrites before the last five windows, which were steady"),
    ("steady", "repetitions that ended in a steady state"),
    ("steady rate", "operations per second in these windows: the rate of the chart"),
    ("steady written ×", "bytes written to the disk in them, per byte accepted"),
)
COLD: Columns = (
    ("open", "opening the database with nothing cached"),
    ("first call", "the first read after that"),
    ("warm after", "time until the rate reached nine tenths of its last third"),
    ("reads until then", "operations before that"),
    ("read from disk", "bytes read from the disk in the whole loop"),
)
BYTES: Columns = (
    ("read", "by read calls"),
    ("from storage", "fetched from storage"),
    ("written", "by write calls"),
    ("to storage", "sent to storage"),
)
_TIMES: Columns = (*PERCENTILES[:4], PERCENTILES[-1])
WRITER: Columns = (
    ("requested", "requested writes per second"),
    ("ops/s", "achieved writes per second, until the last reader finished"),
    ("MB/s", "their keys and values, in 2^20 bytes per second"),
    ("writes", "total number of writes"),
    *_TIMES,
)
TYPES: Columns = (
    ("operations", "number of operations of this type"),
    ("share", "share of all operations"),
    *_TIMES,
)
EXPLAINED: tuple[tuple[str, Columns], ...] = (
    ("Latency", LATENCY),
    ("Open loop", OPEN_LOOP),
    ("Time by phase", WORK),
    ("Deferred work", LATER),
    ("Durability", DURABILITY),
    ("Classes of durability", (*CLASSES, *PROOF_MEANINGS)),
    ("Processors", PROCESSORS),
    ("Limits", LIMITS),
    ("Memory and disk", MEMORY),
    ("The scenario's own disk", DEVICE),
    ("Steady state", STEADY),
    ("From cold to warm", COLD),
    ("Bytes per byte of entries", BYTES),
    ("Concurrent writer", WRITER[:4]),
    ("Types of operations", TYPES[:2]),
)
COUNTER_LIMITS = (
    "Bytes of read and write calls (rchar and wchar of /proc/self/io) exclude access "
    "through memory maps, and include files outside the database.",
    "Bytes to storage (write_bytes) are counted when a page becomes dirty. A page "
    "that is written twice is included once. Data that is deleted before it reaches "
    "the disk is included, and the journal of the file system is not.",
    "A barrier is a call that flushes (fsync, fdatasync, msync and the like) or a "
    "write that is durable on return (of a file opened with O_DSYNC, for example), "
    "through the C library.",
    "Bytes from storage (read_bytes) are exact and include read-ahead. Reads from the "
    "page cache are not counted.",
    "Allocated bytes are those of the files in the database's folder, sampled after "
    "the flush, after settling, after closing and ten times per second. The peak can "
    "miss a short-lived file, and always misses a deleted file that is still open.",
    "Anonymous and file-mapped memory are sampled at the end of the loop and ten "
    "times per second, and the largest samples are shown. Their sum may differ from "
    "the largest resident size, which the kernel records.",
    "The kernel separates user and system time by sampling at its ticks (every 4 to "
    "10 ms). For a short loop only their sum is reliable, and one of them may be 0.",
    "Processor time is that of the whole process, including the harness. The floor "
    "shows the harness's share.",
)
