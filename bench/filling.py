"""Fills a database with finished jobs past the service, as its commits would have left them: one job row and two of the
ledger each. Quick, because rows come in the order of their keys, indexes that they would fill are made afterwards, and
nothing is synced until all is there. What breaks off meanwhile leaves a database to be thrown away."""

import os
import re
import sqlite3
import subprocess
import time

DAY_MS = 86_400_000
TABLES = ("job", "ledger")
# Indexes that are not made again: those that none of these rows is in, and the one whose order they come in. It must stay
# before the index of open jobs: of two that would do, SQLite takes the newer one when it knows nothing else.
STAYS = re.compile(r"WHERE.*(state = [01]|state < [12]|alias|parent_id|idempotency_key)|job_of_account", re.S)
REQUEST = '{"prompt":"a lighthouse on a cliff at dusk, oil painting, dramatic clouds"}'
# Every job came by one of so many keys of its account.
KEYS = 5
SUMS = [
    "DELETE FROM tally",
    "DELETE FROM tally_total",
    "DELETE FROM spent",
    "INSERT INTO tally SELECT account_id, created_ms / 86400000, operation, state, COUNT(*) FROM job WHERE state >= 2 GROUP BY 1, 2, 3, 4",
    "INSERT INTO tally_total SELECT account_id, operation, state, SUM(jobs), 0 FROM tally GROUP BY 1, 2, 3",
    "INSERT INTO spent SELECT account_id, finished_ms / 3600000, operation, COUNT(*), SUM(quota) FROM job WHERE state = 2 GROUP BY 1, 2, 3",
]
BY_KEY = [
    "DELETE FROM used",
    "INSERT INTO used SELECT account_id, finished_ms / 3600000, key_id, '', '', operation, created_ms / 86400000, '', COUNT(*), SUM(quota) "
    "FROM job WHERE state = 2 GROUP BY 1, 2, 3, 6, 7",
]


def series(count, postgres):
    """Rows i from 0 on."""
    if postgres:
        return f"FROM generate_series(0, {count - 1}) AS n (i)", ""
    return "FROM n", f"WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {count - 1}) "


def job_id(account, number):
    """As long as a real one."""
    return f"{account[-26:]}-{number:09d}"


def jobs(account, count, apart_ms, now_ms, postgres, keys):
    """Finished jobs of an account, so far apart; with a key each, unless the database is from before jobs named theirs."""
    source, head = series(count, postgres)
    key_id, key = (", key_id", f", 'key-' || (i % {KEYS})") if keys else ("", "")
    made = f"({now_ms} - ({count} - i) * CAST({apart_ms} AS BIGINT))"
    return (
        "INSERT INTO job (id, account_id, operation, queue, state, speed, progress, request, output, price, quota, created_ms, "
        f"started_ms, finished_ms, deadline_ms, updated_ms, revision, turn_ms, not_before_ms, fence, tries, lane{key_id}) "
        f"{head}SELECT '{account[-26:]}-' || SUBSTR(CAST(1000000000 + i AS TEXT), 2), '{account}', 'artgen.imagine', 'artgen', 2, 1, 100, "
        f"'{REQUEST}', '{{}}', 0, 0, {made}, {made}, {made} + 5000, {made} + 3000000, {made} + 5000, 3, {made}, 0, 1, 1, ''{key} {source}"
    )


def entries(account, count, apart_ms, now_ms, postgres, _):
    """A hold and a capture for each of them, after what the account has already."""
    source, head = series(2 * count, postgres)
    kind = "CASE i % 2 WHEN 0 THEN 'hold' ELSE 'capture' END"
    tail = f"'{account[-25:]}-' || SUBSTR(CAST(1000000000 + i / 2 AS TEXT), 2)"
    return (
        "INSERT INTO ledger (id, account_id, number, job_id, kind, amount, balance_delta, frozen_delta, balance_after, "
        f"frozen_after, reason, time_ms) {head}SELECT SUBSTR({kind}, 1, 1) || {tail}, account.id, account.entries + i + 1, '{account[-26]}' || {tail}, {kind}, "
        f"0, 0, 0, account.balance, account.frozen, '', {now_ms} - ({count} - i / 2) * CAST({apart_ms} AS BIGINT) + i % 2 * 5000 "
        f"{source}, account WHERE account.id = '{account}'" + ("" if postgres else " ORDER BY i")
    )


class Lite:
    """SQLite, while the service is stopped."""

    postgres = False

    def __init__(self, folder):
        self.path = os.path.join(folder, "atelier.db")
        self.file = sqlite3.connect(self.path, isolation_level=None)
        for word in ("journal_mode = OFF", "synchronous = OFF", "cache_size = -1000000", "threads = 2", "ignore_check_constraints = 1"):
            self.file.execute(f"PRAGMA {word}").fetchall()
        self.file.execute("BEGIN")

    def run(self, statements):
        for one in statements:
            self.file.execute(one)

    def indexes(self):
        found = self.file.execute("SELECT name, sql, tbl_name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL")
        return [(name, sql) for name, sql, table in found.fetchall() if table in TABLES]

    def finish(self):
        self.file.execute("COMMIT")
        self.file.execute("PRAGMA journal_mode = WAL").fetchall()
        self.file.close()
        with open(self.path, "rb+") as file:
            os.fsync(file.fileno())

    def size(self):
        return os.path.getsize(self.path)


class Postgres:
    """PostgreSQL: checkpoints far apart, foreign keys not asked about, commits not waited for."""

    postgres = True
    FILLING = {"max_wal_size": "2GB", "checkpoint_timeout": "1h", "full_page_writes": "off", "autovacuum": "off"}
    SESSION = "SET session_replication_role = replica; SET synchronous_commit = off; SET maintenance_work_mem = '1GB'; SET max_parallel_maintenance_workers = 2;\n"

    def __init__(self, url):
        self.url = url
        for name, value in self.FILLING.items():
            self.psql(f"ALTER SYSTEM SET {name} = '{value}'")
        self.psql("SELECT pg_reload_conf()")

    def psql(self, text):
        ran = subprocess.run(["psql", self.url, "-Atq", "-v", "ON_ERROR_STOP=1"], input=text, text=True, capture_output=True)
        if ran.returncode:
            raise RuntimeError(ran.stderr[-800:])
        return ran.stdout

    def run(self, statements):
        self.psql(self.SESSION + ";\n".join(statements) + ";\n")

    def indexes(self):
        found = self.psql(
            "SELECT i.indexname || '|' || i.indexdef FROM pg_indexes i WHERE i.tablename IN ('job', 'ledger') "
            "AND NOT EXISTS (SELECT 1 FROM pg_constraint c WHERE c.conname = i.indexname)"
        )
        return [tuple(line.split("|", 1)) for line in found.splitlines()]

    def finish(self):
        self.run(["VACUUM (FREEZE, ANALYZE) job", "VACUUM (FREEZE, ANALYZE) ledger", "VACUUM ANALYZE"])
        for name in self.FILLING:
            self.psql(f"ALTER SYSTEM RESET {name}")
        self.psql("SELECT pg_reload_conf(); CHECKPOINT;")

    def size(self):
        return int(self.psql("SELECT pg_database_size(current_database())"))


def fill(sql, shares, days=365, say=lambda *_: None, keys=True):
    """Gives accounts (identifier to a number) that many jobs over so many days; how many seconds it took."""
    began, now_ms = time.monotonic(), int(time.time() * 1000) - DAY_MS
    # In the order of the keys that they get.
    shares = sorted((account, count) for account, count in shares.items() if count)
    again = [(name, made) for name, made in sql.indexes() if not STAYS.search(made)]
    sql.run([f"DROP INDEX {name}" for name, _ in again])
    rows = [(account, count, days * DAY_MS // count, now_ms, sql.postgres, keys) for account, count in shares]
    sql.run([jobs(*one) for one in rows])
    say("jobs", time.monotonic() - began)
    sql.run([entries(*one) for one in rows])
    sql.run([f"UPDATE account SET entries = entries + {2 * count} WHERE id = '{account}'" for account, count in shares])
    say("ledger", time.monotonic() - began)
    for _, made in again:
        sql.run([made])
    say("indexes", time.monotonic() - began)
    sql.run(SUMS + (BY_KEY if keys else []))
    sql.finish()
    return time.monotonic() - began
