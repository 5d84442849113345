"""Two nodes behind a pooler that lends connections for one transaction at a time; it is restarted under callers.

    pooler.py BINARY FOLDER --postgres URL    needs the program pgbouncer
"""

import os
import shutil
import signal
import subprocess
import time
import urllib.parse

import auditor
from kill import FLEET
from load import Load
from nodes import stopped
from service import Node, Sink, arguments, database_of, ended, free_port, sql

# Fewer than one node alone would open by itself.
SERVER_LINES = 4


class Pooler:
    """A pgbouncer in transaction mode before one database."""

    def __init__(self, folder, url):
        where = urllib.parse.urlsplit(url)
        self.folder, self.port = folder, free_port()
        self.process = None
        self.url = f"postgres://{where.username}@127.0.0.1:{self.port}{where.path}"
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "users.txt"), "w") as file:
            file.write(f'"{where.username}" ""\n')
        with open(os.path.join(folder, "pooler.ini"), "w") as file:
            file.write(
                f"[databases]\n* = host={where.hostname} port={where.port}\n"
                f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {self.port}\nunix_socket_dir =\n"
                f"auth_type = trust\nauth_file = {folder}/users.txt\npool_mode = transaction\n"
                f"default_pool_size = {SERVER_LINES}\nmax_client_conn = 500\n"
                "ignore_startup_parameters = extra_float_digits\n"
                f"logfile = {folder}/pooler.log\npidfile = {folder}/pooler.pid\n"
            )
        # It refuses to run as root.
        if os.geteuid() == 0:
            for name in [folder, *(os.path.join(folder, one) for one in os.listdir(folder))]:
                shutil.chown(name, "nobody")

    def start(self):
        as_nobody = ["setpriv", "--reuid=nobody", "--clear-groups"] if os.geteuid() == 0 else []
        words = [*as_nobody, shutil.which("pgbouncer") or "/usr/sbin/pgbouncer", "-q", f"{self.folder}/pooler.ini"]
        self.process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.5)
        if self.process.poll() is not None:
            with open(os.path.join(self.folder, "pooler.log")) as log:
                raise RuntimeError(f"the pooler ended: {log.read()[-800:]}")

    def end(self, how=signal.SIGKILL):
        self.process.send_signal(how)
        self.process.wait(30)


def server_lines(url, name):
    """Connections to a database, whoever holds them."""
    asked = (
        f"SELECT count(*) FROM pg_stat_activity WHERE datname = '{name}' AND backend_type = 'client backend' "
        "AND pid <> pg_backend_pid()"
    )
    return int(sql(url, asked))


def main():
    words = arguments("--postgres")
    name = f"pooler{os.getpid()}"
    database = database_of(words.postgres, name)
    pooler = Pooler(os.path.join(words.folder, "pooler"), database)
    pooler.start()
    settings = dict(FLEET, DATABASE_POOLER=pooler.url)
    folder = os.path.join(words.folder, "nodes")
    nodes = [
        Node(words.binary, folder, free_port(), database, settings, os.path.join(words.folder, f"node{number}.log"))
        for number in range(2)
    ]
    for node in nodes:
        node.start()
    grants = {"caller0": 100_000, "caller1": 100_000}
    accounts = {one: nodes[0].account(f"{one}-{name}", grant) for one, grant in grants.items()}
    notes, sink = auditor.Notes(), Sink()
    load = Load([node.base for node in nodes], accounts, notes, sink, 16, "pooler")
    most = 0
    for round in range(3):
        for _ in range(10):
            time.sleep(0.5)
            most = max(most, server_lines(words.postgres, name))
        if round < 2:
            pooler.end()
            time.sleep(1)
            pooler.start()
    load.stop()
    wrong, figures = auditor.check(nodes[0].base, accounts, grants, notes, sink, patience=240)
    wrong += stopped(nodes)
    pooler.end()
    # Each node listens for hints at the database itself.
    if most > SERVER_LINES + len(nodes):
        wrong.append(f"{most} connections to the database")
    print(
        f"  a pooler in transaction mode, killed twice: {figures['jobs']} jobs, at most {most} connections to the "
        f"database for two nodes, {figures['unanswered']} calls asked again"
    )
    ended("pooler", wrong)


if __name__ == "__main__":
    main()
