"""Attacks whose calls cost whoever makes them next to nothing: searches, answers that are never read, failures that are paid
back, damaged pictures, sessions, acts, and an account's own long work. As in attacks.py; those that leave something behind are
also asked how much."""
import asyncio, fcntl, os, socket, sqlite3, struct, time, zlib

from attacks import Line, Thing, crowd, form, frame, host, hpack, info, repeated, submit, sure

EMOJI = "\U0001f3d4"
# Prompts that are searched: all of them are looked at for every search.
PROMPTS = int(os.environ.get("STRANGERS_PROMPTS", "400"))
MIB = 2**20
# A network of one household, as far as anybody can tell, put on the loopback device while it is needed.
HOUSEHOLD = "fd00:a7e1:1e7::"


def long_prompt(number, word="[[fail: done]]"):
    return f"{number} {word} " + EMOJI * 31900


def batch_of(count, turn):
    one = lambda number: {"operation": "artgen.imagine", "request": {"prompt": long_prompt(f"{turn}.{number}"), "translation": False}}
    return {"requests": [one(number) for number in range(count)]}


# Searches.


async def with_long_prompts(service, key, ground):
    line, done = Line(service.port), 0
    while done < PROMPTS:
        status, answer = await line.ask("POST", "/jobs/v1/batch", key, batch_of(40, done))
        if status == 200:
            done += 40
        elif status not in (429, 503):
            raise AssertionError((status, answer[:300]))
        else:
            await asyncio.sleep(0.3)
    # Until all of them have come to their end; the one that stalls does not.
    while (await sure(line, "GET", "/jobs/v1?limit=1&unfinished=true", key))["total"] > 1:
        await asyncio.sleep(0.2)
    line.close()


async def listed(line, key, ground):
    if "listed" not in ground:
        await submit(line, key, ground)
        ground["listed"] = "1"
    await sure(line, "GET", "/jobs/v1?limit=10&status=FAILED", key)


async def searches(port, key, _):
    async def one(number):
        line = Line(port)
        await line.ask("GET", f"/jobs/v1?limit=100&q=%F0%9F%8F%94%20{number}%20" + "%F0%9F%8F%94" * 190, key)
        line.close()
    await crowd(12, one)


async def unread_lists(port, key, _ground):
    """Lists of long prompts are megabytes each; whoever asks for many and reads none must not have them all made."""
    async def one(number):
        line = Line(port)
        await line.open()
        path = ("/mj/task/list", "/jobs/v1?limit=100")[number % 2]
        line.writer.write(f"GET {path} HTTP/1.1\r\nHost: {host(port)}\r\nSVC-API-KEY: {key}\r\n\r\n".encode())
        await line.writer.drain()
        await asyncio.sleep(60)
        line.close()
    await crowd(200, one)


# Answers that nobody reads.


async def unread_http2(sources, port, address="127.0.0.1"):
    head = hpack([(":method", "GET"), (":scheme", "http"), (":authority", host(port)), (":path", "/openapi.json")])

    async def one(number):
        source = sources[number % len(sources)]
        reader, writer = await asyncio.open_connection(address, port, local_addr=(source, 0))
        # Nothing may be sent on any stream until it is said, which it never is.
        writer.write(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, struct.pack(">HI", 4, 0)))
        for stream in range(1, 256, 2):
            writer.write(frame(1, 5, stream, head))
        await writer.drain()
        while await asyncio.wait_for(reader.read(65536), 120):
            pass
        writer.close()

    await crowd(72, one)


async def unread_from_eight_addresses(port, _key, _ground):
    await unread_http2([f"127.0.0.{number}" for number in range(11, 19)], port)


async def unread_from_one_network(port, _key, _ground):
    await unread_http2([f"{HOUSEHOLD}{number}" for number in range(1, 10)], port, "::1")


async def with_a_network(_service, _key, _ground):
    """Gives the loopback device nine addresses of one network, which needs the rights of root."""
    for number in range(1, 10):
        change_address(f"{HOUSEHOLD}{number}", 0x8916)


def change_address(text, act):
    wanted = socket.inet_pton(socket.AF_INET6, text) + struct.pack("Ii", 128, socket.if_nametoindex("lo"))
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as line:
        try:
            fcntl.ioctl(line, act, wanted)
        except FileExistsError:
            pass


async def without_the_network(_service, _key, _ground):
    for number in range(1, 10):
        change_address(f"{HOUSEHOLD}{number}", 0x8936)
    return []


# Failures that are paid back.


def size_of(folder):
    sizes = (os.lstat(os.path.join(where, name)).st_size for where, _, names in os.walk(folder) for name in names)
    return sum(sizes)


async def with_its_size(service, _key, ground):
    ground["size"] = str(size_of(service.folder))


async def disk_taken(service, _key, ground):
    """The account may keep 16 MiB; some more is the database's log and what others left."""
    grown = (size_of(service.folder) - int(ground["size"])) / MIB
    return [f"the disk took {grown:.0f} MiB of an account that may keep 16"] if grown > 80 else []


# Damaged pictures.


def damaged_png(side):
    """A large picture of one colour that ends a little too early."""
    packer = zlib.compressobj(1)
    row = b"\0" + b"\x40" * (side * 3)
    data = b"".join(packer.compress(row) for _ in range(side))
    data = data + packer.flush()
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", data[: len(data) * 98 // 100]) + chunk(b"IEND", b"")


def unlike_any_png():
    """A small picture that nobody has sent before."""
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = b"".join(b"\0" + os.urandom(48) for _ in range(16))
    head = struct.pack(">IIBBBBB", 16, 16, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


async def kept_file(line, key, data):
    made = await sure(line, "POST", "/files/v1", key, form(data), kind="multipart/form-data; boundary=b")
    return "/" + made["data"]["url"].split("://")[1].split("/", 1)[1]


async def with_a_damaged_picture(service, key, ground):
    line = Line(service.port)
    ground["damaged"] = await kept_file(line, key, damaged_png(6000))
    line.close()


async def new_thumbnail(line, key, _ground):
    await sure(line, "GET", await kept_file(line, key, unlike_any_png()) + "&thumb=1")


async def damaged_thumbnails(port, _key, ground):
    async def one(_number):
        line = Line(port)
        await line.ask("GET", ground["damaged"] + "&thumb=1")
        line.close()
    await crowd(400, one)


# Sessions and acts.


async def signing_in(port, key, _ground):
    await repeated(32, "POST", "/console/session", lambda *_: {"secret": key})(port, None, {})


async def sessions_left(service, _key, _ground):
    database = sqlite3.connect(f"file:{os.path.join(service.folder, 'atelier.db')}?mode=ro", uri=True)
    count = database.execute("SELECT count(*) FROM console_session").fetchone()[0]
    database.close()
    return [f"{count} sessions of one key are kept"] if count > 200 else []


async def lines_of_operators(service):
    line = Line(service.port)
    shown = await sure(line, "GET", "/admin/v1/audit?limit=1", headers=[f"Authorization: Bearer {service.token}"])
    line.close()
    return shown["total"]


async def with_its_lines(service, _key, ground):
    ground["lines"] = str(await lines_of_operators(service))


async def lines_left(service, _key, ground):
    more = await lines_of_operators(service) - int(ground["lines"])
    # Accounts are made by an operator, which is a line each.
    return [f"{more} lines of a caller's acts in the operators' list"] if more > 10 else []


async def acts(port, key, _ground):
    async def one(number):
        line = Line(port)
        if number % 2:
            made = await sure(line, "POST", "/account/v1/keys", key, {"name": f"k{number}", "scopes": ["read"]})
            await line.ask("DELETE", f"/account/v1/keys/{made['data']['id']}", key)
        else:
            asked = {"vendor": "relay", "base_url": "https://media.example.com", "credential": "x"}
            made = await sure(line, "POST", "/custody/v1/accounts", key, asked)
            here = f"/custody/v1/accounts/{made['data']['id']}"
            for _ in range(10):
                await line.ask("PATCH", here, key, {"concurrency": 1})
            await line.ask("POST", f"{here}/probe", key)
            await line.ask("DELETE", here, key)
        line.close()
    await crowd(8, one)


# Long work beside short work of the same account.


async def own_videos(port, key, _ground):
    async def one(number):
        line = Line(port)
        asked = {"prompt": f"a river {number} {time.monotonic_ns()}", "model": "video-2", "duration": 10}
        await line.ask("POST", "/vidgen/generations", key, asked)
        line.close()
        await asyncio.sleep(1)
    await crowd(10, one)


async def own_picture(line, key, _ground):
    await sure(line, "POST", "/v1/images/generations", key, {"prompt": "a lake", "size": "1024x1024"})


MORE = [
    Thing("searches", f"12 searches over {PROMPTS} prompts of 32,000 characters", searches, listed, {"max_queue": 5000, "submits_per_second": 1000},
          ready=with_long_prompts, most_ms=50),
    Thing("long lists", "200 lists of 100 prompts of 32,000 characters, unread", unread_lists, listed, {"max_queue": 5000, "submits_per_second": 1000},
          ready=with_long_prompts, most_ms=50, seconds=12),
    Thing("unread answers", "72 HTTP/2 connections without a window, from 8 addresses, without a key", unread_from_eight_addresses, info, most_ms=50, seconds=8),
    Thing("unread answers of one network", "the same from nine addresses of one IPv6 /64", unread_from_one_network, info, most_ms=50, seconds=8,
          ready=with_a_network, left=without_the_network, listen="[::]:0"),
    Thing("refunded failures", "batches of failing prompts of 128 kB, with 16 MiB to keep", repeated(2, "POST", "/jobs/v1/batch", lambda n, t, g: batch_of(40, f"{n}.{t}")),
          submit, {"max_storage": 16 * MIB, "max_queue": 1000, "submits_per_second": 1000}, ready=with_its_size, left=disk_taken, most_ms=250, seconds=20),
    Thing("damaged pictures", "400 connections ask for the thumbnail of one, without a key", damaged_thumbnails, new_thumbnail, ready=with_a_damaged_picture, most_ms=250,
          is_refused=True),
    Thing("sessions", "signing in with one key", signing_in, submit, left=sessions_left, most_ms=250, seconds=8),
    Thing("acts", "keys and worker accounts made, changed, probed and removed", acts, submit, ready=with_its_lines, left=lines_left, most_ms=250, seconds=8),
    Thing("own long work", "ten videos of the same account", own_videos, own_picture, {"max_queue": 100}, own=True, most=4, most_ms=250, seconds=30),
]
