"""Nodes over one PostgreSQL: one dies, one freezes and comes back, all are replaced one after the other.

    nodes.py BINARY FOLDER --postgres URL [--old BINARY] [--only dead|frozen|rolling]

With --old the nodes begin as that build and are replaced by BINARY, beside each other for a while."""

import argparse
import http.server
import os
import threading
import time

import auditor
from kill import FLEET
from load import Load
from service import Node, Sink, call, database_of, ended, free_port

# What a node that died had in hand goes on elsewhere within this many seconds.
GOES_ON_S = 35
DELAY_S = 12


def fleet(words, name, count, binary=None):
    """Nodes of one database and one folder for files."""
    database = database_of(words.postgres, f"{name}{os.getpid()}")
    folder = os.path.join(words.folder, name)
    os.makedirs(folder, exist_ok=True)
    nodes = [
        Node(binary or words.binary, folder, free_port(), database, FLEET, os.path.join(folder, f"node{number}.log"))
        for number in range(count)
    ]
    for node in nodes:
        node.start()
    return nodes


class Silent:
    """A receiver that leaves its first caller without an answer, and notes when it was called."""

    def __init__(self):
        silent = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                self.rfile.read(int(self.headers.get("content-length", 0)))
                silent.times.append(time.monotonic())
                if len(silent.times) == 1:
                    time.sleep(60)
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.times = []
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        self.url = f"http://127.0.0.1:{server.server_port}/hook"
        threading.Thread(target=server.serve_forever, daemon=True).start()


def submit(node, key, prompt, hook=None):
    body = {"prompt": prompt}
    if hook:
        body["hookUrl"] = hook
    status, answer = call(node.base, "POST", "/artgen/v1/imagine", key, body)
    if status != 200:
        raise RuntimeError(f"{status} {answer}")
    return answer["data"]["jobId"]


def final(node, key, job):
    status, answer = call(node.base, "GET", f"/jobs/v1/{job}", key)
    return status == 200 and answer["data"]["status"] in ("SUCCESS", "FAILED")


def until(what, within):
    end = time.monotonic() + within
    while not what():
        if time.monotonic() > end:
            return None
        time.sleep(0.1)
    return time.monotonic()


def stopped(nodes):
    """Stops nodes; what the audit of their database finds."""
    for node in nodes:
        node.stop()
    code, said = nodes[0].audit()
    return [said[-800:]] if code else []


def dead(words):
    """A node is killed with jobs and a callback in hand; the other one goes on with them."""
    one, other = fleet(words, "dead", 2)
    _, key = one.account(f"dead-{os.getpid()}", 1000)
    silent = Silent()
    told = submit(one, key, "boat [[fail: on purpose]] --ar 1:1", silent.url)
    until(lambda: silent.times, 20)
    # The second node stands still while the first one takes the jobs, so that they are in its hands.
    other.freeze()
    jobs = [submit(one, key, f"boat {number} [[delay {DELAY_S}s]] [[fail: on purpose]]") for number in range(4)]
    time.sleep(2)
    one.kill()
    killed = time.monotonic()
    other.freeze(False)
    wrong = []
    ended = until(lambda: all(final(other, key, job) for job in jobs), 120)
    went_on = None if ended is None else ended - killed - DELAY_S
    if went_on is None or went_on > GOES_ON_S:
        wrong.append(f"jobs went on after {went_on} s")
    again = until(lambda: len(silent.times) > 1, 90)
    again = None if again is None else silent.times[1] - killed
    if again is None or again > GOES_ON_S:
        wrong.append(f"the callback was sent again after {again} s")
    wrong += stopped([other])
    print(f"  a node dies: its jobs went on after {went_on or -1:.1f} s, its callback {told[:8]} after {again or -1:.1f} s")
    return wrong


def frozen(words):
    """A node stands still for longer than its leases and comes back: what it then writes changes nothing."""
    nodes = fleet(words, "frozen", 2)
    grants = {"caller": 100_000}
    accounts = {"caller": nodes[0].account(f"frozen-{os.getpid()}", grants["caller"])}
    notes, sink = auditor.Notes(), Sink()
    load = Load([node.base for node in nodes], accounts, notes, sink, 8, "frozen")
    time.sleep(4)
    nodes[0].freeze()
    time.sleep(GOES_ON_S + 5)
    nodes[0].freeze(False)
    time.sleep(5)
    load.stop()
    wrong, figures = auditor.check(nodes[1].base, accounts, grants, notes, sink)
    wrong += stopped(nodes)
    print(f"  a node stands still for {GOES_ON_S + 5} s: {figures['jobs']} jobs, {figures['unanswered']} calls asked again")
    return wrong


def rolling(words):
    """Nodes are stopped and replaced one after the other, while callers ask whichever answers."""
    nodes = fleet(words, "rolling", 3, words.old)
    grants = {"caller": 100_000}
    accounts = {"caller": nodes[0].account(f"rolling-{os.getpid()}", grants["caller"])}
    notes, sink = auditor.Notes(), Sink()
    load = Load([node.base for node in nodes], accounts, notes, sink, 16, "rolling")
    stops = []
    for node in nodes:
        time.sleep(4)
        stops.append(node.stop())
        node.binary = words.binary
        node.start()
    time.sleep(4)
    load.stop()
    wrong, figures = auditor.check(nodes[0].base, accounts, grants, notes, sink)
    wrong += stopped(nodes)
    slowest = max(load.waits)
    print(
        f"  three nodes replaced{' by another build' if words.old else ''}: {figures['jobs']} jobs, slowest stop "
        f"{max(stops):.1f} s, {figures['unanswered']} calls asked again, slowest answer {slowest:.1f} s"
    )
    return wrong


def main():
    words = argparse.ArgumentParser()
    words.add_argument("binary")
    words.add_argument("folder")
    words.add_argument("--postgres", required=True)
    words.add_argument("--old")
    words.add_argument("--only")
    words = words.parse_args()
    wrong = []
    for story in (dead, frozen, rolling):
        if words.only in (None, story.__name__):
            wrong += story(words)
    ended("nodes", wrong)


if __name__ == "__main__":
    main()
