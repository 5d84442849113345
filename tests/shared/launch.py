"""Starts the service as a process of its own and waits until it listens. Every script that needs a service uses this: Python by
`launch`, shells by `scripts/service`.

    launch.py start DIR [WORD…]   prints the address; words go to `atelier serve`
    launch.py stop DIR

Its data are in DIR/data, what it prints in DIR/out, its log in DIR/err, its address in DIR/base. The program is BINARY, or the one that the tests built;
settings are the variables ATELIER_…. Needs Python 3.8."""

import atexit
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

LISTENS = re.compile(rb"^listening on (https?://\S+)", re.M)
PATIENCE_S = 60
ANY_PORT = "127.0.0.1:0"


def launch(program, *words, log, out=None, environment=None, before=(), wait=PATIENCE_S, lasting=None):
    """Starts `program serve` with words, as an argument of `before` if that is given; the process and its address. It ends with
    this program unless `lasting` names a file for its number, by which others end it. Raises RuntimeError when it does not listen
    within so many seconds."""
    log, out = pathlib.Path(log), pathlib.Path(out or log)
    command = [*map(str, before), str(program), "serve", *map(str, words)]
    with log.open("ab") as said, out.open("ab") as printed:
        begin = out.stat().st_size
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=said,
            # How full the disk of this machine is belongs to no test.
            env={"ATELIER_LIMITS_DISK_FREE_PERCENT": "0", **os.environ, **(environment or {})},
            start_new_session=bool(lasting),
        )
    if lasting:
        pathlib.Path(lasting).write_text(str(process.pid))
    else:
        atexit.register(process.kill)
    end, ended = time.monotonic() + wait, False
    while time.monotonic() < end:
        ended = process.poll() is not None
        if found := LISTENS.search(out.read_bytes()[begin:]):
            return process, found[1].decode()
        if ended:
            break
        time.sleep(0.02)
    process.kill()
    process.wait()
    last_words = log.read_bytes()[-1500:].decode(errors="replace")
    raise RuntimeError(f"the service {'ended at its start' if ended else 'does not listen'}: {last_words}")


def port_of(base):
    return int(base.rsplit(":", 1)[1])


def usual_program():
    """What the tests have built, unless BINARY names another."""
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "atelier"
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR") or cache / "target")
    return os.environ.get("BINARY") or str(target / "debug" / "atelier")


def start(folder, words):
    folder.mkdir(parents=True, exist_ok=True)
    if "--listen" not in words:
        words = ["--listen", ANY_PORT, *words]
    words = [*words, "--data-dir", folder / "data"]
    process, base = launch(usual_program(), *words, log=folder / "err", out=folder / "out", lasting=folder / "pid")
    (folder / "base").write_text(base)
    print(base)


def stop(folder, within=60):
    """Ends it and waits for that; it is no child of this program, so that it is looked for."""
    noted = folder / "pid"
    if not noted.exists():
        return
    pid = int(noted.read_text())
    noted.unlink()
    end = time.monotonic() + within
    send(pid, signal.SIGTERM)
    while is_running(pid):
        if time.monotonic() > end:
            send(pid, signal.SIGKILL)
        time.sleep(0.05)


def send(pid, what):
    try:
        os.kill(pid, what)
    except ProcessLookupError:
        pass


def is_running(pid):
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


def main(words):
    if len(words) < 2 or words[0] not in ("start", "stop"):
        sys.exit(__doc__)
    folder = pathlib.Path(words[1]).absolute()
    if words[0] == "start":
        start(folder, words[2:])
    else:
        stop(folder)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except RuntimeError as error:
        sys.exit(str(error))
