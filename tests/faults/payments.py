"""kill -9 while accounts buy, a local Stripe and an epay gateway report it many times, late, out of order and at any node, strangers forge
events, money goes back and the provider goes away: in the end every payment gave what was bought, once, and what went back was taken back
exactly, as the provider itself has it; then both audits.

    payments.py BINARY FOLDER [--kills 20] [--buyers 8] [--each 12] [--repeats 1000] [--away 70] [--nodes 2 --postgres URL]
"""

import argparse
import hashlib
import itertools
import os
import pathlib
import queue
import random
import sys
import threading
import time
import urllib.parse
import urllib.request
from decimal import Decimal

from credits import Asker, amount, ledger
from kill import FLEET, SETTINGS
from service import TOKEN, Node, call, database_of, free_port

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "payments"))

from stripe_server import StripeServer  # noqa: E402

SECRET, API_KEY, EPAY_KEY, MERCHANT = "whsec_of_the_storm", "sk_test_of_the_storm", "the-key-of-the-merchant", "1001"
# What is sold: quota for ever, quota for a day, a period of a plan; and quota through epay.
PRODUCTS = {
    "base": {"money": 700, "currency": "EUR", "quota": 9},
    "day": {"money": 333, "currency": "EUR", "quota": 5, "credit_days": 1},
    "month": {"money": 1100, "currency": "EUR", "plan": "month"},
    "yuan": {"money": 500, "currency": "CNY", "quota": 3},
}
QUOTA = {"base": 9, "day": 5, "month": 20, "yuan": 3}
POSTERS = 6


class Storm:
    """Everything that is reported, and how it is posted: each several times, in any order, at any node, until it is taken."""

    def __init__(self, server, bases, seed):
        self.server, self.bases, self.dice = server, bases, random.Random(seed)
        self.lock, self.seen, self.done = threading.Lock(), 0, False
        self.waiting, self.posted, self.taken, self.forged, self.believed = queue.Queue(), 0, 0, 0, []
        self.threads = [threading.Thread(target=self.post, args=(number,), daemon=True) for number in range(POSTERS)]
        for thread in self.threads:
            thread.start()

    def report(self, act, times, kind="stripe"):
        """Has something be posted so often after a while, and once more until it is taken."""
        for number in range(times):
            due = time.monotonic() + self.dice.uniform(0, 3)
            self.waiting.put((due, next(COUNT), act, kind, number == 0))

    def gather(self):
        """Takes up what the provider has to report."""
        with self.server.lock:
            events, self.seen = self.server.events[self.seen :], len(self.server.events)
        self.dice.shuffle(events)
        for body in events:
            self.report(lambda base, body=body: self.signed(base, body), self.dice.choice([1, 2, 2, 3, 5]))
            if self.dice.random() < 0.3:
                self.report(lambda base, body=body: self.forge(base, body), 1, "forged")

    def signed(self, base, body):
        return self.server.post(body, hook=f"{base}/hooks/pay/stripe")

    def forge(self, base, body):
        """What a stranger posts: another amount under the old signature, another secret, an old time, or nothing at all."""
        header = self.dice.choice(
            [
                self.server.header(body.replace("00", "01", 1)),
                self.server.header(body, secret="whsec_of_a_stranger"),
                self.server.header(body, at=int(time.time()) - 400),
                "t=1,v1=00",
            ]
        )
        return self.server.post(body, header, f"{base}/hooks/pay/stripe")

    def post(self, number):
        dice = random.Random(number)
        while not (self.done and self.waiting.empty()):
            try:
                due, order, act, kind, until_taken = self.waiting.get(timeout=0.2)
            except queue.Empty:
                continue
            if time.monotonic() < due:
                self.waiting.put((due, order, act, kind, until_taken))
                time.sleep(0.002)
                continue
            status = act(dice.choice(self.bases))
            with self.lock:
                self.posted += 1
                self.taken += status == 200
                self.forged += kind == "forged" and status == 403
                if kind == "forged" and status not in (0, 403, 503, 429):
                    self.believed.append(status)
            if until_taken and kind != "forged" and status != 200:
                self.waiting.put((time.monotonic() + dice.uniform(0.1, 1), order, act, kind, True))


COUNT = itertools.count()


def epay_notice(fields):
    """A notification of an epay gateway, signed."""
    said = "&".join(f"{name}={value}" for name, value in sorted(fields.items()) if value and name not in ("sign", "sign_type"))
    return {**fields, "sign": hashlib.md5(f"{said}{EPAY_KEY}".encode()).hexdigest()}


def get(base, fields):
    """A notification as the gateway sends it; 200 where it was answered with `success`."""
    try:
        with urllib.request.urlopen(f"{base}/hooks/pay/epay?{urllib.parse.urlencode(fields)}", timeout=30) as answer:
            return 200 if answer.read() == b"success" else 0
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0


class Buyer(Asker):
    """Buys, pays, and now and then spends."""

    def __init__(self, number, bases, key, account, storm, each):
        super().__init__(number, bases, 0)
        self.number, self.key, self.account, self.storm, self.each = number, key, account, storm, each
        self.bought, self.wrong_ones = {}, 0

    def run(self):
        for count in range(self.each):
            product = self.dice.choice(["base", "base", "day", "month", "yuan"])
            provider = "epay" if product == "yuan" else "stripe"
            status, answer = self.ask("POST", "/account/v1/payments", self.key, {"product": product, "provider": provider})
            if status != 200:
                # A plan that a subscription pays for is not bought twice; the provider may be away.
                if not (product == "month" and status == 409) and status != 503:
                    self.wrong.append(f"{status} {answer}")
                continue
            payment = answer["data"]
            self.bought[payment["id"]] = {"product": product, "provider": provider, "paid": False}
            if self.dice.random() < 0.9:
                self.pay(payment, product)
            if self.dice.random() < 0.5:
                body = {"model": "image-1", "quality": "low", "prompt": f"boat {self.number} {count}", "async": True}
                self.ask("POST", "/v1/images/generations", self.key, body, {"Idempotency-Key": f"storm-{self.number}-{count}"})
            time.sleep(self.dice.uniform(0, 0.4))

    def ask(self, method, path, key=None, body=None, headers=None):
        """Once where the refusal is about what is asked."""
        while True:
            try:
                status, answer = call(self.dice.choice(self.bases), method, path, key, body, headers)
            except OSError:
                time.sleep(self.dice.uniform(0.05, 0.3))
                continue
            if status in (429, 500) or (status == 503 and self.storm.server.away is False):
                time.sleep(self.dice.uniform(0.05, 0.3))
                continue
            return status, answer

    def pay(self, payment, product):
        one = self.bought[payment["id"]]
        if one["provider"] == "stripe":
            one["session"] = payment["payAt"].rsplit("/", 1)[1]
            self.storm.server.pay(one["session"])
            self.storm.gather()
            if self.dice.random() < 0.15:
                self.lie(one)
        else:
            fields = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(payment["payAt"]).query))
            notice = {name: fields[name] for name in ("pid", "out_trade_no", "name", "money", "param", "sign_type")}
            notice = epay_notice({**notice, "trade_no": f"T{payment['id']}", "type": "alipay", "trade_status": "TRADE_SUCCESS"})
            self.storm.report(lambda base: get(base, notice), self.dice.choice([1, 2, 4]), "epay")
            forged = {**notice, "money": "9999.00"}
            self.storm.report(lambda base: get(base, forged), 1, "forged")
        one["paid"] = True

    def lie(self, one):
        """The provider itself says something that does not fit: it is kept for an operator and gives nothing."""
        session = dict(self.storm.server.objects[one["session"]])
        change = self.dice.choice(["amount_total", "currency", "metadata"])
        other = {"amount_total": session["amount_total"] + 1, "currency": "usd"}
        metadata = {**session["metadata"], "atelier_account": "another"}
        session[change] = other.get(change, metadata)
        session["payment_intent"] = f"pi_lie_{next(COUNT)}"
        body = self.storm.server.event("checkout.session.completed", session)
        self.storm.report(lambda base: self.storm.signed(base, body), 2)
        self.wrong_ones += 1


class Treasurer(Asker):
    """Money goes back: by the operator, by the provider, by the payer's bank; subscriptions are renewed."""

    def __init__(self, number, bases, buyers, storm):
        super().__init__(2000 + number, bases, 0)
        self.buyers, self.storm, self.done, self.asked = buyers, storm, False, 0

    def run(self):
        while not self.done:
            time.sleep(self.dice.uniform(0.05, 0.3))
            buyer = self.dice.choice(self.buyers)
            paid = [(name, one) for name, one in list(buyer.bought.items()) if one.get("session") and one["paid"]]
            if not paid:
                continue
            name, one = self.dice.choice(paid)
            server = self.storm.server
            session = server.objects[one["session"]]
            act = self.dice.random()
            if session["mode"] == "subscription" and act < 0.6:
                if len([invoice for invoice in server.all("invoice") if invoice["subscription"] == session["subscription"]]) < 6:
                    self.quietly(lambda: server.renew(session["subscription"], self.dice.random() < 0.8))
            elif act < 0.5:
                wish = {"money": self.dice.randint(1, 60), "idempotency_key": f"back {self.asked}"}
                self.asked += 1
                self.refund(name, wish)
            elif act < 0.75 and session["payment_intent"]:
                intent = session["payment_intent"]
                self.quietly(lambda: server.refund({"payment_intent": intent, "amount": str(self.dice.randint(1, 50))}))
            elif session["payment_intent"] and not [one for one in server.all("dispute") if one["payment_intent"] == session["payment_intent"]]:
                dispute = server.dispute(session["payment_intent"], self.dice.choice([None, 100]))
                if self.dice.random() < 0.7:
                    server.close(dispute["id"], self.dice.random() < 0.5)
            self.storm.gather()

    def quietly(self, act):
        with self.storm.server.lock:
            try:
                act()
            except Exception:  # noqa: BLE001
                pass  # What Stripe refuses changes nothing there.

    def refund(self, payment, wish):
        """Until there is an answer; the provider may be away for longer than anyone waits."""
        for _ in range(40):
            try:
                base = self.dice.choice(self.bases)
                status, answer = call(base, "POST", f"/admin/v1/payments/{payment}/refund", body=wish, token=TOKEN, timeout=60)
            except OSError:
                time.sleep(self.dice.uniform(0.05, 0.3))
                continue
            if status not in (429, 500, 503) or self.storm.server.away:
                return status, answer
            time.sleep(self.dice.uniform(0.05, 0.3))
        return None


def gone(server, intent, money):
    """How much of a charge is not there any more, as the provider has it."""
    charge = server.charge_of(intent)
    lost = sum(one["amount"] for one in server.all("dispute") if one["payment_intent"] == intent and one["status"] != "won")
    return min(charge["amount_refunded"] + min(lost, money), money)


def thousandths(quota, back, money):
    return Decimal(quota * 1000 * back // money) / 1000


def check(node, server, buyer):
    """What is wrong with an account."""
    wrong, rows = [], []
    page = 1
    while True:
        status, answer = call(node.base, "GET", f"/admin/v1/payments?account_id={buyer.account}&limit=100&page={page}", token=TOKEN)
        assert status == 200, answer
        rows += answer["data"]
        if len(answer["data"]) < 100:
            break
        page += 1
    granted = Decimal(0)
    invoices = {one["id"]: one for one in server.all("invoice")}
    for row in rows:
        one = buyer.bought.get(row["id"])
        is_paid = row["paid_at"] is not None
        if one is None and row["renews"] is None:
            # It was begun, and the answer never came: no one can have paid it.
            if is_paid:
                wrong.append(f"{row['id']} was paid by no one: {row}")
            continue
        if one and one["paid"] != is_paid:
            wrong.append(f"{row['id']} paid: {one['paid']}, and here {row}")
            continue
        if not is_paid:
            continue
        intents = [name for name in node.operate("GET", f"/admin/v1/payments/{row['id']}")["references"] if name.startswith("pi_")]
        back = gone(server, intents[0], row["money"]) if intents else 0
        if row["provider"] == "stripe" and not intents:
            wrong.append(f"{row['id']} has no charge: {row}")
        quota = QUOTA[row["product"]]
        begun = row["ledger_id"] is not None
        taken = thousandths(quota, back, row["money"]) if begun else Decimal(0)
        if Decimal(str(row["taken_back"])) != taken:
            wrong.append(f"{row['id']}: {row['taken_back']} taken back, {back} of {row['money']} are gone: {taken}")
        granted += quota if begun else 0
    paid = [row for row in rows if row["product"] == "month" and row["paid_at"]]
    subscriptions = {server.objects[one["session"]]["subscription"] for one in buyer.bought.values() if one.get("session")}
    invoiced = [one for one in invoices.values() if one["subscription"] in subscriptions and one["status"] == "paid"]
    if len(paid) != len(invoiced):
        wrong.append(f"{len(invoiced)} invoices were paid, and {len(paid)} periods")
    of = {}
    for row in ledger(node, buyer.account):
        of.setdefault(row["kind"], []).append(amount(row))
    grants = sum(of.get("grant", []))
    if grants != granted:
        wrong.append(f"{granted} were bought, and {grants} granted")
    has = node.operate("GET", f"/admin/v1/accounts/{buyer.account}")
    moved = sum(sum(of.get(kind, [])) for kind in ("grant", "adjust", "refund", "debt", "expire")) - sum(of.get("capture", []))
    if moved != Decimal(str(has["balance"])) or has["freeze_balance"] != 0:
        wrong.append(f"the rows come to {moved}, the balance is {has['balance']}, held {has['freeze_balance']}")
    return wrong, len([row for row in rows if row["paid_at"]]), granted, -sum(of.get("refund", [])), Decimal(str(has["debt"]))


def main():
    words = argparse.ArgumentParser()
    words.add_argument("binary")
    words.add_argument("folder")
    words.add_argument("--kills", type=int, default=20)
    words.add_argument("--buyers", type=int, default=8)
    words.add_argument("--each", type=int, default=12)
    words.add_argument("--repeats", type=int, default=1000)
    words.add_argument("--away", type=float, default=70)
    words.add_argument("--nodes", type=int, default=1)
    words.add_argument("--postgres")
    words = words.parse_args()
    dice = random.Random(1)
    database = database_of(words.postgres, f"payments{os.getpid()}") if words.postgres else None
    server = StripeServer(SECRET, key=API_KEY)
    settings = dict(
        FLEET if words.nodes > 1 else SETTINGS,
        PAYMENTS_STRIPE_BASE_URL=server.base,
        PAYMENTS_STRIPE_SECRET_KEY=API_KEY,
        PAYMENTS_STRIPE_WEBHOOK_SECRET=SECRET,
        PAYMENTS_EPAY_BASE_URL="https://pay.example.com",
        PAYMENTS_EPAY_MERCHANT=MERCHANT,
        PAYMENTS_EPAY_KEY=EPAY_KEY,
        LIMITS_OPEN_PER_SECOND=0,
        LIMITS_ACTS_PER_HOUR=0,
    )
    nodes = [
        Node(words.binary, words.folder, free_port(), database, settings, log=os.path.join(words.folder, f"node{number}.log"))
        for number in range(words.nodes)
    ]
    for node in nodes:
        node.start()
    bases = [node.base for node in nodes]
    nodes[0].operate("POST", "/admin/v1/plans", {"name": "month", "every": "month", "quota": QUOTA["month"], "then": "pay_as_you_go"})
    for name, product in PRODUCTS.items():
        nodes[0].operate("POST", "/admin/v1/products", {"name": name, **product})
    storm = Storm(server, bases, 3)
    began = time.monotonic()
    accounts = [nodes[0].account(f"storm{number}-{os.getpid()}", 0) for number in range(words.buyers)]
    buyers = [Buyer(number, bases, key, account, storm, words.each) for number, (account, key) in enumerate(accounts)]
    treasurers = [Treasurer(number, bases, buyers, storm) for number in range(2)]
    # One event a thousand times, at all nodes at once.
    first = buyers[0]
    status, answer = first.ask("POST", "/account/v1/payments", first.key, {"product": "base", "provider": "stripe"})
    assert status == 200, answer
    first.bought[answer["data"]["id"]] = {"product": "base", "provider": "stripe", "paid": True}
    first.bought[answer["data"]["id"]]["session"] = session = answer["data"]["payAt"].rsplit("/", 1)[1]
    server.pay(session)
    event = server.events[-1]
    storm.report(lambda base: storm.signed(base, event), words.repeats)
    for thread in [*buyers, *treasurers]:
        thread.start()
    kills = 0
    while any(buyer.is_alive() for buyer in buyers):
        time.sleep(dice.uniform(0.1, 0.8))
        if kills < words.kills:
            node = dice.choice(nodes)
            node.kill()
            kills += 1
            node.start()
    for treasurer in treasurers:
        treasurer.done = True
        treasurer.join(120)
    # The provider goes away with refunds under way; the service finishes them by itself once it is back.
    paid = [(name, one) for name, one in first.bought.items() if one.get("session") and one["paid"] and one["product"] == "base"]
    server.away = True
    left = []
    for number, (name, _) in enumerate(paid[:4]):
        asked = treasurers[0].refund(name, {"money": 1, "idempotency_key": f"away {number}"})
        if asked and asked[0] == 503:
            left.append(name)
    status, _ = first.ask("POST", "/account/v1/payments", first.key, {"product": "base", "provider": "stripe"})
    wrong = [] if status == 503 else [f"a payment was begun while the provider was away: {status}"]
    time.sleep(words.away)
    server.away = False
    end = time.monotonic() + 200
    open_ones = left
    while open_ones and time.monotonic() < end:
        time.sleep(1)
        open_ones = [
            name
            for name in open_ones
            if any(one["state"] == "asked" for one in nodes[0].operate("GET", f"/admin/v1/payments/{name}")["refunds"])
        ]
    wrong += [f"the refund of {name} was never finished" for name in open_ones]
    storm.gather()
    storm.done = True
    for thread in storm.threads:
        thread.join(300)
    lasted = time.monotonic() - began
    while nodes[0].left() > 0:
        time.sleep(0.5)
    wrong += [one for asker in [*buyers, *treasurers] for one in asker.wrong]
    wrong += [f"a forged event was answered {status}" for status in storm.believed]
    wrong += ["not everything was posted"] if not storm.waiting.empty() else []
    payments, granted, back, debts = 0, Decimal(0), Decimal(0), Decimal(0)
    for buyer in buyers:
        found, count, gave, taken, debt = check(nodes[0], server, buyer)
        wrong += found
        payments, granted, back, debts = payments + count, granted + gave, back + taken, debts + debt
    lies = sum(buyer.wrong_ones for buyer in buyers)
    kept = call(nodes[0].base, "GET", "/admin/v1/payment-mismatches?limit=1", token=TOKEN)[1]["total"]
    if kept < lies:
        wrong.append(f"{lies} events did not fit, and {kept} are kept")
    for live in (True, False):
        if not live:
            for node in nodes:
                node.stop()
        code, text = nodes[0].audit(live=live)
        if code != 0:
            wrong.append(f"the audit says {code}: {text}")
    for node in nodes:
        log = pathlib.Path(node.log).read_text(errors="replace")
        wrong += [f"{secret} is in the log" for secret in (SECRET, API_KEY, EPAY_KEY) if secret in log]
    what = f"{words.nodes} node(s) over PostgreSQL" if database else "one node on SQLite"
    print(f"{what}: {payments} payments of {len(server.events)} events, posted {storm.posted} times ({storm.taken} taken), in {lasted:.0f} s")
    print(
        f"  {granted} granted, {back} taken back, {debts} owed, {lies} lies kept, {storm.forged} forgeries refused, {len(left)} refunds "
        f"finished after {words.away:.0f} s without the provider, {kills} x kill -9"
    )
    for one in wrong:
        print("WRONG:", one)
    print(f"  books: {'exact, both audits clean' if not wrong else 'WRONG'}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
