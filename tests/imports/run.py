"""Takes over databases of the four programs and tries everything that can go wrong: dry run and run say the same, sums meet, keys go on
working byte for byte, a second run changes nothing, an interrupted one goes on, and bad input is refused whole.

    run.py BINARY FOLDER [PROGRAM…] [--mysql] [--postgres] [--many 100000]

Needs PyNaCl for LiteLLM, and scripts/mariadb and scripts/postgres for their databases.
"""

import argparse
import base64
import contextlib
import hashlib
import json
import os
import pathlib
import random
import re
import signal
import sqlite3
import subprocess
import sys
import time
import urllib.request
import zipfile

import rows
import schemas

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "shared"))
from launch import launch  # noqa: E402

TOKEN = "op-for-the-tests-of-imports"
EXTRAS = "litellm-proxy-extras==0.4.110"
SALT = "sk-salt-of-the-tests"


def say(text):
    print(text, flush=True)


class Server:
    """A database server for sources, emptied for each."""

    def __init__(self, kind, folder):
        self.kind, self.folder = kind, folder
        script = {"postgres": "postgres", "mysql": "mariadb"}[kind]
        self.script = ROOT / "scripts" / script
        self.url = subprocess.run([self.script, "start", folder], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()

    def load(self, statements):
        if self.kind == "postgres":
            begin = "DROP SCHEMA public CASCADE; CREATE SCHEMA public;\n"
            command = ["psql", "-q", "-v", "ON_ERROR_STOP=1", self.url]
        else:
            begin = "DROP DATABASE source; CREATE DATABASE source CHARACTER SET utf8mb4; USE source;\n"
            command = ["mariadb", "--no-defaults", f"--socket={self.folder}/socket", "--user=root"]
        subprocess.run(command, input=begin + "\n".join(statements), text=True, check=True, stdout=subprocess.DEVNULL)
        return self.url

    def stop(self):
        subprocess.run([self.script, "stop", self.folder], check=False)


def load_sqlite(path, statements):
    path.unlink(missing_ok=True)
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.executescript("\n".join(statements))
    return str(path)


def statements(kind, tables, content):
    yield from schemas.create(kind, tables)
    for table, some in content.items():
        if some:
            known = [{name: value for name, value in row.items() if name in tables[table]} for row in some]
            yield from schemas.insert(kind, table, known)


class Here:
    """A service of its own, and the program beside it."""

    def __init__(self, binary, folder):
        self.binary, self.folder = binary, folder
        folder.mkdir(parents=True)
        environment = {"ATELIER_ADMIN_TOKEN": TOKEN}
        self.process, self.base = launch(
            binary, "--listen", "127.0.0.1:0", "--data-dir", folder / "data", log=folder / "err", out=folder / "out", environment=environment
        )

    def take(self, program, source, *words, check=True):
        command = [self.binary, "local", "import", program, "--from", source, "--data-dir", self.folder / "data", *map(str, words)]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        if check and done.returncode != 0:
            raise SystemExit(f"{program}: {done.stdout}{done.stderr}")
        return done

    def ask(self, path, headers, body=None):
        request = urllib.request.Request(self.base + path, headers=headers, data=body)
        try:
            with urllib.request.urlopen(request) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    def works(self, key, header="Authorization"):
        value = f"Bearer {key}" if header == "Authorization" else key
        return self.ask("/artgen/v1/info", {header: value})[0] == 200

    def accounts(self):
        """Every account by its address."""
        found, page = {}, 1
        while True:
            _, answer = self.ask(f"/admin/v1/accounts?limit=100&page={page}", {"Authorization": f"Bearer {TOKEN}"})
            found.update({one["email"]: one for one in answer["data"]})
            if len(found) >= answer["total"] or not answer["data"]:
                return found
            page += 1

    def audit(self):
        done = subprocess.run([self.binary, "audit", "--data-dir", self.folder / "data"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert done.returncode == 0, done.stdout

    def everything(self):
        """What the database says of all that is taken over."""
        with contextlib.closing(sqlite3.connect(self.folder / "data" / "atelier.db")) as database:
            tables = ["account", "api_key", "ledger", "imported", "backend", "worker", "model", "price_group"]
            known = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            return {
                table: database.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0] for table in tables if table in known
            } | {"balances": database.execute("SELECT SUM(balance) FROM account").fetchone()[0]}

    def stop(self):
        self.process.terminate()
        self.process.wait()


def report(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def one_run(here, program, source, *words):
    """A dry run, a run that says the same, and a second one that changes nothing; the rows of the report."""
    before = here.everything()
    dry, real, again = (here.folder / name for name in ("dry.jsonl", "real.jsonl", "again.jsonl"))
    wished = here.take(program, source, "--dry-run", "--report", dry, *words)
    assert here.everything() == before, "a dry run wrote something"
    done = here.take(program, source, "--report", real, *words)
    assert done.stdout == wished.stdout, f"a dry run said\n{wished.stdout}\nand the run\n{done.stdout}"
    assert dry.read_text() == real.read_text()
    after = here.everything()
    repeated = here.take(program, source, "--report", again, *words)
    assert here.everything() == after, "a second run changed something"
    assert not [row for row in report(again) if row["action"] in ("import", "partly")], repeated.stdout
    here.audit()
    say(done.stdout)
    return report(real)


def tried(here, spellings):
    """A list of keys as they worked there and as they work here."""
    wrong = []
    say("  key                                     there  here")
    for what, key, worked in spellings:
        works = here.works(key)
        say(f"  {what:<38}  {'yes' if worked else 'no ':<5}  {'yes' if works else 'no'}")
        if works != worked:
            wrong.append(what)
    assert not wrong, f"keys that do not work as before: {wrong}"


def cut_spellings(content, works_there):
    """Each key of new-api or one-api in every way its callers may write it."""
    for row in content["tokens"]:
        worked = works_there(content, row)
        key, name = row["key"], row["name"]
        yield f"{name}, sk-KEY", f"sk-{key}", worked
        yield f"{name}, KEY", key, worked
        if row["id"] in (1, 9):
            yield f"{name}, sk-KEY-CHANNEL", f"sk-{key}-7", worked
            yield f"{name}, sk-KEY with a letter more", f"sk-{key}a", False
            yield f"{name}, KEY in capitals", f"sk-{key.upper()}", False


def new_api_works(content, row):
    """As `ValidateUserToken` and what stands around it decide it."""
    owner = next(one for one in content["users"] if one["id"] == row["user_id"])
    gone = owner.get("deleted_at") or row.get("deleted_at") or owner["status"] != 1
    over = row["expired_time"] != -1 and row["expired_time"] < time.time()
    empty = not row["unlimited_quota"] and row["remain_quota"] <= 0
    allowed = "127.0.0.1" in (row.get("allow_ips") or "127.0.0.1")
    # A key that is used up is refused there whatever is asked; here it answers what costs nothing and buys nothing.
    return not gone and row["status"] in (1, 4) and not over and "-" not in row["key"] and allowed and (not empty or row["status"] == 4)


def check_new_api(here, content, found):
    accounts = here.accounts()
    assert accounts["alice@example.com"]["balance"] == 10 and accounts["alice@example.com"]["group"] == "vip"
    assert accounts["carol.4@import.invalid"]["balance"] == 0.5
    assert accounts["user.9@import.invalid"]["balance"] == 0
    assert accounts["erin@example.com"]["disabled"] is True
    assert "frank@example.com" not in accounts
    said = {(row["table"], row["row"]): row for row in found}
    assert "1000000" in said["users", "7"]["reason"]
    assert said["tokens", "11"]["action"] == "skip"
    assert said["channels", "5"]["action"] == "skip" and "type 36" in said["channels", "5"]["reason"]
    tried(here, cut_spellings(content, new_api_works))
    headers = {"Authorization": f"Bearer {TOKEN}"}
    backends = {one["name"]: one for one in here.ask("/admin/v1/backends", headers)[1]["data"]}
    main = backends["new-api-openai-main-1"]
    assert main["vendor"] == "openai" and main["base_url"] == "https://api.openai.com/v1", main
    spare = backends["new-api-openai-spare-2"]
    assert spare["rank"] > main["rank"] and spare["enabled"] is False
    kling = backends["new-api-kling-4"]["accounts"]
    assert [one["state"] for one in kling] == ["active", "paused", "active"], kling
    models = {one["name"]: one for one in here.ask("/admin/v1/models", headers)[1]["data"]}
    routes = models["gpt-image-1"]["routes"]
    assert {route["backend"]: route["model"] for route in routes}["new-api-openai-main-1"] == "gpt-image-2", routes
    assert models["dall-e-3"]["price"] == {"unit": "call", "amount": 0.04}, models["dall-e-3"]
    # A limit of a key goes on where it was.
    limited = here.ask("/account/v1/keys", {"Authorization": f"Bearer sk-{rows.key_of(2)}"})[1]["data"]
    limits = {one["name"]: one.get("limits") for one in limited}
    assert limits["limited"][0]["quota"] == 1.2, limits


def new_api(binary, folder, kind, server):
    content = rows.new_api()
    text = list(statements(kind, schemas.NEW_API, content))
    source = server.load(text) if server else load_sqlite(folder / "new-api.db", text)
    here = Here(binary, folder / f"new-api-{kind}")
    check_new_api(here, content, one_run(here, "new-api", source))
    here.stop()


def one_api(binary, folder, kind, server):
    content = rows.one_api()
    text = list(statements(kind, schemas.ONE_API, content))
    source = server.load(text) if server else load_sqlite(folder / "one-api.db", text)
    here = Here(binary, folder / f"one-api-{kind}")
    one_run(here, "one-api", source)
    accounts = here.accounts()
    assert accounts["root.1@import.invalid"]["balance"] == 1_000_000_000
    assert not [email for email in accounts if email.startswith("deleted")]

    def works(content, row):
        owner = next(one for one in content["users"] if one["id"] == row["user_id"])
        return owner["status"] == 1

    tried(here, cut_spellings(content, works))
    wrong = here.take("new-api", source, check=False)
    assert wrong.returncode != 0 and "import one-api" in wrong.stderr, wrong.stderr
    here.stop()


def litellm_statements(folder):
    """The migrations of PyPI's package, in order."""
    wheels = folder / "wheels"
    if not wheels.exists():
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--dest", str(wheels), EXTRAS]
        subprocess.run(command, check=True)
    with zipfile.ZipFile(next(wheels.glob("*.whl"))) as wheel:
        names = sorted(name for name in wheel.namelist() if name.endswith("migration.sql"))
        assert len(names) > 100, names
        return [wheel.read(name).decode() for name in names]


def litellm_literal(value):
    if isinstance(value, list):
        return "ARRAY[" + ", ".join(schemas.literal("postgres", one) for one in value) + "]::text[]"
    return schemas.literal("postgres", value)


def litellm_rows(content):
    for table, some in content.items():
        for row in some:
            row = {"created_at": "2026-01-01", "updated_at": "2026-01-01", **row} if table == "LiteLLM_ProxyModelTable" else row
            names = ", ".join(f'"{name}"' for name in row)
            values = ", ".join(litellm_literal(value) for value in row.values())
            yield f'INSERT INTO "{table}" ({names}) VALUES ({values});'


def sealed(text):
    import nacl.secret

    box = nacl.secret.SecretBox(hashlib.sha256(SALT.encode()).digest())
    return base64.urlsafe_b64encode(box.encrypt(text.encode())).decode()


def litellm(binary, folder, _kind, server):
    content = rows.litellm(sealed)
    migrations = litellm_statements(folder)
    source = server.load([*migrations, *litellm_rows(content)])
    here = Here(binary, folder / "litellm")
    without = here.take("litellm", source, "--dry-run")
    assert "--salt-key-file" in without.stdout, without.stdout
    salt = folder / "salt"
    salt.write_text(SALT + "\n")
    found = one_run(here, "litellm", source, "--salt-key-file", salt)
    accounts = here.accounts()
    assert accounts["ann@example.com"]["balance"] == 8.5
    assert accounts["theteam.teamt-1@import.invalid"]["balance"] == 99.876, accounts
    said = {(row["table"], row["row"]): row for row in found}
    assert said["LiteLLM_ProxyModelTable", "model-4"]["action"] == "skip"
    assert "BFL_KEY" in said["LiteLLM_ProxyModelTable", "model-3"]["reason"]
    working = {"sk-user-Key_1", "sk-team-2", "sk-alone-3", "plain.key:6"}
    spellings = [(key, key, key in working) for key in rows.LITELLM_KEYS]
    spellings += [("another spelling of the first", "sk-user-key_1", False), ("cut at its dash", "sk-user", False)]
    tried(here, spellings)
    for header in ("x-litellm-api-key", "x-api-key", "api-key", "x-goog-api-key"):
        assert here.works("sk-team-2", header), header
    # A migration that began and did not end.
    half = ["CREATE TABLE \"_prisma_migrations\" (id text, migration_name text, finished_at timestamptz, rolled_back_at timestamptz);"]
    half.append("INSERT INTO \"_prisma_migrations\" VALUES ('1', '20260101_half', NULL, NULL);")
    source = server.load([*migrations, *litellm_rows(content), *half])
    refused = here.take("litellm", source, check=False)
    assert refused.returncode != 0 and "20260101_half" in refused.stderr, refused.stderr
    source = server.load([*migrations, *litellm_rows(content), 'ALTER TABLE "LiteLLM_VerificationToken" DROP COLUMN blocked;'])
    refused = here.take("litellm", source, check=False)
    assert refused.returncode != 0 and "LiteLLM_VerificationToken.blocked" in refused.stderr, refused.stderr
    here.stop()


def midjourney_proxy(binary, folder, _kind, _server):
    path = folder / "export.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows.midjourney_proxy()))
    here = Here(binary, folder / "midjourney-proxy")
    one_run(here, "midjourney-proxy", str(path))
    accounts = here.accounts()
    # Sixty drawings of four quota each.
    assert accounts["ada@example.com"]["balance"] == 240
    assert accounts["eve@example.com"]["disabled"] is True
    tried(here, [("ada", "token-of-ada", True), ("ben", "mj-ben", True), ("eve", "token-of-eve", False), ("cut", "mj", False)])
    assert here.works("token-of-ada", "mj-api-secret")
    for text, why in (("", "is empty"), ("[1]\n", "line 1"), ('{"_id":"a","Name":"b"}\n', "line 1")):
        path.write_text(text)
        refused = here.take("midjourney-proxy", str(path), check=False)
        assert refused.returncode != 0 and why in refused.stderr, refused.stderr
    here.stop()


def bad_input(binary, folder):
    here = Here(binary, folder / "bad")
    before = here.everything()
    content = rows.new_api()
    text = list(statements("sqlite", schemas.NEW_API, content))
    whole = load_sqlite(folder / "bad.db", text)
    for change, why in (
        ("ALTER TABLE users DROP COLUMN quota", "users.quota"),
        ("ALTER TABLE tokens DROP COLUMN model_limits_enabled", "tokens.model_limits_enabled"),
        ("DROP TABLE channels", "the table channels"),
        ("DROP TABLE users; DROP TABLE tokens; DROP TABLE options; DROP TABLE channels", "no database of new-api"),
    ):
        source = load_sqlite(folder / "bad.db", [*text, *[f"{part};" for part in change.split(";")]])
        refused = here.take("new-api", source, check=False)
        assert refused.returncode != 0 and why in refused.stderr, f"{change}: {refused.stderr}"
        assert here.everything() == before, change
    for source, why in (
        ("/nowhere.db", "no file"),
        ("ftp://x", "not known"),
        ("postgres://nobody@127.0.0.1:1/x", "cannot be read"),
        (str(folder / "run-is-no-database"), "cannot be read"),
    ):
        (folder / "run-is-no-database").write_text("text")
        refused = here.take("new-api", source, check=False)
        assert refused.returncode != 0 and why in refused.stderr, f"{source}: {refused.stderr}"
    # Another database under the same name is noticed.
    whole = load_sqlite(folder / "bad.db", text)
    here.take("new-api", whole)
    for row in content["users"]:
        row["username"] = f"other {row['username']}"
    other = load_sqlite(folder / "other.db", list(statements("sqlite", schemas.NEW_API, content)))
    refused = here.take("new-api", other, check=False)
    assert refused.returncode != 0 and "--as" in refused.stderr, refused.stderr
    after = here.everything()
    here.take("new-api", other, "--as", "second")
    assert here.everything()["account"] > after["account"]
    here.audit()
    here.stop()
    say("bad input: refused whole, and said why")


def strangers(binary, folder):
    """Keys that nobody has cost little: those in foreign spellings are counted against the network, and a wrong one is remembered."""
    content = rows.new_api()
    source = load_sqlite(folder / "strangers.db", list(statements("sqlite", schemas.NEW_API, content)))
    here = Here(binary, folder / "strangers")
    assert not here.works(f"sk-{rows.key_of(1)}")
    here.take("new-api", source)
    # The running service notices within ten seconds.
    end = time.monotonic() + 10
    while not here.works(f"sk-{rows.key_of(1)}"):
        assert time.monotonic() < end, "the service never learns of the keys"
        time.sleep(0.2)
    answers = [here.ask("/artgen/v1/info", {"Authorization": f"Bearer sk-guess{number}"})[0] for number in range(400)]
    assert set(answers) <= {401, 429} and 429 in answers, sorted(set(answers))
    assert here.works(f"sk-{rows.key_of(1)}"), "whoever guesses keeps others out"
    here.stop()
    say(f"strangers: {answers.count(401)} of 400 guesses were looked at, {answers.count(429)} were not")


def killed(binary, folder, count=20_000):
    """kill -9 again and again, until a run ends by itself."""
    content = rows.many(count)
    source = load_sqlite(folder / "killed.db", list(statements("sqlite", schemas.NEW_API, content)))
    here = Here(binary, folder / "killed")
    dice, kills = random.Random(7), 0
    while True:
        command = [binary, "local", "import", "new-api", "--from", source, "--data-dir", str(here.folder / "data")]
        run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            out, err = run.communicate(timeout=dice.uniform(0.3, 1.5) if kills < 12 else 120)
        except subprocess.TimeoutExpired:
            run.send_signal(signal.SIGKILL)
            run.communicate()
            kills += 1
            continue
        assert run.returncode == 0, err
        break
    with contextlib.closing(sqlite3.connect(here.folder / "data" / "atelier.db")) as database:
        balances = database.execute("SELECT SUM(balance) FROM account WHERE email <> ''").fetchone()[0]
        grants = database.execute("SELECT COUNT(*), COUNT(DISTINCT account_id) FROM ledger WHERE cause = 'import'").fetchone()
        keys = database.execute("SELECT COUNT(*) FROM imported WHERE kind = 'key'").fetchone()[0]
    wanted = sum(user["quota"] * 1000 // 500_000 for user in content["users"] if user["quota"] > 0)
    assert balances == wanted and grants[0] == grants[1] and keys == count, (balances, wanted, grants, keys)
    here.audit()
    here.stop()
    say(f"killed {kills} times: {count} users, {keys} keys, every grant once, {balances / 1000} quota in all")


def many(binary, folder, count):
    content = rows.many(count)
    source = load_sqlite(folder / "many.db", list(statements("sqlite", schemas.NEW_API, content)))
    here = Here(binary, folder / "many")
    began = time.monotonic()
    command = ["/usr/bin/env", "python3", "-c", PEAK, binary, "local", "import", "new-api", "--from", source, "--data-dir", str(here.folder / "data")]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    took = time.monotonic() - began
    peak = int(re.search(r"peak (\d+)", done.stdout)[1]) / 1024
    say(done.stdout)
    say(f"{count} users with a key each: {took:.1f} s, {peak:.0f} MiB at most")
    assert took < 120, took
    assert peak < 400, peak
    here.audit()
    here.stop()


PEAK = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True); print('peak', resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("parts", nargs="*")
    parser.add_argument("--postgres", action="store_true")
    parser.add_argument("--mysql", action="store_true")
    parser.add_argument("--many", type=int, default=0)
    given = parser.parse_args()
    folder = given.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)
    wanted = set(given.parts) or {"new-api", "one-api", "litellm", "midjourney-proxy", "bad", "strangers", "killed"}
    servers = {}
    for kind in ("postgres", "mysql"):
        if getattr(given, kind):
            servers[kind] = Server(kind, f"/tmp/atelier-imports-{os.getpid()}-{kind}")
    try:
        for part, run in (("new-api", new_api), ("one-api", one_api)):
            if part in wanted:
                for kind in ("sqlite", *servers):
                    say(f"== {part} on {kind}")
                    run(given.binary, folder, kind, servers.get(kind))
        if "litellm" in wanted and "postgres" in servers:
            say("== litellm on postgres")
            litellm(given.binary, folder, "postgres", servers["postgres"])
        if "midjourney-proxy" in wanted:
            say("== midjourney-proxy")
            midjourney_proxy(given.binary, folder, "", None)
        for part, run in (("bad", bad_input), ("strangers", strangers), ("killed", killed)):
            if part in wanted:
                run(given.binary, folder)
        if given.many:
            many(given.binary, folder, given.many)
    finally:
        for server in servers.values():
            server.stop()
    say("imports: all passed")


if __name__ == "__main__":
    main()
