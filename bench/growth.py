"""What a database full of old jobs costs: the same calls against an empty database and against one with many finished
jobs, half of them of one account, with two ledger rows each.

    growth.py BINARY FOLDER [--jobs 1000000] [--accounts 1000] [--postgres URL] [--seconds 10] [--clients 16]

Rows are written past the service, as its commits would have left them, and `atelier audit` is asked whether that is so.
Calls come at a fixed rate, half of what the empty database takes at most and no more than --rate; a call that waits for its turn counts as
waiting, so that a slow answer is not hidden by the ones it holds up."""

import argparse
import http.client
import json
import os
import pathlib
import random
import sqlite3
import subprocess
import sys
import threading
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "faults"))

from kill import SETTINGS  # noqa: E402
from service import Node, database_of, free_port  # noqa: E402

DAY_MS = 86_400_000
CHUNK = 50_000


def fill(account, first, count, whole, now_ms):
    """Statements that give an account so many finished jobs, spread over a year."""
    apart = 365 * DAY_MS // max(whole, 1)
    series = f"WITH RECURSIVE n (i) AS (SELECT CAST({first} AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < {first + count - 1})"
    job = f"'{account}-' || SUBSTR(CAST(1000000000 + i AS TEXT), 2)"
    made = f"{now_ms} - CAST({whole} - i AS BIGINT) * {apart}"
    yield (
        f"{series} INSERT INTO job (id, account_id, operation, queue, state, speed, progress, request, output, price, quota, "
        "created_ms, started_ms, finished_ms, deadline_ms, updated_ms, revision, turn_ms, not_before_ms, fence, lease_owner, "
        f"lease_until_ms, tries, lane, hook_url) SELECT {job}, '{account}', 'artgen.imagine', 'artgen', 2, 1, 100, "
        "'{\"prompt\":\"a lighthouse on a cliff at dusk, oil painting, dramatic clouds\"}', '{}', 0, 0, "
        f"{made}, {made}, {made} + 5000, {made} + 3000000, {made} + 5000, 3, {made}, 0, 1, NULL, NULL, 1, '', NULL FROM n"
    )
    for number, kind in ((1, "hold"), (2, "capture")):
        yield (
            f"{series} INSERT INTO ledger (id, account_id, number, job_id, kind, amount, balance_delta, frozen_delta, "
            f"balance_after, frozen_after, reason, time_ms) SELECT '{kind}-' || {job}, account.id, "
            f"account.entries + 2 * (i - {first}) + {number}, {job}, '{kind}', 0, 0, 0, account.balance, account.frozen, '', "
            f"{made} + {5000 if number == 2 else 0} FROM n, account WHERE account.id = '{account}'"
        )
    yield f"UPDATE account SET entries = entries + {2 * count} WHERE id = '{account}'"


SUMS = [
    "DELETE FROM tally",
    "DELETE FROM spent",
    "INSERT INTO tally SELECT account_id, created_ms / 86400000, operation, state, COUNT(*) FROM job GROUP BY 1, 2, 3, 4",
    "INSERT INTO spent SELECT account_id, finished_ms / 3600000, operation, COUNT(*), SUM(quota) FROM job WHERE state = 2 GROUP BY 1, 2, 3",
]


class Sql:
    """Statements past the service, on either database."""

    def __init__(self, node):
        self.url = node.database
        if not self.url:
            self.file = sqlite3.connect(os.path.join(node.folder, "atelier.db"), isolation_level=None)
            self.file.execute("PRAGMA synchronous = OFF")

    def run(self, statements):
        if self.url:
            text = ";\n".join(["BEGIN", *statements, "COMMIT"]) + ";\n"
            subprocess.run(["psql", self.url, "-q", "-v", "ON_ERROR_STOP=1"], input=text, text=True, check=True, capture_output=True)
            return
        self.file.execute("BEGIN")
        for one in statements:
            self.file.execute(one)
        self.file.execute("COMMIT")

    def close(self):
        if self.url:
            subprocess.run(["psql", self.url, "-qc", "VACUUM ANALYZE"], check=True, capture_output=True)
        else:
            self.file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self.file.close()


class Line:
    """A connection that is kept."""

    def __init__(self, base, key):
        where = urllib.parse.urlsplit(base)
        self.line = http.client.HTTPConnection(where.hostname, where.port, timeout=60)
        self.key = key

    def ask(self, method, path, body=None):
        head = {"SVC-API-KEY": self.key}
        if body is not None:
            head["Content-Type"] = "application/json"
        self.line.request(method, path, json.dumps(body) if body is not None else None, head)
        answer = self.line.getresponse()
        text = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{method} {path}: {answer.status} {text[:200]}")
        return text


def calls(jobs, known):
    """Name and call of everything that is measured; a call takes a connection and dice."""
    page = max(jobs // 20 // 2, 1)
    job = lambda dice: known[dice.randrange(len(known))]  # noqa: E731
    return {
        "fetch": lambda line, dice: line.ask("GET", f"/jobs/v1/{job(dice)}"),
        "fetch-list": lambda line, dice: line.ask("GET", "/artgen/v1/fetch-list?page=1&limit=20"),
        "fetch-list, a page in the middle": lambda line, dice: line.ask("GET", f"/artgen/v1/fetch-list?page={page}&limit=20"),
        "usage": lambda line, dice: line.ask("GET", "/account/v1/usage"),
        "ledger": lambda line, dice: line.ask("GET", "/account/v1/ledger?page=1&limit=20"),
        "submit": lambda line, dice: line.ask("POST", "/artgen/v1/imagine", {"prompt": "boat [[fail: on purpose]]"}),
        "submit to end": lambda line, dice: ended(line),
    }


def ended(line):
    """A job's whole way: accepted, leased, settled."""
    told = json.loads(line.ask("POST", "/artgen/v1/imagine", {"prompt": "boat [[fail: on purpose]]"}))
    while True:
        shown = json.loads(line.ask("GET", f"/jobs/v1/{told['data']['jobId']}"))
        if shown["data"]["status"] in ("SUCCESS", "FAILED"):
            return
        time.sleep(0.005)


def measure(node, key, act, clients, seconds, rate):
    """Times of calls in milliseconds, sorted: as fast as possible without a rate, else from when each was due."""
    times, lock, end = [], threading.Lock(), time.monotonic() + seconds

    def go(number):
        dice, line, due = random.Random(number), Line(node.base, key), time.monotonic()
        while due < end:
            if rate:
                due += clients / rate
                time.sleep(max(0, due - time.monotonic()))
                began = due
            else:
                due = began = time.monotonic()
            act(line, dice)
            took = (time.monotonic() - began) * 1000
            with lock:
                times.append(took)

    threads = [threading.Thread(target=go, args=(number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(times)


def main():
    words = argparse.ArgumentParser()
    words.add_argument("binary")
    words.add_argument("folder")
    words.add_argument("--jobs", type=int, default=1_000_000)
    words.add_argument("--accounts", type=int, default=1000)
    words.add_argument("--postgres")
    words.add_argument("--seconds", type=float, default=10)
    words.add_argument("--clients", type=int, default=16)
    words.add_argument("--rate", type=float, default=100, help="calls a second at most")
    words = words.parse_args()
    database = database_of(words.postgres, f"growth{os.getpid()}") if words.postgres else None
    settings = dict(SETTINGS, LOG_LEVEL="error")
    node = Node(words.binary, words.folder, free_port(), database, settings)
    node.start()
    large, key = node.account("large", 1_000_000, 100_000)
    small = [node.account(f"small{number}", 0)[0] for number in range(words.accounts - 1)]
    known = [json.loads(Line(node.base, key).ask("POST", "/artgen/v1/imagine", {"prompt": "boat [[fail: x]]"}))["data"]["jobId"] for _ in range(5)]
    found = {}
    rates = {}

    def round_of(name, jobs, known):
        for what, act in calls(jobs, known).items():
            if name == "empty":
                most = measure(node, key, act, words.clients, words.seconds / 2, None)
                rates[what] = max(min(len(most) / (words.seconds / 2) / 2, words.rate), 1)
            times = measure(node, key, act, words.clients, words.seconds, rates[what])
            found.setdefault(what, []).append((times[len(times) // 2], times[len(times) * 99 // 100]))

    round_of("empty", 0, known)
    node.stop()
    began = time.monotonic()
    sql, now_ms = Sql(node), int(time.time() * 1000) - DAY_MS
    half = words.jobs // 2
    for first in range(0, half, CHUNK):
        sql.run(list(fill(large, first, min(CHUNK, half - first), half, now_ms)))
    each = (words.jobs - half) // max(len(small), 1)
    for start in range(0, len(small), 50):
        batch = [one for account in small[start : start + 50] for one in fill(account, 0, each, each, now_ms)] if each else []
        sql.run(batch)
    sql.run(SUMS)
    sql.close()
    print(f"{half + each * len(small)} jobs written in {time.monotonic() - began:.0f} s")
    code, said = node.audit()
    print(f"atelier audit: {'clean' if code == 0 else said[-600:]}")
    took = node.start(wait=120)
    print(f"start: {took:.2f} s", flush=True)
    old = [f"{large}-{number:09d}" for number in random.Random(3).sample(range(half), min(1000, half))]
    round_of("full", half, old)
    status = pathlib.Path(f"/proc/{node.process.pid}/status").read_text()
    memory = next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))
    node.stop()
    print(f"memory at most: {int(memory) // 1024} MiB")
    print(f"{'milliseconds':34} {'empty p50':>10} {'p99':>8} {'full p50':>10} {'p99':>8}   at calls/s")
    for what, (empty, full) in found.items():
        print(f"{what:34} {empty[0]:10.1f} {empty[1]:8.1f} {full[0]:10.1f} {full[1]:8.1f}   {rates[what]:.0f}")
    sys.exit(code)


main()
