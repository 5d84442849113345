"""The command line on terminals of every kind: one that understands nothing, one without colour, a narrow one, none at all.

    python3 terminals.py BINARY URL KEY
"""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

BINARY, URL, KEY = sys.argv[1:4]
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
wrong = []


def check(good, what):
    if not good:
        wrong.append(what)


def environment(folder, more):
    kept = {"PATH": os.environ["PATH"], "HOME": folder, "LANG": "C.UTF-8", "ATELIER_CLIENT_URL": URL, "ATELIER_CLIENT_KEY": KEY}
    return {**kept, **more}


def on_terminal(words, more, columns=80):
    """What a terminal is sent."""
    with tempfile.TemporaryDirectory() as folder:
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(folder)
            time.sleep(0.2)
            os.execvpe(BINARY, ["atelier", *words], environment(folder, more))
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        seen = b""
        while select.select([terminal], [], [], 60)[0]:
            try:
                seen += os.read(terminal, 65536)
            except OSError:
                break
        os.close(terminal)
        _, status = os.waitpid(pid, 0)
        check(status == 0, f"{words} ended with {status}: {seen[-300:]!r}")
        return seen.decode(errors="replace")


def main():
    picture = ["imagine", "a kite over a long meadow at noon"]
    dumb = on_terminal(picture, {"TERM": "dumb"})
    check("\x1b" not in dumb, f"a terminal that understands nothing was sent {dumb[:200]!r}")
    check("a-kite" in dumb and "quota" in dumb, f"it is not told what was made: {dumb!r}")

    grey = on_terminal([*picture, "--pictures", "none"], {"TERM": "xterm-256color", "NO_COLOR": "1"})
    check(not COLOUR.search(grey), f"colours were sent in spite of NO_COLOR: {grey[-200:]!r}")
    coloured = on_terminal([*picture, "--pictures", "blocks"], {"TERM": "xterm-256color", "COLORTERM": "truecolor"})
    check("▀" in coloured and COLOUR.search(coloured), "a picture is not shown where it can be")

    for columns in (20, 40, 80):
        narrow = on_terminal([*picture, "--pictures", "blocks"], {"TERM": "xterm-256color"}, columns)
        for line in re.split(r"[\r\n]+", re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", narrow)):
            # A file's name is not broken; what is drawn is.
            check(len(line) <= columns or line.startswith("./"), f"wider than {columns}: {line!r}")
        table = on_terminal(["jobs"], {"TERM": "xterm"}, columns)
        widths = [len(line) for line in COLOUR.sub("", table).split("\r\n")]
        check(max(widths) <= max(columns, 36), f"a table is {max(widths)} wide on {columns}")

    with tempfile.TemporaryDirectory() as folder:
        piped = subprocess.run([BINARY, *picture], cwd=folder, env=environment(folder, {"TERM": "xterm-256color"}), capture_output=True, text=True, check=True)
        check("\x1b" not in piped.stdout + piped.stderr and "\r" not in piped.stdout + piped.stderr, f"a pipe was sent {piped}")
        check(Path(folder, piped.stdout.strip()).is_file(), f"standard output is not the file alone: {piped.stdout!r}")

        # What was made is opened by the program of the machine for it, where there is one.
        opener = Path(folder, "bin", "xdg-open")
        opener.parent.mkdir()
        opener.write_text(f'#!/bin/sh\necho "$1" >"{folder}/opened"\n')
        opener.chmod(0o755)
        opening = [BINARY, *picture, "--open"]
        found = subprocess.run(opening, cwd=folder, env=environment(folder, {"PATH": f"{opener.parent}:{os.environ['PATH']}"}), capture_output=True, text=True, check=True)
        for _ in range(50):
            if Path(folder, "opened").exists():
                break
            time.sleep(0.1)
        check(Path(folder, "opened").read_text() == found.stdout, f"{found.stdout!r} was not opened")
        missing = subprocess.run(opening, cwd=folder, env=environment(folder, {"PATH": "/nowhere"}), capture_output=True, text=True, check=False)
        check(missing.returncode == 0 and "is not installed, so" in missing.stderr, f"nobody is told that nothing was opened: {missing}")

    for line in wrong:
        print(f"- {line}")
    print("terminals: one that understands nothing, one without colour, three widths, a pipe, and opening" if not wrong else "terminals: wrong")
    sys.exit(1 if wrong else 0)


main()
