"""Instructions of the commonest calls, counted by callgrind, which counts the same whatever else the machine does.

    instructions.py BINARY BUILD            prints them
    instructions.py BINARY BUILD --check    fails when one has grown by more than 5 % against instructions.json beside this file
    instructions.py BINARY BUILD --keep     writes them there
    instructions.py BINARY BUILD --routes   counts submits of a model with many routes as well, as a release build always does

BUILD says how BINARY was built: `release`, whose figures are the ones to tell, or `debug`, which the tests have built anyway.
A debug build takes many times as many, but what is added to a call shows in it as well.

How changes fall into commits must be the same every time. So the service has one thread for its work, and while 64 calls
come in (16 with a debug build), somebody else holds the database's write lock: the first change waits for it alone and the
others wait behind, in one batch. The vendor answers when all calls have reached it, and its answers are settled behind the lock
again.

  submit               a job that is accepted and waits
  settlement           from the vendor's answer to the caller's: file, settlement, rendering
  synchronous answer   all of such a call, accepting included
  submit, 50 back ends             as above, in a house with 50 more back ends that are busy
  submit of a routed model         the same of one of 1,000 models, each with a route to all of those: at most 5 % more
  submit, young account            of an account that has few jobs yet
  submit of a limited key          the same of a key with three windows, in a group with a price of its own, with tags: at most 40 % more
  submit with credits              the same of an account with two credits that end: at most 40 % more
  settlement, young account        as above, of an account that has few jobs yet
  settlement with credits          the same of an account with two credits that end: at most 40 % more

Each is the least of several windows, because chance nearly always adds to it: another commit, another look at something (one
window in twenty was 7 % below the others). The service's loops and the calls that wait are told to look around once an hour;
loops that take no such word are left in, at about one in a hundred. What the kernel does is not counted, and SHA-256 is counted as the software would do it, because callgrind
knows no processor that does it in one instruction."""

import base64
import http.server
import json
import pathlib
import re
import shutil
import signal
import socket
import sqlite3
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zlib

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "shared"))

from catalogue import known, sell  # noqa: E402
from launch import ANY_PORT, launch, port_of  # noqa: E402

ADMIN = "instructions-admin-token-0123456789"
KEPT = pathlib.Path(__file__).with_name("instructions.json")
MOST_GROWTH = 1.05
# What is compared with what: the routes of a model may cost so much of a submit.
PLAIN, ROUTED, MOST_ROUTED = "submit, 50 back ends", "submit of a routed model", 1.05
YOUNG, LIMITED, MOST_LIMITED = "submit, young account", "submit of a limited key", 1.40
CREDITED, MOST_CREDITED = "submit with credits", 1.40
YOUNG_END, CREDITED_END = "settlement, young account", "settlement with credits"
MODELS, ROUTES = 1_000, 50
# Calls at once, windows, and rounds of fetches in one: a debug build is slow, and must not keep the tests waiting.
EFFORT = {"release": (64, 7, 16), "debug": (16, 5, 8)}
SIDE = 256
# The service gives up waiting for the write lock after five seconds.
MOST_LOCKED_S = 4
# A call waits for its vendor for two minutes.
MOST_ON_THE_WAY_S = 60
HOUR_S = 3600
# Under callgrind on a busy machine.
MOST_STARTING_S = 300


def png(side):
    """A small picture, as a vendor would send it."""

    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    rows = b"".join(b"\0" + bytes((x * 3 + y * 5 + c * 40) % 256 for x in range(side) for c in range(3)) for y in range(side))
    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


class Vendor(http.server.ThreadingHTTPServer):
    """Answers calls for pictures when it may."""

    daemon_threads = True
    request_queue_size = max(at_once for at_once, _, _ in EFFORT.values())

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Answer)
        self.body = json.dumps({"data": [{"b64_json": base64.b64encode(png(SIDE)).decode()}]}).encode()
        self.came = threading.Semaphore(0)
        self.may_answer = threading.Semaphore(0)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def address(self):
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def all_came(self, count):
        for _ in range(count):
            if not self.came.acquire(timeout=MOST_ON_THE_WAY_S):
                sys.exit("a call has not reached the vendor")


class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.server.came.release()
        self.server.may_answer.acquire()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(self.server.body)))
        self.end_headers()
        self.wfile.write(self.server.body)

    def log_message(self, *_):
        pass


class Service:
    def __init__(self, binary, at_once, windows):
        self.at_once, self.windows_each = at_once, windows
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="atelier-instructions-"))
        self.out = self.folder / "callgrind.out"
        settings = {
            "ATELIER_ADMIN_TOKEN": ADMIN,
            "ATELIER_LOG_LEVEL": "error",
            "ATELIER_LIMITS_SUBMITS_PER_SECOND": "0",
            "ATELIER_LIMITS_CALLS_PER_SECOND": "0",
            "ATELIER_LIMITS_DISK_FREE_PERCENT": "0",
            "ATELIER_WORKER_THREADS": "1",
            "ATELIER_JOBS_LEASE_S": str(2 * HOUR_S),
            "ATELIER_JOBS_RENEW_S": str(HOUR_S),
            **{f"ATELIER_JOBS_{name}_MS": str(HOUR_S * 1000) for name in ("PROGRESS", "IDLE", "SWEEP", "REFRESH")},
        }
        command = ["valgrind", "--tool=callgrind", "--instr-atstart=no", "--dump-line=no", "--compress-strings=no"]
        command += [f"--callgrind-out-file={self.out}"]
        words = ["--listen", ANY_PORT, "--data-dir", self.folder / "data"]
        self.child, base = launch(
            binary, *words, log=self.folder / "log", environment=settings, before=command, wait=MOST_STARTING_S
        )
        self.address = ("127.0.0.1", port_of(base))
        self.connections = []
        self.dumps = 0

    def end(self):
        self.child.terminate()
        self.child.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def call(self, method, path, head, body=None):
        self.connect(1)
        return json.loads(self.all([request(method, path, head, body)])[0])

    def connect(self, count):
        """Those that said nothing for long are closed by the service, so they are opened when they are needed."""
        self.connections = [socket.create_connection(self.address) for _ in range(count)]

    def control(self, *words):
        command = ["vgdb", f"--pid={self.child.pid}", *words]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def idle(self, within):
        """Waits until no thread of it has had anything to do for a while."""
        end, quiet = time.monotonic() + within, 0
        while quiet < 15 and time.monotonic() < end:
            tasks = pathlib.Path(f"/proc/{self.child.pid}/task").glob("*/stat")
            busy = any(one.read_text().rsplit(")", 1)[1].split()[0] in "RD" for one in tasks)
            quiet = 0 if busy else quiet + 1
            time.sleep(0.02)

    def behind_the_lock(self, first, others):
        """Does something while nothing can be committed, and lets it be committed when all of it waits."""
        database = sqlite3.connect(self.folder / "data" / "atelier.db", isolation_level=None, timeout=30)
        database.execute("BEGIN IMMEDIATE")
        end = time.monotonic() + MOST_LOCKED_S
        first()
        self.idle(MOST_LOCKED_S / 2)
        others()
        self.idle(end - time.monotonic())
        database.execute("ROLLBACK")
        database.close()

    def count(self):
        """Instructions since the counters were set to zero."""
        self.control("dump")
        self.dumps += 1
        dump = pathlib.Path(f"{self.out}.{self.dumps}").read_text(errors="replace")
        return int(re.search(r"^totals: (\d+)", dump, re.M)[1])

    def send(self, requests, start=0):
        for connection, one in zip(self.connections[start:], requests):
            connection.sendall(one)

    def send_behind_the_lock(self, one):
        self.behind_the_lock(lambda: self.send([one]), lambda: self.send([one] * (self.at_once - 1), 1))

    def answers(self, count):
        return [answer(connection) for connection in self.connections[:count]]

    def all(self, requests):
        """Sends each request on a connection of its own and reads every answer."""
        self.send(requests)
        return self.answers(len(requests))

    def windows(self, window):
        """What several windows found; the first one warms up and is left out."""
        self.connect(self.at_once)
        return [window() for _ in range(self.windows_each + 1)][1:]


def request(method, path, head, body=None):
    text = "" if body is None else json.dumps(body)
    return (
        f"{method} {path} HTTP/1.1\r\nhost: count\r\n{head}\r\ncontent-type: application/json\r\n"
        f"content-length: {len(text)}\r\n\r\n{text}"
    ).encode()


def answer(connection):
    got = b""
    while True:
        piece = connection.recv(1 << 20)
        if not piece:
            sys.exit(f"the connection was closed: {got[:300]}")
        got += piece
        head, found, body = got.partition(b"\r\n\r\n")
        if not found:
            continue
        length = int(re.search(rb"content-length: (\d+)", head)[1])
        if len(body) >= length:
            if b" 200 " not in head[:20]:
                sys.exit(f"refused: {got[:600]}")
            return body


def measure(binary, build):
    at_once, windows, rounds = EFFORT[build]
    service = Service(binary, at_once, windows)
    admin = f"authorization: Bearer {ADMIN}"
    try:
        account = {"email": "count@example.com", "balance": 900000000, "max_queue": 1000000}
        key = "svc-api-key: " + service.call("POST", "/admin/v1/accounts", admin, account)["data"]["api_key"]
        made = service.call("POST", "/artgen/v1/imagine", key, {"prompt": "a lighthouse at dawn"})
        parent = made["data"]["jobId"]
        fetch = request("GET", f"/artgen/v1/fetch?jobId={parent}", key)
        while json.loads(service.all([fetch])[0])["status"] != "SUCCESS":
            time.sleep(0.2)

        def fetches():
            service.control("zero")
            for _ in range(rounds):
                service.all([fetch] * at_once)
            return service.count() / rounds

        imagine = request("POST", "/artgen/v1/imagine", key, {"prompt": "a lighthouse at dawn", "timeout": 1200})

        def submits(asked=imagine):
            service.control("zero")
            service.send_behind_the_lock(asked)
            service.answers(at_once)
            service.idle(5)
            return service.count()

        def backend(operation, concurrency, name=None):
            backend = {"name": name or operation, "vendor": "openai", "base_url": vendor.address(), "operations": [operation]}
            backend["settings"] = {"image_model": "m", "grids": True}
            backend = service.call("POST", "/admin/v1/backends", admin, backend)["data"]["id"]
            worker = {"name": "one", "credential": "sk-count", "concurrency": concurrency}
            service.call("POST", f"/admin/v1/backends/{backend}/accounts", admin, worker)

        vendor = Vendor()
        backend("imgmodel", 256)
        # The first job that is submitted waits for the vendor, and all others wait for the first.
        backend("artgen.imagine", 1)
        def picture(head):
            asked = {"prompt": "a lighthouse", "model": "art-2", "size": f"{SIDE}x{SIDE}"}
            return request("POST", "/v1/images/generations", head, asked)

        def pictures(head=key):
            service.control("zero")
            service.send_behind_the_lock(picture(head))
            vendor.all_came(at_once)
            service.idle(5)
            asked = service.count()
            service.control("zero")
            service.behind_the_lock(vendor.may_answer.release, lambda: vendor.may_answer.release(at_once - 1))
            service.answers(at_once)
            service.idle(5)
            return asked, service.count()

        # Once and for all, because it makes valgrind translate the program anew.
        service.control("instrumentation", "on")
        counts = {}
        counts["fetch"] = min(service.windows(fetches))
        asked, settled = zip(*service.windows(pictures))
        counts["settlement"] = min(settled)
        counts["synchronous answer"] = min(asked) + min(settled)
        counts["submit"] = min(service.windows(submits))
        if build != "release" and "--routes" not in sys.argv:
            return {name: round(count / at_once) for name, count in counts.items()}

        service.control("instrumentation", "off")

        def young(name):
            account = {"email": f"{name}@example.com", "balance": 900000000, "max_queue": 1000000}
            made = service.call("POST", "/admin/v1/accounts", admin, account)["data"]
            return made["id"], "svc-api-key: " + made["api_key"]

        def asked_by(head):
            return request("POST", "/artgen/v1/imagine", head, {"prompt": "a lighthouse at dawn", "timeout": 1200})

        _, plain_key = young("young")
        limited, limited_key = young("limited")
        rules = [{"match": "artgen.imagine", "factor": 0.5}]
        service.call("POST", "/admin/v1/groups", admin, {"name": "resellers", "rules": rules})
        service.call("PATCH", f"/admin/v1/accounts/{limited}", admin, {"group": "resellers"})
        limits = [{"window": window, "quota": 90000000} for window in ("total", "day", "month")]
        child = {"name": "shop", "scopes": ["submit", "read"], "limits": limits}
        child = service.call("POST", "/account/v1/keys", limited_key, child)["data"]["api_key"]
        tagged = f"svc-api-key: {child}\r\nx-atelier-tags: project=spring,customer=b"
        rich, rich_key = young("rich")
        for year in (2090, 2091):
            credit = {"amount": 9000000, "reason": "trial", "expires": f"{year}-01-31"}
            service.call("POST", f"/admin/v1/accounts/{rich}/credit", admin, credit)
        service.control("instrumentation", "on")
        counts[YOUNG] = min(service.windows(lambda: submits(asked_by(plain_key))))
        counts[LIMITED] = min(service.windows(lambda: submits(asked_by(tagged))))
        counts[CREDITED] = min(service.windows(lambda: submits(asked_by(rich_key))))
        counts[YOUNG_END] = min(settled for _, settled in service.windows(lambda: pictures(plain_key)))
        counts[CREDITED_END] = min(settled for _, settled in service.windows(lambda: pictures(rich_key)))
        service.control("instrumentation", "off")

        backends = [f"backend-{number}" for number in range(ROUTES)]
        for name in backends:
            backend("artgen.imagine", 1, name)
        # Each of them is given a job, which the vendor keeps; from then on everything waits.
        for _ in range(0, ROUTES + at_once, at_once):
            service.connect(at_once)
            service.all([imagine] * at_once)
        vendor.all_came(ROUTES + 1)
        sell(service.folder / "data" / "atelier.db", MODELS, "artgen.imagine", backends, {"unit": "call", "amount": 1})
        known(lambda: [row["id"] for row in service.call("GET", "/v1/models", key)["data"]], MODELS)
        routed = {"prompt": "a lighthouse at dawn", "timeout": 1200, "model": "made-7"}
        routed = request("POST", "/artgen/v1/imagine", key, routed)
        service.control("instrumentation", "on")
        counts[PLAIN] = min(service.windows(submits))
        counts[ROUTED] = min(service.windows(lambda: submits(routed)))
        return {name: round(count / at_once) for name, count in counts.items()}
    finally:
        service.end()


def least(binary, build, kept):
    """Counts, and counts again when something has grown: what a busy machine adds by chance it seldom adds twice."""
    counts = measure(binary, build)
    if grown(counts, kept) or too_dear(counts):
        again = measure(binary, build)
        counts = {name: min(count, again[name]) for name, count in counts.items()}
    return counts


def grown(counts, kept):
    return [name for name, count in counts.items() if count > kept.get(name, count) * MOST_GROWTH]


def too_dear(counts):
    """What makes a submit dearer than it may."""
    pairs = (
        (ROUTED, PLAIN, MOST_ROUTED),
        (LIMITED, YOUNG, MOST_LIMITED),
        (CREDITED, YOUNG, MOST_CREDITED),
        (CREDITED_END, YOUNG_END, MOST_CREDITED),
    )
    return [
        f"a {dear} takes {counts[dear] / counts[plain] - 1:.1%} more than a {plain}: at most {most - 1:.0%}"
        for dear, plain, most in pairs
        if dear in counts and counts[dear] > counts[plain] * most
    ]


def main():
    binary, build = sys.argv[1:3]
    # Who is told to end ends the service as well.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("given up"))
    every = json.loads(KEPT.read_text())
    compiler = subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    kept = every.get(build, {}) if "--check" in sys.argv else {}
    if kept and kept["compiler"] != compiler:
        # Another compiler makes another program of the same code.
        print(f"not compared: this is {compiler}, and what is kept was counted with {kept['compiler']}")
        return
    counts = least(binary, build, kept)
    for name, count in counts.items():
        print(f"{name}: {count:,} instructions")
    if "--keep" in sys.argv:
        KEPT.write_text(json.dumps({**every, build: {"compiler": compiler, **counts}}, indent=2) + "\n")
    more = grown(counts, kept)
    for name in more:
        print(f"{name} takes {counts[name] / kept[name] - 1:.0%} more instructions than the {kept[name]:,} it took ({build} build)")
    if too_dear(counts):
        sys.exit("; ".join(too_dear(counts)))
    if more:
        sys.exit("if that is worth it, keep the new figures: bench/instructions.py BINARY BUILD --keep")


main()
