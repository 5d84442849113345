"""Fetches of a hot set among many old jobs, beside bare axum that answers with the same bytes.

    hot.py RELEASE FOLDER [--jobs 5000000] [--hot 10000] [--rounds 7] [--seconds 2]

RELEASE is the folder with `atelier` and `atelier-bench`. Every connection fetches all of the hot set in turn, each from another job
on. Ends with 1 when less is reached than was promised."""

import argparse
import json
import pathlib
import random
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "peers"), str(HERE.parent / "tests" / "faults")]

from filling import Lite, fill, job_id  # noqa: E402
from ours import SETTINGS  # noqa: E402
from processes import end, reference  # noqa: E402
from service import Node, call, free_port  # noqa: E402

AIMS = {64: 0.85, 256: 0.75}


def main():
    words = argparse.ArgumentParser()
    words.add_argument("release", type=pathlib.Path)
    words.add_argument("folder", type=pathlib.Path)
    words.add_argument("--jobs", type=int, default=5_000_000)
    words.add_argument("--hot", type=int, default=10_000)
    words.add_argument("--rounds", type=int, default=7)
    words.add_argument("--seconds", type=float, default=2)
    words = words.parse_args()
    words.folder.mkdir(parents=True, exist_ok=True)
    bench = str(words.release / "atelier-bench")
    node = Node(str(words.release / "atelier"), str(words.folder / "data"), free_port(), settings=SETTINGS)
    node.start()
    account, key = node.account("hot", 1_000_000, 1_000_000)
    node.stop()
    took = fill(Lite(node.folder), {account: words.jobs})
    print(f"{words.jobs:,} jobs written in {took:.0f} s", flush=True)
    node.start(wait=120)
    ids = [job_id(account, number) for number in random.Random(7).sample(range(words.jobs), words.hot)]
    path = "/artgen/v1/fetch?jobId="
    status, body = call(node.base, "GET", path + ids[0], key)
    if status != 200:
        sys.exit(f"{status} {body}")
    bare, port = reference(bench, words.folder / "bare.log", "serve-fixed", json.dumps(body, separators=(",", ":")))
    head = f" HTTP/1.1\r\nhost: hot\r\nsvc-api-key: {key}\r\ncontent-length: 0\r\n\r\n"
    requests = json.dumps([f"GET {path}{one}{head}" for one in ids])

    def rate(where, connections):
        command = [bench, "load", f"127.0.0.1:{where}", str(connections), str(words.seconds)]
        ran = subprocess.run(command, input=requests, text=True, capture_output=True)
        if ran.returncode:
            sys.exit(ran.stderr[:800])
        return json.loads(ran.stdout)["per_second"]

    wrong = False
    for connections, aim in AIMS.items():
        # The first round of each fills what is remembered.
        rounds = [(rate(port, connections), rate(node.port, connections)) for _ in range(words.rounds + 1)][1:]
        theirs, ours = zip(*rounds)
        ratio = statistics.median(own / other for other, own in rounds)
        print(
            f"fetch of {words.hot:,} among {words.jobs:,} jobs, {connections} connections: {statistics.median(ours):.0f}/s against bare "
            f"axum's {statistics.median(theirs):.0f}/s = {ratio:.2f} (aim {aim})",
            flush=True,
        )
        wrong |= ratio < aim
    end(bare)
    node.stop()
    sys.exit(1 if wrong else 0)


main()
