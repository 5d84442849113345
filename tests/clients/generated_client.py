"""A client generated from the OpenAPI document does one whole job."""

import importlib
import pkgutil
import sys
import time

base, key, package = sys.argv[1:4]
api = importlib.import_module(package)
models = importlib.import_module(f"{package}.models")
modules = {}
for found in pkgutil.walk_packages(api.__path__, f"{package}."):
    modules[found.name.rsplit(".", 1)[-1]] = found.name
imagine = importlib.import_module(modules["artgen_imagine"])
fetch = importlib.import_module(modules["artgen_fetch"])

client = api.AuthenticatedClient(base_url=base, token=key, prefix="", auth_header_name="SVC-API-KEY")
body = models.Imagine.from_dict({"prompt": "a sailing boat --ar 1:1", "getUImages": True})
accepted = imagine.sync_detailed(client=client, body=body)
assert accepted.status_code == 200, accepted.content
job_id = accepted.parsed.data.job_id
deadline = time.time() + 120
while True:
    job = fetch.sync_detailed(client=client, job_id=job_id)
    assert job.status_code == 200, job.content
    status = str(getattr(job.parsed.status, "value", job.parsed.status))
    if status == "SUCCESS":
        break
    assert status != "FAILED" and time.time() < deadline, job.content
    time.sleep(0.3)
assert len(job.parsed.images) == 4, job.content
assert job.parsed.origin_image.startswith("http"), job.content
print("client of openapi-python-client: 1 passed, 0 failed")
