"""A black-box auditor: it knows the public endpoints and what callers wrote down, and nothing else.

Callers write down what they are about to ask before they ask it, and what they were answered after it. At the end:
every key became at most one job, every job that was promised is there, no job is there that nobody asked for, what was
once final stayed the same, the quota of every account adds up, and whoever was to be told was told the same."""

import threading
import time

from service import call


class Notes:
    """What callers meant to do and were told."""

    def __init__(self):
        self.lock = threading.Lock()
        self.meant = {}  # key -> (account, hooked)
        self.jobs = {}  # key -> set of job ids
        self.refused = {}  # key -> code
        self.finals = {}  # job id -> (status, quota)
        self.wrong = []
        self.unanswered = 0
        self.lowest = 0.0

    def mean(self, key, account, hooked):
        with self.lock:
            self.meant[key] = (account, hooked)

    def told(self, key, job):
        with self.lock:
            jobs = self.jobs.setdefault(key, set())
            jobs.add(job)
            if len(jobs) > 1:
                self.wrong.append(f"key {key} became {sorted(jobs)}")

    def no_answer(self):
        with self.lock:
            self.unanswered += 1

    def refuse(self, key, code):
        with self.lock:
            self.refused[key] = code

    def saw(self, job, status, quota):
        """A job as somebody saw it."""
        if status not in ("SUCCESS", "FAILED"):
            with self.lock:
                if job in self.finals:
                    self.wrong.append(f"{job} was {self.finals[job]} and is {status}")
            return False
        with self.lock:
            before = self.finals.setdefault(job, (status, quota))
            if before != (status, quota):
                self.wrong.append(f"{job} was {before} and is {(status, quota)}")
        return True

    def sample(self, balance, held):
        with self.lock:
            self.lowest = min(self.lowest, balance, held)


def everything(base, key):
    """All jobs of the account behind a key."""
    jobs, page = [], 1
    while True:
        status, answer = call(base, "GET", f"/jobs/v1?page={page}&limit=100", key)
        if status != 200:
            raise OSError(f"{status} {answer}")
        if not answer["data"]:
            return jobs
        jobs += answer["data"]
        page += 1


def rest(base, accounts, patience):
    """Waits until no job is open; the jobs by account."""
    end = time.monotonic() + patience
    while True:
        found = {name: everything(base, key) for name, (_, key) in accounts.items()}
        still = [job for jobs in found.values() for job in jobs if job["status"] not in ("SUCCESS", "FAILED")]
        if not still:
            return found
        if time.monotonic() > end:
            raise RuntimeError(f"{len(still)} jobs never ended, such as {still[0]}")
        time.sleep(0.5)


def check(base, accounts, grants, notes, sink=None, patience=120):
    """Everything that must be so; a list of what is not, and figures."""
    found = rest(base, accounts, patience)
    wrong = list(notes.wrong)
    asked = {}
    for key, jobs in notes.jobs.items():
        asked.setdefault(notes.meant[key][0], set()).update(jobs)
    total = 0
    for name, (_, key) in accounts.items():
        jobs = found[name]
        total += len(jobs)
        ids = {job["jobId"] for job in jobs}
        if len(ids) != len(jobs):
            wrong.append(f"{name}: a job is listed twice")
        missing = asked.get(name, set()) - ids
        if missing:
            wrong.append(f"{name}: {len(missing)} promised jobs are not there, such as {next(iter(missing))}")
        strangers = ids - asked.get(name, set())
        if strangers:
            wrong.append(f"{name}: {len(strangers)} jobs that nobody was told of, such as {next(iter(strangers))}")
        spent = sum(float(job["quota"]) for job in jobs)
        status, info = call(base, "GET", "/artgen/v1/info", key)
        free, held = float(info["data"]["balance"]), float(info["data"]["freeze_balance"])
        if abs(free + spent - grants[name]) > 0.0005 or abs(held) > 0.0005:
            wrong.append(f"{name}: {free} left and {held} held after {spent} of {grants[name]} spent")
        for job in jobs:
            notes.saw(job["jobId"], job["status"], str(job["quota"]))
            if job["status"] == "FAILED" and float(job["quota"]) != 0:
                wrong.append(f"{job['jobId']} failed and cost {job['quota']}")
    wrong += [one for one in notes.wrong if one not in wrong]
    if notes.lowest < 0:
        wrong.append(f"a balance of {notes.lowest} was seen")
    told = 0
    if sink:
        told = callbacks(notes, sink, wrong, patience)
    return wrong, {"jobs": total, "keys": len(notes.meant), "unanswered": notes.unanswered, "callbacks": told}


def callbacks(notes, sink, wrong, patience):
    """Every job that wanted to be told of was, the same each time, and no other."""
    wanted = {job for key, jobs in notes.jobs.items() if notes.meant[key][1] for job in jobs}
    end = time.monotonic() + patience
    while True:
        with sink.lock:
            missing = wanted - set(sink.got)
        if not missing or time.monotonic() > end:
            break
        time.sleep(0.5)
    with sink.lock:
        if missing:
            wrong.append(f"{len(missing)} callbacks never came, such as {next(iter(missing))}")
        for job, posts in sink.got.items():
            if job not in wanted and job in {one for jobs in notes.jobs.values() for one in jobs}:
                wrong.append(f"{job} wanted no callback")
            if len({name for name, _ in posts}) != 1:
                wrong.append(f"{job} came under several names")
            first = posts[0][1]
            for other in (body for _, body in posts if body != first):
                fields = [name for name in {*first, *other} if first.get(name) != other.get(name)]
                wrong.append(f"{job} was told of differently: {[(name, first.get(name), other.get(name)) for name in fields]}")
        return sum(len(posts) for posts in sink.got.values())
