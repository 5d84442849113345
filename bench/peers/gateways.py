"""Gateways in front of one vendor that answers every call for pictures at once."""

import base64
import json
import os
import pathlib
import struct
import subprocess
import zlib

import ours
from processes import begin, end, free_port, listens, reference

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent.parent
PATH = "/v1/images/generations"


def png(side):
    """A picture: a small one is packed, as vendors send it; a large one is noise that cannot be, in every second row."""
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))  # noqa: E731
    large = side > 256
    line = lambda y: os.urandom(side * 3) if large and y % 2 else bytes((x * 3 + y * 5) % 256 for x in range(side * 3))  # noqa: E731
    rows = b"".join(b"\0" + line(y) for y in range(side))
    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows, 6)) + chunk(b"IEND", b"")


class Gateway:
    """A gateway, and a vendor of its own behind it, which is not measured."""

    def __init__(self, release, folder, side):
        self.release, self.asked = release, {"prompt": "a lighthouse", "size": f"{side}x{side}"}
        answer = folder / "answer.json"
        answer.write_text(json.dumps({"created": 1, "data": [{"b64_json": base64.b64encode(png(side)).decode()}]}))
        self.bench = str(release / "atelier-bench")
        self.vendor, port = reference(self.bench, folder / "vendor.log", "serve-answer", str(answer))
        self.upstream, self.vendor_port = f"http://127.0.0.1:{port}/v1", port

    def round(self, seconds):
        told = ours.load(self.release, self.port, seconds, self.request)
        return told["answered"], told["answered"] / told["per_second"], told["p99_ms"]

    def stop(self):
        end(self.process)
        end(self.vendor)

    def requested(self, head, model):
        self.request = ours.request("POST", PATH, head, json.dumps({**self.asked, "model": model}))


class Atelier(Gateway):
    def __init__(self, release, folder, side):
        super().__init__(release, folder, side)
        self.inner = ours.Pictures(release, folder / "data", self.upstream, self.asked)
        self.roots, self.round = self.inner.roots, self.inner.round

    def stop(self):
        self.inner.stop()
        end(self.vendor)


class Portkey(Gateway):
    """Its gateway from npm, as it starts by itself."""

    def __init__(self, release, folder, side):
        super().__init__(release, folder, side)
        self.port = free_port()
        script = f"{os.environ['PEERS_NODE']}/node_modules/@portkey-ai/gateway/build/start-server.js"
        command = ["node", script, f"--port={self.port}", "--headless"]
        trust = {"NODE_ENV": "production", "TRUSTED_CUSTOM_HOSTS": "127.0.0.1,localhost"}
        self.process = begin(command, folder / "log", trust)
        listens(self.port, self.process, folder / "log")
        self.roots = [self.process.pid]
        head = ["authorization: Bearer sk-bench", "x-portkey-provider: openai", f"x-portkey-custom-host: {self.upstream}"]
        self.requested(head, "m")


class Litellm(Gateway):
    """Its proxy from PyPI, with one worker, as it starts by itself."""

    def __init__(self, release, folder, side):
        super().__init__(release, folder, side)
        self.folder = folder
        environment = {**os.environ, "LITELLM_LOG": "ERROR"}
        self.script = str(REPOSITORY / "scripts" / "litellm")
        ran = subprocess.run([self.script, "start", str(folder), self.upstream], env=environment, capture_output=True, text=True, check=True)
        self.port = int(ran.stdout.rsplit(":", 1)[1])
        self.roots = [int((folder / "pid").read_text())]
        self.requested(["authorization: Bearer sk-litellm"], "studio")

    def stop(self):
        subprocess.run([self.script, "stop", str(self.folder)], check=True)
        end(self.vendor)


class Proxy(Gateway):
    """The least that keeps a picture: passes it on and has it on disk."""

    def __init__(self, release, folder, side):
        super().__init__(release, folder, side)
        self.kept, self.large = folder / "kept", side > 256
        words = ["serve-proxy", f"127.0.0.1:{self.vendor_port}", str(self.kept)]
        self.process, self.port = reference(self.bench, folder / "log", *words)
        self.roots = [self.process.pid]
        self.requested(["authorization: Bearer x"], "m")

    def round(self, seconds):
        told = super().round(seconds)
        # The disk would be full of large ones. Small ones stay: ext4 looks through all that were deleted lately for every new file.
        for one in self.kept.iterdir() if self.large else []:
            one.unlink()
        return told


GATEWAYS = {"Atelier": Atelier, "Portkey": Portkey, "LiteLLM": Litellm, "bare proxy": Proxy}
