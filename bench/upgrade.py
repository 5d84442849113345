"""How long the first start after an upgrade takes on a database that is full: migrations add tables and columns and touch no row,
so it may take two seconds longer than another start of the same program on the same rows.

    upgrade.py BINARY FOLDER [--rows 10000000] [--before 0043_models] [--postgres URL]

Makes the database as the releases before that migration left it, by the texts of the migrations, and fills it: a third of the
rows are finished jobs, the others their holds and captures. Prints both starts and ends with 1 when the first took longer."""

import argparse
import pathlib
import re
import sqlite3
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tests" / "faults")]

from filling import Lite, Postgres, fill  # noqa: E402
from service import Node, database_of, free_port, sql  # noqa: E402

MIGRATIONS = HERE.parent / "crates" / "store" / "migrations"
MOST_LONGER_S = 2.0
ACCOUNTS = 100


def text_for(text, postgres):
    """The part of a migration that is for a database, in its words."""
    lines, wanted = [], True
    for line in text.splitlines():
        only = re.fullmatch(r"-- only (\w+)", line)
        if only:
            wanted = only[1] in ("both", "postgres" if postgres else "sqlite")
        elif wanted:
            lines.append(line)
    marks = {"{clustered}": "" if postgres else "WITHOUT ROWID", "{apart}": ""}
    return re.sub(r"\{\w+\}", lambda mark: marks[mark[0]], "\n".join(lines))


def older(before, postgres, run):
    """Applies the migrations before one, as their releases did."""
    run("CREATE TABLE schema_version (version BIGINT PRIMARY KEY NOT NULL, name TEXT NOT NULL)")
    files = [file for file in sorted(MIGRATIONS.glob("*.sql")) if file.stem < before]
    for number, file in enumerate(files, 1):
        text = file.read_text()
        run(text_for(text, postgres))
        widens = (", widens", f", {int('-- widens' in text.splitlines())}") if file.stem >= "0028" else ("", "")
        run(f"INSERT INTO schema_version (version, name{widens[0]}) VALUES ({number}, '{file.stem}'{widens[1]})")
    names = [f"{number:036d}" for number in range(ACCOUNTS)]
    for name in names:
        run(
            "INSERT INTO account (id, email, email_key, balance, frozen, max_queue, entries, disabled, created_ms) "
            f"VALUES ('{name}', '{name}@example.com', '{name}@example.com', 0, 0, 100, 0, FALSE, 1)"
        )
    return names


def main():
    words = argparse.ArgumentParser()
    words.add_argument("binary")
    words.add_argument("folder", type=pathlib.Path)
    words.add_argument("--rows", type=int, default=10_000_000)
    words.add_argument("--before", default="0043_models")
    words.add_argument("--postgres")
    words = words.parse_args()
    words.folder.mkdir(parents=True, exist_ok=True)
    database = database_of(words.postgres, "upgrade") if words.postgres else None
    if database:
        names = older(words.before, True, lambda text: sql(database, text))
        rows = Postgres(database)
    else:
        file = sqlite3.connect(words.folder / "atelier.db", isolation_level=None)
        names = older(words.before, False, file.executescript)
        file.close()
        rows = Lite(str(words.folder))
    jobs = words.rows // 3
    took = fill(rows, {name: jobs // ACCOUNTS for name in names}, keys=False)
    what = "PostgreSQL" if database else "SQLite"
    print(f"{what} before {words.before}: {jobs:,} jobs and {2 * jobs:,} ledger rows in {took:.0f} s, {rows.size() / 1e9:.1f} GB", flush=True)
    node = Node(words.binary, str(words.folder), free_port(), database, {"LOG_LEVEL": "error"})
    first = node.start(wait=600)
    node.stop()
    again = node.start(wait=600)
    node.stop()
    code, said = node.audit() if words.rows <= 600_000 else (0, "not asked of so many rows")
    print(f"first start {first:.2f} s, another {again:.2f} s; audit: {said.strip()[-400:]}")
    if database:
        sql(words.postgres, f'DROP DATABASE "{database.rsplit("/", 1)[1]}"')
    if first > again + MOST_LONGER_S or code:
        sys.exit("that is longer than promised" if not code else "the books are not clean")


main()
