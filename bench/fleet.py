"""Three nodes beside one, over one PostgreSQL: durable submits and whole jobs, in interleaved rounds, and what limits them.

    fleet.py RELEASE FOLDER --postgres URL [--nodes 3] [--rounds 5] [--seconds 3]

The same 96 connections of as many accounts as there are nodes ask one node, or each account's a node of its own: changes of one
account are one after the other wherever they come from, so that one account alone says nothing of nodes. Prints rates, their
ratio, what each part took of the processor and how long the database waited for the disk: on one machine nodes share its cores,
so that more is not to be had where one node already takes them all. Ends with 1 when the ledger does not balance."""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "peers"), str(HERE.parent / "tests" / "faults")]

from crowd import request  # noqa: E402
from kill import FLEET  # noqa: E402
from processes import processor_seconds  # noqa: E402
from service import Node, call, database_of, free_port, sql  # noqa: E402

CONNECTIONS = 96
STALLED = {"prompt": "a lighthouse at dawn [[stall]]", "timeout": 1200}


def server_of(url):
    """The first process of the server."""
    return int(sql(url, "SELECT pg_read_file('postmaster.pid')").split()[0])


def machine():
    """Busy and all ticks of the machine's cores."""
    ticks = [int(one) for one in pathlib.Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    return sum(ticks) - ticks[3] - ticks[4], sum(ticks)


class Fleet:
    """Nodes of one database, accounts, and of each a finished picture whose seed can be asked for."""

    def __init__(self, words, count):
        self.words, self.server = words, server_of(words.postgres)
        self.database = database_of(words.postgres, f"fleet{count}x{os.getpid()}")
        folder = words.folder / f"fleet{count}"
        folder.mkdir(parents=True, exist_ok=True)
        settings = dict(FLEET, LIMITS_DISK_FREE_PERCENT=0, WORKER_THREADS=0)
        self.nodes = [
            Node(str(words.release / "atelier"), str(folder), free_port(), self.database, settings, str(folder / f"node{number}.log"))
            for number in range(count)
        ]
        for node in self.nodes:
            node.start()
        self.asked = {"submits": [], "whole jobs": []}
        for number in range(words.nodes):
            _, key = self.nodes[0].account(f"fleet{number}", 900_000_000, 1_000_000)
            parent = self.ask(key, "POST", "/artgen/v1/imagine", {"prompt": "a lighthouse at dawn"})["data"]["jobId"]
            while self.ask(key, "GET", f"/jobs/v1/{parent}")["data"]["status"] != "SUCCESS":
                time.sleep(0.2)
            self.asked["submits"].append(request(key, "POST", "/artgen/v1/imagine", STALLED))
            self.asked["whole jobs"].append(request(key, "POST", "/artgen/v1/seed", {"jobId": parent}))

    def ask(self, key, method, path, body=None):
        status, answer = call(self.nodes[0].base, method, path, key, body)
        if status != 200:
            raise RuntimeError(f"{method} {path}: {status} {answer}")
        return answer

    def figures(self):
        """What has been used so far: seconds of nodes, of the server, of the machine; syncs of the server's log."""
        told = sql(self.database, "SELECT wal_sync, wal_sync_time FROM pg_stat_wal").split("|")
        busy, whole = machine()
        nodes = processor_seconds([node.process.pid for node in self.nodes])
        return {"nodes": nodes, "server": processor_seconds([self.server]), "busy": busy, "ticks": whole, "syncs": float(told[0]), "sync_ms": float(told[1])}

    def round(self, what):
        """A round at all nodes: jobs a second, and what was used for each."""
        time.sleep(1.2)
        before, began, left = self.figures(), time.monotonic(), self.nodes[0].left()
        command = [str(self.words.release / "atelier-bench"), "load"]
        more = [str(CONNECTIONS // len(self.asked[what])), str(self.words.seconds)]
        running = []
        for number, asked in enumerate(self.asked[what]):
            node = self.nodes[number % len(self.nodes)]
            one = subprocess.Popen([*command, f"127.0.0.1:{node.port}", *more], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            one.stdin.write(asked)
            one.stdin.close()
            one.stdin = None
            running.append(one)
        count = 0
        for one in running:
            out, wrong = one.communicate()
            if one.returncode:
                raise RuntimeError(wrong[:800])
            count += json.loads(out)["answered"]
        while what == "whole jobs" and self.nodes[0].left() > left:
            time.sleep(0.05)
        took = time.monotonic() - began
        # The server tells of its work with a delay.
        time.sleep(1.2)
        used = {name: value - before[name] for name, value in self.figures().items()}
        return {
            "rate": count / took,
            "nodes_ms": used["nodes"] * 1000 / count,
            "server_ms": used["server"] * 1000 / count,
            "busy": used["busy"] / max(used["ticks"], 1),
            "shared": count / max(used["syncs"], 1),
            "waiting": used["sync_ms"] / 1000 / took,
        }

    def stop(self):
        for node in self.nodes:
            node.stop()
        code, said = self.nodes[0].audit()
        sql(self.words.postgres, f'DROP DATABASE "{self.database.rsplit("/", 1)[1]}"')
        return [said[-600:]] if code else []


def main():
    words = argparse.ArgumentParser()
    words.add_argument("release", type=pathlib.Path)
    words.add_argument("folder", type=pathlib.Path)
    words.add_argument("--postgres", required=True)
    words.add_argument("--nodes", type=int, default=3)
    words.add_argument("--rounds", type=int, default=5)
    words.add_argument("--seconds", type=float, default=3)
    words = words.parse_args()
    sql(words.postgres, "ALTER SYSTEM SET track_wal_io_timing = on")
    sql(words.postgres, "SELECT pg_reload_conf()")
    fleets = {count: Fleet(words, count) for count in (1, words.nodes)}
    found, wrong = {}, []
    # Submits last: their jobs stay.
    for what in ("whole jobs", "submits"):
        for _ in range(words.rounds):
            for count, fleet in fleets.items():
                found.setdefault(what, {}).setdefault(count, []).append(fleet.round(what))
    for fleet in fleets.values():
        wrong += fleet.stop()
    print(f"{'':12} {'nodes':>5} {'a second':>22} {'ratio':>6} {'processor of nodes, ms':>23} {'of PostgreSQL, ms':>18} {'machine busy':>13} {'jobs a sync':>12} {'time in syncs':>14}")
    for what, sides in found.items():
        for count, rounds in sides.items():
            middle = {name: statistics.median(one[name] for one in rounds) for name in rounds[0]}
            rates = [one["rate"] for one in rounds]
            ratio = statistics.median(many["rate"] / one["rate"] for many, one in zip(rounds, sides[1]))
            spread = f"{middle['rate']:,.0f} ({min(rates):,.0f} to {max(rates):,.0f})"
            print(
                f"{what:12} {count:5} {spread:>22} {ratio:6.2f} {middle['nodes_ms']:23.2f} {middle['server_ms']:18.2f} "
                f"{middle['busy']:12.0%} {middle['shared']:12.1f} {middle['waiting']:13.0%}"
            )
    print(f"not as promised: {', '.join(wrong) or 'nothing'}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
