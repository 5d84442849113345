#!/usr/bin/env python3
"""A picture that takes a minute, asked for through an nginx that gives up after 20 seconds of silence: in all three ways of
docs/answers.md it arrives, and in the usual way it does not.

    tests/proxies/run.py PROGRAM FOLDER

Needs: nginx of Debian's package, as any user.
"""

import base64
import concurrent.futures
import json
import pathlib
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "shared"))

from launch import launch  # noqa: E402

TOKEN = "an-operator-for-tests"
GENERATIONS = "/v1/images/generations"
SILENCE_S, PICTURE_S, KEEP_ALIVE_S = 20, 60, 10
PATIENCE_S = 180

PROXY = """
daemon off;
pid {folder}/pid;
error_log {folder}/error.log;
events {{}}
http {{
  access_log off;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  server {{
    listen 127.0.0.1:{port};
    location / {{
      proxy_pass {base};
      proxy_http_version 1.1;
      proxy_set_header Host $host:$server_port;
      proxy_read_timeout {silence}s;
    }}
  }}
}}
"""


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def ask(base, path, key=None, body=None, token=None):
    """Status and bytes of an answer, whatever it is."""
    headers = {"Content-Type": "application/json"}
    if key:
        headers["SVC-API-KEY"] = key
    if token:
        headers["Authorization"] = f"Bearer {token}"
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(base + path, data=data, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def start_proxy(folder, base):
    folder.mkdir(parents=True)
    port = free_port()
    settings = folder / "nginx.conf"
    settings.write_text(PROXY.format(folder=folder, port=port, base=base, silence=SILENCE_S))
    nginx = shutil.which("nginx") or "/usr/sbin/nginx"
    process = subprocess.Popen([nginx, "-p", str(folder), "-e", str(folder / "error.log"), "-c", str(settings)])
    end = time.monotonic() + 10
    while time.monotonic() < end:
        with socket.socket() as one:
            if one.connect_ex(("127.0.0.1", port)) == 0:
                return process, f"http://127.0.0.1:{port}"
        time.sleep(0.05)
    process.kill()
    raise SystemExit("FAILED: nginx does not listen: " + (folder / "error.log").read_text(errors="replace")[-1500:])


def service(program, folder, environment):
    folder.mkdir(parents=True)
    settings = {"ATELIER_ADMIN_TOKEN": TOKEN, **environment}
    words = ["--listen", "127.0.0.1:0", "--data-dir", folder / "data"]
    process, base = launch(program, *words, log=folder / "log", environment=settings)
    made = ask(base, "/admin/v1/accounts", body={"email": "a@example.com", "balance": 100}, token=TOKEN)
    assert made[0] == 200, made
    return process, base, json.loads(made[1])["data"]["api_key"]


def wish(**more):
    return {"model": "image-1", "quality": "low", "prompt": f"a lighthouse [[delay {PICTURE_S}s]]", **more}


def is_picture(encoded):
    return base64.b64decode(encoded).startswith(b"\x89PNG")


def waits(front, key):
    status, body = ask(front, GENERATIONS, key, wish())
    assert status == 504, (status, body[:200])
    return f"given up by the proxy ({status})"


def later(front, key):
    status, body = ask(front, GENERATIONS, key, wish(**{"async": True}))
    assert status == 202, (status, body[:200])
    path, looks = f"/v1/images/{json.loads(body)['id']}", 0
    end = time.monotonic() + PATIENCE_S
    while status == 202:
        assert time.monotonic() < end, "never answered"
        time.sleep(2)
        status, body = ask(front, path, key)
        looks += 1
    assert status == 200 and is_picture(json.loads(body)["data"][0]["b64_json"]), (status, body[:200])
    return f"answered at look {looks}"


def streamed(front, key):
    status, body = ask(front, GENERATIONS, key, wish(stream=True, partial_images=1))
    blocks = [block for block in body.decode().split("\n\n") if block]
    comments = [block for block in blocks if block.startswith(":")]
    last = blocks[-1].split("\n")
    assert status == 200 and last[0] == "event: image_generation.completed", (status, body[:200])
    assert is_picture(json.loads(last[1].removeprefix("data: "))["b64_json"])
    assert len(comments) >= PICTURE_S // 15 - 1, comments
    return f"streamed with {len(comments)} comments"


def kept_alive(front, key):
    status, body = ask(front, GENERATIONS, key, wish())
    spaces = len(body) - len(body.lstrip())
    assert status == 200 and is_picture(json.loads(body)["data"][0]["b64_json"]), (status, body[:200])
    assert spaces >= PICTURE_S // KEEP_ALIVE_S - 1, spaces
    return f"answered behind {spaces} spaces"


def main(program, folder):
    folder = pathlib.Path(folder).absolute()
    folder.mkdir(parents=True)
    usual = service(program, folder / "usual", {})
    lively = service(program, folder / "lively", {"ATELIER_ANSWERS_KEEP_ALIVE_S": str(KEEP_ALIVE_S)})
    processes, ways = [usual[0], lively[0]], []
    for name, (_, base, key), calls in [("usual", usual, [waits, later, streamed]), ("lively", lively, [kept_alive])]:
        proxy, front = start_proxy(folder / f"nginx-{name}", base)
        processes.append(proxy)
        ways += [(call, front, key) for call in calls]
    try:
        with concurrent.futures.ThreadPoolExecutor(len(ways)) as threads:
            told = [(call, threads.submit(call, front, key)) for call, front, key in ways]
            for call, result in told:
                print(f"  {call.__name__}: {result.result()}")
    finally:
        for process in processes:
            process.terminate()
            process.wait()


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
