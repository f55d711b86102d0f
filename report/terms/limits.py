"""The limits of what is read and planned, in one place.

They are far above honest use.  They bound the memory and the time that a damaged or
hostile file can cost, and report/docs/TRUST.md lists them.  The lengths of names are in
schema/names.schema.json.
"""

MOST_CONFIG_BYTES = 1 << 20  # of a TOML file
MOST_CONFIG_FILES = 1000  # in a folder
MOST_ITEMS = 1000  # of a list or a table in TOML
MOST_TEXT_CHARS = 10_000
MOST_TITLE_CHARS = 200
MOST_KEY_CHARS = 64
MOST_LEVELS = 32  # of nesting, in TOML and JSON
MOST_INTEGER = 2**64 - 1
# Of a number with a fraction in JSON, apart from 0: products and ratios stay finite.
FRACTIONS = (1e-100, 1e100)

MOST_DOCUMENT_BYTES = 16 << 20
MOST_LINES_BYTES = 1 << 30  # of a file of lines
# From here on, reports leave out rates over time and raw data, or need gigabytes.
LARGE_LINES_BYTES = 64 << 20
MOST_ANSWER_BYTES = 16 << 20  # of an executable, also to --describe

MOST_SWEEP_VALUES = 100
MOST_REPETITIONS = 10_000  # of a cell
LATENCY_REPETITIONS = 3  # of a cell, unless its suite has another number
MOST_CELLS = 10_000  # of a run
MOST_RUN_REPETITIONS = 200_000  # of all cells of a run
MOST_SHARDS = 10_000  # of a run
LONGEST_TIMEOUT_S = 365 * 86_400.0
