"""Celery as its documents say: the worker is `celery -A celery_jobs worker`; `celery_jobs.py SECONDS` has 64 submitters send
tasks for some seconds, waits until all are done and prints how many there were and how long it took.

A task is acknowledged when it is done, so that a worker's death loses none, and its result is kept, as a job's is."""

import json
import multiprocessing
import os
import sys
import threading
import time

import celery
import redis

BROKER = os.environ["PEERS_REDIS"]
AT_ONCE = 64
# One interpreter runs one thread at a time.
PROCESSES = 2
app = celery.Celery("jobs", broker=BROKER, backend=BROKER)
app.conf.update(task_acks_late=True, broker_pool_limit=AT_ONCE, worker_hijack_root_logger=False)


@app.task(name="seed")
def seed(job):
    return {"seed": 1}


def submit(end, said):
    counts = []

    def go():
        count = 0
        while time.monotonic() < end:
            seed.apply_async(("0198a7de-5a7c-7cc3-a5a1-2f3a4b5c6d7e",))
            count += 1
        counts.append(count)

    threads = [threading.Thread(target=go) for _ in range(AT_ONCE // PROCESSES)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    said.put(sum(counts))


def main(seconds):
    began, said = time.monotonic(), multiprocessing.Queue()
    senders = [multiprocessing.Process(target=submit, args=(began + seconds, said)) for _ in range(PROCESSES)]
    for sender in senders:
        sender.start()
    sent = sum(said.get() for _ in senders)
    line = redis.Redis.from_url(BROKER)
    while line.llen("celery") or line.hlen("unacked"):
        time.sleep(0.01)
    print(json.dumps({"jobs": sent, "seconds": time.monotonic() - began}))


if __name__ == "__main__":
    main(float(sys.argv[1]))
