"""TLS to PostgreSQL: asked for, checked against an authority, and refused when it is somebody else's.

    tls.py BINARY FOLDER --postgres URL --cluster DIR    DIR is the folder that `scripts/postgres start` was given
"""

import os
import shutil
import subprocess

from kill import SETTINGS
from service import Node, arguments, database_of, ended, free_port, sql


def run(*words):
    subprocess.run(words, check=True, capture_output=True)


def authority(folder, name):
    """A certificate authority of its own; its certificate and key."""
    certificate, key = os.path.join(folder, f"{name}.pem"), os.path.join(folder, f"{name}.key")
    run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}",
        "-addext", "basicConstraints=critical,CA:TRUE", "-keyout", key, "-out", certificate)  # fmt: skip
    return certificate, key


def serve_tls(words, folder):
    """Gives the server a certificate for `localhost`; the authority that signed it."""
    ca, ca_key = authority(folder, "ca")
    key, wish, made = (os.path.join(folder, name) for name in ("server.key", "server.csr", "server.crt"))
    extensions = os.path.join(folder, "server.ext")
    with open(extensions, "w") as file:
        file.write("subjectAltName=DNS:localhost\n")
    run("openssl", "req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-keyout", key, "-out", wish)
    run("openssl", "x509", "-req", "-in", wish, "-CA", ca, "-CAkey", ca_key, "-CAcreateserial", "-days", "2",
        "-extfile", extensions, "-out", made)  # fmt: skip
    data = os.path.join(words.cluster, "data")
    owner = os.stat(data)
    for name in ("server.key", "server.crt"):
        target = os.path.join(data, name)
        shutil.copy(os.path.join(folder, name), target)
        os.chmod(target, 0o600)
        if os.geteuid() == 0:
            os.chown(target, owner.st_uid, owner.st_gid)
    sql(words.postgres, "ALTER SYSTEM SET ssl = on")
    sql(words.postgres, "SELECT pg_reload_conf()")
    return ca


def lines(url, name):
    """Connections to a database: with TLS, and without."""
    asked = (
        "SELECT count(*) FILTER (WHERE ssl), count(*) FILTER (WHERE NOT ssl) FROM pg_stat_ssl JOIN pg_stat_activity "
        f"USING (pid) WHERE datname = '{name}' AND application_name = 'atelier'"
    )
    return tuple(int(one) for one in sql(url, asked).split("|"))


def main():
    words = arguments("--postgres", "--cluster")
    os.makedirs(words.folder, exist_ok=True)
    ca = serve_tls(words, words.folder)
    stranger, _ = authority(words.folder, "stranger")
    wrong = []
    cases = [
        ("require", "localhost", None, True),
        ("verify-ca", "127.0.0.1", ca, True),
        ("verify-full", "localhost", ca, True),
        ("verify-full", "127.0.0.1", ca, False),
        ("verify-full", "localhost", stranger, False),
        ("verify-full", "localhost", None, False),
    ]
    for number, (mode, host, root, works) in enumerate(cases):
        name = f"tls{os.getpid()}x{number}"
        url = database_of(words.postgres, name).replace("127.0.0.1", host) + f"?sslmode={mode}"
        if root:
            url += f"&sslrootcert={root}"
        node = Node(words.binary, os.path.join(words.folder, name), free_port(), url, SETTINGS)
        try:
            node.start(wait=30)
            counted = lines(words.postgres, name)
            _, key = node.account(f"caller{number}", 10)
            said = f"works, {counted[0]} connections with TLS and {counted[1]} without"
            if not works or counted[0] == 0 or counted[1] != 0:
                wrong.append(f"{mode} at {host}: {said}")
            node.stop()
        except RuntimeError as error:
            node.kill()
            said = "refused"
            if works:
                wrong.append(f"{mode} at {host}: {error}")
        signed = {ca: "the server's authority", stranger: "another authority", None: "the machine's authorities"}[root]
        print(f"  sslmode={mode} at {host} with {signed}: {said}", flush=True)
    ended("TLS", wrong, well="as it should be")


if __name__ == "__main__":
    main()
