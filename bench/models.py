"""How long `GET /v1/models` takes with 1,000 models of 50 routes each to 50 back ends.

    models.py BINARY BUILD

BUILD is `release` or `debug`. Ends with 1 when the median of the answers takes longer than is promised: 5 ms, and of a debug build,
which the tests have, a bound that shows when every model is asked for by itself again."""

import json
import pathlib
import shutil
import statistics
import sys
import tempfile
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "tests" / "shared"))

from catalogue import known, sell  # noqa: E402
from launch import ANY_PORT, launch  # noqa: E402

ADMIN = "models-admin-token-0123456789"
MODELS, ROUTES = 1_000, 50
ANSWERS = 41
MOST_MS = {"release": 5, "debug": 60}


def main():
    binary, build = sys.argv[1:3]
    folder = pathlib.Path(tempfile.mkdtemp(prefix="atelier-models-"))
    settings = {"ATELIER_ADMIN_TOKEN": ADMIN, "ATELIER_LOG_LEVEL": "error", "ATELIER_LIMITS_CALLS_PER_SECOND": "0"}
    words = ["--listen", ANY_PORT, "--data-dir", folder / "data"]
    child, base = launch(binary, *words, log=folder / "log", environment=settings)

    def call(path, token, body=None):
        head = {"authorization": f"Bearer {token}", "content-type": "application/json"}
        asked = urllib.request.Request(base + path, headers=head, data=None if body is None else json.dumps(body).encode())
        with urllib.request.urlopen(asked, timeout=60) as answer:
            return answer.read()

    def made(path, body):
        return json.loads(call(path, ADMIN, body))["data"]

    try:
        key = made("/admin/v1/accounts", {"email": "models@example.com", "balance": 1})["api_key"]
        backends = [f"backend-{number}" for number in range(ROUTES)]
        for name in backends:
            backend = {"name": name, "vendor": "openai", "base_url": "http://127.0.0.1:9/v1", "settings": {"image_model": "m"}}
            backend = made("/admin/v1/backends", backend)["id"]
            made(f"/admin/v1/backends/{backend}/accounts", {"name": "one", "credential": "sk-models"})
        sell(folder / "data" / "atelier.db", MODELS, "imgmodel/image-1", backends, {"unit": "item", "amount": 1})
        known(lambda: [row["id"] for row in json.loads(call("/v1/models", key))["data"]], MODELS)
        took = []
        for _ in range(ANSWERS):
            begin = time.perf_counter()
            call("/v1/models", key)
            took.append((time.perf_counter() - begin) * 1000)
    finally:
        child.terminate()
        child.wait()
        shutil.rmtree(folder, ignore_errors=True)
    median, most = statistics.median(took), MOST_MS[build]
    print(f"GET /v1/models with {MODELS:,} models of {ROUTES} routes: {median:.1f} ms (at most {most} ms, {build} build)")
    if median > most:
        sys.exit("that is longer than promised")


main()
