"""What strangers do: the calls of a second account that are timed, the attacks of a first one, and the table of shared things
that says which goes with which."""
import asyncio, json, os, re, struct, time, typing, zlib

SOCKETS = int(os.environ.get("STRANGERS_SOCKETS", "2000"))
# Where calls come from: strangers have addresses of their own.
SOURCE = "127.0.0.1"
# How many calls of an attacker were served and how many refused; shared with whoever started it, or nothing is counted.
ANSWERED = None


class Thing(typing.NamedTuple):
    """A shared thing, the attacker's means, what it does, what the other does, and limits of the attacker's account."""

    name: str
    means: str
    attack: typing.Callable
    act: typing.Callable
    limits: dict = {}
    # What the attacker needs before it begins, and what the attack may have left behind: a list of complaints.
    ready: typing.Callable | None = None
    left: typing.Callable | None = None
    # The other's p99 may be so many times its quiet value, or so many milliseconds if that is more.
    most: float = 2
    most_ms: float = 0
    # The attack lasts so long at least.
    seconds: float = 0
    # The other's calls are the same account's.
    own: bool = False
    listen: str = "127.0.0.1:0"
    # What it sends is refused every time, and that is the attack. Any other that is never served attacks nothing.
    is_refused: bool = False


def host(port):
    """The name that calls come under: under one that is not the service's much is refused before it costs anything."""
    return f"127.0.0.1:{port}"


def png(width, height, seed=0):
    rows = b"".join(b"\0" + bytes((x * 7 + y * 13 + seed) & 255 for x in range(width * 3)) for y in range(height))
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows, 1)) + chunk(b"IEND", b"")


class Line:
    """A connection that is kept."""

    def __init__(self, port):
        self.port, self.reader, self.writer = port, None, None
        # The status of an answer as soon as it begins.
        self.begun = None

    async def open(self):
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port, limit=2**22, local_addr=(SOURCE, 0))

    async def ask(self, method, path, key=None, body=None, kind="application/json", headers=()):
        if self.writer is None or self.writer.is_closing():
            await self.open()
        data = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        lines = [f"{method} {path} HTTP/1.1", f"Host: {host(self.port)}", f"Content-Length: {len(data)}"]
        lines += [f"SVC-API-KEY: {key}"] if key else []
        lines += [f"Content-Type: {kind}"] if body is not None else []
        self.writer.write(("\r\n".join(lines + list(headers)) + "\r\n\r\n").encode() + data)
        await self.writer.drain()
        head = await self.reader.readuntil(b"\r\n\r\n")
        status = self.begun = int(head[9:12])
        if ANSWERED is not None:
            ANSWERED[0 if 200 <= status < 300 else 1] += 1
        length = re.search(rb"(?i)\r\ncontent-length: (\d+)", head)
        if length:
            answer = await self.reader.readexactly(int(length[1]))
        elif b"chunked" in head.lower():
            answer = b""
            while size := int((await self.reader.readuntil(b"\r\n")).strip(), 16):
                answer += await self.reader.readexactly(size)
                await self.reader.readexactly(2)
            await self.reader.readexactly(2)
        else:
            answer = b""
        if b"connection: close" in head.lower():
            self.close()
        return status, answer

    def close(self):
        if self.writer:
            self.writer.close()
        self.writer = None


async def sure(line, *asked, **more):
    status, answer = await line.ask(*asked, **more)
    assert status == 200, (asked[:2], status, answer[:300])
    return json.loads(answer) if answer[:1] in (b"{", b"[") else answer


async def finished(line, key, job):
    while True:
        shown = (await sure(line, "GET", f"/jobs/v1/{job}", key))["data"]
        if shown["status"] in ("SUCCESS", "FAILED"):
            return shown
        await asyncio.sleep(0.005)


# What the second account does, timed.


async def info(line, key, _):
    await sure(line, "GET", "/artgen/v1/info", key)


async def body(line, key, _):
    asked = {"operation": "artgen.imagine", "request": {"prompt": "a lake " + "x" * 20000}}
    await sure(line, "POST", "/account/v1/quote", key, asked)


async def submit(line, key, _):
    job = (await sure(line, "POST", "/artgen/v1/imagine", key, {"prompt": "a lake [[fail: done]]"}))["data"]["jobId"]
    await finished(line, key, job)


async def picture(line, key, _):
    job = (await sure(line, "POST", "/artgen/v1/imagine", key, {"prompt": "a lake"}))["data"]["jobId"]
    shown = await finished(line, key, job)
    assert shown["status"] == "SUCCESS", shown


async def fetched(line, key, ground):
    job = (await sure(line, "POST", "/artgen/v1/imagine", key, {"prompt": f"{ground['address']} a lake"}))["data"]["jobId"]
    shown = await finished(line, key, job)
    assert shown["status"] == "SUCCESS", shown


async def called_back(line, key, ground):
    ground["got"].clear()
    asked = {"prompt": "a lake [[fail: done]]", "hookUrl": ground["hook"]}
    await sure(line, "POST", "/artgen/v1/imagine", key, asked)
    await asyncio.wait_for(ground["got"].wait(), 60)


async def streamed(line, key, ground):
    job = ground.setdefault("done", None)
    if job is None:
        job = (await sure(line, "POST", "/artgen/v1/imagine", key, {"prompt": "a lake [[fail: x]]"}))["data"]["jobId"]
        await finished(line, key, job)
        ground["done"] = job
    await sure(line, "GET", f"/jobs/v1/{job}/events", key)


async def uploaded(line, key, _):
    await sure(line, "POST", "/files/v1", key, form(png(32, 32, int(time.monotonic_ns()) & 255)), kind="multipart/form-data; boundary=b")


async def file_read(line, key, ground):
    if "file" not in ground:
        job = (await sure(line, "POST", "/artgen/v1/imagine", key, {"prompt": "a lake"}))["data"]["jobId"]
        ground["file"] = re.sub(r"^https?://[^/]+", "", (await finished(line, key, job))["files"][0]["url"])
    await sure(line, "GET", ground["file"])


async def thumbnail(line, key, ground):
    await file_read(line, key, ground)
    await sure(line, "GET", ground["file"] + "&thumb=1")


def form(data, name="file", before=b""):
    head = f'--b\r\nContent-Disposition: form-data; name="{name}"; filename="a.png"\r\nContent-Type: image/png\r\n\r\n'
    return before + head.encode() + data + b"\r\n--b--\r\n"


# What the first account does, in a process of its own, until it is killed.


async def crowd(count, one):
    async def again(number):
        while True:
            try:
                await one(number)
            except (OSError, asyncio.IncompleteReadError, AssertionError, ValueError, asyncio.LimitOverrunError):
                await asyncio.sleep(0.05)
    await asyncio.gather(*(again(number) for number in range(count)))


def repeated(count, method, path, make, kind="application/json"):
    async def attack(port, key, ground):
        async def one(number):
            line = Line(port)
            for turn in range(100):
                await line.ask(method, path(ground) if callable(path) else path, key, make(number, turn, ground), kind=kind)
            line.close()
        await crowd(count, one)
    return attack


async def silent_bodies(port, key, _):
    async def one(_number):
        line = Line(port)
        await line.open()
        size = 64 * 2**20 - 10
        line.writer.write(f"POST /facegen/v1/swap HTTP/1.1\r\nHost: {host(port)}\r\nSVC-API-KEY: {key}\r\nContent-Length: {size}\r\n\r\n".encode())
        sent = 0
        while sent < size - 2**20:
            line.writer.write(b"x" * 2**20)
            await line.writer.drain()
            sent += 2**20
        await line.reader.read()
        line.close()
    await crowd(24, one)


async def tiny_values(port, key, _):
    items = ",".join(["{}"] * 2_000_000)
    data = f'{{"operation":"facegen.swap","request":{{"a":[{items}]}}}}'.encode()
    async def one(_number):
        line = Line(port)
        await line.ask("POST", "/account/v1/quote", key, data)
        line.close()
    await crowd(8, one)


async def unread_files(port, key, ground):
    async def one(_number):
        line = Line(port)
        await line.open()
        for _ in range(20):
            line.writer.write(f"GET {ground['large']} HTTP/1.1\r\nHost: {host(port)}\r\n\r\n".encode())
        await line.writer.drain()
        await asyncio.sleep(90)
        line.close()
    await crowd(600, one)


async def many_streams(port, key, ground):
    async def one(_number):
        line = Line(port)
        await line.open()
        line.writer.write(f"GET /jobs/v1/{ground['stalled']}/events HTTP/1.1\r\nHost: {host(port)}\r\nSVC-API-KEY: {key}\r\n\r\n".encode())
        await line.writer.drain()
        while await line.reader.read(65536):
            pass
        line.close()
        await asyncio.sleep(0.2)
    await crowd(1500, one)


def frame(kind, flags, stream, data=b""):
    return struct.pack(">I", len(data))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + data


def hpack(pairs):
    return b"".join(b"\x00" + bytes([len(name)]) + name.encode() + bytes([len(value)]) + value.encode() for name, value in pairs)


async def unfinished_http2(port, key, _):
    head = hpack([(":method", "POST"), (":scheme", "http"), (":authority", host(port)), (":path", "/facegen/v1/swap"), ("svc-api-key", key), ("content-length", "1000")])
    async def one(_number):
        line = Line(port)
        await line.open()
        line.writer.write(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0))
        for stream in range(1, 256, 2):
            line.writer.write(frame(1, 4, stream, head))
        await line.writer.drain()
        while await asyncio.wait_for(line.reader.read(65536), 60):
            pass
        line.close()
    await crowd(64, one)


async def custody_changes(port, key, _):
    async def one(_number):
        line = Line(port)
        made = await sure(line, "POST", "/custody/v1/accounts", key, {"vendor": "relay", "base_url": "https://media.example.com", "credential": "x"})
        await line.ask("DELETE", f"/custody/v1/accounts/{made['data']['id']}", key)
        line.close()
    await crowd(8, one)


async def slow_sockets(port, _key, _ground):
    async def one(number):
        line = Line(port)
        await line.open()
        for byte in f"POST /artgen/v1/imagine HTTP/1.1\r\nHost: {host(port)}\r\nX-{number}: {'y' * 200}\r\n":
            line.writer.write(byte.encode())
            await line.writer.drain()
            await asyncio.sleep(1)
        line.close()
    await crowd(SOCKETS, one)


def submits(prompt, count=30, **more):
    return repeated(count, "POST", "/artgen/v1/imagine", lambda number, turn, ground: {"prompt": f"{prompt} {number} {turn}", **{name: value(ground) for name, value in more.items()}})


def batch(_number, turn, _ground):
    return {"requests": [{"operation": "artgen.imagine", "request": {"prompt": f"[[stall]] {turn} {n}"}} for n in range(1000)]}


def drips(number, turn, ground):
    return {"prompt": f"{ground['drip']}?{number}.{turn} a lake"}


THINGS = [
    Thing("requests", "calls as fast as it can", repeated(64, "GET", "/artgen/v1/info", lambda *_: None), info),
    Thing("body memory", "24 bodies of 64 MiB that fall silent", silent_bodies, body),
    Thing("parsing", "8 MB of tiny values, 8 at a time", tiny_values, body, is_refused=True),
    Thing("input memory", "addresses that drip", repeated(20, "POST", "/artgen/v1/imagine", drips), fetched, {"max_queue": 500}),
    Thing("engine places", "jobs that stall, 500 in the queue", submits("[[stall]]"), picture, {"max_queue": 500}),
    Thing("engine threads", "pictures as fast as it can, 500 in the queue", submits("a mountain"), picture, {"max_queue": 500}),
    Thing("queue", "submits as fast as it can", submits("[[delay 1s]] a lake"), submit),
    Thing("callbacks", "callbacks to a receiver that is silent", submits("[[fail: x]]", hookUrl=lambda ground: ground["mute"]), called_back, {"max_queue": 500}),
    Thing("event streams", "1,500 event streams", many_streams, streamed),
    Thing("HTTP/2 streams", "8,000 unfinished requests on 64 connections", unfinished_http2, info),
    Thing("descriptors", "600 connections that ask for files and read none", unread_files, file_read),
    Thing("failed prompts", "refused and failing prompts", submits("gore [[reject]]", 60), submit, is_refused=True),
    Thing("custody changes", "worker accounts made and deleted", custody_changes, submit),
    Thing("uploads", "files of 3 MB", repeated(16, "POST", "/files/v1", lambda n, t, g: form(png(1000, 1000, n * 100 + t)), kind="multipart/form-data; boundary=b"), uploaded),
    Thing("batches", "batches of 1,000 requests", repeated(8, "POST", "/jobs/v1/batch", batch), submit),
    Thing("thumbnails", "thumbnails of large pictures", repeated(32, "GET", lambda ground: ground["large"] + "&thumb=1", lambda *_: None), thumbnail),
]
