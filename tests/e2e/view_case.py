"""The case of a test of thor view: a small grid, a server of it, and how it is asked."""

import contextlib
import http.client
import json
import re
import socket
import struct
import subprocess
import urllib.parse
import zlib

import h5py
import numpy as np

from support import Case, command_line, write_grid

CELL = 1e20  # cm


def write_blob(path, n=24, cell=CELL, **attributes):
    """A bright ball beside a faint gradient: no two views of it are alike."""
    x, y, z = np.meshgrid(*[(np.arange(n) + 0.5) / n] * 3, indexing="ij")
    density = 1e-3 * (1 + x + 2 * y + 3 * z) + np.where((x - 0.3)**2 + (y - 0.6)**2 + (z - 0.4)**2 < 0.04, 1.0, 0.0)
    write_grid(path, n, cell, density, **attributes)
    with h5py.File(path, "a") as file:
        file["HI_density"].attrs["units"] = "cm-3"
        file["temperature"].attrs["units"] = "K"
        file["velocity_x"][...] = 100 * x - 50
    return density.astype("f4")


def decode_png(data):
    """The pixels of a PNG with 8 bits a colour and without filters."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n", data[:40]
    width, height, bits, colours = struct.unpack(">IIBB", data[16:26])
    assert (bits, colours) == (8, 2)
    at, packed = 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        assert zlib.crc32(data[at + 4:at + 8 + length]) == struct.unpack(">I", data[at + 8 + length:at + 12 + length])[0]
        packed += data[at + 8:at + 8 + length] if kind == b"IDAT" else b""
        at += 12 + length
    rows = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(height, 3 * width + 1)
    assert not rows[:, 0].any()
    return rows[:, 1:].reshape(height, width, 3)


class ViewCase(Case):
    def setUp(self):
        super().setUp()
        self.path = self.folder / "blob.h5"
        self.density = write_blob(self.path)

    def start(self, path=None, *arguments):
        job = subprocess.Popen(command_line("view", path or self.path, "--threads", 2, "--device", "cpu", *arguments),
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.folder)
        self.addCleanup(job.stdout.close)
        self.addCleanup(job.stderr.close)
        self.addCleanup(job.wait)
        self.addCleanup(job.kill)
        self.job, self.address = job, job.stdout.readline().strip()
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/([0-9a-f]{32,})/", self.address)
        self.assertTrue(found, self.address or job.stderr.read())
        self.port, self.token = int(found[1]), found[2]
        return job

    def get(self, what="", headers=None, method="GET", **parameters):
        """Status, headers and body."""
        query = "?" + urllib.parse.urlencode(parameters) if parameters else ""
        target = what if what.startswith("/") else f"/{self.token}/{what}"
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        with contextlib.closing(client):
            client.request(method, target + query, headers=headers or {})
            answer = client.getresponse()
            return answer.status, answer.headers, answer.read()

    def good(self, what, **parameters):
        status, headers, body = self.get(what, **parameters)
        self.assertEqual(status, 200, body)
        return headers, body

    def frame(self, **parameters):
        headers, body = self.good("frame", **parameters)
        self.assertEqual(headers["Content-Type"], "image/png")
        return decode_png(body)

    def json(self, what, **parameters):
        return json.loads(self.good(what, **parameters)[1])

    def raw(self, data, seconds=20):
        """What comes back for these bytes, until the connection ends."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=seconds) as client:
            with contextlib.suppress(ConnectionError):  # it may refuse before all is sent
                client.sendall(data)
            answer = b""
            with contextlib.suppress(ConnectionError):
                while chunk := client.recv(65536):
                    answer += chunk
            return answer

    def request(self, target=None, method="GET", version="HTTP/1.1", host=None, more=""):
        target = f"/{self.token}/info" if target is None else target
        host = f"127.0.0.1:{self.port}" if host is None else host
        return f"{method} {target} {version}\r\nHost: {host}\r\n{more}\r\n".encode("latin1")

    def assert_status(self, answer, status):
        self.assertRegex(answer.decode("latin1"), rf"^HTTP/1\.1 {status} ")

    def assert_alive(self):
        self.assertIsNone(self.job.poll(), "the server has ended")
        self.assertEqual(self.get("info")[0], 200)
