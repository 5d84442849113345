#!/usr/bin/env python3
"""Goes over the whole page table: for every route, as nobody and as one account, the worst documented input as quickly as sixteen
connections send it, while a polite account reads and submits beside it. Says of every route what the polite one waited for and
what was left behind, and ends with 1 when a promise does not hold.

  tests/strangers/table.py BINARY [--seconds 5] [--only TEXT…] [--after LOG] [--write SECURITY.md]

A run that was cut short is carried on with `--after` and what it printed: routes that were as promised there are not measured again.

The promise: the polite one's p99 is at most twice what it was in the quiet moments around it, or 50 ms for a read and 250 ms for a
submit if that is more; it is not turned away; memory stays under 2 GiB; when the calls end nothing is held any more, and those
without a key leave no row and no file. What a bare server waited longer meanwhile is the machine's part and is taken off:
the attacker has the same processors here. A route that was not as promised is measured again, twice at most; the last figures stand."""
import argparse, asyncio, json, logging, multiprocessing, os, re, shutil, sqlite3, sys, tempfile, time

import attacks
from attacks import Line, form, png, sure
from costly import batch_of, kept_file
from inputs import Inputs
from service import Service, bare_server, percentile

CONNECTIONS = 16
# The attacker's account has so many jobs with long prompts behind it: lists and searches go over them.
HISTORY = 400
MOST_MS = {"read": 50, "submit": 250}
MOST_MEMORY_MIB = 2048
QUIET_SECONDS = 1
# A disk or a host that stands still for a moment spoils one measurement, a hole spoils all of them.
TRIES = 3
# While the host takes more of the processors than this, nothing is measured: it is waited for, so long at most.
MOST_STOLEN, STOLEN_SECONDS = 0.1, 600
# Tables whose rows say what the polite one and the operator do, and those that keep the service in order.
OURS = ("job", "ledger", "delivery", "idempotency", "attempt", "usage", "tally", "node", "writer", "day", "account_day")
# Why an account is never served where it is never served. Anywhere else, a route whose worst input is only ever refused has not
# been measured, and the run fails.
NEVER_SERVED = {
    "/admin/v1/": "an operator's",
    "/hooks/v1/": "a vendor's, by a word that nobody else knows",
    "POST /account/v1/keys": "few acts an hour, which the routes before it took",
    "POST /account/v1/callbacks/redeliver": "few acts an hour",
    "/custody/v1/accounts": "few acts an hour",
    "POST /jobs/v1/{jobId}/cancel": "its job is final",
    "POST /mj/task/{taskId}/cancel": "its job is final",
    "GET /metrics": "an operator's",
}
BEGIN, END = "<!-- every route: begin -->", "<!-- every route: end -->"


def attack(port, variants, key, seconds, told):
    """Sixteen connections, each one variant after the other; tells what was answered."""
    attacks.SOURCE = "127.0.0.2"
    os.nice(19)
    logging.disable(logging.CRITICAL)
    answers = {}

    async def one(number):
        line, turn = Line(port), number
        while True:
            target, headers, body, kind = variants[turn % len(variants)]
            turn += 1
            try:
                line.begun = None
                status, _ = await line.ask(method_of(target), target.split(" ", 1)[1], key, body, kind=kind, headers=headers)
            except asyncio.CancelledError:
                # A stream of events has no end.
                if line.begun:
                    answers[line.begun] = answers.get(line.begun, 0) + 1
                raise
            except (OSError, asyncio.IncompleteReadError, ValueError, asyncio.LimitOverrunError):
                status = "closed"
                line.close()
                await asyncio.sleep(0.02)
            answers[status] = answers.get(status, 0) + 1

    async def all_of_them():
        tasks = [asyncio.create_task(one(number)) for number in range(CONNECTIONS)]
        await asyncio.sleep(seconds)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run(all_of_them())
    told.send(answers)


def stolen_time():
    """How long the host has kept the processors from this machine, and all time, in ticks."""
    ticks = [int(word) for word in open("/proc/stat").readline().split()[1:9]]
    return ticks[7], sum(ticks)


def stolen_since(before):
    stolen, every = (after - earlier for after, earlier in zip(stolen_time(), before))
    return stolen / max(every, 1)


def method_of(target):
    return target.split(" ", 1)[0]


class Polite:
    """Reads and submits at a moderate pace, and writes down how long each took."""

    def __init__(self, service, key, bare):
        self.service, self.key, self.bare = service, key, bare

    async def begin(self):
        line = Line(self.service.port)
        made = await sure(line, "POST", "/artgen/v1/imagine", self.key, {"prompt": "a lake [[fail: done]]"})
        self.job = made["data"]["jobId"]
        line.close()

    async def during(self, seconds):
        """What it waited for: times of reads, submits and calls of a bare server, and how often it was turned away."""
        times, away = {"read": [], "submit": [], "bare": []}, []
        until = time.monotonic() + seconds

        async def again(kind, port, pause, calls):
            line, turn = Line(port), 0
            while time.monotonic() < until:
                method, path, body = calls[turn % len(calls)]
                turn, began = turn + 1, time.perf_counter()
                try:
                    status, answer = await asyncio.wait_for(line.ask(method, path, self.key, body), 10)
                    if status != 200:
                        away.append(f"{status} {answer[:80]}")
                except (OSError, asyncio.IncompleteReadError, asyncio.TimeoutError) as error:
                    away.append(repr(error))
                    line.close()
                times[kind].append(time.perf_counter() - began)
                await asyncio.sleep(pause)
            line.close()

        port, prompt = self.service.port, {"prompt": "a lake [[fail: done]]"}
        reads = [("GET", f"/jobs/v1/{self.job}", None), ("GET", "/jobs/v1?limit=10", None)]
        await asyncio.gather(
            again("read", port, 0.005, reads),
            again("submit", port, 0.02, [("POST", "/artgen/v1/imagine", prompt)]),
            again("bare", self.bare, 0.005, [("GET", "/", None)]),
        )
        return times, away


class Table:
    def __init__(self, service, polite, attacker, seconds):
        self.service, self.polite, self.attacker, self.seconds = service, polite, attacker, seconds
        # What was measured of each route, and what was not as promised: both of the last time.
        self.quiet, self.rows, self.bad = [], {}, {}
        self.patience = STOLEN_SECONDS

    async def quiet_moment(self):
        times, away = await self.polite.during(min(QUIET_SECONDS, self.seconds))
        # Five of them are enough to know by what p99 is compared.
        self.quiet = (self.quiet + [times])[-5:]
        return away

    def usual(self, kind):
        return percentile([one for times in self.quiet for one in times[kind]], 0.99)

    async def pressed(self, who, variants, key):
        """One route as one of the two: its cells, what was answered, and what was not as promised."""
        rows, files = self.counted(), self.files()
        mine, theirs = multiprocessing.Pipe(False)
        args = (self.service.port, variants, key, self.seconds / 2, theirs)
        process = multiprocessing.Process(target=attack, args=args)
        process.start()
        times, away = await self.polite.during(self.seconds / 2)
        process.join(self.seconds)
        if process.is_alive():
            process.kill()
        answers = mine.recv() if mine.poll(1) else {}
        wrong = [f"the polite one was turned away {len(away)} times: {away[0]}"] if away else []
        machine = max(0, percentile(times["bare"], 0.99) - self.usual("bare"))
        cells = {}
        for kind, least in MOST_MS.items():
            p99, usual = percentile(times[kind], 0.99), self.usual(kind)
            cells[kind] = p99
            if p99 - machine > max(2 * usual, least):
                wrong.append(f"{kind} p99 {p99:.0f} ms, quiet {usual:.0f} ms, the machine's part {machine:.0f} ms")
        wrong += await self.left(rows, files, is_nobody=key is None)
        return cells, answers, [f"as {who}: {one}" for one in wrong]

    def counted(self):
        database = sqlite3.connect(f"file:{os.path.join(self.service.folder, 'atelier.db')}?mode=ro", uri=True, timeout=20)
        names = [row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        names = [name for name in names if not any(word in name for word in OURS) and not name.startswith("sqlite_")]
        counts = {name: database.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in names}
        database.close()
        return counts

    def files(self):
        return sum(len(names) for where, _, names in os.walk(os.path.join(self.service.folder, "assets")) if ".spool" not in where)

    async def left(self, rows, files, is_nobody):
        """What the calls left behind."""
        line, held, until = Line(self.service.port), [], time.monotonic() + 5
        operator = [f"Authorization: Bearer {self.service.token}"]
        while time.monotonic() < until:
            shares = (await sure(line, "GET", "/admin/v1/stats", headers=operator))["data"]["shares"]
            # The question itself has a place.
            held = [f"{one['taken']} of {one['of']}" for one in shares if one["taken"] > (one["of"] in ("requests", "operator_requests"))]
            # Drawing goes on, and with it the memory of inputs; that is work that was accepted.
            held = [one for one in held if not one.endswith("input_memory")]
            if not held:
                break
            await asyncio.sleep(0.05)
        line.close()
        wrong = [f"still held: {', '.join(held)}"] if held else []
        if is_nobody:
            more = {name: count - rows.get(name, 0) for name, count in self.counted().items() if count > rows.get(name, 0)}
            wrong += [f"left rows: {more}"] if more else []
            wrong += [f"left {self.files() - files} files"] if self.files() > files else []
        else:
            now = self.counted()
            # Sign-ins and acts are an account's to make, so many an hour.
            wrong += [f"left {now[name] - rows[name]} rows in {name}" for name in rows if now[name] - rows[name] > 200]
        return wrong

    async def accepted(self):
        """How many jobs the attacker has had."""
        line = Line(self.service.port)
        for _ in range(100):
            status, answer = await line.ask("GET", "/jobs/v1?limit=1", self.attacker)
            if status == 200:
                break
            await asyncio.sleep(0.1)
        line.close()
        return json.loads(answer)["total"]

    async def cleared(self):
        """Cancels what the attacker has not finished, so that the next route begins in a quiet service."""
        line, until = Line(self.service.port), time.monotonic() + 30
        while time.monotonic() < until:
            status, answer = await line.ask("GET", "/jobs/v1?limit=100&unfinished=true", self.attacker)
            jobs = json.loads(answer)["data"] if status == 200 else [None]
            if not jobs:
                break
            for job in jobs:
                if job:
                    await line.ask("POST", f"/jobs/v1/{job['jobId']}/cancel", self.attacker)
            await asyncio.sleep(0.1)
        line.close()

    async def undisturbed(self):
        """Waits until the host lets this machine work."""
        while self.patience > 0:
            before = stolen_time()
            await asyncio.sleep(1)
            if stolen_since(before) < MOST_STOLEN:
                break
            self.patience -= 1

    async def route(self, method, path, variants):
        """One route, as nobody and as one account: nobody has no key for the body either."""
        name = f"{method} {path}"
        before = stolen_time()
        await self.measured(name, method, variants)
        if stolen_since(before) > MOST_STOLEN:
            await self.undisturbed()
            await self.measured(name, method, variants)

    async def measured(self, name, method, variants):
        await self.quiet_moment()
        found = []
        accepted = await self.accepted()
        for who, key in (("nobody", None), ("an account", self.attacker)):
            hidden = lambda body: body and (body if key else body.replace(self.attacker.encode(), b"at_nobody"))
            asked = [(f"{method} {target}", headers, hidden(body), kind) for target, headers, body, kind in variants]
            found.append(await self.pressed(who, asked, key))
        await self.cleared()
        said = lambda answers: ", ".join(f"{count} × {status}" for status, count in sorted(answers.items(), key=lambda one: -one[1])[:3])
        (nobody, first, _), (account, second, complaints) = found
        figures = (nobody["read"], nobody["submit"], account["read"], account["submit"])
        self.bad.pop(name, None)
        # A job may take longer than the measurement, and its caller's answer with it.
        is_served = any(str(status).startswith(("2", "3")) for status in second) or await self.accepted() > accepted
        if not is_served and not any(part in name for part in NEVER_SERVED):
            complaints.append("as an account: never served, so nothing was measured")
        if wrong := "; ".join(one for _, _, some in found for one in some):
            self.bad[name] = wrong
        self.rows[name] = (figures, said(first), said(second))
        print(f"{name}: " + " ".join(f"{one:.0f}" for one in figures) + f" | {said(first)} | {said(second)} {wrong and '| ' + wrong}", flush=True)


def known(log):
    """What an earlier run printed of the routes that were as promised."""
    rows = {}
    for line in open(log):
        if found := re.fullmatch(r"([A-Z]+ /\S*): ([\d ]+) \| ([^|]*) \| ([^|]*?) *(\| .*)?\n", line):
            name, figures, first, second, wrong = found.groups()
            rows.pop(name, None)
            if not wrong:
                rows[name] = (tuple(map(float, figures.split())), first, second)
    return rows


# By the tag of the OpenAPI document: what makes a job of each family. Its example, made cheap.
JOBS = {
    "Anime images": ("/animegen/text-to-image", {"width": 64, "height": 64}),
    "Art videos": ("/artgen/video/submit", {"bs": 1}),
    "Chat images": ("/imgmodel/chat-image/generations", {}),
    "Clips": ("/clipgen/generations", {}),
    "Face swap": ("/facegen/v1/swap", {}),
    "Motion videos": ("/motion/v1/generations", {}),
    "Videos": ("/vidgen/generations", {}),
    "Videos, partner channel": ("/vidgen-partner/generations", {}),
}


def path_of(url):
    return re.sub(r"^https?://[^/]+", "", url)


async def made_things(line, key, ground, inputs):
    """A finished job of every family, and things to change and to remove."""
    submit = lambda path, change: sure(line, "POST", path, key, {**inputs.example(path), **change})
    finished = lambda job: attacks.finished(line, key, job)
    imagine = {"prompt": "a mountain --ar 1:1", "hookUrl": ground["address"]}
    job = (await submit("/artgen/v1/imagine", imagine))["data"]["jobId"]
    spare = (await submit("/artgen/v1/imagine", imagine))["data"]["jobId"]
    where = path_of((await finished(job))["files"][0]["url"]).split("/assets/", 1)[1]
    ground.update(jobId=job, taskId=job, videoId=job, path="quickstart", call="imagine", speed="mj-turbo", model="image-1")
    tags, routes = ground["tags"], ground["routes"]
    for tag, (path, body) in JOBS.items():
        made = await submit(path, body)
        one = made.get("jobId") or made["data"]["jobId"]
        shown = await finished(one)
        # Faces are looked for, and there is none in this picture.
        assert shown["status"] == "SUCCESS" or tag == "Face swap", shown
        tags[tag] = {"jobId": one, "job_id": one}
        if tag == "Videos":
            tags[tag]["url"] = ground["clip"] = shown["files"][0]["url"]
    spare_video = (await submit("/vidgen-partner/generations", JOBS["Videos, partner channel"][1]))
    answered = await line.ask("POST", "/v1/images/generations", key, {"prompt": "a lake", "async": True})
    image = json.loads(answered[1])["id"]
    await finished(image)
    tags["OpenAI clients"] = {"videoId": tags["Videos, partner channel"]["jobId"], "imageId": image}
    made = await sure(line, "POST", "/files/v1", key, form(png(64, 64)), kind="multipart/form-data; boundary=b")
    ground["fileId"], ground["form"] = made["data"]["id"], form(png(1000, 1000, 3))
    ground["edit_form"] = form(png(1000, 1000, 3), "image", b'--b\r\nContent-Disposition: form-data; name="prompt"\r\n\r\na lake\r\n')
    keys = [await sure(line, "POST", "/account/v1/keys", key, {"name": name, "scopes": ["read"]}) for name in ("changed", "removed")]
    ground["keyId"], removed = (made["data"]["id"] for made in keys)
    told = (await sure(line, "GET", "/account/v1/callbacks", key))["data"]
    routes.update({
        "GET /assets/{path}": {"path": where},
        "GET /thumbs/{path}": {"path": where},
        "GET /console/{path}": {"path": "app.js"},
        "GET /account/v1/callbacks/{id}": {"id": told[0]["id"]},
        "POST /account/v1/callbacks/{id}/redeliver": {"id": told[0]["id"]},
        "DELETE /account/v1/keys/{keyId}": {"keyId": removed},
        "DELETE /jobs/v1/{jobId}": {"jobId": spare},
        "GET /jobs/v1/{jobId}/answer": {"jobId": image},
        "DELETE /v1/videos/{videoId}": {"videoId": spare_video.get("jobId") or spare_video["data"]["jobId"]},
        "GET /v1/videos/{videoId}/content": {"variant": "thumbnail"},
    })


async def history(service, key, inputs):
    """What the attacker has: long prompts in its past, a job of every family, a batch, a file, a key to remove."""
    ground = {"secret": key, "address": inputs.address, "tags": {}, "routes": {}}
    line, done = Line(service.port), 0
    while done < HISTORY:
        status, answer = await line.ask("POST", "/jobs/v1/batch", key, batch_of(40, done))
        assert status in (200, 429, 503), (status, answer[:300])
        if status == 200:
            done += 40
            ground["batchId"] = json.loads(answer)["data"]["batchId"]
        await asyncio.sleep(0.2)
    while (await sure(line, "GET", "/jobs/v1?limit=1&unfinished=true", key))["total"]:
        await asyncio.sleep(0.2)
    await made_things(line, key, ground, inputs)
    line.close()
    return ground


async def addresses():
    """Where the addresses of the calls lead: a picture for whoever asks."""
    image = png(256, 256)

    async def serve(reader, writer):
        try:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(image) + image)
            await writer.drain()
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    return server, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/a.png"


def written(path, table, took, service):
    """Puts the table between its marks."""
    head = "| route | without a key: read | submit | an account: read | submit | responses without a key | responses to the account |\n|---|---|---|---|---|---|---|"
    lines = [f"| `{name}` | " + " | ".join(f"{one:.0f}" for one in figures) + f" | {first} | {second} |" for name, (figures, first, second) in table.rows.items()]
    quiet = f"Quiet: {table.usual('read'):.0f} ms for a read, {table.usual('submit'):.0f} ms for a submit."
    about = f"{len(table.rows)} routes, {table.seconds:g} s each, the last part {took / 60:.0f} minutes; the process took {service.memory('VmHWM'):.0f} MiB at most. p99 in ms. {quiet}"
    wrong = "Not as promised: " + ("; ".join(f"`{name}` {wrong}" for name, wrong in table.bad.items()) or "nothing") + "."
    text = open(path).read()
    inside = "\n".join([BEGIN, about, wrong, "", head, *lines, END])
    open(path, "w").write(re.sub(re.escape(BEGIN) + r".*?" + re.escape(END), lambda _: inside, text, flags=re.S))


async def main(words):
    began, folder = time.monotonic(), tempfile.mkdtemp(prefix="table-")
    service = Service(words.binary, folder)
    mine, theirs = multiprocessing.Pipe(False)
    multiprocessing.Process(target=bare_server, args=(theirs,), daemon=True).start()
    server, address = await addresses()
    try:
        attacker = await service.account("attacker", 10**9)
        polite = Polite(service, await service.account("polite", 10**9, max_queue=10000, submits_per_second=1000, calls_per_second=10000), mine.recv())
        await polite.begin()
        line = Line(service.port)
        inputs = Inputs(await sure(line, "GET", "/openapi.json"), address)
        line.close()
        ground = await history(service, attacker, inputs)
        table = Table(service, polite, attacker, words.seconds)
        for _ in range(3):
            await table.quiet_moment()
        routes = {f"{method} {path}": (method, path, operation) for method, path, operation in inputs.routes()}
        asked = [name for name in routes if not words.only or any(text in name for text in words.only)]
        if words.after:
            table.rows.update(known(words.after))
            asked = [name for name in asked if name not in table.rows]
        for attempt in range(TRIES):
            for name in asked if attempt == 0 else list(table.bad):
                method, path, operation = routes[name]
                await table.route(method, path, inputs.of(method, path, operation, ground))
        table.rows = {name: table.rows[name] for name in routes if name in table.rows}
        took = time.monotonic() - began
        if service.memory("VmHWM") >= MOST_MEMORY_MIB:
            table.bad["the process"] = f"took {service.memory('VmHWM'):.0f} MiB"
        print(f"{len(table.rows)} routes in {took:.0f} s; memory {service.memory('VmHWM'):.0f} MiB at most; not as promised: {len(table.bad) or 'nothing'}")
        for name, wrong in table.bad.items():
            print(f"  {name} {wrong}")
        if words.write:
            written(words.write, table, took, service)
        return 1 if table.bad else 0
    finally:
        server.close()
        service.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    words = argparse.ArgumentParser()
    words.add_argument("binary")
    words.add_argument("--seconds", type=float, default=5)
    words.add_argument("--only", nargs="*")
    words.add_argument("--after")
    words.add_argument("--write")
    sys.exit(asyncio.run(main(words.parse_args())))
