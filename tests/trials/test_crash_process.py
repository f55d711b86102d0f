"""What is kept of the words of an engine in a trial."""

from pathlib import Path

from scripts.trials.crash_process import Cut, Writer, audit
from tests.support.one_trial import durable_spec

# Answers a writer and an audit with an error that names a file of the database.
ENGINE = r"""#!/bin/sh
for word; do case $word in --db=*) db=${word#--db=};; esac; done
printf '{"acknowledged": 1, "open_error": "%s", "error": "%s"}\n' $db/LOG $db/LOG
echo "cannot read $db/CURRENT" >&2
"""


def test_files_of_the_database_are_named_without_the_place_of_the_trial(
    tmp_path: Path,
) -> None:
    program, database = tmp_path / "db_bench_fake", tmp_path / "mounted/db"
    program.write_text(ENGINE)
    program.chmod(0o755)
    database.mkdir(parents=True)
    spec = durable_spec(program, "log", "ext4", 1, 1)
    cut = Cut(tmp_path / "trace", 1, 2)
    assert audit(spec, database, cut).text("open_error") == "db/LOG"
    writer = Writer(spec, database, tmp_path / "trace")
    with writer.running():
        writer.wait()
    assert writer.error() == "db/LOG; cannot read db/CURRENT"
