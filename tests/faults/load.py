"""Callers under whom faults happen: each writes down its key, asks until it is answered, and looks at what it got."""

import random
import threading
import time

from service import call


class Load:
    """So many callers, each one call after the other, at nodes of their choice."""

    def __init__(self, bases, accounts, notes, sink, clients, tag, prompt=None):
        self.bases, self.accounts, self.notes, self.sink = bases, accounts, notes, sink
        self.tag, self.stopping = tag, threading.Event()
        self.prompt = prompt or self._prompt
        self.waits = []
        self.threads = [threading.Thread(target=self._go, args=(number,), daemon=True) for number in range(clients)]
        for thread in self.threads:
            thread.start()

    def stop(self):
        self.stopping.set()
        for thread in self.threads:
            thread.join(300)
        if any(thread.is_alive() for thread in self.threads):
            raise RuntimeError("a caller was never answered")

    @staticmethod
    def _prompt(dice, key):
        end = dice.choice(["[[fail: on purpose]]", "[[fail: on purpose]]", ""])
        return f"boat {key} {end} [[delay {dice.choice(['0s', '1s', '2s'])}]] --ar 1:1"

    def _go(self, number):
        dice = random.Random(f"{self.tag}/{number}")
        names = sorted(self.accounts)
        count = 0
        while not self.stopping.is_set():
            count += 1
            name, key = names[number % len(names)], f"{self.tag}-{number}-{count}"
            hooked = self.sink is not None and dice.random() < 0.5
            body = {"prompt": self.prompt(dice, key)}
            if hooked:
                body["hookUrl"] = self.sink.url
            self.notes.mean(key, name, hooked)
            job = self._ask(dice, name, key, body)
            if job and dice.random() < 0.3:
                self._look(dice, name, job)
            time.sleep(dice.uniform(0.02, 0.3))

    def _ask(self, dice, name, key, body):
        """Asks with the key until there is an answer, at whichever node."""
        began = time.monotonic()
        while True:
            try:
                base = dice.choice(self.bases)
                api_key = self.accounts[name][1]
                status, answer = call(base, "POST", "/artgen/v1/imagine", api_key, body, {"Idempotency-Key": key})
            except OSError:
                self.notes.no_answer()
                time.sleep(0.1)
                continue
            self.waits.append(time.monotonic() - began)
            if status == 200:
                job = answer["data"]["jobId"]
                self.notes.told(key, job)
                return job
            if status in (409, 429, 500, 502, 503):
                time.sleep(0.1)
                continue
            self.notes.refuse(key, answer.get("code"))
            return None

    def _look(self, dice, name, job):
        try:
            key = self.accounts[name][1]
            status, answer = call(dice.choice(self.bases), "GET", f"/jobs/v1/{job}", key)
            if status == 200:
                self.notes.saw(job, answer["data"]["status"], str(answer["data"]["quota"]))
            status, info = call(dice.choice(self.bases), "GET", "/artgen/v1/info", key)
            if status == 200:
                self.notes.sample(float(info["data"]["balance"]), float(info["data"]["freeze_balance"]))
        except OSError:
            pass
