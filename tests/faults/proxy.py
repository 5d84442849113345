"""A TCP proxy with toxics: latency, bandwidth, reset, freeze, half-open connections, slicing. Toxics apply to
connections that are open already as well as to new ones."""

import asyncio
import random
import socket
import struct
import threading


class Proxy:
    """Stands before a server; set the attributes at any time."""

    def __init__(self, host, port):
        self.server = (host, port)
        self.port = None
        self.latency = 0.0  # seconds before each piece goes on
        self.bandwidth = 0  # bytes a second; 0 for any
        self.slices = 0  # bytes of the largest piece that goes on at once; 0 for any
        self.frozen = False  # nothing goes on, nothing is lost, new connections are taken and say nothing
        self.deaf = set()  # connections whose other end has gone without a word: what is sent there is lost
        self.lines = {}
        self.count = 0
        self.loop = asyncio.new_event_loop()
        ready = threading.Event()
        threading.Thread(target=self._run, args=(ready,), daemon=True).start()
        ready.wait(10)

    def _run(self, ready):
        asyncio.set_event_loop(self.loop)

        async def begin():
            server = await asyncio.start_server(self._take, "127.0.0.1", 0)
            self.port = server.sockets[0].getsockname()[1]
            ready.set()

        self.loop.create_task(begin())
        self.loop.run_forever()

    def _now(self, act):
        done = threading.Event()
        self.loop.call_soon_threadsafe(lambda: (act(), done.set()))
        done.wait(10)

    def half_open(self):
        """Every connection there is leads nowhere from now on; new ones work."""
        self._now(lambda: self.deaf.update(self.lines))

    def reset(self):
        """Every connection there is breaks at once, with a reset."""

        def act():
            for writers in list(self.lines.values()):
                for writer in writers:
                    line = writer.get_extra_info("socket")
                    if line is not None:
                        line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    writer.transport.abort()

        self._now(act)

    def heal(self):
        self.latency, self.bandwidth, self.slices, self.frozen = 0.0, 0, 0, False

    async def _take(self, reader, writer):
        number, self.count = self.count, self.count + 1
        try:
            there, back = await asyncio.open_connection(*self.server)
        except OSError:
            writer.transport.abort()
            return
        self.lines[number] = (writer, back)
        await asyncio.gather(self._carry(number, reader, back), self._carry(number, there, writer))
        self.lines.pop(number, None)
        self.deaf.discard(number)

    async def _carry(self, number, reader, writer):
        try:
            while data := await reader.read(64 * 1024):
                while self.frozen:
                    await asyncio.sleep(0.02)
                if number in self.deaf:
                    continue
                if self.latency:
                    await asyncio.sleep(self.latency * random.uniform(0.5, 1.5))
                piece = self.slices or len(data)
                for start in range(0, len(data), piece):
                    part = data[start : start + piece]
                    if self.bandwidth:
                        await asyncio.sleep(len(part) / self.bandwidth)
                    writer.write(part)
                    await writer.drain()
                    if self.slices:
                        await asyncio.sleep(0)
        except (OSError, asyncio.IncompleteReadError):
            pass
        while self.frozen or number in self.deaf:
            await asyncio.sleep(0.05)
            if number not in self.lines:
                return
        writer.close()
