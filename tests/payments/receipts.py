"""Receipts of a real service, checked by the page of Python in the documents with somebody else's library.

    receipts.py BINARY FOLDER        needs the Python package pyjwt[crypto]
"""

import base64
import json
import pathlib
import subprocess
import sys
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE.parent / "faults")]

from service import Node, call, free_port  # noqa: E402


def main():
    binary, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    node = Node(binary, str(folder), free_port(), settings={"RECEIPTS_ENABLED": "true", "DEMO_ACCOUNT": "false"})
    node.start()
    _, key = node.account("reader", 50)

    def own(method, path, body=None):
        status, answer = call(node.base, method, path, key, body)
        assert status == 200, answer
        return answer

    def image(prompt):
        """Makes an image; its file and its receipt."""
        wish = {"model": "image-1", "quality": "low", "response_format": "b64_json", "prompt": prompt}
        made = own("POST", "/v1/images/generations", wish)
        file = folder / f"{prompt.replace(' ', '-')}.png"
        file.write_bytes(base64.b64decode(made["data"][0]["b64_json"]))
        receipt = own("GET", "/account/v1/receipts?limit=1")["data"][0]
        return file, own("GET", f"/account/v1/receipts/{receipt['job']}")["data"]["signed"]

    fox, first = image("a fox")
    _, second = image("a boat")
    node.operate("POST", "/admin/v1/receipt-keys")
    owl, third = image("an owl")
    keys = folder / "keys.json"
    with urllib.request.urlopen(f"{node.base}/.well-known/atelier-receipts") as answer:
        keys.write_bytes(answer.read())
    assert len(json.loads(keys.read_text())["keys"]) == 2

    def checked(name, receipts, *files):
        """What the page says."""
        path = folder / name
        path.write_text("\n".join(receipts) + "\n")
        page = ROOT / "docs/examples/verify_receipt.py"
        ran = subprocess.run([sys.executable, str(page), str(keys), str(path), *map(str, files)], capture_output=True, text=True)
        return ran.returncode == 0, ran.stdout + ran.stderr

    fine, text = checked("all.jws", [first, second, third], fox, owl)
    assert fine and "3 receipts of 1 accounts are whole, 2 files are named" in text, text
    fine, text = checked("gap.jws", [first, third])
    assert not fine and "is missing" in text, text
    head, payload, signature = third.split(".")
    said = json.loads(base64.urlsafe_b64decode(payload + "=="))
    dearer = base64.urlsafe_b64encode(json.dumps({**said, "quota": 99}).encode()).decode().rstrip("=")
    fine, text = checked("changed.jws", [".".join([head, dearer, signature])])
    assert not fine and "InvalidSignatureError" in text, text
    fox.write_bytes(fox.read_bytes() + b"x")
    fine, text = checked("file.jws", [first], fox)
    assert not fine and "no receipt names" in text, text
    node.stop()
    code, text = node.audit(live=False)
    assert code == 0, text
    print("receipts: PyJWT checks a chain over two keys and two files, and finds a gap, a changed receipt and a changed file")


if __name__ == "__main__":
    main()
