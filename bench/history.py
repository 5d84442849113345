"""What becomes of each call as jobs pile up: draws what `growth.py --keep` wrote for several sizes.

    history.py FOLDER      reads FOLDER/history.jsonl, writes FOLDER/history.md and FOLDER/history-DATABASE.svg"""

import html
import json
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "peers"))

from charts import STYLE, figure  # noqa: E402

LINES = """
.young, .full { fill: none; stroke-width: 2 } .young { stroke: #8c959f } .full { stroke: #0969da } .axis { stroke: #d0d7de }
@media (prefers-color-scheme: dark) { .young { stroke: #656c76 } .full { stroke: #4493f8 } .axis { stroke: #3d444d } }"""
PANEL, HEIGHT, ACROSS, EDGE, TOP = 200, 110, 4, 44, 84


def short(jobs):
    return f"{jobs / 1e6:g} M" if jobs >= 1e6 else f"{jobs / 1e3:g} k"


def panel(what, runs, left, top):
    """One call: its p99 by the number of jobs, of the young database and of the full one."""
    sizes = [run["jobs"] for run in runs]
    series = {side: [run["calls"][what][f"{side} p99_ms"] for run in runs] for side in ("young", "full")}
    most = max(max(values) for values in series.values()) * 1.15
    spread = max(math.log(sizes[-1] / sizes[0]), 1e-9)
    x = lambda jobs: left + (PANEL - EDGE) * math.log(jobs / sizes[0]) / spread  # noqa: E731
    y = lambda value: top + HEIGHT * (1 - value / most)  # noqa: E731
    said = [
        f'<text x="{left}" y="{top - 10}">{html.escape(what)}</text>',
        f'<line class="axis" x1="{left}" x2="{left + PANEL - EDGE}" y1="{top + HEIGHT}" y2="{top + HEIGHT}"/>',
    ]
    for side, values in series.items():
        points = " ".join(f"{x(jobs):.1f},{y(value):.1f}" for jobs, value in zip(sizes, values))
        said.append(f'<polyline class="{side}" points="{points}"/>')
    said += [f'<text class="small" x="{x(jobs):.1f}" y="{top + HEIGHT + 16}" text-anchor="middle">{short(jobs)}</text>' for jobs in sizes]
    return said + [f'<text class="small" x="{x(sizes[-1]) + 4:.1f}" y="{y(series["full"][-1]) + 4:.1f}">{figure(series["full"][-1])}</text>']


def chart(database, runs):
    calls = list(runs[0]["calls"])
    rows = math.ceil(len(calls) / ACROSS)
    width, height = 16 + ACROSS * PANEL + 16, TOP + rows * (HEIGHT + 60)
    title = f"p99 in ms as jobs pile up, {database}"
    panels = [line for number, what in enumerate(calls) for line in panel(what, runs, 24 + number % ACROSS * PANEL, TOP + number // ACROSS * (HEIGHT + 60))]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">',
            f"<title>{html.escape(title)}</title>",
            f"<style>{STYLE}{LINES}</style>",
            f'<rect class="ground" width="{width}" height="{height}"/>',
            f'<text class="title" x="16" y="26">{html.escape(title)}</text>',
            '<text class="small" x="16" y="46">blue: a database with so many jobs, grey: a young one beside it in the same run</text>',
            *panels,
            "</svg>\n",
        ]
    )


def table(database, runs):
    heads = " | ".join(f"{run['jobs']:,}" for run in runs)
    said = [f"| {database}, jobs | {heads} |", "|---|" + "---|" * len(runs)]
    for what in runs[0]["calls"]:
        cells = (run["calls"][what] for run in runs)
        said.append(f"| {what} | " + " | ".join(f"{one['full p99_ms']:.1f} ms ({one['young p99_ms']:.1f}), {one['full processor_us'] / 1000:.2f} ms" for one in cells) + " |")
    return "\n".join(said)


def main(folder):
    kept = [json.loads(line) for line in (folder / "history.jsonl").read_text().splitlines()]
    said = ["Made by `scripts/bench history`: p99 with so many jobs, that of a young database beside it, and the processor's time for each call."]
    for database in dict.fromkeys(run["database"] for run in kept):
        runs = sorted((run for run in kept if run["database"] == database), key=lambda run: run["jobs"])
        (folder / f"history-{database.lower()}.svg").write_text(chart(database, runs))
        said += [table(database, runs), f"![](history-{database.lower()}.svg)"]
    (folder / "history.md").write_text("\n\n".join(said) + "\n")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
