"""Where the processor's time goes in a whole job and in a small synchronous picture, by perf, for one program or several.

    profile.py FOLDER NAME=RELEASE…

RELEASE is a folder with `atelier` and `atelier-bench`. Writes FOLDER/profile.md and FOLDER/profile.svg. A sample belongs to the
call to the kernel it was in, or else to the library whose code ran; what a library has others do is counted with them, so
allocation and copies are a line of their own."""

import collections
import html
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "peers"), str(HERE), str(HERE.parent / "tests" / "faults")]

import gateways  # noqa: E402
import ours  # noqa: E402
from charts import STYLE  # noqa: E402
from processes import Watched  # noqa: E402

SECONDS = 3
KERNEL = [
    ("files and syncs", r"pwrite|pread|fsync|fdatasync|open|rename|unlink|link|mkdir|truncate|fallocate|stat|getdents|sync_file|flock|fcntl"),
    ("sockets", r"send|recv|writev|readv|write|read|epoll|accept|connect|socket|shutdown|close|sockopt"),
    ("waking threads", r"futex|sched_yield|clone|nanosleep|exit"),
    ("memory", r"mmap|munmap|madvise|brk|mprotect"),
]
USER = [
    ("allocation and copies", r"^_?mi_|operator (new|delete)|malloc|calloc|realloc|cfree|^free|mem(move|cpy|set|cmp)|rdl_|__rust_"),
    ("pictures and base64", r"png|deflate|miniz|flate|adler|inflate|image::|jpeg|webp|base64|crc32|visioncortex|resize|atelier_media|atelier_studio"),
    ("hashes", r"sha\d|sha2|hmac|siphash|SipHasher|getrandom|chacha|digest"),
    ("JSON", r"serde|json"),
    ("HTTP", r"hyper|httparse|http::|axum|reqwest|h2::|tower|url::|HeaderMap"),
    ("tokio", r"tokio|mio::|futures|crossbeam|parking_lot"),
    ("sqlx", r"sqlx"),
    ("Atelier's own code", r"atelier"),
]
REST = "the rest"
SQLITE = "SQLite"


def place(library, symbol, entry):
    """What a sample belongs to."""
    if library.startswith("[") and library != "[vdso]":
        return next((name for name, words in KERNEL if entry and re.search(words, entry)), "the kernel otherwise")
    found = next((name for name, words in USER if re.search(words, symbol)), None)
    if found:
        return found
    # Functions of C in the program itself: nearly all of them are SQLite's.
    return SQLITE if library.endswith("/atelier") and "::" not in symbol and "<" not in symbol else REST


def samples(file):
    """Places of all samples that perf wrote down."""
    words = ["perf", "script", "-i", str(file), "-F", "ip,sym,dso"]
    text = subprocess.run(words, capture_output=True, text=True, errors="replace", check=True).stdout
    counts = collections.Counter()
    for block in text.split("\n\n"):
        frames = re.findall(r"^\s*[0-9a-f]+ (.*) \((.*)\)$", block, re.M)
        if frames:
            symbol, library = frames[0]
            calls = (re.match(r"(?:__x64_sys_|__se_sys_)(\w+)", name) for name, _ in frames)
            entry = next((call[1] for call in calls if call), None)
            if entry is None and any("page_fault" in name for name, _ in frames):
                entry = "mmap"
            counts[place(library, symbol, entry)] += 1
    return counts


def measured(service, folder):
    """Microseconds of processor for one call, by place."""
    node = service.node if hasattr(service, "node") else service.inner.node
    service.round(1)
    file = folder / "perf.data"
    words = ["perf", "record", "-q", "-F", "1999", "-g", "-p", str(node.process.pid), "-o", str(file), "--", "sleep", str(SECONDS)]
    with subprocess.Popen(words, stderr=subprocess.DEVNULL), Watched([node.process.pid]) as watched:
        count = service.round(SECONDS)[0]
    counts = samples(file)
    each = watched.seconds * 1e6 / count
    return {name: each * number / counts.total() for name, number in counts.items()}


def table(kind, found):
    names = sorted({name for one in found.values() for name in one}, key=lambda name: -next(iter(found.values())).get(name, 0))
    rows = [f"**{kind}**, microseconds of processor each", "", "| | " + " | ".join(found) + " |", "|---" * (len(found) + 1) + "|"]
    rows += [f"| {name} | " + " | ".join(f"{one.get(name, 0):,.0f}" for one in found.values()) + " |" for name in names]
    return rows + ["| together | " + " | ".join(f"{sum(one.values()):,.0f}" for one in found.values()) + " |", ""]


def chart(kinds):
    """A bar for each program and kind of call, its parts side by side."""
    order = ["allocation and copies", SQLITE, "files and syncs", "sockets", "waking threads", "HTTP", "Atelier's own code"]
    colours = ["#bf8700", "#0969da", "#54aeff", "#1a7f37", "#8250df", "#2da44e", "#6e7781", "#afb8c1"]
    left, bar, row, top = 150, 620, 34, 84
    said, y = [], top
    for kind, found in kinds.items():
        most = max(sum(one.values()) for one in found.values())
        said.append(f'<text x="16" y="{y}">{html.escape(kind)}</text>')
        for name, one in found.items():
            y += row
            x = left
            said.append(f'<text class="small" x="{left - 8}" y="{y - 8}" text-anchor="end">{html.escape(name)}</text>')
            parts = [(part, one.get(part, 0)) for part in order]
            parts.append(("all else", sum(one.values()) - sum(value for _, value in parts)))
            for (part, value), colour in zip(parts, colours):
                width = bar * value / most
                title = f"<title>{html.escape(part)}: {value:.0f} µs</title>"
                said.append(f'<rect x="{x:.1f}" y="{y - 22}" width="{width:.1f}" height="20" fill="{colour}">{title}</rect>')
                x += width
            said.append(f'<text class="small" x="{x + 6:.1f}" y="{y - 8}">{sum(one.values()):,.0f} µs</text>')
        y += row
    legend, x = [], 16
    for part, colour in zip([*order, "all else"], colours):
        legend.append(f'<rect x="{x}" y="40" width="10" height="10" fill="{colour}"/><text class="small" x="{x + 14}" y="50">{html.escape(part)}</text>')
        x += 28 + 6 * len(part)
    size = f'viewBox="0 0 {left + bar + 90} {y}" width="{left + bar + 90}" height="{y}"'
    head = [f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">', f"<style>{STYLE}</style>"]
    head += ['<rect class="ground" width="100%" height="100%"/>', '<text class="title" x="16" y="26">Processor for one call</text>']
    return "\n".join([*head, *legend, *said, "</svg>"]) + "\n"


def main():
    keep, programs = pathlib.Path(sys.argv[1]), [word.split("=", 1) for word in sys.argv[2:]]
    makers = {"A whole job without a file and a callback": (ours.Jobs, None), "A synchronous picture of 256 x 256": (gateways.Atelier, 256)}
    kinds = {}
    with tempfile.TemporaryDirectory() as folder:
        for number, (kind, (maker, side)) in enumerate(makers.items()):
            for name, release in programs:
                place = pathlib.Path(folder) / f"{number}-{name}"
                place.mkdir()
                service = maker(pathlib.Path(release), place, side)
                try:
                    kinds.setdefault(kind, {})[name] = measured(service, place)
                finally:
                    service.stop()
    said = [f"By `bench/profile.py`, perf with {SECONDS} seconds of each, 64 at once.", ""]
    text = "\n".join(said + [row for kind, found in kinds.items() for row in table(kind, found)])
    print(text)
    (keep / "profile.md").write_text(text.rstrip() + "\n")
    (keep / "profile.svg").write_text(chart(kinds))


main()
