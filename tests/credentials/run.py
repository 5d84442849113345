#!/usr/bin/env python3
"""A real service makes pictures and clips, and c2pa-python reads what it serves: is the signature good, what does the manifest
say, and are manifests of vendors' files kept as ingredients.

    tests/credentials/run.py PROGRAM FOLDER        (in a Python that has c2pa-python)
"""

import base64
import http.server
import io
import json
import os
import pathlib
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

import c2pa

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "shared"))

from launch import launch  # noqa: E402

TOKEN = "credentials-token-of-a-test"
GENERATED = "http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia"
COMPOSITE = "http://cv.iptc.org/newscodes/digitalsourcetype/compositeWithTrainedAlgorithmicMedia"
PATIENCE_S = 120


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def call(base, path, token, body=None):
    data = json.dumps(body).encode() if body is not None else None
    head = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    request = urllib.request.Request(base + path, data=data, headers=head)
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        raise SystemExit(f"FAILED: {path}: {error.code} {error.read().decode()}") from error


def download(url):
    with urllib.request.urlopen(url, timeout=PATIENCE_S) as answer:
        return answer.headers["content-type"], answer.read()


def manifest(media_type, data, trusted=None):
    """What the active manifest of a file says, after everything about it was found good."""
    settings = {"verify": {"verify_trust": trusted is not None}}
    if trusted:
        settings["trust"] = {"user_anchors": trusted}
    context = c2pa.Context.from_dict(settings)
    with c2pa.Reader(media_type, io.BytesIO(data), context=context) as reader:
        state, told = reader.get_validation_state(), json.loads(reader.json())
    assert state == ("Trusted" if trusted else "Valid"), (state, told.get("validation_status"))
    return told["manifests"][told["active_manifest"]], told["manifests"]


def actions(one):
    found = [each for each in one["assertions"] if each["label"].startswith("c2pa.actions")]
    assert len(found) == 1, one["assertions"]
    return found[0]["data"]["actions"]


def check_created(one, model):
    first = actions(one)[0]
    assert first["action"] == "c2pa.created", first
    assert first["digitalSourceType"] == GENERATED, first
    assert first["softwareAgent"]["name"] == "Atelier", first
    assert first["parameters"]["atelier.model"] == model, first
    made = time.mktime(time.strptime(first["when"], "%Y-%m-%dT%H:%M:%SZ")) - time.timezone
    assert abs(made - time.time()) < 300, first
    assert one["claim_generator_info"][0]["name"] == "Atelier", one


def certificates(folder, name, days=20):
    """A chain as an operator has it, made by openssl; with less than no days its time is over."""
    (folder / "leaf.cnf").write_text(
        "basicConstraints=critical,CA:FALSE\nkeyUsage=critical,digitalSignature\n"
        "extendedKeyUsage=emailProtection\nsubjectKeyIdentifier=hash\nauthorityKeyIdentifier=keyid\n"
    )
    run = lambda *words: subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    run("req", "-x509", *curve, "-keyout", f"{name}-ca.key", "-out", f"{name}-ca.pem", "-days", "30", "-subj", f"/O={name}/CN={name} CA",
        "-addext", "keyUsage=critical,keyCertSign")
    run("req", *curve, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/O={name}/CN={name} signing")
    run("x509", "-req", "-in", f"{name}.csr", "-CA", f"{name}-ca.pem", "-CAkey", f"{name}-ca.key", "-CAcreateserial",
        "-days", str(days), "-extfile", "leaf.cnf", "-out", f"{name}-leaf.pem")
    chain = (folder / f"{name}-leaf.pem").read_text() + (folder / f"{name}-ca.pem").read_text()
    (folder / f"{name}.pem").write_text(chain)
    return chain, (folder / f"{name}.key").read_text(), (folder / f"{name}-ca.pem").read_text()


def signed_by_vendor(folder, media_type, plain):
    """A file with a manifest of somebody else's."""
    chain, key, _ = certificates(folder, "Vendor")
    info = c2pa.C2paSignerInfo(b"es256", chain.encode(), key.encode(), None)
    told = {
        "claim_generator_info": [{"name": "Vendor", "version": "9"}],
        "assertions": [
            {
                "label": "c2pa.actions.v2",
                "data": {"actions": [{"action": "c2pa.created", "digitalSourceType": GENERATED}]},
            }
        ],
    }
    result = io.BytesIO()
    context = c2pa.Context.from_dict({"builder": {"thumbnail": {"enabled": False}}})
    with c2pa.Builder(told, context=context) as builder, c2pa.Signer.from_info(info) as signer:
        builder.sign(signer, media_type, io.BytesIO(plain), result)
    return result.getvalue()


class Vendor(http.server.BaseHTTPRequestHandler):
    """Answers as OpenAI does for pictures, with the file it was given."""

    picture = b""

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        body = json.dumps({"created": 1, "data": [{"b64_json": base64.b64encode(self.picture).decode()}]}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Service:
    def __init__(self, program, folder, text=""):
        self.program, self.folder = program, folder
        folder.mkdir(parents=True, exist_ok=True)
        self.config = folder / "atelier.toml"
        self.config.write_text(text)
        self.base = f"http://127.0.0.1:{free_port()}"

    def environment(self):
        return {
            **os.environ,
            "ATELIER_LISTEN": self.base.removeprefix("http://"),
            "ATELIER_DATA_DIR": str(self.folder / "data"),
            "ATELIER_ADMIN_TOKEN": TOKEN,
        }

    def __enter__(self):
        log = self.folder / "service.log"
        self.process, _ = launch(self.program, "--config", self.config, log=log, environment=self.environment(), wait=PATIENCE_S)
        email = f"reader{time.monotonic_ns()}@example.com"
        account = call(self.base, "/admin/v1/accounts", TOKEN, {"email": email, "balance": 100000})["data"]
        self.key = account["api_key"]
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=60)

    def doctor(self):
        words = [self.program, "doctor", "--json", "--config", str(self.config)]
        said = subprocess.run(words, env=self.environment(), capture_output=True, text=True, check=False)
        return next(look for look in json.loads(said.stdout) if look["what"] == "credentials")

    def picture(self, format, **more):
        body = {"model": "image-1", "prompt": "a lighthouse", "size": "1024x1024", "output_format": format, "quality": "low", **more}
        answer = call(self.base, "/v1/images/generations", self.key, body)
        return base64.b64decode(answer["data"][0]["b64_json"])

    def job(self, path, body):
        answer = call(self.base, path, self.key, body)
        job = answer["data"]["jobId"]
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            seen = call(self.base, f"/jobs/v1/{job}", self.key)["data"]
            if seen["status"] in ("SUCCESS", "FAILED"):
                assert seen["status"] == "SUCCESS", seen
                return seen
            time.sleep(0.3)
        raise SystemExit(f"FAILED: {path} did not end")


def counted(service, outcome):
    request = urllib.request.Request(service.base + "/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    with urllib.request.urlopen(request) as answer:
        text = answer.read().decode()
    rows = [row for row in text.splitlines() if row.startswith(f'atelier_credentials_total{{outcome="{outcome}"}}')]
    return float(rows[0].split()[-1]) if rows else 0.0


def follow_ups(service):
    """A grid of four is a thing of its own; what is made of one of its pictures is made of the grid, which is what was delivered."""
    grid = service.job("/artgen/v1/imagine", {"prompt": "a lighthouse"})
    whole, _ = manifest("image/png", download(grid["files"][0]["url"])[1])
    assert [each["action"] for each in actions(whole)] == ["c2pa.created"], actions(whole)
    assert not whole.get("ingredients"), whole["ingredients"]
    for action, relation, words in (
        ("upsample2", "parentOf", ["c2pa.opened", "c2pa.edited"]),
        ("variation3", "inputTo", ["c2pa.created"]),
    ):
        seen = service.job("/artgen/v1/action", {"jobId": grid["jobId"], "action": action})
        one, every = manifest("image/png", download(seen["files"][0]["url"])[1])
        assert [each["action"] for each in actions(one)] == words, actions(one)
        assert actions(one)[-1]["digitalSourceType"] == GENERATED, actions(one)
        (ingredient,) = one["ingredients"]
        assert ingredient["relationship"] == relation and ingredient["title"] == "earlier result", ingredient
        assert ingredient["active_manifest"] == whole["label"] and whole["label"] in every, (ingredient, whole["label"])
        print(f"  {action} of a grid: the grid's manifest is {relation}")


def own(program, folder):
    """With the certificate that the service makes itself."""
    with Service(program, folder / "own") as service:
        look = service.doctor()
        assert look["verdict"] == "good" and "own certificate" in look["found"], look
        print("  doctor:", look["found"])
        files = {}
        for format in ("png", "jpeg", "webp"):
            data = files[format] = service.picture(format)
            one, _ = manifest(f"image/{format}", data)
            check_created(one, "image-1")
            assert one["signature_info"]["issuer"] == "Atelier", one["signature_info"]
            print(f"  {format}: {len(data)} bytes, signature good, generated by image-1 at {actions(one)[0]['when']}")
        seen = service.job("/vidgen/generations", {"model": "video-2", "prompt": "a boat in a bay", "duration": 10})
        clip = download(seen["files"][0]["url"])[1]
        one, _ = manifest("video/mp4", clip)
        check_created(one, "video-2")
        print(f"  mp4: {len(clip)} bytes, signature good, generated by video-2")
        damaged = bytearray(files["png"])
        damaged[-200] ^= 1
        try:
            manifest("image/png", bytes(damaged))
        except (AssertionError, c2pa.C2paError):
            print("  a changed byte is noticed")
        else:
            raise SystemExit("FAILED: a changed byte is not noticed")
        # An edit of a served picture: its own manifest is the parent.
        sent = "data:image/png;base64," + base64.b64encode(files["png"]).decode()
        answer = call(service.base, "/v1/images/edits", service.key, {"model": "image-1", "image": sent, "prompt": "at night", "quality": "low"})
        one, every = manifest("image/png", base64.b64decode(answer["data"][0]["b64_json"]))
        words = [each["action"] for each in actions(one)]
        assert words == ["c2pa.opened", "c2pa.edited"], words
        assert actions(one)[1]["digitalSourceType"] == COMPOSITE
        parent = [each for each in one["ingredients"] if each["relationship"] == "parentOf"]
        assert len(parent) == 1 and parent[0]["active_manifest"] in every, one["ingredients"]
        print("  an edit: opened and edited, its source's manifest is the parent")
        follow_ups(service)
        assert counted(service, "signed") >= 8 and counted(service, "failed") == 0
    # The same certificate signs after a restart, also when the key that seals it was changed meanwhile.
    service = Service(program, folder / "own")
    rotate = [program, "local", "rotate-master-key", "--config", str(service.config)]
    subprocess.run(rotate, env=service.environment(), check=True, capture_output=True)
    with service:
        before = manifest("image/png", files["png"])[0]["signature_info"]["cert_serial_number"]
        after = manifest("image/png", service.picture("png"))[0]["signature_info"]["cert_serial_number"]
        assert before == after, (before, after)
        print("  the certificate stays over a restart and another master key")
    return files["png"]


def operators(program, folder, plain):
    """With an operator's certificate, and a vendor whose files carry manifests."""
    _, _, authority = certificates(folder, "Operator")
    Vendor.picture = signed_by_vendor(folder, "image/png", plain)
    authorities = authority + (folder / "Vendor-ca.pem").read_text()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Vendor)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    text = f"""
[credentials]
certificate = "{folder}/Operator.pem"
key = "{folder}/Operator.key"
[[backends]]
name = "vendor"
vendor = "openai"
base_url = "http://127.0.0.1:{server.server_port}/v1"
operations = ["imgmodel"]
[backends.settings]
image_model = "somebody-elses"
[[backends.accounts]]
name = "main"
credential = "sk-none"
"""
    with Service(program, folder / "operator", text) as service:
        look = service.doctor()
        assert look["verdict"] == "look" and "Operator signing" in look["found"] and "days left" in look["found"], look
        print("  doctor:", look["found"])
        # Passed on with its own pixels, and written anew.
        for format in ("png", "jpeg", "webp"):
            one, every = manifest(f"image/{format}", service.picture(format), trusted=authorities)
            parent = one["ingredients"][0]
            assert parent["relationship"] == "parentOf", parent
            theirs = every[parent["active_manifest"]]
            assert theirs["claim_generator_info"][0]["name"] == "Vendor", theirs
            words = [each["action"] for each in actions(one)]
            assert words == ["c2pa.opened", "c2pa.transcoded"], words
            assert actions(one)[1]["digitalSourceType"] == GENERATED
            print(f"  {format} of a vendor: trusted where both authorities are, the vendor's manifest is the parent")


def refused(program, folder):
    """What cannot sign is refused at the start, by the name of the setting, and the doctor says so too."""
    certificates(folder, "Other")
    certificates(folder, "Late", days=-1)
    for what, certificate, key, setting, why in (
        ("a key of another certificate", "Operator.pem", "Other.key", "credentials.certificate and credentials.key", ""),
        ("a certificate whose time is over", "Late.pem", "Late.key", "credentials.certificate and credentials.key", "not valid at time of signing"),
        ("a certificate that is not there", "Nobody.pem", "Late.key", "credentials.certificate", "No such file"),
        ("a key that is not there", "Late.pem", "Nobody.key", "credentials.key", "No such file"),
    ):
        text = f'[credentials]\ncertificate = "{folder}/{certificate}"\nkey = "{folder}/{key}"\n'
        service = Service(program, folder / "refused", text)
        words = [program, "serve", "--config", str(service.config)]
        ran = subprocess.run(words, env=service.environment(), capture_output=True, text=True, timeout=60, check=False)
        said = ran.stderr + ran.stdout
        assert ran.returncode != 0 and setting in said and why in said, ran
        look = service.doctor()
        assert look["verdict"] == "bad" and why in look["found"], look
        print(f"  {what} is refused:", said.strip().splitlines()[-1][:160])


def cost(program, folder):
    """Milliseconds a picture takes with and without, each the middle of 15, taken in turns."""
    spent = {}
    with Service(program, folder / "with") as signs, Service(program, folder / "without", "[credentials]\nenabled = false\n") as plain:
        for round in range(16):
            for name, service in (("signed", signs), ("plain", plain)):
                ticks = cpu(service.process.pid)
                service.picture("png", prompt=f"a lighthouse {round}")
                if round:
                    spent.setdefault(name, []).append(cpu(service.process.pid) - ticks)
    middle = {name: sorted(all)[len(all) // 2] for name, all in spent.items()}
    print(f"  processor time of a picture of 1024x1024: {middle['plain']} ms plain, {middle['signed']} ms signed")


def cpu(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) * 1000 // os.sysconf("SC_CLK_TCK")


def main(program, folder):
    folder = pathlib.Path(folder).resolve()
    folder.mkdir(parents=True)
    print(f"  read by c2pa-python {c2pa.__version__}")
    plain = own(program, folder)
    operators(program, folder, plain)
    refused(program, folder)
    cost(program, folder)


if __name__ == "__main__":
    main(*sys.argv[1:3])
