"""A model for cog that needs no weights: one colour in the size that was asked for, or noise, which is large. Some words
make it fail or take its time."""

import os
import struct
import tempfile
import time
import zlib

from cog import BasePredictor, Input, Path


def png(width, height, row):
    rows = b"".join(b"\x00" + row(width) for _ in range(height))

    def part(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", head) + part(b"IDAT", zlib.compress(rows, 1)) + part(b"IEND", b"")


class Predictor(BasePredictor):
    def predict(self, prompt: str = Input(description="words"), width: int = Input(default=64), height: int = Input(default=64)) -> Path:
        if prompt.startswith("fails"):
            raise RuntimeError("CUDA out of memory. Tried to allocate 20.00 MiB")
        if prompt.startswith("nsfw"):
            raise ValueError("NSFW content detected. Try running it again, or try a different prompt.")
        if prompt.startswith("slow"):
            # In steps, so that it can be stopped between them.
            for _ in range(600):
                time.sleep(0.1)
        row = (lambda width: os.urandom(3 * width)) if prompt == "noise" else (lambda width: b"\x09\x63\x09" * width)
        with tempfile.NamedTemporaryFile(suffix=".png", delete=False) as file:
            file.write(png(width, height, row))
        return Path(file.name)
