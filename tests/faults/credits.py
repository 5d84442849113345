"""kill -9 while quota that ends is granted, vouchers are redeemed, plans are changed and renewed and jobs are paid: in the end money made
is money granted, to the thousandth, and every period gave once; then both audits.

    credits.py BINARY FOLDER [--kills 20] [--minutes 0] [--clients 16] [--nodes 3 --postgres URL]

With minutes it goes on for as long, whatever everybody has done by then.
"""

import argparse
import itertools
import os
import random
import sqlite3
import sys
import threading
import time
from decimal import Decimal

from kill import FLEET, SETTINGS
from service import TOKEN, Node, call, database_of, free_port, sql

ACCOUNTS = 4
BASE = 20
# Jobs that every caller asks for and gifts that every account gets, at least; and codes that all accounts have, more in a long run.
EACH = 12
GIFTS = 12
CODES = 24
CODES_A_MINUTE = 12
# The longest time between two kills.
SHORT_S, LONG_S = 0.8, 8
WORTH = Decimal("1.5")
PLANS = {"small": 5, "big": 40, "stopping": 8}
ROLLOVER = {"small": 2, "stopping": 8}
AGAIN = (409, 429, 500, 503)


class Asker(threading.Thread):
    """Somebody who asks until there is an answer, at any node."""

    def __init__(self, number, bases, end):
        super().__init__(daemon=True)
        self.dice, self.bases, self.end, self.wrong = random.Random(number), bases, end, []

    def rounds(self, least):
        """Counts up to a number, or further until the time is up."""
        return itertools.takewhile(lambda count: count < least or time.monotonic() < self.end, itertools.count())

    def ask(self, method, path, key=None, body=None, headers=None):
        token = None if key else TOKEN
        while True:
            try:
                base = self.dice.choice(self.bases)
                status, answer = call(base, method, path, key, body, headers, token=token)
            except OSError:
                time.sleep(self.dice.uniform(0.05, 0.3))
                continue
            # Whoever paints may be slower than those who ask.
            if status not in AGAIN and answer.get("code") != "queue_full":
                return status, answer
            time.sleep(self.dice.uniform(0.05, 0.3))


class Caller(Asker):
    """Asks for jobs and redeems every code in between."""

    def __init__(self, number, bases, end, key, codes):
        super().__init__(number, bases, end)
        self.number, self.key, self.codes, self.redeemed, self.refused = number, key, codes, set(), 0

    def run(self):
        codes = self.dice.sample(self.codes, len(self.codes))
        for count in self.rounds(EACH):
            body = {"model": "image-1", "quality": "low", "prompt": f"boat {self.number} {count}", "async": True}
            headers = {"Idempotency-Key": f"credits-{self.number}-{count}"}
            status, answer = self.ask("POST", "/v1/images/generations", self.key, body, headers)
            self.refused += status == 400
            if status != 202 and answer["code"] != "insufficient_quota":
                self.wrong.append(f"{status} {answer}")
            for code in codes[count * 2 : count * 2 + 2]:
                status, answer = self.ask("POST", "/account/v1/vouchers", self.key, {"code": code})
                if status == 200:
                    self.redeemed.add(code)
                elif answer["code"] != "voucher_used":
                    self.wrong.append(f"{status} {answer}")
            time.sleep(self.dice.uniform(0, 0.3))


class Operator(Asker):
    """Grants an account quota that ends soon, takes some away, and changes its plan."""

    def __init__(self, number, bases, end, account):
        super().__init__(1000 + number, bases, end)
        self.account, self.given = account, {}

    def run(self):
        path = f"/admin/v1/accounts/{self.account}"
        for count in self.rounds(GIFTS):
            amount = self.dice.choice([1, 2.5, 0.001, 7, -1.25])
            gift = {"amount": amount, "reason": f"gift {count}", "idempotency_key": f"gift {count}"}
            if amount > 0 and self.dice.random() < 0.8:
                at = time.gmtime(time.time() + self.dice.randint(2, 12))
                gift["expires"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", at)
            status, _ = self.ask("POST", f"{path}/credit", body=gift)
            self.given[gift["reason"]] = (Decimal(str(amount)), status == 200)
            plan = self.dice.choice([*PLANS, None])
            if plan:
                self.ask("PUT", f"{path}/plan", body={"plan": plan})
            time.sleep(self.dice.uniform(0, 0.6))


class Calendar(threading.Thread):
    """Has periods of plans end now that would last a day."""

    MOVES = (
        "UPDATE account_plan SET first_ms = {now}, until_ms = {now} WHERE account_id = '{account}' "
        "AND begun = 1 AND from_ms < {now} AND until_ms > {now}",
        "UPDATE credit SET expires_ms = {now} WHERE account_id = '{account}' AND stays = 1 AND ended_ms IS NULL "
        "AND EXISTS (SELECT 1 FROM account_plan WHERE account_plan.account_id = credit.account_id AND until_ms = {now})",
    )

    def __init__(self, folder, database, accounts, end):
        super().__init__(daemon=True)
        self.file, self.database = os.path.join(folder, "atelier.db"), database
        self.accounts, self.end, self.dice, self.done = accounts, end, random.Random(7), False

    def run(self):
        while not self.done or time.monotonic() < self.end:
            time.sleep(self.dice.uniform(0.1, 1))
            words = {"now": round(time.time() * 1000), "account": self.dice.choice(self.accounts)}
            moves = [move.format(**words) for move in self.MOVES]
            if self.database:
                # In the order in which the service locks them.
                sql(self.database, "; ".join(["SELECT 1 FROM account WHERE id = '{account}' FOR UPDATE".format(**words), *moves]))
            else:
                with sqlite3.connect(self.file, timeout=30, isolation_level="IMMEDIATE") as file:
                    for move in moves:
                        file.execute(move)
                file.close()

    def ask(self, text):
        """What a statement finds, as a number."""
        if self.database:
            return int(sql(self.database, text))
        file = sqlite3.connect(self.file, timeout=30)
        found = file.execute(text).fetchone()[0]
        file.close()
        return int(found)

    def periods(self, account):
        """How many periods the plans of an account had, and how much they gave."""
        of = f"FROM plan_period WHERE account_id = '{account}'"
        return self.ask(f"SELECT COUNT(*) {of}"), Decimal(self.ask(f"SELECT COALESCE(SUM(quota), 0) {of}")) / 1000


def ledger(node, account):
    """Every row of an account."""
    rows, page = [], 1
    while True:
        status, answer = call(node.base, "GET", f"/admin/v1/ledger?accountId={account}&limit=100&page={page}", token=TOKEN)
        assert status == 200, answer
        rows += answer["data"]
        if len(answer["data"]) < 100:
            return rows
        page += 1


def amount(row):
    return Decimal(str(row["amount"]))


def check(node, account, operator, redeemed, calendar):
    """What is wrong with the books of an account."""
    wrong = []
    rows = ledger(node, account)
    of = {kind: [row for row in rows if row["kind"] == kind] for kind in {row["kind"] for row in rows}}
    for reason, (given, known) in operator.given.items():
        booked = [amount(row) for row in rows if row["reason"] == reason and row["kind"] in ("grant", "adjust")]
        if booked != [given] and (known or booked):
            wrong.append(f"{reason} of {given} is booked as {booked}")
    vouchers = [amount(row) for row in of.get("grant", []) if row["reason"] == "voucher"]
    if vouchers != [WORTH] * len(redeemed):
        wrong.append(f"{len(redeemed)} codes were redeemed, and {vouchers} booked")
    periods, gave = calendar.periods(account)
    of_plans = [row for row in of.get("grant", []) if row["reason"] in PLANS and not row["id"].endswith("_anew")]
    if sum(map(amount, of_plans)) != gave:
        wrong.append(f"{periods} periods gave {gave}, and {len(of_plans)} grants of plans {sum(map(amount, of_plans))}")
    granted = sum(amount(row) for kind in ("grant", "adjust") for row in of.get(kind, []))
    spent = sum(amount(row) for row in of.get("capture", []))
    lapsed = -sum(amount(row) for row in of.get("expire", []))
    has = node.operate("GET", f"/admin/v1/accounts/{account}")
    left = Decimal(str(has["balance"]))
    if granted != spent + left + lapsed or has["freeze_balance"] != 0:
        wrong.append(f"{granted} granted, {spent} spent, {left} left, {lapsed} lapsed, {has['freeze_balance']} held")
    credits = node.operate("GET", f"/admin/v1/accounts/{account}/credits")
    parts = sum(Decimal(str(credit["left"])) for credit in credits["credits"])
    if parts + Decimal(str(credits["base"])) != left:
        wrong.append(f"{parts} of credits and {credits['base']} are not {left}")
    return wrong, granted, lapsed, periods


def main():
    words = argparse.ArgumentParser()
    words.add_argument("binary")
    words.add_argument("folder")
    words.add_argument("--kills", type=int, default=20)
    words.add_argument("--minutes", type=float, default=0)
    words.add_argument("--clients", type=int, default=16)
    words.add_argument("--nodes", type=int, default=1)
    words.add_argument("--postgres")
    words = words.parse_args()
    dice = random.Random(1)
    database = database_of(words.postgres, f"credits{os.getpid()}") if words.postgres else None
    settings = FLEET if words.nodes > 1 else SETTINGS
    nodes = [
        Node(words.binary, words.folder, free_port(), database, settings, log=os.path.join(words.folder, f"node{number}.log"))
        for number in range(words.nodes)
    ]
    for node in nodes:
        node.start()
    bases = [node.base for node in nodes]
    for name, quota in PLANS.items():
        plan = {"name": name, "every": {"days": 1}, "quota": quota, "then": "stop" if name == "stopping" else "pay_as_you_go"}
        plan["rollover_cap"] = ROLLOVER.get(name, 0)
        nodes[0].operate("POST", "/admin/v1/plans", plan)
    count = max(CODES, round(CODES_A_MINUTE * words.minutes))
    codes = []
    # An account has at most so many credits that end, so that in a long run the others give what never does.
    for part, ends in ((CODES, {"credit_days": 1}), (count - CODES, {})):
        batch = {"count": part, "amount": float(WORTH), "per_account": part, "note": "storm", **ends}
        codes += nodes[0].operate("POST", "/admin/v1/vouchers", batch)["csv"].split()[1:] if part else []
    accounts = [nodes[0].account(f"credits{number}-{os.getpid()}", BASE) for number in range(ACCOUNTS)]
    end = time.monotonic() + words.minutes * 60
    operators = [Operator(number, bases, end, account) for number, (account, _) in enumerate(accounts)]
    callers = [Caller(number, bases, end, accounts[number % ACCOUNTS][1], codes) for number in range(words.clients)]
    askers = operators + callers
    calendar = Calendar(words.folder, database, [account for account, _ in accounts], end)
    for thread in [*askers, calendar]:
        thread.start()
    kills = 0
    while kills < words.kills and any(asker.is_alive() for asker in askers):
        time.sleep(dice.uniform(0.05, LONG_S if words.minutes else SHORT_S))
        node = dice.choice(nodes)
        node.kill()
        kills += 1
        node.start()
    for asker in askers:
        asker.join(max(0, end - time.monotonic()) + 300)
    calendar.done = True
    calendar.join(60)
    wrong = [one for asker in askers for one in asker.wrong]
    wrong += ["somebody was never answered" for asker in askers if asker.is_alive()]
    began = time.monotonic()
    while nodes[0].left() > 0 and time.monotonic() < began + 300:
        time.sleep(0.5)
    # What has ended is booked by then.
    time.sleep(20)
    granted = lapsed = periods = 0
    everything = []
    for number, (account, _) in enumerate(accounts):
        redeemed = set().union(*(caller.redeemed for caller in callers[number::ACCOUNTS]))
        everything += redeemed
        found, given, ended, begun = check(nodes[0], account, operators[number], redeemed, calendar)
        wrong += found
        granted, lapsed, periods = granted + given, lapsed + ended, periods + begun
    if periods < 4 * ACCOUNTS:
        wrong.append(f"only {periods} periods began")
    if sorted(everything) != sorted(codes):
        wrong.append(f"{len(everything)} redemptions of {len(codes)} codes")
    for live in (True, False):
        if not live:
            for node in nodes:
                node.stop()
        code, text = nodes[0].audit(live=live)
        if code != 0:
            wrong.append(f"the audit says {code}: {text}")
    refused = sum(caller.refused for caller in callers)
    print(f"{granted} granted, {lapsed} lapsed, {len(everything)} codes, {periods} periods, {refused} refused, {kills} kills")
    for one in wrong:
        print("WRONG:", one)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
