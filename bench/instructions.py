"""Instructions of the commonest calls, counted by callgrind, which counts the same whatever else the machine does.

    instructions.py BINARY            prints them
    instructions.py BINARY --check    fails when one has grown by more than 5 % against instructions.json beside this file
    instructions.py BINARY --keep     writes them there

Each is the least of several windows, so that the loops that look around every few seconds do not count. What the kernel
does is not counted, and SHA-256 is counted as the software would do it, because callgrind knows no processor that does it
in one instruction. A settlement is what a whole job takes more than its submit: lease, work, settle."""

import http.server
import json
import os
import pathlib
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zlib

ADMIN = "instructions-admin-token-0123456789"
KEPT = pathlib.Path(__file__).with_name("instructions.json")
MOST_GROWTH = 1.05
AT_ONCE = 64
WINDOWS = 3


def png(side):
    """A small picture, as a vendor would send it."""

    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    rows = b"".join(b"\0" + bytes((x * 3 + y * 5 + c * 40) % 256 for x in range(side) for c in range(3)) for y in range(side))
    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


class Vendor(http.server.BaseHTTPRequestHandler):
    """Answers every call for pictures at once."""

    protocol_version = "HTTP/1.1"
    body = b""

    def do_POST(self):
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(self.body)))
        self.end_headers()
        self.wfile.write(self.body)

    def log_message(self, *_):
        pass


def vendor():
    import base64

    Vendor.body = json.dumps({"data": [{"b64_json": base64.b64encode(png(1024)).decode()}]}).encode()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Vendor)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}/v1"


class Service:
    def __init__(self, binary):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="atelier-instructions-"))
        self.out = self.folder / "callgrind.out"
        settings = {
            "ATELIER_ADMIN_TOKEN": ADMIN,
            "ATELIER_LOG_LEVEL": "error",
            "ATELIER_LIMITS_SUBMITS_PER_SECOND": "0",
            "ATELIER_LIMITS_CALLS_PER_SECOND": "0",
            "ATELIER_LIMITS_DISK_FREE_PERCENT": "0",
        }
        command = ["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={self.out}", binary]
        command += ["serve", "--listen", "127.0.0.1:0", "--data-dir", str(self.folder / "data")]
        self.child = subprocess.Popen(
            command, env={**os.environ, **settings}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        for line in self.child.stdout:
            if found := re.search(r"listening on http://([\d.]+):(\d+)", line):
                self.address = (found[1], int(found[2]))
                break
        else:
            sys.exit("the service did not start")
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

    def all(self, requests):
        """Sends each request on a connection of its own and reads every answer."""
        for connection, one in zip(self.connections, requests):
            connection.sendall(one)
        return [answer(connection) for connection, _ in zip(self.connections, requests)]

    def control(self, *words):
        command = ["callgrind_control", *words, str(self.child.pid)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def counted(self, work, times):
        """Instructions of one of the things that `work` does so many of."""
        self.control("-i", "on")
        work()
        self.control("-i", "off")
        self.control("-d")
        self.dumps += 1
        dump = pathlib.Path(f"{self.out}.{self.dumps}")
        total = None
        while total is None:
            time.sleep(0.05)
            total = re.search(r"^totals: (\d+)", dump.read_text(errors="replace") if dump.exists() else "", re.M)
        return int(total[1]) / times

    def least(self, work, times):
        self.connect(AT_ONCE)
        work()
        return min(self.counted(work, times) for _ in range(WINDOWS))


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


def measure(binary):
    service = Service(binary)
    admin = f"authorization: Bearer {ADMIN}"
    try:
        account = {"email": "count@example.com", "balance": 900000000, "max_queue": 1000000}
        key = "svc-api-key: " + service.call("POST", "/admin/v1/accounts", admin, account)["data"]["api_key"]
        made = service.call("POST", "/artgen/v1/imagine", key, {"prompt": "a lighthouse at dawn"})
        parent = made["data"]["jobId"]
        fetch = request("GET", f"/artgen/v1/fetch?jobId={parent}", key)
        while json.loads(service.all([fetch])[0])["status"] != "SUCCESS":
            time.sleep(0.2)
        counts = {"fetch": service.least(lambda: [service.all([fetch] * AT_ONCE) for _ in range(4)], AT_ONCE * 4)}

        seed = request("POST", "/artgen/v1/seed", key, {"jobId": parent})

        def jobs():
            ids = [json.loads(body)["data"]["jobId"] for body in service.all([seed] * AT_ONCE)]
            time.sleep(2)
            polls = [request("GET", f"/artgen/v1/fetch?jobId={id}", key) for id in ids]
            while any(json.loads(body)["status"] not in ("SUCCESS", "FAILED") for body in service.all(polls)):
                time.sleep(1)

        whole = service.least(jobs, AT_ONCE)

        backend = {"name": "instant", "vendor": "openai", "base_url": vendor(), "operations": ["imgmodel"]}
        backend["settings"] = {"image_model": "gpt-image-1"}
        backend = service.call("POST", "/admin/v1/backends", admin, backend)["data"]["id"]
        worker = {"name": "one", "credential": "sk-count", "concurrency": 256}
        service.call("POST", f"/admin/v1/backends/{backend}/accounts", admin, worker)
        picture = {"prompt": "a lighthouse", "model": "image-1", "size": "1024x1024"}
        picture = request("POST", "/v1/images/generations", key, picture)
        counts["synchronous answer"] = service.least(lambda: service.all([picture] * 8), 8)

        stalled = {"prompt": "a lighthouse at dawn [[stall]]", "timeout": 1200}
        stalled = request("POST", "/artgen/v1/imagine", key, stalled)
        counts["submit"] = service.least(lambda: service.all([stalled] * AT_ONCE), AT_ONCE)
        counts["settlement"] = whole - counts["submit"] - counts["fetch"]
        return {name: round(count) for name, count in counts.items()}
    finally:
        service.end()


def main():
    counts = measure(sys.argv[1])
    for name, count in counts.items():
        print(f"{name}: {count:,} instructions")
    if "--keep" in sys.argv:
        KEPT.write_text(json.dumps(counts, indent=2) + "\n")
    if "--check" in sys.argv:
        kept = json.loads(KEPT.read_text())
        grown = [name for name, count in counts.items() if count > kept[name] * MOST_GROWTH]
        for name in grown:
            print(f"{name} takes {counts[name] / kept[name] - 1:.0%} more instructions than the {kept[name]:,} it took")
        sys.exit(1 if grown else 0)


main()
