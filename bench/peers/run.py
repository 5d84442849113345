"""The service beside what people use today, in interleaved rounds of one run.

    run.py RELEASE [--rounds 7] [--seconds 3] [--only jobs,small,large] [--keep FOLDER]

RELEASE is the folder with `atelier` and `atelier-bench`; `scripts/bench peers [short]` builds both, installs the peers and
calls this. Whole jobs: a job that costs nothing, accepted, worked on and ended, at 64 at once. Pictures: a synchronous one
through a gateway in front of one vendor that answers at once, on 64 connections. Prints a table and the promises, writes
figures and charts into FOLDER, and ends with 1 when a promise does not hold."""

import argparse
import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent.parent / "tests" / "faults")]

import charts  # noqa: E402
from gateways import GATEWAYS  # noqa: E402
from processes import Watched  # noqa: E402
from queues import QUEUES  # noqa: E402

OURS = "Atelier"
PARTS = {
    "jobs": ("Whole jobs, no file, no callback, 64 at once", "jobs", QUEUES, None),
    "small": ("Synchronous picture of 256 x 256, 64 connections", "pictures", GATEWAYS, 256),
    "large": ("Synchronous picture of 1.5 MB, 64 connections", "pictures", GATEWAYS, 1024),
}
# Part, what is compared, with whom, and at least how often the other's figure: rates ours by theirs, processor theirs by ours.
PROMISES = [
    ("jobs", "rate", "BullMQ", 1.0),
    ("small", "processor", "Portkey", 8),
    ("small", "processor", "LiteLLM", 30),
    ("large", "rate", "bare proxy", 0.5),
]
# Part, figure of ours, at least or at most, and the bound.
BOUNDS = [("small", "rate", "at least", 3000), ("small", "processor", "at most", 0.35)]


def measure(part, words, folder):
    """Rounds of everybody in turn: name to a list of figures."""
    title, _, makers, side = PARTS[part]
    # Large pictures fill the disk quickly.
    share = 0.5 if part == "large" else 1
    print(f"{title}: {words.rounds} rounds of {words.seconds:g} s", flush=True)
    peers, found = [], {}
    try:
        for name, maker in makers.items():
            place = folder / part / name.replace(" ", "-")
            place.mkdir(parents=True)
            peers.append((name, maker(words.release, place, side)))
        for number in range(words.rounds + 1):
            for name, peer in peers:
                with Watched(peer.roots) as watched:
                    count, seconds, slow = peer.round(words.seconds * share if number else 1)
                # The first round only warms up.
                if number:
                    found.setdefault(name, []).append(
                        {"rate": count / seconds, "processor": watched.seconds * 1000 / count, "memory": watched.memory, "p99_ms": slow}
                    )
    finally:
        for _, peer in peers:
            peer.stop()
    return found


def middle(rounds, what):
    return statistics.median(one[what] for one in rounds)


def times(found, what, other):
    """The middle of the ratios, round by round; more is better for us."""
    pairs = zip(found[OURS], found[other])
    return statistics.median(ours[what] / theirs[what] if what == "rate" else theirs[what] / max(ours[what], 1e-9) for ours, theirs in pairs)


def table(part, found):
    """A table for people, as lines of Markdown."""
    title, unit, _, _ = PARTS[part]
    lines = [f"**{title}**", "", f"| | {unit} a second (least to most) | ours by theirs | processor, s per 1,000 | memory, MB | p99, ms |", "|---|---|---|---|---|---|"]
    for name, rounds in found.items():
        rates = [one["rate"] for one in rounds]
        slow = [one["p99_ms"] for one in rounds if one["p99_ms"] is not None]
        cells = [
            name,
            f"{statistics.median(rates):,.0f} ({min(rates):,.0f} to {max(rates):,.0f})",
            "" if name == OURS else f"{times(found, 'rate', name):.2f}",
            f"{middle(rounds, 'processor'):.2f}",
            f"{max(one['memory'] for one in rounds):,.0f}",
            f"{statistics.median(slow):.0f}" if slow else "",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def promises(all_found):
    """Lines about what was promised, and whether all of it holds."""
    lines, well = ["| promise | reached | |", "|---|---|---|"], True

    def say(what, reached, holds):
        nonlocal well
        well &= holds
        lines.append(f"| {what} | {reached} | {'holds' if holds else 'does not hold'} |")

    for part, what, other, least in PROMISES:
        if part in all_found:
            reached = times(all_found[part], what, other)
            name = f"{part}: {least:g} x the rate of {other}" if what == "rate" else f"{part}: {least:g} x less processor than {other}"
            say(name, f"{reached:.2f}", reached >= least)
    for part, what, side, bound in BOUNDS:
        if part in all_found:
            reached = middle(all_found[part][OURS], what)
            holds = reached >= bound if side == "at least" else reached <= bound
            unit = "a second" if what == "rate" else "ms of processor each"
            say(f"{part}: {side} {bound:,g} {unit}", f"{reached:,.2f}", holds)
    return lines, well


def main():
    words = argparse.ArgumentParser()
    words.add_argument("release", type=pathlib.Path)
    words.add_argument("--rounds", type=int, default=7)
    words.add_argument("--seconds", type=float, default=3)
    words.add_argument("--only", default=",".join(PARTS))
    words.add_argument("--keep", type=pathlib.Path)
    words = words.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="atelier-peers-"))
    # Folders are put where the disk is emptiest, for everybody: ext4 is slow at making files where others were deleted lately.
    subprocess.run(["chattr", "+T", str(folder)], capture_output=True)
    found, lines = {}, []
    try:
        for part in words.only.split(","):
            found[part] = measure(part, words, folder)
            lines += [*table(part, found[part]), ""]
            print("\n".join(lines[-len(found[part]) - 5 :]), flush=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    said, well = promises(found)
    print("\n".join(said))
    if words.keep:
        words.keep.mkdir(parents=True, exist_ok=True)
        (words.keep / "peers.json").write_text(json.dumps({"rounds": words.rounds, "seconds": words.seconds, "parts": found}, indent=1) + "\n")
        (words.keep / "peers.md").write_text("\n".join([*lines, *said]) + "\n")
        charts.draw(words.keep)
    sys.exit(0 if well else 1)


if __name__ == "__main__":
    main()
