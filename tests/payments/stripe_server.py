"""A Stripe for tests: opens Checkout sessions, takes the payer's money when it is told to, gives it back, and posts signed events. What it
was asked is kept, as forms."""

import hashlib
import hmac
import http.server
import itertools
import json
import threading
import time
import urllib.parse
import urllib.request


class StripeServer:
    def __init__(self, secret):
        self.secret, self.asked, self.objects, self.hook = secret, [], {}, None
        self.numbers = itertools.count(1)
        self.lock = threading.Lock()
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
                answer = server.answer(self.path, urllib.parse.parse_qsl(body, keep_blank_values=True), self.headers)
                text = json.dumps(answer).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.base = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def answer(self, path, fields, headers):
        with self.lock:
            self.asked.append((path, fields, dict(headers)))
            said = dict(fields)
            if path == "/v1/checkout/sessions":
                return self.session(said)
            if path == "/v1/refunds":
                charge = self.objects[said["payment_intent"]]
                charge["amount_refunded"] += int(said["amount"])
                return {"id": f"re_{next(self.numbers)}", "object": "refund", "amount": int(said["amount"]), "charge": charge}
        raise AssertionError(path)

    def session(self, said):
        """What a session is, as far as anybody here asks."""
        number = next(self.numbers)
        item = "line_items[0][price_data]"
        metadata = {name[9:-1]: value for name, value in said.items() if name.startswith("metadata[")}
        intent, amount = f"pi_{number}", int(said[f"{item}[unit_amount]"])
        session = {
            "id": f"cs_test_{number}", "object": "checkout.session", "url": f"https://checkout.example.com/{number}",
            "mode": said["mode"], "amount_total": amount, "currency": said[f"{item}[currency]"], "metadata": metadata,
            "client_reference_id": said.get("client_reference_id"), "payment_status": "unpaid", "status": "open",
            "payment_intent": intent if said["mode"] == "payment" else None, "subscription": None, "invoice": None,
        }
        charge = {
            "id": f"ch_{number}", "object": "charge", "payment_intent": intent, "amount": amount, "amount_refunded": 0,
            "currency": session["currency"], "metadata": {},
        }
        self.objects[session["id"]], self.objects[intent] = session, charge
        return session

    def event(self, kind, thing):
        event = {"id": f"evt_{next(self.numbers)}", "object": "event", "type": kind, "api_version": "2024-06-20",
                 "created": int(time.time()), "livemode": False, "data": {"object": thing}}
        return json.dumps(event, indent=2)

    def header(self, body, at=None):
        at = int(time.time()) if at is None else at
        signed = hmac.new(self.secret.encode(), f"{at}.{body}".encode(), hashlib.sha256).hexdigest()
        return f"t={at},v1={signed}"

    def post(self, body, header=None):
        """Posts an event; the status."""
        headers = {"stripe-signature": header or self.header(body), "content-type": "application/json"}
        request = urllib.request.Request(self.hook, body.encode(), headers, method="POST")
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code
