"""Every toxic of the proxy between the service and what it needs, while callers ask with keys; then both audits.

    toxics.py BINARY FOLDER [--postgres URL] [--s3 URL] [--only database|storage|vendor]

The vendor is another Atelier behind the `relay` adapter, so that what it was asked to make can be counted there."""

import argparse
import os
import sys
import time
import urllib.parse
import urllib.request

import auditor
from kill import SETTINGS
from load import Load
from proxy import Proxy
from service import Node, Sink, call, database_of, free_port

SECONDS = 6


def latency(proxy):
    proxy.latency = 0.15


def bandwidth(proxy):
    proxy.bandwidth = 64 * 1024


def slicing(proxy):
    proxy.slices = 7


def freeze(proxy):
    proxy.frozen = True


def half_open(proxy):
    proxy.half_open()


def reset(proxy):
    for _ in range(SECONDS * 2):
        proxy.reset()
        time.sleep(0.4)


TOXICS = [latency, bandwidth, slicing, reset, half_open, freeze]


def mended(node, key, within=60):
    """How long after a toxic a submit works again."""
    began = time.monotonic()
    while time.monotonic() - began < within:
        try:
            body = {"prompt": "after [[fail: on purpose]]"}
            mark = {"Idempotency-Key": f"mended-{began}"}
            if call(node.base, "POST", "/artgen/v1/imagine", key, body, mark, timeout=15)[0] == 200:
                return time.monotonic() - began
        except OSError:
            pass
        time.sleep(0.2)
    return None


def story(name, node, proxy, prompt=None, callers=8, then=None):
    """Each toxic for a while under callers; what was wrong."""
    sink = Sink()
    grants = {"caller0": 100_000, "caller1": 100_000}
    stamp = f"{name}-{os.getpid()}"
    accounts = {one: node.account(f"{one}-{stamp}", grant) for one, grant in grants.items()}
    probe = node.account(f"probe-{stamp}", 1000)[1]
    notes = auditor.Notes()
    load = Load([node.base], accounts, notes, sink, callers, stamp, prompt)
    wrong = []
    for toxic in TOXICS:
        before = len(load.waits)
        toxic(proxy)
        time.sleep(SECONDS)
        proxy.heal()
        after = mended(node, probe)
        if after is None:
            wrong.append(f"{toxic.__name__}: submits never worked again")
        answered = len(load.waits) - before
        print(f"  {name}, {toxic.__name__}: {answered} calls answered, a submit works {after or 0:.1f} s after it", flush=True)
    load.stop()
    more, figures = auditor.check(node.base, accounts, grants, notes, sink, patience=240)
    wrong += more
    if then:
        wrong += then(accounts)
    print(f"  {name}: {figures['keys']} keys, {figures['jobs']} jobs, {figures['unanswered']} calls asked again")
    node.stop()
    code, said = node.audit()
    if code:
        wrong.append(f"atelier audit: {said[-800:]}")
    print(f"  {name}: {'both audits clean' if not wrong else wrong[:6]}", flush=True)
    return wrong


def database(words):
    """The database behind the proxy."""
    where = urllib.parse.urlsplit(database_of(words.postgres, f"toxics{os.getpid()}"))
    proxy = Proxy(where.hostname, where.port)
    behind = f"postgres://{where.username}@127.0.0.1:{proxy.port}{where.path}"
    node = Node(words.binary, os.path.join(words.folder, "database"), free_port(), behind, SETTINGS)
    node.start()
    return story("PostgreSQL", node, proxy)


def storage(words):
    """The bucket behind the proxy: a result is there or the job failed and cost nothing, whatever the line does."""
    where = urllib.parse.urlsplit(words.s3)
    proxy = Proxy(where.hostname, where.port)
    settings = dict(
        SETTINGS,
        ASSETS_URL=f"s3://media/toxics{os.getpid()}",
        ASSETS_ENDPOINT=f"http://127.0.0.1:{proxy.port}",
        ASSETS_ACCESS_KEY="S3RVER",
        ASSETS_SECRET_KEY="S3RVER",
    )
    node = Node(words.binary, os.path.join(words.folder, "storage"), free_port(), None, settings)
    node.start()

    def prompt(dice, name):
        # Drawing takes longer than storing: few, so that they come to their end.
        return f"boat {name} {'' if dice.random() < 0.12 else '[[fail: on purpose]]'} --ar 1:1"

    shown = {}

    def results(accounts):
        """Every result of a job that succeeded is served whole."""
        wrong = []
        for _, key in accounts.values():
            for job in auditor.everything(node.base, key):
                shown[job["status"]] = shown.get(job["status"], 0) + 1
                if job["status"] == "SUCCESS":
                    whole = call(node.base, "GET", f"/jobs/v1/{job['jobId']}", key)[1]["data"]
                    wrong += [f"{job['jobId']}: {url}" for url in addresses(whole) if not served(url)]
        return wrong

    wrong = story("S3", node, proxy, prompt, callers=3, then=results)
    print(f"  S3: {shown}; every result of a job that succeeded was read")
    return wrong


def addresses(value):
    """Addresses of result files anywhere in an answer."""
    if isinstance(value, str):
        return [value] if "/assets/" in value else []
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return [url for one in inside for url in addresses(one)]


def served(url):
    try:
        with urllib.request.urlopen(url, timeout=30) as answer:
            return len(answer.read()) == int(answer.headers["content-length"])
    except OSError:
        return False


def vendor(words):
    """A vendor behind the proxy: no job may be made there twice."""
    upstream = Node(words.binary, os.path.join(words.folder, "upstream"), free_port(), None, SETTINGS)
    upstream.start()
    proxy = Proxy("127.0.0.1", upstream.port)
    _, key = upstream.account("house", 100_000, 10_000)
    settings = dict(SETTINGS, STUDIO_ENABLED="false")
    node = Node(words.binary, os.path.join(words.folder, "house"), free_port(), None, settings)
    node.start()
    backend = {"vendor": "relay", "name": "upstream", "base_url": f"http://127.0.0.1:{proxy.port}", "rank": 1}
    made = node.operate("POST", "/admin/v1/backends", backend)
    account = {"name": "one", "credential": key, "concurrency": 32}
    node.operate("POST", f"/admin/v1/backends/{made['id']}/accounts", account)

    def prompt(dice, name):
        return f"boat {name} {dice.choice(['[[fail: on purpose]]', ''])} [[delay 1s]] --ar 1:1"

    wrong = story("vendor", node, proxy, prompt, callers=3)
    jobs = auditor.rest(upstream.base, {"house": (None, key)}, 120)["house"]
    prompts = {}
    for job in jobs:
        status, shown = call(upstream.base, "GET", f"/jobs/v1/{job['jobId']}", key)
        words_of = shown["data"].get("request", {}).get("prompt") or shown["data"].get("prompt")
        prompts[words_of] = prompts.get(words_of, 0) + (job["status"] == "SUCCESS")
    twice = {one: count for one, count in prompts.items() if count > 1}
    print(f"  vendor: {len(jobs)} jobs there, {len(twice)} made twice")
    if twice:
        wrong.append(f"made twice: {list(twice)[:3]}")
    upstream.stop()
    return wrong


def main():
    words = argparse.ArgumentParser()
    words.add_argument("binary")
    words.add_argument("folder")
    words.add_argument("--postgres")
    words.add_argument("--s3")
    words.add_argument("--only")
    words = words.parse_args()
    stories = [(database, words.postgres), (storage, words.s3), (vendor, True)]
    wrong = []
    for one, possible in stories:
        if possible and words.only in (None, one.__name__):
            wrong += one(words)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
