#!/usr/bin/env python3
"""Real mail servers take the letters of a real service: by STARTTLS with a password, by TLS from the first byte, and plainly; and some
hang, or refuse. The letters are read as a mail program reads them, and kept for pictures.

    tests/people/mail.py PROGRAM FOLDER

Needs: aiosmtpd, openssl.
"""

import asyncio
import email
import email.policy
import json
import pathlib
import re
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "shared"))

from launch import launch  # noqa: E402

PATIENCE_S = 60
TOKEN = "an-operator-for-tests"
LANGUAGES = {"en": "Sign in to Atelier", "de": "Bei Atelier anmelden", "zh": "登录 Atelier"}


def until(what, act, patience=PATIENCE_S):
    """Repeats an act until it gives something."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        if found := act():
            return found
        time.sleep(0.05)
    raise SystemExit(f"FAILED: {what}")


class Inbox:
    """Takes letters; `refuses` answers a recipient with a line of SMTP, `hangs` keeps silent from then on."""

    def __init__(self, refuses=None, hangs=False):
        self.letters, self.asked, self.refuses, self.hangs = [], [], refuses, hangs
        self.sessions = []

    async def handle_RCPT(self, server, session, envelope, address, options):
        self.asked.append(address)
        self.sessions.append((session.ssl is not None, session.authenticated))
        if self.hangs:
            await asyncio.sleep(3600)
        if self.refuses and (line := self.refuses(address, self.asked.count(address))):
            return line
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        message = email.message_from_bytes(envelope.content, policy=email.policy.default)
        self.letters.append((list(envelope.rcpt_tos), message))
        return "250 Message accepted for delivery"

    def to(self, address):
        return [message for recipients, message in self.letters if address in recipients]


class TlsController(Controller):
    """A server that speaks TLS from the first byte."""

    def __init__(self, handler, context, **kwargs):
        self.own_context = context
        super().__init__(handler, ssl_context=context, **kwargs)


def certificate(folder):
    """A certificate of an authority of its own, for localhost."""
    key, cert = folder / "mail.key", folder / "mail.crt"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    made = subprocess.run([*command, "-keyout", key, "-out", cert, *subject], capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(cert, key)
    return context, cert


def known(server, session, envelope, mechanism, data):
    good = (data.login, data.password) == (b"atelier", b"p@ss word")
    return AuthResult(success=good)


class Service:
    """A service whose letters go to a server."""

    def __init__(self, program, folder, url, cert=None, **settings):
        folder.mkdir(parents=True)
        environment = {
            "ATELIER_ADMIN_TOKEN": TOKEN,
            "ATELIER_MAIL_URL": url,
            "ATELIER_MAIL_FROM": "Atelier <atelier@example.com>",
            "ATELIER_PEOPLE_SIGNUP": "open",
            **settings,
        }
        if cert:
            environment["SSL_CERT_FILE"] = str(cert)
        self.log = folder / "log"
        words = ["--listen", "127.0.0.1:0", "--data-dir", folder / "data"]
        self.process, self.base = launch(program, *words, log=self.log, environment=environment)

    def call(self, method, path, body=None, token=None):
        headers = {"Content-Type": "application/json", "Origin": self.base}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data=data, method=method, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read())

    def ask(self, address, language="en"):
        begun = time.monotonic()
        status, answer = self.call("POST", "/auth/v1/link", {"email": address, "language": language})
        assert status == 200, answer
        return time.monotonic() - begun

    def mails(self):
        with urllib.request.urlopen(self.base + "/metrics", timeout=20) as answer:
            text = answer.read().decode()
        return {word: int(float(count)) for word, count in re.findall(r'^atelier_mails_total\{outcome="(\w+)"\} (\S+)', text, re.M)}

    def stop(self):
        self.process.terminate()
        self.process.wait(60)


def read(message, language, address):
    """Judges a letter as a mail program shows it: both forms say the same, and nothing is loaded."""
    assert message["To"] == address, message["To"]
    assert message["From"] == "Atelier <atelier@example.com>", message["From"]
    assert message["Auto-Submitted"] == "auto-generated"
    assert re.fullmatch(r"<[0-9a-f-]+@example\.com>", message["Message-ID"]), message["Message-ID"]
    assert message["Date"] is not None
    assert message.get_content_type() == "multipart/alternative"
    plain, html = (message.get_body((kind,)).get_content() for kind in ("plain", "html"))
    link = re.search(r"https?://\S+/auth/v1/link/(se_\w+)", plain)
    assert link and link[0] in html, plain
    assert f'<html lang="{language}">' in html, html
    assert address in plain and address in html
    assert not re.search(r"<script|<img|<link|src=|url\(", html), html
    return plain, html, link[1]


def letters(program, folder, kept):
    """By STARTTLS with a password, in every language; the letters are kept."""
    context, cert = certificate(folder)
    inbox = Inbox()
    server = Controller(
        inbox,
        hostname="127.0.0.1",
        port=0,
        tls_context=context,
        require_starttls=True,
        authenticator=known,
        auth_required=True,
        decode_data=False,
    )
    server.start()
    port = server.server.sockets[0].getsockname()[1]
    service = Service(program, folder / "starttls", f"smtp://atelier:p%40ss%20word@localhost:{port}", cert)
    for language, subject in LANGUAGES.items():
        address = f"{language}@example.com"
        service.ask(address, language)
        [message] = until(f"the letter in {language}", lambda: inbox.to(address))
        plain, html, _ = read(message, language, address)
        assert message["Subject"] != "", message["Subject"]
        status, made = service.call("POST", "/admin/v1/accounts", {"email": f"studio-{language}@example.com"}, TOKEN)
        assert status == 200, made
        invitation = {"email": f"guest-{language}@example.com", "role": "member", "language": language}
        status, sent = service.call("POST", f"/admin/v1/accounts/{made['data']['id']}/invitations", invitation, TOKEN)
        assert status == 200, sent
        [invited] = until("an invitation", lambda: inbox.to(invitation["email"]))
        read(invited, language, invitation["email"])
        assert f"studio-{language}@example.com" in invited["Subject"], invited["Subject"]
        for name, one in (("sign-up", message), ("invitation", invited)):
            for kind, ending in (("plain", "txt"), ("html", "html")):
                (kept / f"{name}-{language}.{ending}").write_text(one.get_body((kind,)).get_content())
    # Somebody who is known is written to in another way, and in their own language.
    status, made = service.call("POST", "/admin/v1/operators", {"name": "ada", "role": "viewer", "email": "ada@example.com", "language": "de"}, TOKEN)
    assert status == 200, made
    until("that somebody is an operator", lambda: inbox.to("ada@example.com"))
    service.ask("ada@example.com", "zh")
    message = until("a link", lambda: inbox.to("ada@example.com")[1:])[0]
    assert message["Subject"] == LANGUAGES["de"], message["Subject"]
    (kept / "sign-in-de.html").write_text(message.get_body(("html",)).get_content())
    assert all(tls and authenticated for tls, authenticated in inbox.sessions), inbox.sessions
    assert service.mails()["sent"] == len(inbox.letters), service.mails()
    log = service.log.read_text()
    assert "se_" not in log.split("console/#")[0] and "p@ss" not in log and "p%40ss" not in log, "a secret is in the log"
    service.stop()
    server.stop()
    print(f"  {len(inbox.letters)} letters by STARTTLS with a password, in {len(LANGUAGES)} languages")


def from_the_first_byte(program, folder):
    """TLS comes first; a server whose certificate nobody vouches for gets nothing, and neither does one without TLS."""
    context, cert = certificate(folder)
    inbox = Inbox()
    server = TlsController(inbox, context, hostname="127.0.0.1", port=0)
    server.start()
    port = server.server.sockets[0].getsockname()[1]
    service = Service(program, folder / "smtps", f"smtps://localhost:{port}", cert)
    service.ask("ada@example.com")
    [message] = until("the letter", lambda: inbox.to("ada@example.com"))
    read(message, "en", "ada@example.com")
    service.stop()
    service = Service(program, folder / "unknown", f"smtps://localhost:{port}")
    service.ask("eve@example.com")
    until("that it was given up for now", lambda: service.mails().get("again"))
    assert not inbox.asked[1:], "nothing goes to a server that nobody vouches for"
    service.stop()
    server.stop()
    plain = Inbox()
    server = Controller(plain, hostname="127.0.0.1", port=0)
    server.start()
    port = server.server.sockets[0].getsockname()[1]
    service = Service(program, folder / "downgraded", f"smtp://127.0.0.1:{port}")
    service.ask("ada@example.com")
    until("that it was not sent", lambda: service.mails().get("again") or service.mails().get("given_up"))
    assert not plain.asked, "a server without TLS gets nothing unless its address says so"
    service.stop()
    service = Service(program, folder / "plain", f"smtp://127.0.0.1:{port}?tls=off")
    service.ask("ada@example.com")
    until("the letter", lambda: plain.to("ada@example.com"))
    service.stop()
    server.stop()
    print("  TLS from the first byte, no downgrade, and plainly where the address says so")


def troubles(program, folder):
    """A server that hangs, and one that refuses: nobody waits for either, and what can be tried again is."""
    hanging = Inbox(hangs=True)
    server = Controller(hanging, hostname="127.0.0.1", port=0)
    server.start()
    port = server.server.sockets[0].getsockname()[1]
    service = Service(program, folder / "hangs", f"smtp://127.0.0.1:{port}?tls=off", ATELIER_PROXIES_TRUSTED="127.0.0.1")
    times = [service.ask(f"somebody{number}@example.com") for number in range(20)]
    until("that the server hangs", lambda: hanging.asked)
    status, made = service.call("POST", "/admin/v1/accounts", {"email": "a@example.com", "balance": 10}, TOKEN)
    assert status == 200, made
    begun = time.monotonic()
    for _ in range(20):
        request = urllib.request.Request(service.base + "/artgen/v1/imagine", data=b'{"prompt":"a lake"}', method="POST")
        request.add_header("SVC-API-KEY", made["data"]["api_key"])
        try:
            urllib.request.urlopen(request, timeout=20).read()
        except urllib.error.HTTPError as error:
            error.read()
    submits = time.monotonic() - begun
    assert max(times) < 5 and submits < 20, (max(times), submits)
    until("that it is tried again", lambda: service.mails().get("again"), 90)
    began = time.monotonic()
    service.stop()
    assert time.monotonic() - began < 40, "a hanging server holds up the end"
    server.stop()
    print(f"  a server that hangs: links asked for within {max(times) * 1000:.0f} ms, 20 submits within {submits:.1f} s")

    def refuses(address, times):
        if address.startswith("nobody"):
            return "550 no such mailbox"
        return "451 try again later" if times == 1 else None

    bouncing = Inbox(refuses=refuses)
    server = Controller(bouncing, hostname="127.0.0.1", port=0)
    server.start()
    port = server.server.sockets[0].getsockname()[1]
    service = Service(program, folder / "bounces", f"smtp://127.0.0.1:{port}?tls=off")
    for address in ("nobody@example.com", "later@example.com"):
        service.ask(address)
    until("the letter that was put off", lambda: bouncing.to("later@example.com"))
    assert bouncing.asked.count("nobody@example.com") == 1, "what is refused for good is not tried again"
    assert service.mails() == {"sent": 1, "again": 1, "given_up": 1, "dropped": 0}, service.mails()
    assert "nobody@" not in service.log.read_text(), "whom a letter was for is nobody's business"
    service.stop()
    server.stop()
    print("  a server that refuses: put off once and delivered, refused once and given up")


def main(program, folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    kept = folder / "letters"
    kept.mkdir(exist_ok=True)
    for name in ("signed", "tls", "troubles"):
        (folder / name).mkdir()
    letters(program, folder / "signed", kept)
    from_the_first_byte(program, folder / "tls")
    troubles(program, folder / "troubles")
    print(f"letters: {kept}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
