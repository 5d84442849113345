"""kill -9, again and again, while callers ask with keys; then both audits.

    kill.py BINARY FOLDER [--kills 200] [--clients 64] [--nodes 3 --postgres URL]
"""

import argparse
import os
import random
import sys
import time

import auditor
from load import Load
from service import Node, Sink, database_of, free_port

SETTINGS = {
    "LIMITS_SUBMITS_PER_SECOND": 0,
    "LIMITS_CALLS_PER_SECOND": 0,
    "WORKER_THREADS": 2,
    "DEMO_ACCOUNT": "false",
    "LOG_LEVEL": "error",
    "CALLBACKS_SCHEDULE_S": "1,2,4,8,16,32",
    # Begun again as often as it is killed: what is asked here is whether anything is lost or charged twice.
    "JOBS_TRIES": 1000,
}
# What nodes of one service have in common besides: addresses in answers and callbacks name the service, not a node.
FLEET = dict(SETTINGS, MASTER_KEY="00" * 32, BASE_URL="http://127.0.0.1:8080")


def main():
    words = argparse.ArgumentParser()
    words.add_argument("binary")
    words.add_argument("folder")
    words.add_argument("--kills", type=int, default=200)
    words.add_argument("--clients", type=int, default=64)
    words.add_argument("--nodes", type=int, default=1)
    words.add_argument("--postgres")
    words = words.parse_args()
    dice = random.Random(1)
    database = database_of(words.postgres, f"kill{os.getpid()}") if words.postgres else None
    folder = words.folder
    sink = Sink()
    sink.failing = 7
    settings = FLEET if words.nodes > 1 else SETTINGS
    # Results lie where every node finds them.
    nodes = [
        Node(words.binary, folder, free_port(), database, settings, log=os.path.join(folder, f"node{number}.log"))
        for number in range(words.nodes)
    ]
    for node in nodes:
        node.start()
    grants = {f"caller{number}": 100_000 for number in range(4)}
    accounts = {name: nodes[0].account(f"{name}-{os.getpid()}", grant) for name, grant in grants.items()}
    notes = auditor.Notes()
    began = time.monotonic()
    load = Load([node.base for node in nodes], accounts, notes, sink, words.clients, "kill")
    starts, failed_starts, kills = [], [], 0
    while kills < words.kills:
        time.sleep(dice.uniform(0.05, 0.9))
        node = dice.choice(nodes)
        node.kill()
        kills += 1
        time.sleep(dice.uniform(0, 0.2))
        while True:
            # As whoever supervises a service does: what ended at its start is started again.
            try:
                starts.append(node.start())
                break
            except RuntimeError as error:
                failed_starts.append(str(error))
                if len(failed_starts) > 3:
                    raise
    lasted = time.monotonic() - began
    load.stop()
    wrong, figures = auditor.check(nodes[0].base, accounts, grants, notes, sink, patience=420)
    for node in nodes:
        node.stop()
    code, said = nodes[0].audit()
    starts.sort()
    what = f"{words.nodes} node(s) over PostgreSQL" if database else "one node on SQLite"
    print(f"{what}: {kills} x kill -9 under {words.clients} callers in {lasted:.0f} s")
    print(
        f"  {figures['keys']} keys, {figures['jobs']} jobs, {figures['unanswered']} calls without an answer asked again, "
        f"{figures['callbacks']} callbacks; start p50 {starts[len(starts) // 2]:.2f} s, slowest {starts[-1]:.2f} s"
    )
    if failed_starts:
        print(f"  {len(failed_starts)} starts failed and were repeated: {failed_starts[-1][-300:]}")
    print(f"  black-box auditor: {'clean' if not wrong else wrong[:10]}")
    print(f"  atelier audit: {'clean' if code == 0 else said[-1500:]}")
    sys.exit(1 if wrong or code else 0)


if __name__ == "__main__":
    main()
