"""Payments through a local Stripe that Stripe's own libraries judge: they send the same form as the service does, read what the local one
answers, believe what it signs, and the service believes what they sign.

    run.py BINARY FOLDER        needs the Python package stripe; NODE_TOOLS names a folder with the npm package
"""

import json
import os
import pathlib
import subprocess
import sys
import urllib.request

import stripe

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "shared"))

from launch import launch
from stripe_server import StripeServer

SECRET, TOKEN = "whsec_of_the_test", "an-operator-for-the-test"


def call(base, method, path, key=None, body=None):
    headers = {"content-type": "application/json"}
    headers.update({"SVC-API-KEY": key} if key else {"authorization": f"Bearer {TOKEN}"})
    data = json.dumps(body).encode() if body is not None else None
    request = urllib.request.Request(base + path, data, headers, method=method)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)["data"]


def by_library(server, fields):
    """Has Stripe's own library ask for the same session; the form that it sends."""
    nested = {}
    for name, value in fields:
        path = name.replace("]", "").split("[")
        at = nested
        for part in path[:-1]:
            at = at.setdefault(part, {})
        at[path[-1]] = value
    nested["line_items"] = [nested["line_items"][place] for place in sorted(nested["line_items"])]
    client = stripe.StripeClient("sk_test_of_the_library", base_addresses={"api": server.base})
    sessions = client.v1.checkout.sessions if hasattr(client, "v1") else client.checkout.sessions
    made = sessions.create(params=nested)
    assert made.url and made.id.startswith("cs_"), made
    return server.asked[-1][1]


def main():
    binary, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    server = StripeServer(SECRET)
    settings = {
        "ATELIER_DATA_DIR": str(folder / "data"), "ATELIER_LISTEN": "127.0.0.1:0", "ATELIER_ADMIN_TOKEN": TOKEN,
        "ATELIER_PAYMENTS_STRIPE_BASE_URL": server.base, "ATELIER_PAYMENTS_STRIPE_SECRET_KEY": "sk_test_of_the_service",
        "ATELIER_PAYMENTS_STRIPE_WEBHOOK_SECRET": SECRET,
    }
    process, base = launch(binary, log=folder / "log", environment=settings)
    server.hook = f"{base}/hooks/pay/stripe"
    made = call(base, "POST", "/admin/v1/accounts", body={"email": "buyer@example.com", "balance": 0})
    key = made["api_key"]
    call(base, "POST", "/admin/v1/products", body={"name": "hundred", "money": 990, "currency": "EUR", "quota": 100})
    call(base, "POST", "/admin/v1/plans", body={"name": "studio", "every": "month", "quota": 500})
    call(base, "POST", "/admin/v1/products", body={"name": "studio", "money": 2900, "currency": "EUR", "plan": "studio"})

    def balance():
        return float(call(base, "GET", "/account/v1/credits", key)["base"])

    # The same form as the library's, for a payment and for a subscription.
    for product in ("studio", "hundred"):
        payment = call(base, "POST", "/account/v1/payments", key, {"product": product})
        _, fields, headers = server.asked[-1]
        assert headers["Idempotency-Key"] == payment["id"] or headers.get("idempotency-key") == payment["id"], headers
        theirs = by_library(server, fields)
        assert sorted(theirs) == sorted(fields), (sorted(theirs), sorted(fields))
        print(f"{product}: the library sends the same {len(fields)} fields")
    session = next(one for one in server.objects.values() if one.get("metadata", {}).get("atelier_payment") == payment["id"])
    session["payment_status"] = "paid"

    # What this one signs is believed by the libraries, and what they sign by the service.
    body = server.event("checkout.session.completed", session)
    header = server.header(body)
    event = stripe.Webhook.construct_event(body, header, SECRET)
    assert event.type == "checkout.session.completed"
    node = ["node", str(HERE / "signed.mjs"), SECRET, header]
    theirs = subprocess.run(node, input=body, capture_output=True, text=True, check=True).stdout.strip()
    assert server.post(body, header.replace("v1=", "v1=0")) == 403
    assert server.post(body, theirs) == 200, "what the library signs is believed"
    for _ in range(20):
        assert server.post(body) == 200
    assert balance() == 100, balance()

    # Half of it goes back by the operator, told again by an event; then the bank takes the rest.
    refunded = call(base, "POST", f"/admin/v1/payments/{payment['id']}/refund", body={"money": 495})
    charge = server.objects[session["payment_intent"]]
    assert (refunded["refunded"], charge["amount_refunded"], balance()) == (495, 495, 50), refunded
    assert server.post(server.event("charge.refunded", charge)) == 200
    assert balance() == 50, balance()
    dispute = {"id": "dp_1", "object": "dispute", "charge": charge["id"], "payment_intent": charge["payment_intent"],
               "amount": 495, "currency": "eur", "status": "needs_response"}
    assert server.post(server.event("charge.dispute.created", dispute)) == 200
    assert balance() == 0, balance()
    assert server.post(server.event("charge.dispute.closed", {**dispute, "status": "won"})) == 200
    assert balance() == 50, balance()
    process.terminate()
    process.wait(60)
    audit = subprocess.run([binary, "audit"], env={**os.environ, **settings}, capture_output=True, text=True)
    assert audit.returncode == 0, audit.stdout + audit.stderr
    print("payments: well")


main()
