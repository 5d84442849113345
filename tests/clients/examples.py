"""Runs the examples of docs/clients.md as they stand there, in every language that this machine has.

    examples.py BASE KEY TYPESCRIPT      TYPESCRIPT is a folder in which npm installed typescript and @types/node

Each `make` example goes through a proxy that loses the first response to a submit and answers the second try with 503. It must end
with one job and one charge. Each receiver gets the job's real callback twice and altered ones, and must print its status once.
"""

import http.server
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "clients.md"
PATIENCE_S = 60
base, key, typescript = sys.argv[1:]
folder = pathlib.Path(tempfile.mkdtemp(prefix="examples-"))


def extract():
    """Every block whose first line names its file."""
    names = []
    for block in re.findall(r"^```\w+\n(.*?)^```$", PAGE.read_text(), re.M | re.S):
        if found := re.match(r"(?:#|//) (\w+\.\w+): ", block):
            (folder / found[1]).write_text(block)
            names.append(found[1])
    return names


def call(method, path):
    request = urllib.request.Request(base + path, headers={"SVC-API-KEY": key}, method=method)
    with urllib.request.urlopen(request, timeout=30) as response:
        return json.load(response)


class Unreliable(http.server.BaseHTTPRequestHandler):
    """The service behind a line that loses the response to the first submit and refuses the second try."""

    protocol_version = "HTTP/1.1"
    submits = 0
    keys = set()

    def do_GET(self):
        self.pass_on(None)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        Unreliable.submits += 1
        Unreliable.keys.add(self.headers["idempotency-key"])
        if Unreliable.submits == 2:
            return self.reply(503, b'{"status":"FAILED","message":"later","data":null,"code":"overloaded"}', {"Retry-After": "1"})
        self.pass_on(body, lost=Unreliable.submits == 1)

    def pass_on(self, body, lost=False):
        taken = {name: value for name, value in self.headers.items() if name.lower() not in ("host", "connection", "content-length")}
        request = urllib.request.Request(base + self.path, body, taken, method=self.command)
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                status, text = response.status, response.read()
        except urllib.error.HTTPError as error:
            status, text = error.code, error.read()
        if lost:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
        else:
            self.reply(status, text, {})

    def reply(self, status, text, headers):
        self.send_response(status)
        for name, value in {**headers, "Content-Type": "application/json", "Content-Length": str(len(text))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


class Catcher(http.server.BaseHTTPRequestHandler):
    got = []

    def do_POST(self):
        Catcher.got.append((self.headers, self.rfile.read(int(self.headers["content-length"]))))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


def serve(handler):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}"


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def post(port, headers, body):
    request = urllib.request.Request(f"http://127.0.0.1:{port}/done", body, headers, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            return response.status
    except urllib.error.HTTPError as error:
        return error.code


def make(language, command):
    """One job and one charge, in spite of the line; the callback it caused."""
    Unreliable.submits, Unreliable.keys = 0, set()
    Catcher.got.clear()
    jobs = call("GET", "/jobs/v1?limit=1")["total"]
    before = call("GET", "/artgen/v1/info")["data"]["balance"]
    environment = {**os.environ, "ATELIER_CLIENT_URL": serve(Unreliable), "ATELIER_CLIENT_KEY": key, "HOOK_URL": serve(Catcher) + "/done"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, f"{language}: {done.stdout}{done.stderr}"
    with urllib.request.urlopen(done.stdout.strip(), timeout=30) as response:
        assert response.headers["content-type"].startswith("image/"), f"{language}: {done.stdout}"
    assert Unreliable.submits == 3 and len(Unreliable.keys) == 1 and None not in Unreliable.keys, f"{language}: {Unreliable.keys}"
    assert call("GET", "/jobs/v1?limit=1")["total"] - jobs == 1, f"{language} made more than one job"
    assert before - call("GET", "/artgen/v1/info")["data"]["balance"] == 4, f"{language} was charged otherwise than once"
    end = time.monotonic() + PATIENCE_S
    while not Catcher.got:
        assert time.monotonic() < end, f"{language}: no callback"
        time.sleep(0.1)
    print(f"{language}: one job and one charge after a lost response and a 503")
    return Catcher.got[0]


def altered(headers, body):
    """Callbacks that nobody signed, by what is wrong with them."""
    later = str(int(headers["webhook-timestamp"]) + 1)
    yield "body", headers, body.replace(b"SUCCESS", b"FAILURE")
    yield "id", {**headers, "webhook-id": "cb_other"}, body
    yield "time", {**headers, "webhook-timestamp": later}, body
    yield "signature", {name: value for name, value in headers.items() if name != "webhook-signature"}, body


def signed_headers(headers):
    wanted = ("webhook-id", "webhook-timestamp", "webhook-signature", "content-type")
    return {name: headers[name] for name in wanted}


def receive(language, command, secret, headers, body):
    port = free_port()
    environment = {**os.environ, "CALLBACK_SECRET": secret, "PORT": str(port)}
    process = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True)
    try:
        end = time.monotonic() + PATIENCE_S
        while True:
            assert process.poll() is None and time.monotonic() < end, f"{language}: the receiver does not listen"
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        for what, other_headers, other_body in altered(headers, body):
            assert post(port, other_headers, other_body) == 401, f"{language} took an altered {what}"
        for _ in range(2):
            assert post(port, headers, body) == 204, f"{language} refused a genuine callback"
    finally:
        process.terminate()
    printed = process.communicate(timeout=10)[0].split()
    assert printed == ["SUCCESS"], f"{language} printed {printed}"
    print(f"{language}: takes a genuine callback once, refuses altered ones")


def verify(language, command, secret, headers, body):
    """An example that checks one callback in a file."""

    def ended(headers, body):
        (folder / "body").write_bytes(body)
        names = {name.upper().replace("-", "_"): value for name, value in headers.items() if name.startswith("webhook-")}
        environment = {**os.environ, "CALLBACK_SECRET": secret, "WEBHOOK_SIGNATURE": "", **names}
        return subprocess.run(command, cwd=folder, env=environment, timeout=PATIENCE_S, check=False).returncode

    for what, other_headers, other_body in altered(headers, body):
        assert ended(other_headers, other_body) != 0, f"{language} took an altered {what}"
    assert ended(headers, body) == 0, f"{language} refused a genuine callback"
    print(f"{language}: takes a genuine callback, refuses altered ones")


def compiled():
    """TypeScript as Node runs it, after the strictest check."""
    (folder / "node_modules").symlink_to(pathlib.Path(typescript) / "node_modules")
    tsc = ["node", "node_modules/typescript/bin/tsc", "--strict", "--target", "es2022", "--module", "nodenext", "--types", "node"]
    subprocess.run([*tsc, "make.mts", "receive.mts"], cwd=folder, check=True)


def main():
    names = extract()
    wanted = {"make.py", "receive.py", "make.mts", "receive.mts", "make.go", "receive.go", "make.sh", "verify.sh"}
    assert set(names) == wanted, names
    secret = call("GET", "/account/v1/callbacks/secret")["data"]["secret"]
    compiled()
    examples = [
        ("Python", [sys.executable, "make.py"], receive, [sys.executable, "receive.py"]),
        ("TypeScript", ["node", "make.mjs"], receive, ["node", "receive.mjs"]),
        ("curl", ["bash", "make.sh"], verify, ["bash", "verify.sh"]),
    ]
    if shutil.which("go"):
        for name in ("make", "receive"):
            subprocess.run(["go", "build", "-o", f"{name}-go", f"{name}.go"], cwd=folder, env={**os.environ, "GO111MODULE": "off"}, check=True)
        examples.append(("Go", ["./make-go"], receive, ["./receive-go"]))
    else:
        print("Go: not on this machine, left out")
    for language, maker, check, checker in examples:
        headers, body = make(language, maker)
        check(language, checker, secret, signed_headers(headers), body)


try:
    main()
finally:
    shutil.rmtree(folder, ignore_errors=True)
