"""Processes that are measured: what they and their children take of processor and memory."""

import atexit
import os
import pathlib
import socket
import subprocess
import threading
import time

TICKS = os.sysconf("SC_CLK_TCK")


def tree(roots):
    """The processes and all that they have started."""
    children = {}
    for one in pathlib.Path("/proc").iterdir():
        if one.name.isdigit():
            try:
                parent = int((one / "stat").read_text().rsplit(")", 1)[1].split()[1])
                children.setdefault(parent, []).append(int(one.name))
            except (OSError, IndexError):
                pass
    found, left = [], list(roots)
    while left:
        one = left.pop()
        found.append(one)
        left += children.get(one, [])
    return found


def processor_seconds(roots):
    """Seconds of processor, in user and kernel mode, children that have ended included."""
    total = 0
    for one in tree(roots):
        try:
            fields = pathlib.Path(f"/proc/{one}/stat").read_text().rsplit(")", 1)[1].split()
            total += sum(int(ticks) for ticks in fields[11:15])
        except OSError:
            pass
    return total / TICKS


def memory_mb(roots):
    """Memory, with what several processes share counted once."""
    total = 0
    for one in tree(roots):
        try:
            text = pathlib.Path(f"/proc/{one}/smaps_rollup").read_text()
            total += int(next(line.split()[1] for line in text.splitlines() if line.startswith("Pss:")))
        except (OSError, StopIteration):
            pass
    return total / 1024


class Watched:
    """The processor that some processes take while a block runs, and the most memory."""

    def __init__(self, roots):
        self.roots, self.memory, self.ending = roots, 0.0, threading.Event()

    def __enter__(self):
        self.before = processor_seconds(self.roots)
        self.looker = threading.Thread(target=self.look)
        self.looker.start()
        return self

    def look(self):
        while not self.ending.wait(1):
            self.memory = max(self.memory, memory_mb(self.roots))

    def __exit__(self, *_):
        self.seconds = processor_seconds(self.roots) - self.before
        self.ending.set()
        self.looker.join()
        self.memory = max(self.memory, memory_mb(self.roots))


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def begin(command, log, environment=None, **more):
    """Starts a process that writes to a log."""
    with open(log, "ab") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out, stdin=subprocess.DEVNULL, env={**os.environ, **(environment or {})}, **more)
    # Whatever becomes of this program, it ends with it.
    atexit.register(process.kill)
    return process


def listens(port, process, log, within=120):
    """Waits until somebody listens there."""
    end = time.monotonic() + within
    while time.monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.05)
        if process.poll() is not None:
            break
    raise RuntimeError(f"it does not listen: {pathlib.Path(log).read_text(errors='replace')[-1500:]}")


def reference(bench, log, *words):
    """A part of atelier-bench that listens: the process and its port."""
    process = begin([bench, *words], log)
    for _ in range(400):
        for line in pathlib.Path(log).read_text().splitlines():
            if "listening on http://" in line:
                return process, int(line.rsplit(":", 1)[1])
        time.sleep(0.05)
    raise RuntimeError(f"it does not listen: {pathlib.Path(log).read_text()}")


def end(process):
    """SIGTERM, and after a while kill."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
