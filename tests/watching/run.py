#!/usr/bin/env python3
"""A real Prometheus watches a real service: its own tools judge the numbers and the rules, it scrapes, and it answers
every question that the dashboard and the alert rules ask.

    tests/watching/run.py PROGRAM FOLDER
"""

import http.server
import json
import pathlib
import re
import socket
import subprocess
import sys
import threading
import time
import urllib.parse
import urllib.request

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "shared"))

from launch import launch  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
WATCHING = ROOT / "packaging" / "watching"
PATIENCE_S = 90


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def read(url):
    with urllib.request.urlopen(url, timeout=10) as answer:
        return answer.read().decode()


def until(what, act):
    """Repeats an act until it gives something."""
    end = time.monotonic() + PATIENCE_S
    last = None
    while time.monotonic() < end:
        try:
            if found := act():
                return found
        except (OSError, LookupError, ValueError, AssertionError) as error:
            last = error
        time.sleep(0.3)
    raise SystemExit(f"FAILED: {what} ({last})")


def dashboard_queries():
    board = json.loads((WATCHING / "dashboard.json").read_text())
    for panel in board["panels"]:
        for target in panel.get("targets", []):
            yield panel["title"], target["expr"].replace("$__rate_interval", "1m").replace("[1h]", "[1m]")


def check_rules():
    rules = subprocess.run(["promtool", "check", "rules", str(WATCHING / "alerts.yml")], capture_output=True, text=True)
    print("  " + rules.stdout.strip().splitlines()[-1].strip())
    assert rules.returncode == 0, rules.stderr


def main(program, folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True)
    check_rules()
    subprocess.run(["promtool", "test", "rules", "alerts.test.yml"], cwd=WATCHING, check=True, stdout=subprocess.DEVNULL)
    print("  the alert rules do what their tests say")

    port, metrics, watcher = free_port(), free_port(), free_port()
    environment = {
        "ATELIER_LISTEN": f"127.0.0.1:{port}",
        "ATELIER_DATA_DIR": str(folder / "data"),
        "ATELIER_ADMIN_TOKEN": "watching-token-of-a-test",
        # Where traces are recorded, numbers name them.
        "ATELIER_TELEMETRY_OTLP_ENDPOINT": f"http://127.0.0.1:{listen()}",
    }
    (folder / "atelier.toml").write_text(f'listeners = [{{ address = "127.0.0.1:{metrics}", role = "metrics" }}]\n')
    (folder / "alerts.yml").write_text((WATCHING / "alerts.yml").read_text())
    config = (WATCHING / "prometheus.yml").read_text().replace("127.0.0.1:9108", f"127.0.0.1:{metrics}")
    (folder / "prometheus.yml").write_text(re.sub(r"interval: 15s", "interval: 1s", config))
    children = []
    try:
        service, _ = launch(program, "--config", folder / "atelier.toml", log=folder / "service.log", environment=environment)
        children.append(service)
        children.append(
            subprocess.Popen(
                [
                    "prometheus",
                    f"--config.file={folder}/prometheus.yml",
                    f"--storage.tsdb.path={folder}/series",
                    f"--web.listen-address=127.0.0.1:{watcher}",
                    "--enable-feature=exemplar-storage",
                ],
                stdout=subprocess.DEVNULL,
                stderr=(folder / "prometheus.log").open("w"),
            )
        )
        watch(f"http://127.0.0.1:{port}", f"http://127.0.0.1:{metrics}", f"http://127.0.0.1:{watcher}")
    finally:
        for child in children:
            child.terminate()
        for child in children:
            child.wait(timeout=30)


class Receiver(http.server.BaseHTTPRequestHandler):
    """Takes every callback, and remembers the traces of what it takes as a collector."""

    traces = set()

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        for resource in body.get("resourceSpans", []):
            for scope in resource["scopeSpans"]:
                self.traces.update(span["traceId"] for span in scope["spans"])
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


def listen():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_port


def work(service, receiver):
    """Some jobs, so that there is something to be counted."""

    def call(path, body, token):
        request = urllib.request.Request(
            service + path,
            data=json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    admin = "watching-token-of-a-test"
    email = f"watched{time.monotonic_ns()}@example.com"
    account = call("/admin/v1/accounts", {"email": email, "balance": 1000}, admin)["data"]
    for word in ("boat", "tower", "[[fail: no such thing]]"):
        job = call("/artgen/v1/imagine", {"prompt": word, "hookUrl": receiver}, account["api_key"])["data"]["jobId"]
        until("a job ends", lambda: call("/artgen/v1/fetch", {"jobId": job}, account["api_key"])["status"] in ("SUCCESS", "FAILED"))


def watch(service, metrics, prometheus):
    until("Prometheus scrapes", lambda: target(prometheus)["health"] == "up")
    print("  Prometheus", json.loads(read(prometheus + "/api/v1/status/buildinfo"))["data"]["version"], "scrapes the service")
    receiver = f"http://127.0.0.1:{listen()}/done"
    began = time.monotonic()
    while time.monotonic() - began < 12:
        work(service, receiver)
    text = read(metrics + "/metrics")
    checked = subprocess.run(["promtool", "check", "metrics"], input=text, text=True, capture_output=True)
    assert checked.returncode == 0, checked.stderr + checked.stdout
    names = len(re.findall("^# TYPE", text, re.M))
    print(f"  promtool finds nothing wrong with {names} metrics, {len(text.splitlines())} lines, {len(text)} bytes")
    answered, empty = 0, []
    for title, query in dashboard_queries():
        found = ask(prometheus, query)
        answered += 1
        if not found:
            empty.append(title)
    print(f"  {answered} questions of the dashboard are answered; without numbers: {', '.join(sorted(set(empty))) or 'none'}")
    # Nothing here is a vendor that asks for money, or is asked how far it is.
    assert set(empty) <= {"What vendors took in an hour"}, empty
    rules = json.loads(read(prometheus + "/api/v1/rules"))["data"]["groups"][0]["rules"]
    for rule in rules:
        assert rule["health"] == "ok", rule
    firing = [rule["name"] for rule in rules if rule["state"] == "firing"]
    assert not firing, firing
    print(f"  {len(rules)} alert rules are evaluated, none fires")
    exemplars(prometheus)


def exemplars(prometheus):
    """Numbers name traces that the collector has."""
    for name in (
        "atelier_job_duration_seconds_bucket",
        "atelier_job_wait_seconds_bucket",
        "atelier_vendor_call_duration_seconds_bucket",
        "atelier_http_request_duration_seconds_bucket",
    ):
        ask = urllib.parse.urlencode({"query": name, "start": time.time() - 600, "end": time.time() + 60})
        found = until(f"exemplars of {name}", lambda: json.loads(read(f"{prometheus}/api/v1/query_exemplars?{ask}"))["data"])
        named = {one["labels"]["trace_id"] for series in found for one in series["exemplars"]}
        until(f"the collector has the traces of {name}", lambda: named <= Receiver.traces)
        print(f"  {name}: {len(named)} traces are named, and the collector has them")


def target(prometheus):
    return json.loads(read(prometheus + "/api/v1/targets"))["data"]["activeTargets"][0]


def ask(prometheus, query):
    answer = json.loads(read(prometheus + "/api/v1/query?" + urllib.parse.urlencode({"query": query})))
    assert answer["status"] == "success", answer
    return answer["data"]["result"]


if __name__ == "__main__":
    main(*sys.argv[1:3])
