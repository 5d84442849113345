"""A catalogue of many models, written past the operator's pages: those look at every model for every change.

`sell` adds models with the same routes to the SQLite database of a service that runs; `known` waits until it sells them."""

import json
import sqlite3
import time

# The service looks for changes about every half second; under callgrind everything takes longer.
KNOWN_WITHIN_S = 120


def sell(database, models, like, backends, price):
    """Adds models `made-0`, `made-1` … with a route to each back end."""
    routes = [{"backend": backend, "model": f"vendors-{number}"} for number, backend in enumerate(backends)]
    rows = []
    for number in range(models):
        definition = {"name": f"made-{number}", "like": like, "routes": routes, "price": price}
        rows.append((definition["name"], definition["name"], json.dumps(definition)))
    connection = sqlite3.connect(database, isolation_level=None, timeout=30)
    connection.execute("BEGIN IMMEDIATE")
    connection.executemany(
        "INSERT INTO model (name_key, revision, name, definition, removed, changed_ms) VALUES (?, 1, ?, ?, FALSE, 0)", rows
    )
    connection.execute("INSERT OR REPLACE INTO setting (name, value) VALUES ('model_edition', 'bench')")
    connection.execute("COMMIT")
    connection.close()


def known(listed, models):
    """Waits until a list of models is so long; `listed` asks for the names."""
    end = time.monotonic() + KNOWN_WITHIN_S
    while sum(name.startswith("made-") for name in listed()) < models:
        if time.monotonic() > end:
            raise SystemExit(f"the service does not sell {models} models")
        time.sleep(0.1)
