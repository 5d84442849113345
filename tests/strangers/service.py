"""The service as a process of its own, for those who attack it, and a bare server to know the machine by."""
import asyncio, math, os, pathlib, re, signal, sys, time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "shared"))

from attacks import Line, sure
from launch import launch, port_of

TOKEN = "an-operator-for-proofs"


class Service:
    def __init__(self, binary, folder, listen="127.0.0.1:0", **more):
        self.folder, self.token = folder, TOKEN
        # One machine plays all strangers; its one address may have more connections than a household.
        settings = {"LIMITS_CONNECTIONS_PER_ADDRESS": "3072", "LIMITS_DISK_FREE_PERCENT": "0", "LOG_LEVEL": "error", **more}
        environment = {**{f"ATELIER_{name}": value for name, value in settings.items()}, "ATELIER_ADMIN_TOKEN": TOKEN}
        words = ["--listen", listen, "--data-dir", folder]
        self.process, base = launch(binary, *words, log=os.path.join(folder, "log"), environment=environment)
        self.port = port_of(base)

    async def account(self, name, balance=100000, **change):
        line, operator = Line(self.port), [f"Authorization: Bearer {TOKEN}"]
        email = f"{name}-{time.monotonic_ns()}@example.com"
        made = await sure(line, "POST", "/admin/v1/accounts", body={"email": email, "balance": balance}, headers=operator)
        if change:
            await sure(line, "PATCH", f"/admin/v1/accounts/{made['data']['id']}", body=change, headers=operator)
        line.close()
        return made["data"]["api_key"]

    def memory(self, what="VmRSS"):
        text = open(f"/proc/{self.process.pid}/status").read()
        return int(re.search(what + r":\s+(\d+)", text)[1]) / 1024

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)


def percentile(times, part):
    return sorted(times)[min(len(times) - 1, math.ceil(len(times) * part) - 1)] * 1000


def bare_server(told):
    """Answers everything at once, in a process of its own."""
    async def serve(reader, writer):
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            writer.close()

    async def run():
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        told.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(run())
