"""Payments through a local Stripe that Stripe's own libraries judge. The libraries drive the local server, they send the same forms as the
service does, and they and the service believe the same signatures. Then everything that can happen to a payment happens.

    run.py BINARY FOLDER        needs the Python package stripe; NODE_TOOLS names a folder with the npm package
"""

import json
import os
import pathlib
import subprocess
import sys
import time

import stripe

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "faults")]

from service import TOKEN, Node, call, free_port  # noqa: E402
from stripe_server import StripeServer, listed  # noqa: E402

SECRET, KEY = "whsec_of_the_test", "sk_test_of_the_service"


class Script:
    """Stripe's JavaScript library."""

    def __init__(self):
        self.process = subprocess.Popen(
            ["node", str(HERE / "signed.mjs")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )

    def ask(self, payload, header="t=1,v1=00", secret=SECRET):
        self.process.stdin.write(json.dumps({"payload": payload, "header": header, "secret": secret}) + "\n")
        return json.loads(self.process.stdout.readline())


def until(what, found, patience_s=30):
    """Waits for something to be so."""
    end = time.monotonic() + patience_s
    while not (answer := found()):
        assert time.monotonic() < end, f"never: {what}"
        time.sleep(0.05)
    return answer


def refused(kind, act):
    """Has the library say that a call was refused, by the class of its error."""
    try:
        act()
    except kind as error:
        return error
    raise AssertionError(f"{kind.__name__} was to come")


def drive(server):
    """The library does at the local server what the service does, and reads every answer."""
    client = stripe.StripeClient(KEY, base_addresses={"api": server.base}, max_network_retries=0)
    v1 = client.v1
    price = {"currency": "eur", "unit_amount": 990, "product_data": {"name": "hundred"}}
    wish = {
        "mode": "payment", "line_items": [{"quantity": 1, "price_data": price}], "success_url": "https://example.com/",
        "expires_at": int(time.time()) + 3600,
    }
    session = v1.checkout.sessions.create(wish, {"idempotency_key": "one"})
    assert isinstance(session, stripe.checkout.Session) and session.payment_status == "unpaid" and session.url
    assert v1.checkout.sessions.create(wish, {"idempotency_key": "one"}).id == session.id
    refused(stripe.IdempotencyError, lambda: v1.checkout.sessions.create({**wish, "mode": "subscription"}, {"idempotency_key": "one"}))
    server.pay(session.id)
    session = v1.checkout.sessions.retrieve(session.id)
    assert session.payment_status == "paid", session
    refund = v1.refunds.create({"payment_intent": session.payment_intent, "amount": 90, "expand": ["charge"]})
    assert isinstance(refund, stripe.Refund) and refund.charge.amount_refunded == 90
    refused(stripe.InvalidRequestError, lambda: v1.refunds.create({"payment_intent": session.payment_intent, "amount": 901}))
    listed = v1.refunds.list({"payment_intent": session.payment_intent})
    assert [one.id for one in listed.auto_paging_iter()] == [refund.id]
    customer = v1.customers.create({"email": "buyer@example.com"})
    methods = v1.customers.payment_methods.list(customer.id)
    charge = {"amount": 500, "currency": "eur", "customer": customer.id, "off_session": True, "confirm": True}
    intent = v1.payment_intents.create({**charge, "payment_method": methods.data[0].id})
    assert intent.status == "succeeded" and v1.payment_intents.list({"customer": customer.id}).data[0].id == intent.id
    server.objects[customer.id]["declines"] = True
    refused(stripe.CardError, lambda: v1.payment_intents.create({**charge, "payment_method": methods.data[0].id}))
    recurring = {**price, "recurring": {"interval": "month"}}
    sold = v1.checkout.sessions.create({**wish, "mode": "subscription", "line_items": [{"quantity": 1, "price_data": recurring}]})
    server.pay(sold.id)
    name = v1.checkout.sessions.retrieve(sold.id).subscription
    assert v1.subscriptions.update(name, {"cancel_at_period_end": True}).cancel_at_period_end
    assert v1.subscriptions.cancel(name).status == "canceled"
    refused(stripe.InvalidRequestError, lambda: v1.subscriptions.retrieve("sub_none"))
    stranger = stripe.StripeClient("sk_test_of_nobody", base_addresses={"api": server.base}, max_network_retries=0)
    refused(stripe.AuthenticationError, lambda: stranger.v1.customers.create())
    print("Stripe's library for Python drives the local server: sessions, refunds, customers, charges, subscriptions")
    return client


def plain(fields):
    """A form with its lists as lists."""
    lists = ("line_items", "expand")
    return {name: listed(value) if name in lists else value for name, value in json.loads(json.dumps(fields)).items()}


def same_calls(server, client):
    """The library sends what the service has sent."""
    ways = {
        "/v1/checkout/sessions": lambda fields: client.v1.checkout.sessions.create(fields),
        "/v1/refunds": lambda fields: client.v1.refunds.create(fields),
        "/v1/payment_intents": lambda fields: client.v1.payment_intents.create(fields),
    }
    of_service = [one for one in server.asked if one[0] == "POST" and one[3]["user-agent"].startswith("atelier")]
    seen = set()
    for method, path, fields, headers in of_service:
        way = ways.get(path)
        if way is None:
            continue
        wish = plain(fields)
        try:
            way(wish)
        except stripe.InvalidRequestError:
            pass  # What was refunded cannot be refunded again; what counts is what was sent.
        theirs = server.asked[-1]
        assert theirs[:2] == (method, path), theirs
        assert plain(theirs[2]) == wish, (fields, theirs[2])
        assert headers["stripe-version"] and headers["idempotency-key"], headers
        seen.add((path, fields.get("mode")))
    print(f"the library sends the same forms as the service: {sorted(map(str, seen))}")
    return seen


def main():
    binary, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    server = StripeServer(SECRET, key=KEY)
    client = drive(server)
    script = Script()
    settings = {
        "PAYMENTS_STRIPE_BASE_URL": server.base, "PAYMENTS_STRIPE_SECRET_KEY": KEY, "PAYMENTS_STRIPE_WEBHOOK_SECRET": SECRET,
        "DEMO_ACCOUNT": "false",
    }
    node = Node(binary, str(folder), free_port(), settings=settings)
    node.start()
    hook = f"{node.base}/hooks/pay/stripe"
    account, key = node.account("buyer", 0)
    node.operate("POST", "/admin/v1/products", {"name": "hundred", "money": 990, "currency": "EUR", "quota": 100})
    node.operate("POST", "/admin/v1/plans", {"name": "studio", "every": "month", "quota": 500})
    node.operate("POST", "/admin/v1/products", {"name": "studio", "money": 2900, "currency": "EUR", "plan": "studio"})

    def own(path, method="GET", body=None):
        status, answer = call(node.base, method, f"/account/v1/{path}", key, body)
        assert status == 200, answer
        return answer["data"]

    def base():
        return float(own("credits")["base"])

    # The libraries and the service believe the same signatures.
    first = own("payments", "POST", {"product": "hundred"})
    session = first["payAt"].rsplit("/", 1)[1]
    server.pay(session)
    body, now = server.events[-1], int(time.time())
    good = server.header(body)
    forged = {
        "another secret": server.header(body, secret="whsec_other"),
        "too old": server.header(body, at=now - 301),
        "another time": good.replace(f"t={now}", f"t={now - 1}"),
        "no version": good.replace("v1=", "v0="),
        "half of it": good[:-2],
        "nothing": "",
    }
    for why, header in forged.items():
        refused(stripe.SignatureVerificationError, lambda header=header: stripe.Webhook.construct_event(body, header, SECRET))
        assert not script.ask(body, header or "t=1")["known"], why
        assert server.post(body, header, hook) == 403, why
    assert base() == 0
    assert stripe.Webhook.construct_event(body, good, SECRET).type == "checkout.session.completed"
    theirs = script.ask(body, good)
    assert theirs["known"], "the library for JavaScript believes the local server"
    for header in (theirs["header"], f"{theirs['header']},v1=00", good, server.header(body, at=now - 250)):
        for _ in range(5):
            assert server.post(body, header, hook) == 200, header
    assert base() == 100, base()
    print("both libraries and the service believe the same headers, and an event that came 20 times counts once")

    # From here on the server posts by itself, signed as before.
    server.hook, server.holds = hook, False
    payment = lambda: node.operate("GET", f"/admin/v1/payments/{first['id']}")  # noqa: E731
    refund = node.operate("POST", f"/admin/v1/payments/{first['id']}/refund", {"money": 495, "idempotency_key": "half"})
    assert (refund["refunded"], base()) == (495, 50), refund
    intent = server.objects[session]["payment_intent"]
    until("the refund's event", lambda: any(one["kind"] == "refunded" and one["outcome"] == "applied" for one in payment()["events"][:1]))
    dispute = server.dispute(intent, 495)
    until("the dispute", lambda: payment()["state"] == "disputed" and base() == 0)
    server.close(dispute["id"], True)
    until("the dispute is won", lambda: payment()["state"] == "paid" and base() == 50)

    # The answer to a refund is lost; whoever asks again, and the service by itself, make the same one.
    server.lose = 1
    lost = call(node.base, "POST", f"/admin/v1/payments/{first['id']}/refund", body={"money": 5}, token=TOKEN)
    assert lost[0] == 503, lost
    again = node.operate("POST", f"/admin/v1/payments/{first['id']}/refund", {"money": 5})
    assert again["refunded"] == 500 and len(server.refunds_of(intent)) == 2, again

    # A subscription: bought, renewed, failed once, ended by its owner, ended by Stripe.
    studio = own("payments", "POST", {"product": "studio"})
    session = studio["payAt"].rsplit("/", 1)[1]
    server.pay(session)
    until("the plan", lambda: own("plan")["plan"] == "studio")
    subscription = server.objects[session]["subscription"]
    second = server.renew(subscription)
    until("a period ahead", lambda: own("plan")["paidAhead"] == 1)
    server.renew(subscription, paid=False)
    server.dispute(second["payment_intent"])
    until("the charge of the second period is found", lambda: own("plan")["paidAhead"] == 0)
    assert node.operate("GET", "/admin/v1/payment-mismatches") == []
    own("plan", "DELETE")
    until("Stripe knows", lambda: server.objects[subscription]["cancel_at_period_end"])
    server.renew(subscription)
    until("the end", lambda: server.objects[subscription]["status"] == "canceled")
    seen = same_calls(server, client)
    assert ("/v1/checkout/sessions", "subscription") in seen and ("/v1/refunds", None) in seen, seen
    log = (folder / "node.log").read_text()
    assert KEY not in log and SECRET not in log, "a secret is in the log"
    node.stop()
    code, text = node.audit(live=False)
    assert code == 0, text
    print("payments: refunds, disputes, a lost answer, a subscription from its first day to its last; both sides agree, the audit is clean")


if __name__ == "__main__":
    main()
