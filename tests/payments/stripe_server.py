"""A Stripe for tests and guides: it opens Checkout sessions, takes the payer's money at a page of its own, renews subscriptions, gives
money back, keeps customers and posts signed events until they are taken. It speaks the part of Stripe's API that the service uses, as
Stripe's own libraries read it.

    stripe_server.py [--port 12111] [--hook URL] [--secret whsec_…]

Its pay page is the session's `url`: a GET shows a button, a POST pays. Beyond Stripe's API, `POST /test/…` has things happen:
`subscriptions/ID/renew`, `subscriptions/ID/fail`, `charges/INTENT/dispute`, `disputes/ID/won`, `disputes/ID/lost`, `away`, `back`, and
`hook` with a `url` that events go to from then on.
Needs Python 3.8."""

import argparse
import hashlib
import hmac
import html
import http.server
import itertools
import json
import queue
import re
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

API_VERSION = "2024-06-20"
# An event that is not taken is posted again after so many seconds, each time.
AGAIN_S = (0.2, 0.5, 1, 2, 5, 10)


class Trouble(Exception):
    """What Stripe answers a call with that it does not take."""

    def __init__(self, status, kind, message, code=None):
        super().__init__(message)
        self.status, self.body = status, {"error": {"type": kind, "message": message, "code": code}}


def missing(what, name):
    return Trouble(404, "invalid_request_error", f"No such {what}: '{name}'", "resource_missing")


def nested(fields):
    """A form as Stripe's libraries send it: names like `line_items[0][price_data][currency]`."""
    whole = {}
    for name, value in fields:
        path = re.findall(r"[^\[\]]+|(?<=\[)(?=\])", name)
        at = whole
        for part in path[:-1]:
            at = at.setdefault(part, {})
        at.setdefault(path[-1], []).append(value) if path[-1] == "" else at.__setitem__(path[-1], value)
    return whole


def listed(field):
    """A list in a form: `name[]` again and again, or `name[0]`, `name[1]` …."""
    return field.get("") or [field[place] for place in sorted(field)]


class StripeServer:
    """Everything that one account at Stripe has."""

    def __init__(self, secret, hook=None, port=0, key=None):
        self.secret, self.hook, self.key = secret, hook, key
        self.lock = threading.RLock()
        self.numbers = itertools.count(1)
        self.objects, self.answers, self.asked, self.events = {}, {}, [], []
        # Whether it is away, and whether events are only kept, for a test that posts them in its own order.
        self.away, self.holds, self.lose = False, hook is None, 0
        self.outbox = queue.Queue()
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                server.serve(self)

            do_POST = do_DELETE = do_GET

            def log_message(self, *_):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.http.daemon_threads = True
        self.base = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()
        threading.Thread(target=self.deliver, daemon=True).start()

    # What comes in.

    def serve(self, request):
        """Answers a request, or hangs up where it is away."""
        body = request.rfile.read(int(request.headers.get("content-length", 0))).decode()
        where = urllib.parse.urlsplit(request.path)
        if self.away:
            request.close_connection = True
            request.connection.close()
            return
        if where.path.startswith("/pay/"):
            return self.page(request, where.path[5:])
        fields = nested(urllib.parse.parse_qsl(body or where.query, keep_blank_values=True))
        try:
            status, answer = 200, self.answer(request, where.path, fields, body)
        except Trouble as trouble:
            status, answer = trouble.status, trouble.body
        if self.lose and request.command != "GET" and where.path.startswith("/v1/"):
            # It was done, and no one hears of it.
            self.lose -= 1
            request.close_connection = True
            request.connection.close()
            return
        self.say(request, status, json.dumps(answer).encode(), "application/json")

    def say(self, request, status, body, kind, headers=()):
        request.send_response(status)
        request.send_header("content-type", kind)
        request.send_header("content-length", str(len(body)))
        for name, value in headers:
            request.send_header(name, value)
        request.end_headers()
        request.wfile.write(body)

    def page(self, request, name):
        """Where the payer pays."""
        session = self.objects.get(name)
        if not session:
            return self.say(request, 404, b"There is no such session.\n", "text/plain")
        if request.command == "POST":
            self.pay(name)
            return self.say(request, 303, b"", "text/plain", [("location", session["success_url"])])
        what = html.escape(session["line"])
        price = f"{session['amount_total'] / 100:.2f} {session['currency'].upper()}"
        page = f'<!doctype html><title>Pay</title><h1>{what}</h1><form method="post"><button>Pay {price}</button></form>'
        return self.say(request, 200, page.encode(), "text/html; charset=utf-8")

    def answer(self, request, path, fields, body):
        method = request.command
        with self.lock:
            if path.startswith("/test/"):
                return self.happen(path[6:].split("/"), fields)
            given = request.headers.get("authorization", "")
            if not given.startswith("Bearer sk_") or (self.key and given != f"Bearer {self.key}"):
                raise Trouble(401, "invalid_request_error", "Invalid API Key provided")
            self.asked.append((method, path, fields, {name.lower(): value for name, value in request.headers.items()}))
            again = request.headers.get("idempotency-key") if method == "POST" else None
            if again and again in self.answers:
                before, said = self.answers[again]
                if before != (path, body):
                    message = "Keys for idempotent requests can only be used with the same parameters they were first used with."
                    raise Trouble(400, "idempotency_error", message)
                return said
            said = json.loads(json.dumps(self.act(method, path[4:].split("/"), fields)))
            if again:
                self.answers[again] = ((path, body), said)
            return said

    def act(self, method, path, fields):
        """A call of the API."""
        kind, name = path[0], path[1] if len(path) > 1 else None
        if (kind, method, name) == ("checkout", "POST", "sessions") and len(path) == 2:
            return self.session(fields)
        if kind == "checkout":
            return self.one("checkout session", path[2])
        if kind == "refunds":
            return self.refund(fields) if method == "POST" else self.list(self.refunds_of(fields["payment_intent"]))
        if kind == "customers" and method == "POST" and name is None:
            return self.customer(fields)
        if kind == "customers" and len(path) > 2:
            return self.list(self.one("customer", name)["methods"])
        if kind == "customers":
            return self.one("customer", name)
        if kind == "payment_intents" and method == "POST":
            return self.charge(fields)
        if kind == "payment_intents" and name is None:
            intents = [one for one in self.all("payment_intent") if one["customer"] == fields["customer"]]
            return self.list(intents)
        if kind == "payment_intents":
            return self.one("payment_intent", name)
        if kind == "subscriptions":
            subscription = self.one("subscription", name)
            if method == "POST" and fields.get("cancel_at_period_end") == "true":
                subscription["cancel_at_period_end"] = True
            if method == "DELETE":
                self.end(subscription)
            return subscription
        raise Trouble(404, "invalid_request_error", f"Unrecognized request URL ({method}: /v1/{'/'.join(path)}).")

    def all(self, kind):
        return [one for one in self.objects.values() if one["object"] == kind]

    def one(self, kind, name):
        if name not in self.objects:
            raise missing(kind, name)
        return self.objects[name]

    @staticmethod
    def list(rows):
        return {"object": "list", "data": rows, "has_more": False, "url": "/v1/list"}

    def new(self, prefix, kind, **what):
        name = f"{prefix}_{next(self.numbers):06}"
        self.objects[name] = {"id": name, "object": kind, "created": int(time.time()), "livemode": False, **what}
        return self.objects[name]

    # What it does.

    def customer(self, fields):
        card = {"id": f"pm_{next(self.numbers):06}", "object": "payment_method", "type": "card"}
        return self.new("cus", "customer", email=fields.get("email"), metadata=fields.get("metadata", {}), methods=[card])

    def session(self, fields):
        items = fields.get("line_items", {})
        if len(items) != 1 or fields.get("mode") not in ("payment", "subscription"):
            raise Trouble(400, "invalid_request_error", "A session needs a mode and one line item.")
        price = items["0"]["price_data"]
        amount, currency = int(price["unit_amount"]), price["currency"]
        if not re.fullmatch("[a-z]{3}", currency) or amount < 1:
            raise Trouble(400, "invalid_request_error", f"Invalid currency: {currency}")
        metadata = fields.get("metadata", {})
        session = self.new(
            "cs_test", "checkout.session", mode=fields["mode"], amount_total=amount, currency=currency, metadata=metadata,
            client_reference_id=fields.get("client_reference_id"), payment_status="unpaid", status="open", payment_intent=None,
            subscription=None, invoice=None, customer=fields.get("customer"), success_url=fields["success_url"],
            cancel_url=fields.get("cancel_url"), expires_at=int(fields["expires_at"]),
        )
        session["url"] = f"{self.base}/pay/{session['id']}"
        session["line"] = price["product_data"]["name"]
        session["recurring"] = price.get("recurring")
        session["intent_data"] = fields.get("payment_intent_data", {})
        session["subscription_data"] = fields.get("subscription_data", {})
        session["customer_creation"] = fields.get("customer_creation")
        return session

    def intent(self, amount, currency, metadata, customer=None, invoice=None):
        """A charge that went well, behind the intent that it is of."""
        intent = self.new(
            "pi", "payment_intent", amount=amount, currency=currency, metadata=metadata, customer=customer, status="succeeded", invoice=invoice
        )
        charge = self.new(
            "ch", "charge", amount=amount, amount_refunded=0, currency=currency, metadata=metadata, customer=customer,
            payment_intent=intent["id"], invoice=invoice, refunded=False,
        )
        intent["latest_charge"] = charge["id"]
        return intent

    def pay(self, name):
        """The payer pays a session; a second time changes nothing."""
        with self.lock:
            session = self.one("checkout session", name)
            if session["payment_status"] == "paid":
                return
            if session["customer"] is None and (session["mode"] == "subscription" or session["customer_creation"] == "always"):
                session["customer"] = self.customer({})["id"]
            session.update(payment_status="paid", status="complete")
            if session["mode"] == "payment":
                metadata = session["intent_data"].get("metadata", {})
                intent = self.intent(session["amount_total"], session["currency"], metadata, session["customer"])
                session["payment_intent"] = intent["id"]
                self.report("checkout.session.completed", session)
                return
            subscription = self.new(
                "sub", "subscription", status="active", cancel_at_period_end=False, customer=session["customer"],
                metadata=session["subscription_data"].get("metadata", {}),
            )
            subscription["amount"], subscription["currency"] = session["amount_total"], session["currency"]
            session["subscription"] = subscription["id"]
            invoice = self.invoice(subscription, "subscription_create")
            session["invoice"] = invoice["id"]
            self.report("checkout.session.completed", session)
            self.report("invoice.paid", invoice)

    def invoice(self, subscription, reason, paid=True):
        invoice = self.new(
            "in", "invoice", subscription=subscription["id"], billing_reason=reason, currency=subscription["currency"],
            amount_due=subscription["amount"], amount_paid=subscription["amount"] if paid else 0, customer=subscription["customer"],
            subscription_details={"metadata": subscription["metadata"]}, status="paid" if paid else "open", payment_intent=None,
        )
        if paid:
            intent = self.intent(subscription["amount"], subscription["currency"], {}, subscription["customer"], invoice["id"])
            invoice["payment_intent"] = intent["id"]
        return invoice

    def renew(self, name, paid=True):
        """The next period of a subscription is invoiced."""
        with self.lock:
            subscription = self.one("subscription", name)
            if subscription["status"] != "active":
                raise Trouble(400, "invalid_request_error", "The subscription is canceled.")
            if subscription["cancel_at_period_end"]:
                return self.end(subscription)
            invoice = self.invoice(subscription, "subscription_cycle", paid)
            self.report("invoice.paid" if paid else "invoice.payment_failed", invoice)
            return invoice

    def end(self, subscription):
        if subscription["status"] != "canceled":
            subscription["status"] = "canceled"
            self.report("customer.subscription.deleted", subscription)
        return subscription

    def charge(self, fields):
        """A charge of a saved customer, who is not there."""
        customer = self.one("customer", fields["customer"])
        if not any(method["id"] == fields["payment_method"] for method in customer["methods"]):
            raise missing("payment_method", fields["payment_method"])
        if customer.get("declines"):
            raise Trouble(402, "card_error", "Your card was declined.", "card_declined")
        intent = self.intent(int(fields["amount"]), fields["currency"], fields.get("metadata", {}), customer["id"])
        self.report("payment_intent.succeeded", intent)
        return intent

    def charge_of(self, intent):
        return self.one("charge", self.one("payment_intent", intent)["latest_charge"])

    def refunds_of(self, intent):
        refunds = [one for one in self.all("refund") if one["payment_intent"] == intent]
        return [{**one, "charge": self.charge_of(intent)} for one in refunds]

    def refund(self, fields):
        charge = self.charge_of(fields["payment_intent"])
        amount = int(fields.get("amount", charge["amount"] - charge["amount_refunded"]))
        if amount < 1 or amount > charge["amount"] - charge["amount_refunded"]:
            left = charge["amount"] - charge["amount_refunded"]
            raise Trouble(400, "invalid_request_error", f"Refund amount ({amount}) is greater than unrefunded amount on charge ({left})")
        charge["amount_refunded"] += amount
        charge["refunded"] = charge["amount_refunded"] == charge["amount"]
        refund = self.new(
            "re", "refund", amount=amount, currency=charge["currency"], status="succeeded", charge=charge["id"],
            payment_intent=fields["payment_intent"], metadata=fields.get("metadata", {}),
        )
        self.report("charge.refunded", charge)
        return {**refund, "charge": charge} if "charge" in listed(fields.get("expand", {})) else refund

    def dispute(self, intent, amount=None):
        """The payer's bank takes the money of a charge."""
        with self.lock:
            charge = self.charge_of(intent)
            dispute = self.new(
                "dp", "dispute", amount=amount or charge["amount"], currency=charge["currency"], charge=charge["id"],
                payment_intent=intent, status="needs_response", metadata={},
            )
            self.report("charge.dispute.created", dispute)
            return dispute

    def close(self, dispute, won):
        """The bank decides."""
        with self.lock:
            dispute = self.one("dispute", dispute)
            dispute["status"] = "won" if won else "lost"
            self.report("charge.dispute.closed", dispute)
            return dispute

    def happen(self, path, fields):
        """Something that a test or a guide wants to happen."""
        if path in (["away"], ["back"]):
            self.away = path == ["away"]
            return {}
        if path == ["hook"]:
            self.hook, self.holds = fields["url"], False
            return {}
        kind, name, what = path
        if kind == "subscriptions":
            return self.renew(name, what == "renew")
        if kind == "charges" and what == "dispute":
            return self.dispute(name)
        if kind == "disputes" and what in ("won", "lost"):
            return self.close(name, what == "won")
        raise Trouble(404, "invalid_request_error", f"nothing like {'/'.join(path)}")

    # What goes out.

    def event(self, kind, thing):
        """An event as it is posted."""
        event = {
            "id": f"evt_{next(self.numbers):06}", "object": "event", "type": kind, "api_version": API_VERSION, "created": int(time.time()),
            "livemode": False, "data": {"object": thing},
        }
        return json.dumps(event, indent=2)

    def report(self, kind, thing):
        """Posts an event, or keeps it for a test that does."""
        body = self.event(kind, thing)
        self.events.append(body)
        if not self.holds:
            self.outbox.put((body, 0))

    def header(self, body, at=None, secret=None):
        at = int(time.time()) if at is None else at
        signed = hmac.new((secret or self.secret).encode(), f"{at}.{body}".encode(), hashlib.sha256).hexdigest()
        return f"t={at},v1={signed}"

    def post(self, body, header=None, hook=None):
        """Posts an event once; the status, or 0 where no one answers."""
        headers = {"stripe-signature": self.header(body) if header is None else header, "content-type": "application/json"}
        request = urllib.request.Request(hook or self.hook, body.encode(), headers, method="POST")
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            return 0

    def deliver(self):
        """Posts what is to be posted until it is taken."""
        while True:
            body, tries = self.outbox.get()
            if self.hook and not self.away and self.post(body) == 200:
                continue
            pause = AGAIN_S[min(tries, len(AGAIN_S) - 1)]
            threading.Timer(pause, self.outbox.put, [(body, tries + 1)]).start()


def main():
    words = argparse.ArgumentParser()
    words.add_argument("--port", type=int, default=12111)
    words.add_argument("--hook")
    words.add_argument("--secret", default="whsec_of_the_local_server")
    words = words.parse_args()
    server = StripeServer(words.secret, words.hook, words.port)
    print(f"a local Stripe at {server.base}, events to {words.hook}", flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main()
