"""Draws the figures of `peers.json` as SVG: one picture a part, rates and processor beside each other.

    charts.py FOLDER      reads FOLDER/peers.json, writes FOLDER/peers-PART.svg

Colours follow the reader's own light or dark setting."""

import html
import json
import pathlib
import statistics
import sys

TITLES = {
    "jobs": ("Whole jobs, 64 at once", "jobs a second"),
    "small": ("A synchronous picture of 256 x 256, 64 connections", "pictures a second"),
    "large": ("A synchronous picture of 1.5 MB, 64 connections", "pictures a second"),
}
STYLE = """
text { font: 13px system-ui, sans-serif; fill: #24292f } .title { font-weight: 600; font-size: 15px } .small { fill: #57606a; font-size: 12px }
.ours { fill: #0969da } .other { fill: #8c959f } .spread { stroke: #24292f; stroke-width: 1.5 } .ground { fill: #ffffff }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } .small { fill: #9198a1 } .ours { fill: #4493f8 } .other { fill: #656c76 } .spread { stroke: #e6edf3 } .ground { fill: #0d1117 }
}"""
ROW, LEFT, BAR, GAP, TOP = 30, 100, 230, 90, 62


def figure(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def bars(found, what, label, left):
    """One panel: a bar for the middle of each, a line from the least to the most."""
    most = max(one[what] for rounds in found.values() for one in rounds) or 1
    said = [f'<text class="small" x="{left}" y="{TOP - 12}">{html.escape(label)}</text>']
    for number, (name, rounds) in enumerate(found.items()):
        values = [one[what] for one in rounds]
        middle, y = statistics.median(values), TOP + number * ROW
        width = lambda value: BAR * value / most  # noqa: E731
        kind = "ours" if number == 0 else "other"
        said += [
            f'<rect class="{kind}" x="{left}" y="{y}" width="{max(width(middle), 1):.1f}" height="{ROW - 12}" rx="2"/>',
            f'<line class="spread" x1="{left + width(min(values)):.1f}" x2="{left + width(max(values)):.1f}" y1="{y + 9}" y2="{y + 9}"/>',
            f'<text x="{left + width(max(values)) + 8:.1f}" y="{y + 14}">{figure(middle)}</text>',
        ]
    return said


def chart(part, found, rounds):
    title, unit = TITLES[part]
    width, height = LEFT + 2 * (BAR + GAP), TOP + len(found) * ROW + 14
    names = [f'<text x="{LEFT - 10}" y="{TOP + n * ROW + 14}" text-anchor="end">{html.escape(name)}</text>' for n, name in enumerate(found)]
    said = f"{title}: median of {rounds} interleaved rounds, least to most as a line"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">',
            f"<title>{html.escape(said)}</title>",
            f"<style>{STYLE}</style>",
            f'<rect class="ground" width="{width}" height="{height}"/>',
            f'<text class="title" x="16" y="26">{html.escape(title)}</text>',
            *names,
            *bars(found, "rate", unit + ", more is better", LEFT),
            *bars(found, "processor", "processor seconds per 1,000, less is better", LEFT + BAR + GAP),
            "</svg>\n",
        ]
    )


def draw(folder):
    """A chart for every part that was measured."""
    kept = json.loads((folder / "peers.json").read_text())
    for part, found in kept["parts"].items():
        (folder / f"peers-{part}.svg").write_text(chart(part, found, kept["rounds"]))


if __name__ == "__main__":
    draw(pathlib.Path(sys.argv[1]))
