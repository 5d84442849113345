"""A rehearsal of many calls with a vendor that differs on purpose: what the service says of it is held against what the vendors
wrote down themselves. Nobody may notice anything: money, files, jobs and callbacks are those of the calls alone.

    run.py BINARY FOLDER [--calls 1000]
"""

import argparse
import base64
import collections
import concurrent.futures
import http.server
import json
import pathlib
import struct
import sys
import threading
import time
import urllib.error
import urllib.request
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "shared"))
from launch import launch  # noqa: E402

TOKEN = "op-for-the-tests-of-rehearsals"


def png(width, height):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    row = b"\0" + bytes((9, 99, 9)) * width
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(row * height)) + chunk(b"IEND", b"")


GOOD = base64.b64encode(png(1024, 1024)).decode()
SMALL = base64.b64encode(png(512, 512)).decode()


class Vendor:
    """A server of OpenAI's format that keeps its own books; `act` says what becomes of the call with a number."""

    def __init__(self, act):
        self.lock, self.asked, self.done = threading.Lock(), 0, collections.Counter()
        vendor = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def answer(self, status, body):
                text = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def do_GET(self):
                self.answer(200, {"data": [{"id": "painter"}]})

            def do_POST(self):
                asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
                with vendor.lock:
                    vendor.asked += 1
                    number = vendor.asked
                kind, status, body = act(number, asked)
                with vendor.lock:
                    vendor.done[kind] += 1
                self.answer(status, body)

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"


def good(number, asked):
    return "good", 200, {"data": [{"b64_json": GOOD}] * asked.get("n", 1)}


def differs(number, asked):
    """Every tenth call is refused, every seventh smaller, every sixth of two results brings one; all are slower."""
    time.sleep(0.02)
    if number % 10 == 0:
        return "status", 400, {"error": {"message": "not today", "code": "content_policy_violation"}}
    if number % 7 == 0:
        return "size", 200, {"data": [{"b64_json": SMALL}] * asked.get("n", 1)}
    if number % 6 == 0 and asked.get("n", 1) > 1:
        return "count", 200, {"data": [{"b64_json": GOOD}]}
    return good(number, asked)


def hangs(number, asked):
    time.sleep(60)
    return good(number, asked)


class Here:
    def __init__(self, binary, folder):
        folder.mkdir(parents=True, exist_ok=True)
        environment = {"ATELIER_ADMIN_TOKEN": TOKEN, "ATELIER_LIMITS_SUBMITS_PER_SECOND": "1000", "ATELIER_LIMITS_CALLS_PER_SECOND": "1000"}
        self.process, self.base = launch(
            binary, "--listen", "127.0.0.1:0", "--data-dir", folder / "data", log=folder / "err", out=folder / "out", environment=environment
        )

    def ask(self, path, body=None, method=None, key=None):
        headers = {"Authorization": f"Bearer {key or TOKEN}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, headers=headers, data=data, method=method)
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    def backend(self, name, vendor, usd, **more):
        settings = {"image_model": "painter", "costs": {"imgmodel": {"unit": "item", "usd": usd}}}
        body = {"name": name, "vendor": "openai", "base_url": vendor.url, "settings": settings, "operations": ["imgmodel.generations"], **more}
        status, made = self.ask("/admin/v1/backends", body)
        assert status == 200, made
        backend = made["data"]["id"]
        status, made = self.ask(f"/admin/v1/backends/{backend}/accounts", {"name": "main", "credential": "sk-x", "concurrency": 16})
        assert status == 200, made
        return backend

    def rehearsal(self):
        return self.ask("/admin/v1/rehearsal")[1]["data"][0]

    def settled(self, calls):
        """The rehearsal once so many copies were made or missed."""
        end = time.monotonic() + 300
        while True:
            now = self.rehearsal()
            if now["calls"] + sum(now["missed"].values()) >= calls:
                return now
            assert time.monotonic() < end, now
            time.sleep(0.2)


def many(here, key, calls, at_once=12):
    def one(number):
        body = {"model": "art-2", "prompt": f"a paper boat {number}", "n": 1 + number % 2, "size": "1024x1024", "response_format": "b64_json"}
        return here.ask("/v1/images/generations", body, key=key)[0]

    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        return collections.Counter(pool.map(one, range(calls)))


def differing(here, calls):
    real, tried = Vendor(good), Vendor(differs)
    here.backend("real", real, 0.02, rank=1)
    backend = here.backend("tried", tried, 0.015, rank=1, shadow={"share": 1, "cap": 1000})
    account = here.ask("/admin/v1/accounts", {"email": "caller@example.com", "balance": 100_000, "max_queue": 1000})[1]["data"]
    began = time.monotonic()
    answers = many(here, account["api_key"], calls)
    took = time.monotonic() - began
    assert answers == {200: calls}, answers
    report = here.settled(calls)
    missed = sum(report["missed"].values())
    made = report["calls"]
    assert made + missed == calls, report
    assert real.asked == calls and tried.asked == made, (real.asked, tried.asked, made)
    (sums,) = report["sums"]
    counted = {"status": sums["status"], "count": sums["count"], "size": sums["size"], "good": report["alike"]}
    assert counted == {name: tried.done[name] for name in counted}, (counted, tried.done)
    images = sum(1 + number % 2 for number in range(calls))
    assert sums["answered"]["succeeded"] == calls - missed
    # What was refused cost nothing; the rest costs what the operator says of so many images.
    print(f"{calls} calls in {took:.1f} s; {made} copies, {missed} not made: {report['missed']}")
    print(f"  the service says: alike {report['alike']}, status {sums['status']}, count {sums['count']}, size {sums['size']}")
    print(f"  the vendor wrote: good {tried.done['good']}, refused {tried.done['status']}, fewer {tried.done['count']}, smaller {tried.done['size']}")
    print(f"  answered: {sums['answered']}")
    print(f"  copied:   {sums['copied']}; spent {report['spent']} of {report['cap']}")
    print(f"  the latest that differs: {json.dumps(report['latest'][0])}")
    # Nobody noticed anything.
    after = here.ask(f"/admin/v1/accounts/{account['id']}")[1]["data"]
    jobs = here.ask("/jobs/v1?limit=1", key=account["api_key"])[1]
    assert jobs["total"] == calls, jobs["total"]
    ledger = here.ask("/account/v1/ledger?limit=1", key=account["api_key"])[1]
    print(f"  the caller: {jobs['total']} jobs, {ledger.get('total')} ledger rows, balance {after['balance']}, {images} images")
    assert after["freeze_balance"] == 0
    stats = here.ask("/admin/v1/stats")[1]["data"]
    assert not [row for row in stats["margins"] if row["backend"] == "tried"], stats["margins"]
    return account, backend, tried


def shares(here, account, backend):
    """A quarter of the requests, and no more than the cap."""
    here.ask(f"/admin/v1/rehearsal/{backend}", method="DELETE")
    here.ask(f"/admin/v1/backends/{backend}", {"shadow": {"share": 0.25, "cap": 1000}}, "PATCH")
    many(here, account["api_key"], 400)
    time.sleep(3)
    quarter = here.rehearsal()
    assert 60 <= quarter["calls"] <= 140, quarter["calls"]
    here.ask(f"/admin/v1/rehearsal/{backend}", method="DELETE")
    here.ask(f"/admin/v1/backends/{backend}", {"shadow": {"share": 1, "cap": 0.3}}, "PATCH")
    many(here, account["api_key"], 60)
    capped = here.settled(60)
    assert capped["spent"] <= 0.3 and capped["missed"]["cap_spent"] > 0, capped
    print(f"a share of 0.25: {quarter['calls']} of 400; a cap of 0.3: {capped['calls']} copies, {capped['spent']} spent, {capped['missed']}")


def slow(here, account, backend):
    """A vendor that hangs is left alone."""
    vendor = Vendor(hangs)
    here.ask(f"/admin/v1/rehearsal/{backend}", method="DELETE")
    change = {"base_url": vendor.url, "shadow": {"share": 1, "cap": 1000}}
    assert here.ask(f"/admin/v1/backends/{backend}", change, "PATCH")[0] == 200
    began = time.monotonic()
    many(here, account["api_key"], 16)
    callers = time.monotonic() - began
    end = time.monotonic() + 120
    while here.rehearsal()["state"] != "slow":
        assert time.monotonic() < end, here.rehearsal()
        time.sleep(0.5)
    many(here, account["api_key"], 5)
    time.sleep(2)
    left = here.rehearsal()
    assert left["missed"]["slow"] >= 5 and vendor.asked == 16, (left, vendor.asked)
    print(f"a vendor that hangs: callers waited {callers:.1f} s for 16 calls; then {left['state']} until {left['paused_until']}, {left['missed']}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--calls", type=int, default=1000)
    given = parser.parse_args()
    here = Here(given.binary, given.folder.resolve())
    account, backend, _ = differing(here, given.calls)
    shares(here, account, backend)
    slow(here, account, backend)
    here.process.terminate()
    here.process.wait()
    print("rehearsal: all as it should be")


if __name__ == "__main__":
    main()
