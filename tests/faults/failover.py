"""The database is killed and its standby takes its place, under callers of two nodes; then both audits.

    failover.py BINARY FOLDER --postgres URL --cluster DIR    DIR is the folder that `scripts/postgres start` was given

The standby confirms every commit, as one must that is to take over without losing any. The cluster is dead afterwards."""

import os
import shutil
import signal
import subprocess
import time
import urllib.parse

import auditor
from kill import FLEET
from load import Load
from nodes import stopped, until
from proxy import Proxy
from service import Node, Sink, arguments, database_of, ended, free_port, sql
from toxics import mended


def as_server(*words):
    """Runs one of PostgreSQL's programs as somebody it accepts."""
    nobody = ["setpriv", "--reuid=nobody", "--clear-groups", "env", "HOME=/"] if os.geteuid() == 0 else []
    ran = subprocess.run([*nobody, *words], capture_output=True, text=True, cwd="/")
    if ran.returncode:
        raise RuntimeError(f"{words[0]}: {ran.stderr[-500:]}")


def standby_of(url, cluster, folder):
    """A standby that follows and confirms; its folder and port."""
    where, port = urllib.parse.urlsplit(url), free_port()
    os.makedirs(folder)
    if os.geteuid() == 0:
        shutil.chown(folder, "nobody")
    data = os.path.join(folder, "data")
    as_server("pg_basebackup", "-h", where.hostname, "-p", str(where.port), "-U", where.username, "-D", data, "-R",
              "-X", "stream", "-c", "fast")  # fmt: skip
    as_server("pg_ctl", "-D", data, "-o", f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c max_connections=400",
              "-l", os.path.join(folder, "log"), "-w", "start")  # fmt: skip
    sql(url, "ALTER SYSTEM SET synchronous_standby_names = '*'")
    sql(url, "SELECT pg_reload_conf()")
    return data, port


def main():
    words = arguments("--postgres", "--cluster")
    os.makedirs(words.folder, exist_ok=True)
    os.chmod(words.folder, 0o755)
    where = urllib.parse.urlsplit(database_of(words.postgres, f"failover{os.getpid()}"))
    data, port = standby_of(words.postgres, words.cluster, os.path.join(words.folder, "standby"))
    wrong = []
    if not until(lambda: sql(words.postgres, "SELECT sync_state FROM pg_stat_replication") == "sync", 30):
        wrong.append("the standby does not confirm commits")
    # What a managed database does with a name, the proxy does with a port.
    proxy = Proxy(where.hostname, where.port)
    behind = f"postgres://{where.username}@127.0.0.1:{proxy.port}{where.path}"
    nodes = [
        Node(words.binary, os.path.join(words.folder, "nodes"), free_port(), behind, FLEET,
             os.path.join(words.folder, f"node{number}.log"))  # fmt: skip
        for number in range(2)
    ]
    for node in nodes:
        node.start()
    grants = {"caller0": 100_000, "caller1": 100_000}
    accounts = {one: nodes[0].account(f"{one}-{os.getpid()}", grant) for one, grant in grants.items()}
    probe = nodes[0].account(f"probe-{os.getpid()}", 1000)[1]
    notes, sink = auditor.Notes(), Sink()
    load = Load([node.base for node in nodes], accounts, notes, sink, 16, "failover")
    time.sleep(6)
    with open(os.path.join(words.cluster, "data", "postmaster.pid")) as file:
        os.kill(int(file.readline()), signal.SIGKILL)
    killed = time.monotonic()
    proxy.reset()
    as_server("pg_ctl", "-D", data, "-w", "promote")
    # One that stands alone waits for nobody.
    proxy.server = ("127.0.0.1", port)
    promoted = time.monotonic()
    now = f"postgres://{where.username}@127.0.0.1:{port}/postgres"
    sql(now, "ALTER SYSTEM SET synchronous_standby_names = ''")
    sql(now, "SELECT pg_reload_conf()")

    waited = [mended(node, probe) for node in nodes]
    if None in waited:
        wrong.append("submits never worked again")
    again = time.monotonic()
    time.sleep(6)
    load.stop()
    more, figures = auditor.check(nodes[0].base, accounts, grants, notes, sink, patience=240)
    wrong += more + stopped(nodes)
    as_server("pg_ctl", "-D", data, "-m", "immediate", "stop")
    print(
        f"  the database fails over: promoted after {promoted - killed:.1f} s, submits work on both nodes "
        f"{again - promoted:.1f} s after that; {figures['jobs']} jobs, {figures['unanswered']} calls asked again"
    )
    ended("failover", wrong)


if __name__ == "__main__":
    main()
