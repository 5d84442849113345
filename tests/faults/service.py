"""Nodes of the service as processes: started, killed, frozen and stopped, spoken to over HTTP."""

import argparse
import http.client
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.parse

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "shared"))

from launch import launch  # noqa: E402

TOKEN = "an-operator-for-fault-tests"


def call(base, method, path, key=None, body=None, headers=None, timeout=40, token=None):
    """One request on a connection of its own: (status, JSON). Raises OSError when no answer came."""
    where = urllib.parse.urlsplit(base)
    line = http.client.HTTPConnection(where.hostname, where.port, timeout=timeout)
    head = dict(headers or {})
    if key:
        head["SVC-API-KEY"] = key
    if token:
        head["Authorization"] = f"Bearer {token}"
    data = None
    if body is not None:
        data = json.dumps(body)
        head["Content-Type"] = "application/json"
    try:
        line.request(method, path, body=data, headers=head)
        answer = line.getresponse()
        text = answer.read()
        return answer.status, json.loads(text) if text else None
    except (http.client.HTTPException, ValueError) as error:
        raise OSError(f"no whole answer: {error}") from error
    finally:
        line.close()


class Node:
    """One process."""

    def __init__(self, binary, folder, port, database=None, settings=None, log=None):
        self.binary, self.folder, self.port = binary, folder, port
        self.database, self.settings = database, dict(settings or {})
        self.base = f"http://127.0.0.1:{port}"
        self.log = log or os.path.join(folder, "node.log")
        self.process = None

    def start(self, wait=60):
        """Starts it and waits until it listens; how many seconds that took."""
        os.makedirs(self.folder, exist_ok=True)
        words = ["--listen", f"127.0.0.1:{self.port}", "--data-dir", self.folder]
        if self.database:
            words += ["--database", self.database]
        began = time.monotonic()
        self.process, _ = launch(self.binary, *words, log=self.log, environment=self.environment(), wait=wait)
        return time.monotonic() - began

    def environment(self):
        """The settings of this node, as variables."""
        own = {f"ATELIER_{name}": str(value) for name, value in self.settings.items()}
        return dict(os.environ, ATELIER_ADMIN_TOKEN=TOKEN, **own)

    def kill(self):
        """kill -9."""
        if self.process and self.process.poll() is None:
            self.process.kill()
        if self.process:
            self.process.wait()

    def stop(self, within=90):
        """SIGTERM; how many seconds it took."""
        began = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=within)
        return time.monotonic() - began

    def freeze(self, frozen=True):
        self.process.send_signal(signal.SIGSTOP if frozen else signal.SIGCONT)

    def last_words(self):
        with open(self.log, "rb") as log:
            return log.read()[-1500:].decode(errors="replace")

    def operate(self, method, path, body=None):
        status, answer = call(self.base, method, path, body=body, token=TOKEN)
        if status != 200:
            raise RuntimeError(f"{method} {path}: {status} {answer}")
        return answer["data"]

    def account(self, name, balance, max_queue=1000):
        """A fresh account: its identifier and its key."""
        made = self.operate("POST", "/admin/v1/accounts", {"email": f"{name}@example.com", "balance": balance})
        self.operate("PATCH", f"/admin/v1/accounts/{made['id']}", {"max_queue": max_queue})
        return made["id"], made["api_key"]

    def metrics(self):
        """Every metric without labels, by name."""
        where = urllib.parse.urlsplit(self.base)
        line = http.client.HTTPConnection(where.hostname, where.port, timeout=40)
        line.request("GET", "/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
        text = line.getresponse().read().decode()
        line.close()
        return {found[1]: float(found[2]) for found in re.finditer(r"^(\w+) (\S+)$", text, re.M)}

    def left(self):
        """Jobs of all nodes that are not done."""
        told = self.metrics()
        return told["atelier_jobs_waiting"] + told["atelier_jobs_running"]

    def audit(self, live=False):
        """`atelier audit` on the same data: (exit code, what it printed)."""
        words = [self.binary, "audit", "--data-dir", self.folder] + (["--live"] if live else [])
        if self.database:
            words += ["--database", self.database]
        ran = subprocess.run(words, capture_output=True, text=True, timeout=600, env=self.environment())
        return ran.returncode, ran.stdout + ran.stderr


class Sink:
    """A receiver of callbacks that keeps a log of the bodies by job, and can refuse some."""

    def __init__(self):
        import http.server

        sink = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                with sink.lock:
                    sink.count += 1
                    told = json.loads(body)
                    sink.got.setdefault(told.get("jobId"), []).append((self.headers.get("webhook-id"), told))
                    status = 500 if sink.failing and sink.count % sink.failing == 0 else 200
                self.send_response(status)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.lock, self.got, self.count, self.failing = threading.Lock(), {}, 0, 0
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


def free_port():
    import socket

    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def arguments(*needed):
    """A binary, a folder, and what the story needs besides."""
    words = argparse.ArgumentParser()
    for name in ("binary", "folder"):
        words.add_argument(name)
    for name in needed:
        words.add_argument(name, required=True)
    return words.parse_args()


def ended(name, wrong, well="both audits clean"):
    """Says how a story ended, and ends the program."""
    print(f"  {name}: {str(wrong[:6]) if wrong else well}")
    sys.exit(1 if wrong else 0)


def sql(url, text):
    """Has psql run a statement; what it printed, bare."""
    ran = subprocess.run(["psql", url, "-Atqc", text], check=True, capture_output=True, text=True)
    return ran.stdout.strip()


def database_of(url, name):
    """A fresh database on a PostgreSQL server; its URL."""
    sql(url, f'CREATE DATABASE "{name}"')
    return re.sub(r"/[^/]*$", f"/{name}", url)
