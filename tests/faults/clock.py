"""Wall clocks that are set while jobs are at a vendor: that of the service's machine on SQLite, that of the server under two
nodes on PostgreSQL. Nothing ends earlier, waits longer or is asked for twice; what is shown goes by the new time a minute later.

    clock.py BINARY FOLDER --postgres URL

The vendor is another Atelier, whose clock nobody sets. A library shifts the wall clock of the service's process by what a file
says; a function in the database's first schema tells another time than its server does."""

import calendar
import os
import subprocess
import time

from kill import FLEET, SETTINGS
from service import Node, arguments, call, database_of, ended, free_port, sql

# How long each clock is watched: a large difference is taken over when it has lasted a minute.
WATCHED_S = 80
# Every job takes its vendor this long and a picture's time, there is one every so often, and it is to be done within the last.
DELAY_S, EVERY_S, DONE_S = 4, 4, 240
STEPS = (-3600, -120, 3600, 60, -60)

FUNCTION = """
CREATE TABLE clock_set (seconds BIGINT NOT NULL); INSERT INTO clock_set VALUES (0);
CREATE FUNCTION clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS
  'SELECT pg_catalog.clock_timestamp() + make_interval(secs => seconds) FROM public.clock_set';
"""


def submit(node, key):
    status, answer = call(node.base, "POST", "/artgen/v1/imagine", key, {"prompt": f"a lake [[delay {DELAY_S}s]]"})
    if status != 200:
        raise RuntimeError(f"{status} {answer}")
    return answer["data"]["jobId"]


def seen(node, key, job):
    return call(node.base, "GET", f"/jobs/v1/{job}", key)[1]["data"]


def moment(text):
    """Seconds since 1970 of a time that was shown."""
    return calendar.timegm(time.strptime(text[:19].replace("T", " "), "%Y-%m-%d %H:%M:%S"))


def watch(nodes, key, by, wrong, name):
    """Submits a job now and then, at nodes in turn, while a clock is wrong, and follows each; how far the date
    of the last one is ahead of the real time."""
    began, open_jobs, done, number, ahead = time.monotonic(), {}, 0, 0, {}
    while time.monotonic() - began < WATCHED_S or open_jobs:
        if time.monotonic() - began < WATCHED_S:
            job = submit(nodes[number % len(nodes)], key)
            open_jobs[job] = time.monotonic()
            ahead[job] = (number, moment(seen(nodes[0], key, job)["createdAt"]) - time.time())
            number += 1
        for job, since in list(open_jobs.items()):
            told = seen(nodes[0], key, job)
            took = time.monotonic() - since
            if told["status"] in ("SUCCESS", "FAILED"):
                del open_jobs[job]
                done += 1
                if told["status"] == "FAILED":
                    wrong.append(f"{name} {by} s: {told['message']} after {took:.1f} s")
            elif took > DONE_S:
                del open_jobs[job]
                wrong.append(f"{name} {by} s: {told['status']} for {took:.0f} s")
        time.sleep(EVERY_S)
    print(f"  {name}, set by {by} s: {done} jobs", flush=True)
    return max(ahead.values())[1]


def story(name, nodes, vendor, wrong, set_clock):
    _, upstream = vendor.account(f"{name}-upstream-{os.getpid()}", 100_000)
    made = nodes[0].operate("POST", "/admin/v1/backends", {
        "vendor": "relay", "name": "upstream", "base_url": vendor.base, "rank": 1})  # fmt: skip
    nodes[0].operate("POST", f"/admin/v1/backends/{made['id']}/accounts", {
        "name": "first", "credential": upstream, "concurrency": 50})  # fmt: skip
    account, key = nodes[0].account(f"{name}-{os.getpid()}", 100_000)
    now = 0
    for by in STEPS:
        before = [submit(nodes[0], key) for _ in range(3)]
        time.sleep(1)
        now += by
        set_clock(now)
        ahead = watch(nodes, key, by, wrong, name)
        for job in before:
            told = seen(nodes[0], key, job)
            if told["status"] != "SUCCESS":
                wrong.append(f"{name} {by} s: one from before is {told['status']} {told['message']}")
        # What is small is drawn in at a hundredth.
        if abs(by) > 60 and abs(ahead - now) > 5:
            wrong.append(f"{name} {by} s: what is shown is {ahead - now:.0f} s away from the clock")
        code, said = nodes[0].audit(live=True)
        if code:
            wrong.append(f"{name} {by} s: {said[-300:]}")
    # And once more while nobody works.
    kept = [submit(nodes[0], key) for _ in range(3)]
    for node in nodes:
        node.kill()
    set_clock(now + 7200)
    for node in nodes:
        node.start()
    end = time.monotonic() + DONE_S + 35
    while time.monotonic() < end and any(seen(nodes[0], key, job)["status"] != "SUCCESS" for job in kept):
        time.sleep(0.5)
    for job in kept:
        told = seen(nodes[0], key, job)
        if told["status"] != "SUCCESS":
            wrong.append(f"{name}, set while away: {told['status']} {told['message']}")
    held = nodes[0].operate("GET", f"/admin/v1/accounts/{account}")
    if float(held["freeze_balance"]) != 0:
        wrong.append(f"{name}: quota is held: {held}")
    for node in nodes:
        node.stop()
    code, said = nodes[0].audit()
    if code:
        wrong.append(f"{name}: {said[-300:]}")


def main():
    words, wrong = arguments("--postgres"), []
    os.makedirs(words.folder, exist_ok=True)
    source = os.path.join(os.path.dirname(__file__), "../../crates/store/tests/faults/clock.c")
    library = os.path.join(words.folder, "clock.so")
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)
    vendor = Node(words.binary, os.path.join(words.folder, "vendor"), free_port(), None, SETTINGS)
    vendor.start()

    file = os.path.join(words.folder, "seconds")

    def set_wall(seconds):
        with open(file + ".new", "w") as new:
            new.write(str(seconds))
        os.replace(file + ".new", file)

    set_wall(0)
    node = Node(words.binary, os.path.join(words.folder, "sqlite"), free_port(), None,
                dict(SETTINGS, TEST_CLOCK_FILE=file))  # fmt: skip
    usual = node.environment
    node.environment = lambda: dict(usual(), LD_PRELOAD=library)
    node.start()
    story("sqlite", [node], vendor, wrong, set_wall)

    name = f"clock{os.getpid()}"
    database = database_of(words.postgres, name)
    sql(database, FUNCTION)
    sql(database, f'ALTER DATABASE "{name}" SET search_path = public, pg_catalog')
    folder = os.path.join(words.folder, "postgres")
    os.makedirs(folder, exist_ok=True)
    nodes = [
        Node(words.binary, folder, free_port(), database, FLEET, os.path.join(folder, f"node{number}.log"))
        for number in range(2)
    ]
    for node in nodes:
        node.start()

    def set_database(seconds):
        sql(database, f"UPDATE clock_set SET seconds = {seconds}")

    story("postgres", nodes, vendor, wrong, set_database)
    vendor.stop()
    ended("clocks", wrong, "nothing ended early or waited, audits clean")


if __name__ == "__main__":
    main()
