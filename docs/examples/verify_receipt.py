"""Checks receipts without the service: signatures, the chain of each account, and files by their hashes.

    verify_receipt.py KEYS RECEIPTS [FILE…]

KEYS is a copy of /.well-known/atelier-receipts, RECEIPTS has a receipt on each line. Needs: pip install "pyjwt[crypto]".
"""

import hashlib
import json
import sys

import jwt


def read(line, keys):
    """A receipt whose signature is right: what it says, and its hash."""
    kid = jwt.get_unverified_header(line)["kid"]
    text = jwt.api_jws.decode(line, keys[kid].key, algorithms=["EdDSA"])
    return json.loads(text), hashlib.sha256(text).hexdigest()


def main(key_file, receipt_file, *files):
    with open(key_file) as opened:
        keys = {key["kid"]: jwt.PyJWK(key) for key in json.load(opened)["keys"]}
    with open(receipt_file) as opened:
        receipts = [read(line.strip(), keys) for line in opened if line.strip()]
    known = {hash for _, hash in receipts}
    # Only the oldest receipt of an account may follow from one that is not here.
    starts = {}
    for receipt, _ in sorted(receipts, key=lambda one: one[0]["time"]):
        if receipt["previous"] not in known:
            starts.setdefault(receipt["account"], []).append(receipt["job"])
    for account, jobs in starts.items():
        for job in jobs[1:]:
            sys.exit(f"a receipt before that of job {job} of account {account} is missing")
    named = {hash for receipt, _ in receipts for hash in receipt["files"]}
    for file in files:
        with open(file, "rb") as opened:
            if hashlib.sha256(opened.read()).hexdigest() not in named:
                sys.exit(f"no receipt names {file}")
    print(f"{len(receipts)} receipts of {len(starts)} accounts are whole, {len(files)} files are named")


if __name__ == "__main__":
    main(*sys.argv[1:])
