"""kill -9 while many callers ask with one key whose limit is worth a hundred jobs: exactly a hundred get in; then both audits.

    limits.py BINARY FOLDER [--kills 30] [--clients 64] [--nodes 3 --postgres URL]
"""

import argparse
import os
import random
import sys
import threading
import time

from kill import FLEET, SETTINGS
from service import Node, call, database_of, free_port

WORTH = 100
# More than there is room for, from every caller.
EACH = 6


class Caller(threading.Thread):
    """One caller: asks with keys of its own, each until it is answered."""

    def __init__(self, number, bases, api_key):
        super().__init__(daemon=True)
        self.number, self.bases, self.api_key = number, bases, api_key
        self.jobs, self.refused, self.wrong = set(), 0, []

    def run(self):
        dice = random.Random(self.number)
        for count in range(EACH):
            body = {"model": "image-1", "quality": "low", "prompt": f"boat {self.number} {count}", "async": True}
            headers = {"Idempotency-Key": f"limits-{self.number}-{count}"}
            while True:
                try:
                    base = dice.choice(self.bases)
                    status, answer = call(base, "POST", "/v1/images/generations", self.api_key, body, headers)
                except OSError:
                    time.sleep(dice.uniform(0.05, 0.3))
                    continue
                if status == 202:
                    self.jobs.add(answer["id"])
                elif status == 400 and answer["code"] == "key_limit":
                    self.refused += 1
                elif status in (409, 429, 500, 503):
                    time.sleep(dice.uniform(0.05, 0.3))
                    continue
                else:
                    self.wrong.append(f"{status} {answer}")
                break
            time.sleep(dice.uniform(0, 0.2))


def main():
    words = argparse.ArgumentParser()
    words.add_argument("binary")
    words.add_argument("folder")
    words.add_argument("--kills", type=int, default=30)
    words.add_argument("--clients", type=int, default=64)
    words.add_argument("--nodes", type=int, default=1)
    words.add_argument("--postgres")
    words = words.parse_args()
    dice = random.Random(1)
    database = database_of(words.postgres, f"limits{os.getpid()}") if words.postgres else None
    settings = FLEET if words.nodes > 1 else SETTINGS
    nodes = [
        Node(words.binary, words.folder, free_port(), database, settings, log=os.path.join(words.folder, f"node{number}.log"))
        for number in range(words.nodes)
    ]
    for node in nodes:
        node.start()
    account, api_key = nodes[0].account(f"limits-{os.getpid()}", 100_000)
    keys = f"/admin/v1/accounts/{account}/keys"
    key_id = nodes[0].operate("GET", keys)[0]["id"]
    limits = {"limits": [{"window": "total", "quota": WORTH}, {"window": "month", "quota": 10 * WORTH}]}
    nodes[0].operate("PATCH", f"{keys}/{key_id}", limits)
    callers = [Caller(number, [node.base for node in nodes], api_key) for number in range(words.clients)]
    for caller in callers:
        caller.start()
    kills = 0
    while kills < words.kills and any(caller.is_alive() for caller in callers):
        time.sleep(dice.uniform(0.05, 0.6))
        node = dice.choice(nodes)
        node.kill()
        kills += 1
        node.start()
    for caller in callers:
        caller.join(300)
    wrong = [one for caller in callers for one in caller.wrong]
    wrong += ["a caller was never answered" for caller in callers if caller.is_alive()]
    began = time.monotonic()
    while nodes[0].left() > 0 and time.monotonic() < began + 300:
        time.sleep(0.5)
    jobs = set().union(*(caller.jobs for caller in callers))
    succeeded = nodes[0].operate("GET", f"/admin/v1/usage?by=key&accountId={account}")["groups"]
    succeeded = sum(group["jobs"] for group in succeeded if group["id"] == key_id)
    spent = nodes[0].operate("GET", keys)[0]["limits"][0]["spent"]
    if len(jobs) != WORTH or succeeded != WORTH or spent != WORTH:
        wrong.append(f"{len(jobs)} jobs got in and {succeeded} succeeded, {spent} is spent, of {WORTH}")
    for live in (True, False):
        if not live:
            for node in nodes:
                node.stop()
        code, text = nodes[0].audit(live=live)
        if code != 0:
            wrong.append(f"the audit says {code}: {text}")
    refused = sum(caller.refused for caller in callers)
    print(f"{len(jobs)} jobs got in, {refused} did not, {kills} kills, {spent} spent")
    for one in wrong:
        print("WRONG:", one)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
