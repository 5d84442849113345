"""What comes late: a vendor's door that says 504 before the vendor has the order, a vendor that enters an order long after it took it,
a backup to a slow target, and connections to the database that say nothing any more.

    late.py BINARY FOLDER [--postgres URL] [--short] [--only orders|backup|silence]

With a URL the database is PostgreSQL, else SQLite. `orders` counts at the vendor that nothing was ordered twice, `backup` restores
and audits what was written while files came and went (SQLite; PostgreSQL has its own tools), `silence` (PostgreSQL) wants an answer to
every call within 15 seconds."""

import argparse
import http.client
import http.server
import os
import re
import signal
import socket
import sqlite3
import struct
import subprocess
import sys
import threading
import time
import urllib.parse
import zlib

import auditor
from kill import SETTINGS
from proxy import Proxy
from service import Node, call, database_of, free_port

# Whoever asks is answered within so many seconds, whatever is silent.
ANSWERED_WITHIN = 15


class Door:
    """Stands before a vendor. An order is passed on late: after an early 504, or after its connection was closed without a word."""

    def __init__(self, port, late):
        door = self
        self.server_port, self.late, self.orders = port, late, 0

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def pass_on(self):
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                head = {name: value for name, value in self.headers.items() if name.lower() not in ("host", "connection", "content-length")}
                if self.command == "POST" and "/submit/" in self.path:
                    door.orders += 1
                    threading.Thread(target=door.enter, args=(self.path, body, head), daemon=True).start()
                    if door.orders % 2:
                        self.send_response(504)
                        self.send_header("content-length", "0")
                        self.end_headers()
                    else:
                        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                        self.close_connection = True
                    return
                status, headers, text = door.asked(self.command, self.path, body, head)
                self.send_response(status)
                for name in ("content-type", "content-disposition", "etag"):
                    if name in headers:
                        self.send_header(name, headers[name])
                self.send_header("content-length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_POST = do_DELETE = do_HEAD = pass_on

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def asked(self, method, path, body, head):
        line = http.client.HTTPConnection("127.0.0.1", self.server_port, timeout=60)
        line.request(method, path, body=body or None, headers=head)
        answer = line.getresponse()
        text, headers = answer.read(), {name.lower(): value for name, value in answer.getheaders()}
        line.close()
        return answer.status, headers, text

    def enter(self, path, body, head):
        time.sleep(self.late)
        self.asked("POST", path, body, head)


def orders(words, database):
    """Orders that arrive long after they were given up on are made once, and are the ones that are waited for. The vendor is another
    Atelier behind its door for Midjourney's clients: an order there is looked for in a list, not repeated."""
    count, late = (4, 9) if words.short else (16, 20)
    upstream = Node(words.binary, os.path.join(words.folder, "upstream"), free_port(), None, SETTINGS)
    upstream.start()
    door = Door(upstream.port, late)
    _, key = upstream.account("house", 100_000, 10_000)
    node = Node(words.binary, os.path.join(words.folder, "orders"), free_port(), database, dict(SETTINGS, STUDIO_ENABLED="false"))
    node.start()
    backend = {"vendor": "midjourney-proxy", "name": "upstream", "base_url": f"http://127.0.0.1:{door.port}", "rank": 1}
    made = node.operate("POST", "/admin/v1/backends", backend)
    node.operate("POST", f"/admin/v1/backends/{made['id']}/accounts", {"name": "one", "credential": key, "concurrency": 32})
    _, own = node.account(f"caller{os.getpid()}", 10_000)
    asked = {}
    for number in range(count):
        prompt = f"boat {number} --ar 1:1"
        status, answer = call(node.base, "POST", "/artgen/v1/imagine", own, {"prompt": prompt})
        assert status == 200, answer
        asked[answer["data"]["jobId"]] = prompt
    wrong, until = [], time.monotonic() + late + 75
    for job in asked:
        while (shown := call(node.base, "GET", f"/jobs/v1/{job}", own)[1]["data"])["status"] not in ("SUCCESS", "FAILED"):
            if time.monotonic() > until:
                break
            time.sleep(0.2)
        if shown["status"] != "SUCCESS":
            wrong.append(f"{job} ended otherwise than at the vendor: {shown['status']} {shown.get('message')}")
    # What was ordered a second time arrives as late as the first.
    time.sleep(late + 1)
    there = auditor.rest(upstream.base, {"house": (None, key)}, 60)["house"]
    if len(there) != count:
        wrong.append(f"{count} jobs, {len(there)} orders at the vendor")
    node.stop()
    upstream.stop()
    code, said = node.audit()
    wrong += [f"atelier audit: {said[-500:]}"] if code else []
    print(f"  orders that arrive {late} s late: {count} jobs, {door.orders} asked for, {len(there)} made", flush=True)
    return wrong


def small_png():
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = b"".join(b"\0" + os.urandom(48) for _ in range(16))
    head = struct.pack(">IIBBBBB", 16, 16, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def upload(node, key):
    where = urllib.parse.urlsplit(node.base)
    line = http.client.HTTPConnection(where.hostname, where.port, timeout=30)
    body = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\nContent-Type: image/png\r\n\r\n' + small_png() + b"\r\n--b--\r\n"
    line.request("POST", "/files/v1", body, {"SVC-API-KEY": key, "Content-Type": "multipart/form-data; boundary=b"})
    answer = line.getresponse()
    text = answer.read().decode()
    line.close()
    assert answer.status == 200, text
    return re.search(r'"id":"([^"]+)"', text)[1]


def count_files(folder):
    return sum(len(names) for where, _, names in os.walk(os.path.join(folder, "assets")) if "/." not in where)


def backup(words, _database):
    """A backup that takes long is whole, and says so, although files come and go meanwhile."""
    count = 250 if words.short else 1500
    node = Node(words.binary, os.path.join(words.folder, "kept"), free_port(), None, SETTINGS)
    node.start()
    _, key = node.account("caller", 10_000)
    files = [upload(node, key) for _ in range(count)]
    to, fresh = os.path.join(words.folder, "copy"), os.path.join(words.folder, "fresh")
    command = [words.binary, "backup", "--to", to, "--data-dir", node.folder]
    began, waits, gone = time.monotonic(), [], 0
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=node.environment())
    # The database is copied and promises files. From now on the target takes nothing for a while, as far as the service can tell.
    while process.poll() is None and not os.path.exists(os.path.join(to, "files")):
        time.sleep(0.001)
    process.send_signal(signal.SIGSTOP)
    for file in files:
        gone += call(node.base, "DELETE", f"/files/v1/{file}", key)[0] == 200
    until = time.monotonic() + 60
    while count_files(node.folder) > count // 2 and time.monotonic() < until:
        asked = time.monotonic()
        call(node.base, "POST", "/artgen/v1/imagine", key, {"prompt": "a boat [[fail: on purpose]]"})
        waits.append(time.monotonic() - asked)
        time.sleep(0.05)
    left = count_files(node.folder)
    process.send_signal(signal.SIGCONT)
    log = os.path.join(node.folder, "atelier.db-wal")
    said, wal = process.communicate(timeout=120)[0], os.path.getsize(log) / 2**20 if os.path.exists(log) else 0
    took = time.monotonic() - began
    wrong = [f"a submit waited {max(waits):.1f} s for the backup"] if waits and max(waits) > 2 else []
    wrong += [f"the log of the database has {wal:.0f} MiB"] if wal > 256 else []
    if process.returncode:
        wrong.append(f"the backup failed: {said[-300:]}")
    else:
        run = lambda *more: subprocess.run([words.binary, *more], capture_output=True, text=True, env=node.environment(), timeout=120)
        restored = run("restore", "--from", to, "--data-dir", fresh)
        audited = run("audit", "--data-dir", fresh)
        for one in (restored, audited):
            wrong += [f"{' '.join(one.args[1:2])}: {(one.stdout + one.stderr)[-300:]}"] if one.returncode else []
        database = sqlite3.connect(os.path.join(fresh, "atelier.db"))
        promised = [row[0] for row in database.execute("SELECT key FROM asset WHERE expires_ms > ?", (time.time() * 1000,))]
        database.close()
        missing = [name for name in promised if not os.path.exists(os.path.join(fresh, "assets", name))]
        wrong += [f"the restored rows promise {len(missing)} files that are not there"] if missing else []
    print(f"  a backup that took {took:.0f} s of {count} files, {gone} of them removed meanwhile and {left} left: restored and audited", flush=True)
    node.stop()
    return wrong


def silence(words, database):
    """All connections to the database say nothing any more; who asks is answered in time all the same."""
    where = urllib.parse.urlsplit(database)
    proxy = Proxy(where.hostname, where.port)
    behind = f"postgres://{where.username}@127.0.0.1:{proxy.port}{where.path}"
    node = Node(words.binary, os.path.join(words.folder, "silence"), free_port(), behind, SETTINGS)
    node.start()
    keys = [node.account(f"caller{number}-{os.getpid()}", 10_000)[1] for number in range(4)]
    submit = lambda key: call(node.base, "POST", "/artgen/v1/imagine", key, {"prompt": "a boat [[fail: on purpose]]"}, timeout=60)
    job = submit(keys[0])[1]["data"]["jobId"]
    wrong = []
    for number in range(3 if words.short else 9):
        # With a rest, keys and jobs have to be looked at again; without one, the writer's connection is the first that is silent.
        for key in keys:
            submit(key)
        time.sleep(2 if number % 3 < 2 else 0)
        if number % 3:
            proxy.half_open()
        else:
            # New ones say nothing either.
            proxy.frozen = True
            threading.Timer(25, proxy.heal).start()
        waits, threads = [], []

        def ask(act):
            began = time.monotonic()
            try:
                status = act()[0]
            except OSError as error:
                status = str(error)
            waits.append((time.monotonic() - began, status))

        for key in keys * 3:
            acts = (lambda key=key: submit(key), lambda key=key: call(node.base, "GET", "/artgen/v1/info", key, timeout=60))
            threads += [threading.Thread(target=ask, args=(act,)) for act in acts]
        threads.append(threading.Thread(target=ask, args=(lambda: call(node.base, "GET", f"/jobs/v1/{job}", keys[0], timeout=60),)))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        slowest = max(waits, key=lambda one: one[0])
        well = sum(status == 200 for _, status in waits)
        if slowest[0] > ANSWERED_WITHIN + 0.5:
            wrong.append(f"a call waited {slowest[0]:.1f} s and got {slowest[1]}")
        if other := {str(status) for _, status in waits} - {"200", "503", "500"}:
            wrong.append(f"answers {other}")
        if not number % 3:
            proxy.heal()
        began = time.monotonic()
        while submit(keys[0])[0] != 200 and time.monotonic() - began < 60:
            time.sleep(0.2)
        print(f"  {'old' if number % 3 else 'all'} connections silent{', keys known' if number % 3 == 2 else ''}: {len(waits)} calls, the slowest {slowest[0]:.1f} s, {well} well; a submit works {time.monotonic() - began:.1f} s later", flush=True)
    node.stop()
    code, said = node.audit()
    wrong += [f"atelier audit: {said[-500:]}"] if code else []
    return wrong


def main():
    words = argparse.ArgumentParser()
    words.add_argument("binary")
    words.add_argument("folder")
    words.add_argument("--postgres")
    words.add_argument("--short", action="store_true")
    words.add_argument("--only")
    words = words.parse_args()
    stories = [orders, silence] if words.postgres else [orders, backup]
    wrong = []
    for story in stories:
        if words.only in (None, story.__name__):
            database = words.postgres and database_of(words.postgres, f"late-{story.__name__}-{os.getpid()}")
            found = story(words, database)
            print(f"  {story.__name__}: {found[:6] if found else 'well'}", flush=True)
            wrong += found
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
