"""Memory under a crowd: so many jobs at a vendor that does not finish them, then so many more that wait in the queue.

    crowd.py RELEASE FOLDER [--at-vendor 40000] [--queued 100000] [--postgres URL]

The vendor is in this program; it takes every job and says that it is at work. Prints what memory each job takes and what the
calls of another account take meanwhile, and ends with 1 when a promise does not hold. What the allocator holds ready differs
by ten megabytes from run to run, so with few jobs the memory of each says nothing."""

import argparse
import asyncio
import json
import os
import pathlib
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "peers"), str(HERE.parent / "tests" / "faults")]

from kill import SETTINGS  # noqa: E402
from service import Node, database_of, free_port  # noqa: E402

AT_VENDOR_BYTES, QUEUED_BYTES, P99_MS = 5_000, 600, 250
CONNECTIONS = 64
ASKED = {"prompt": "a lighthouse on a cliff at dusk, oil painting, dramatic clouds"}


class Vendor:
    """Another service that takes everything and ends nothing."""

    def __init__(self):
        self.taken, self.asked, ready = 0, 0, threading.Event()

        async def serve(reader, writer):
            try:
                while True:
                    head = (await reader.readuntil(b"\r\n\r\n")).lower()
                    if b"content-length: " in head:
                        await reader.readexactly(int(head.split(b"content-length: ")[1].split(b"\r\n")[0]))
                    if head.startswith(b"post"):
                        self.taken += 1
                        body = {"status": "SUCCESS", "message": "success", "data": {"jobId": f"job-{self.taken}"}}
                    else:
                        self.asked += 1
                        body = {"status": "ON_QUEUE", "message": "success", "progress": "10", "data": {"balance": 1000}}
                    text = json.dumps(body).encode()
                    writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(text) + text)
                    await writer.drain()
            except (OSError, asyncio.IncompleteReadError):
                writer.close()

        async def run():
            server = await asyncio.start_server(serve, "127.0.0.1", 0, backlog=1024)
            self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
            ready.set()
            await server.serve_forever()

        threading.Thread(target=lambda: asyncio.run(run()), daemon=True).start()
        ready.wait()


def memory(node, what="VmRSS"):
    text = pathlib.Path(f"/proc/{node.process.pid}/status").read_text()
    return next(int(line.split()[1]) * 1024 for line in text.splitlines() if line.startswith(what))


def settled(node):
    """Memory when it has stopped falling."""
    last = memory(node)
    for _ in range(20):
        time.sleep(1)
        now = memory(node)
        if now > last * 0.995:
            return now
        last = now
    return last


def request(key, method, path, body):
    text = "" if body is None else json.dumps(body)
    return (
        f"{method} {path} HTTP/1.1\r\nhost: crowd\r\nsvc-api-key: {key}\r\ncontent-type: application/json\r\n"
        f"content-length: {len(text)}\r\n\r\n{text}"
    )


def bench(words, act, node, asked, *more):
    command = [str(words.release / "atelier-bench"), act, f"127.0.0.1:{node.port}", *map(str, more)]
    ran = subprocess.run(command, input=asked, text=True, capture_output=True)
    if ran.returncode:
        raise RuntimeError(ran.stderr[:800])
    return json.loads(ran.stdout)


def submit(words, node, key, count, within=900):
    """Submits until at least so many were taken."""
    asked, taken, end = request(key, "POST", "/artgen/v1/imagine", ASKED), 0, time.monotonic() + within
    rate = count
    while taken < count:
        if time.monotonic() > end:
            raise RuntimeError(f"only {taken} of {count} were taken in {within} s")
        # The last slice is short, so that it is not many more.
        told = bench(words, "load", node, asked, CONNECTIONS, min(max((count - taken) / rate, 0.05), 5))
        taken, rate = taken + told["answered"], max(told["per_second"], 1)
    return taken


def quick(words, node, key):
    """What calls of somebody else take meanwhile, at 50 a second: p99 in milliseconds."""
    asked = [request(key, "GET", "/artgen/v1/info", None)]
    return bench(words, "pace", node, json.dumps(asked), 4, 5, 50)["p99_ms"]


def main():
    words = argparse.ArgumentParser()
    words.add_argument("release", type=pathlib.Path)
    words.add_argument("folder", type=pathlib.Path)
    words.add_argument("--at-vendor", type=int, default=40_000)
    words.add_argument("--queued", type=int, default=100_000)
    words.add_argument("--postgres")
    words = words.parse_args()
    words.folder.mkdir(parents=True, exist_ok=True)
    database = database_of(words.postgres, f"crowd{os.getpid()}") if words.postgres else None
    settings = dict(SETTINGS, LIMITS_DISK_FREE_PERCENT=0)
    node = Node(str(words.release / "atelier"), str(words.folder), free_port(), database, settings)
    node.start()
    vendor, wrong = Vendor(), []
    _, key = node.account("crowd", 100_000_000, 1_000_000)
    _, other = node.account("other", 1000)
    # What the first jobs make the process learn and keep is not theirs.
    warm = request(key, "POST", "/artgen/v1/imagine", {"prompt": "boat [[fail: on purpose]]"})
    bench(words, "load", node, warm, CONNECTIONS, 3)
    while node.left():
        time.sleep(0.1)
    backend = node.operate("POST", "/admin/v1/backends", {"name": "busy", "vendor": "relay", "base_url": vendor.url, "operations": ["artgen"]})
    worker = {"name": "one", "credential": "at_busy", "concurrency": words.at_vendor}
    node.operate("POST", f"/admin/v1/backends/{backend['id']}/accounts", worker)
    before, quiet = settled(node), quick(words, node, other)

    began = time.monotonic()
    taken = submit(words, node, key, words.at_vendor)
    while vendor.taken < words.at_vendor:
        if time.monotonic() - began > 600:
            wrong.append(f"only {vendor.taken} jobs reached the vendor")
            break
        time.sleep(0.2)
    reached = time.monotonic() - began
    holding, waited = settled(node), quick(words, node, other)
    each = (holding - before) / vendor.taken
    began = time.monotonic()
    queued = submit(words, node, key, words.queued) + taken - vendor.taken
    lasted = time.monotonic() - began
    full, longest = settled(node), quick(words, node, other)
    piled = (full - holding) / queued

    mb = 1e6
    print(f"{'PostgreSQL' if database else 'SQLite'}, one node")
    print(f"{'':34} {'jobs':>8} {'memory MB':>10} {'bytes a job':>12} {'promised':>9} {'p99 of another ms':>18}")
    print(f"{'before':34} {0:8} {before / mb:10.1f} {'':12} {'':9} {quiet:18.1f}")
    print(f"{'at the vendor':34} {vendor.taken:8} {holding / mb:10.1f} {each:12.0f} {AT_VENDOR_BYTES:9} {waited:18.1f}")
    print(f"{'in the queue besides':34} {queued:8} {full / mb:10.1f} {piled:12.0f} {QUEUED_BYTES:9} {longest:18.1f}")
    print(f"all reached the vendor after {reached:.0f} s; the queue took {queued / lasted:.0f} a second; {vendor.asked} questions; most memory {memory(node, 'VmHWM') / mb:.0f} MB")
    wrong += [f"{each:.0f} bytes for a job at the vendor"] if each > AT_VENDOR_BYTES else []
    wrong += [f"{piled:.0f} bytes for a job in the queue"] if piled > QUEUED_BYTES else []
    wrong += [f"p99 of another's calls {longest:.0f} ms"] if max(waited, longest) > P99_MS else []
    stopped = node.stop()
    code, said = node.audit()
    wrong += [said[-600:]] if code else []
    print(f"stopped in {stopped:.1f} s; not as promised: {', '.join(wrong) or 'nothing'}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
