"""The service as the others are measured: started once, spoken to with the load generator of atelier-bench."""

import json
import subprocess
import time

from service import Node, call, free_port

AT_ONCE = 64
# One caller stands for many, and how full the disk is otherwise is no part of a figure.
SETTINGS = {
    "LIMITS_SUBMITS_PER_SECOND": 0,
    "LIMITS_CALLS_PER_SECOND": 0,
    "LIMITS_DISK_FREE_PERCENT": 0,
    "DEMO_ACCOUNT": "false",
    "LOG_LEVEL": "error",
}


def request(method, path, head, body):
    """The bytes of a request on a connection that is kept."""
    lines = [f"{method} {path} HTTP/1.1", "host: bench", *head, "content-type: application/json", f"content-length: {len(body)}"]
    return ("\r\n".join(lines) + "\r\n\r\n" + body).encode()


def load(release, port, seconds, asked):
    """Has the load generator send a request for some seconds; what it says."""
    command = [str(release / "atelier-bench"), "load", f"127.0.0.1:{port}", str(AT_ONCE), str(seconds)]
    ran = subprocess.run(command, input=asked, capture_output=True)
    if ran.returncode:
        raise RuntimeError(ran.stderr.decode(errors="replace")[:800])
    return json.loads(ran.stdout)


class Ours:
    """A node on SQLite with one account."""

    def __init__(self, release, folder):
        self.release = release
        self.node = Node(str(release / "atelier"), str(folder), free_port(), settings=SETTINGS)
        self.node.start()
        self.roots = [self.node.process.pid]
        _, self.key = self.node.account("bench", 900_000_000, 1_000_000)

    def stop(self):
        self.node.stop()
        code, said = self.node.audit()
        if code:
            raise RuntimeError(f"the ledger does not balance: {said[-800:]}")

    def ask(self, method, path, body=None):
        status, answer = call(self.node.base, method, path, self.key, body)
        if status != 200:
            raise RuntimeError(f"{method} {path}: {status} {answer}")
        return answer


class Jobs(Ours):
    """Whole jobs: the seed of a picture, which costs nothing to tell."""

    def __init__(self, release, folder, _side):
        super().__init__(release, folder)
        parent = self.ask("POST", "/artgen/v1/imagine", {"prompt": "a lighthouse at dawn"})["data"]["jobId"]
        while self.ask("GET", f"/jobs/v1/{parent}")["data"]["status"] != "SUCCESS":
            time.sleep(0.1)
        self.asked = request("POST", "/artgen/v1/seed", [f"svc-api-key: {self.key}"], json.dumps({"jobId": parent}))

    def round(self, seconds):
        began = time.monotonic()
        told = load(self.release, self.node.port, seconds, self.asked)
        while self.node.left():
            time.sleep(0.02)
        return told["answered"], time.monotonic() - began, None


class Pictures(Ours):
    """Pictures through the openai adapter."""

    def __init__(self, release, folder, vendor, asked):
        super().__init__(release, folder)
        backend = {"name": "instant", "vendor": "openai", "base_url": vendor, "operations": ["imgmodel"], "settings": {"image_model": "m"}}
        made = self.node.operate("POST", "/admin/v1/backends", backend)
        worker = {"name": "one", "credential": "sk-bench", "concurrency": 256}
        self.node.operate("POST", f"/admin/v1/backends/{made['id']}/accounts", worker)
        self.asked = request("POST", "/v1/images/generations", [f"svc-api-key: {self.key}"], json.dumps({**asked, "model": "art-2"}))

    def round(self, seconds):
        told = load(self.release, self.node.port, seconds, self.asked)
        return told["answered"], told["answered"] / told["per_second"], told["p99_ms"]
