"""Queues that people use for such jobs, both over a Redis that syncs every write as the service does."""

import json
import os
import pathlib
import subprocess
import sys

import ours
from processes import begin, end, free_port, listens

HERE = pathlib.Path(__file__).resolve().parent
AT_ONCE = 64


class Redis:
    """A server of Debian's that has every write on disk before it answers."""

    def __init__(self, folder):
        self.port, log = free_port(), folder / "redis.log"
        command = ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(folder), "--save", ""]
        self.process = begin([*command, "--appendonly", "yes", "--appendfsync", "always"], log)
        listens(self.port, self.process, log)


class Queue:
    """A worker and a Redis that are measured; submitters are their callers and are not."""

    def __init__(self, folder, worker, submitter, environment, share=1.0):
        self.share = share
        self.redis = Redis(folder)
        words = {"port": self.redis.port, "url": f"redis://127.0.0.1:{self.redis.port}/0"}
        self.environment = {**os.environ, **{name: value.format(**words) for name, value in environment.items()}}
        self.worker = begin([word.format(**words) for word in worker], folder / "worker.log", self.environment, cwd=HERE)
        self.submitter = [word.format(**words) for word in submitter]
        self.roots = [self.redis.process.pid, self.worker.pid]

    def round(self, seconds):
        ran = subprocess.run([*self.submitter, str(seconds * self.share)], capture_output=True, text=True, env=self.environment, cwd=HERE, timeout=300)
        if ran.returncode:
            raise RuntimeError(ran.stderr[-800:])
        told = json.loads(ran.stdout)
        return told["jobs"], told["seconds"], None

    def stop(self):
        end(self.worker)
        end(self.redis.process)


def bullmq(_release, folder, _side):
    script = ["node", str(HERE / "bullmq.mjs")]
    return Queue(folder, [*script, "work", "{port}"], [*script, "submit", "{port}"], {"NODE_ENV": "production"})


def celery(_release, folder, _side):
    python = pathlib.Path(os.environ.get("PEERS_PYTHON") or sys.exit("PEERS_PYTHON is not set: eval \"$(scripts/peers)\"")) / "bin"
    # Threads, because 64 processes are more than two cores are good for. It takes tasks faster than it does them, and a round
    # lasts until all are done, so that fewer are sent.
    worker = [str(python / "celery"), "-A", "celery_jobs", "worker", "--pool", "threads", "--concurrency", str(AT_ONCE), "--loglevel", "ERROR"]
    return Queue(folder, worker, [str(python / "python"), str(HERE / "celery_jobs.py")], {"PEERS_REDIS": "{url}"}, share=0.3)


QUEUES = {"Atelier": ours.Jobs, "BullMQ": bullmq, "Celery": celery}
