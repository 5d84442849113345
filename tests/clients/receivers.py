"""Runs the documented receivers against a real callback: genuine ones are taken once, altered ones are refused.

Run: receivers.py BASE KEY "name=command" ...; each command gets a port as its last word.
"""

import json
import os
import queue
import shlex
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

base, key, *receivers = sys.argv[1:]
got = queue.Queue()


class Catcher(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        got.put((dict(self.headers.items()), body))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


def call(method, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(base + path, data, {"SVC-API-KEY": key, "Content-Type": "application/json"}, method=method)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def post(port, headers, body):
    wanted = {name: value for name, value in headers.items() if name.lower().startswith(("webhook-", "content-type"))}
    request = urllib.request.Request(f"http://127.0.0.1:{port}/hook", body, wanted, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_for(port, process):
    for _ in range(200):
        assert process.poll() is None, "the receiver ended"
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError("the receiver does not listen")


def check(name, command, secret, headers, body):
    port = free_port()
    environment = {**os.environ, "CALLBACK_SECRET": secret}
    process = subprocess.Popen([*shlex.split(command), str(port)], env=environment, stdout=subprocess.PIPE, text=True)
    try:
        wait_for(port, process)
        altered = body.replace(b"FAILED", b"SUCCESS")
        assert altered != body
        renamed = {**headers, "webhook-id": "cb_another"}
        later = {**headers, "webhook-timestamp": str(int(headers["webhook-timestamp"]) + 1)}
        unsigned = {field: value for field, value in headers.items() if field.lower() != "webhook-signature"}
        for what, refused in [("body", (headers, altered)), ("id", (renamed, body)), ("time", (later, body)), ("signature", (unsigned, body))]:
            assert post(port, *refused) == 401, f"{name} took an altered {what}"
        for _ in range(2):
            assert post(port, headers, body) == 204, f"{name} refused a genuine callback"
    finally:
        process.terminate()
    told = process.communicate(timeout=10)[0].split()
    assert told == ["FAILED"], f"{name} told {told}"
    print(f"receiver in {name}: takes genuine callbacks once, refuses altered ones")


catcher = ThreadingHTTPServer(("127.0.0.1", 0), Catcher)
threading.Thread(target=catcher.serve_forever, daemon=True).start()
secret = call("GET", "/account/v1/callbacks/secret")["data"]["secret"]
hook = f"http://127.0.0.1:{catcher.server_address[1]}/hook"
call("POST", "/artgen/v1/imagine", {"prompt": "a boat [[fail: on purpose]]", "hookUrl": hook})
headers, body = got.get(timeout=30)
headers = {name.lower(): value for name, value in headers.items()}
for receiver in receivers:
    name, command = receiver.split("=", 1)
    check(name, command, secret, headers, body)
