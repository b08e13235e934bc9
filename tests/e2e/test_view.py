"""thor view: what its server answers and refuses, its pictures and spectra, and its page in a real browser.

    /usr/bin/python3 tests/e2e/test_view.py --thor build/release/thor [unittest arguments]

The binary may also come from the environment, THOR_BINARY. Needs numpy and h5py; the test of the page needs chromium, and is
skipped loudly without it. With THOR_VIEW_SCREENSHOT=FILE it saves what the browser shows.
"""

import concurrent.futures
import contextlib
import http.client
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import time
import urllib.parse
import zlib
from pathlib import Path

import h5py
import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from browser import Browser, find_browser  # noqa: E402
from support import (  # noqa: E402
    Case, DONE, INPUT, KPC, USAGE, command_line, main, skip_loudly, thor, write_grid)

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


class Server(ViewCase):
    """Who is served, and with what."""

    def test_only_this_machine_with_the_token(self):
        self.start()
        listening = [line.split()[1] for line in Path("/proc/net/tcp").read_text().splitlines()[1:]
                     if line.split()[3] == "0A" and int(line.split()[1].split(":")[1], 16) == self.port]
        self.assertEqual([place.split(":")[0] for place in listening], ["0100007F"])
        with self.assertRaises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.2", self.port), timeout=5)
        wrong = "0" * len(self.token)
        expected = self.get("/")[2]
        for target in ("/", "/info", f"/{wrong}/", f"/{wrong}/info", f"/{self.token[:-1]}/info", f"/{self.token}0/info",
                       f"/{self.token.upper()}X/", "//", f"//{self.token}/info", "/favicon.ico"):
            with self.subTest(target):
                status, _, body = self.get(target)
                self.assertEqual((status, body), (404, expected))
                self.assertNotIn(self.token.encode(), body)
        self.assertEqual(self.get(f"/{self.token}")[1]["Location"], f"/{self.token}/")
        self.assert_alive()
        first = self.token
        self.start()
        self.assertNotEqual(self.token, first)

    def test_another_host_is_refused(self):
        """A page elsewhere whose name leads to 127.0.0.1 must not be able to read anything."""
        self.start()
        for host in ("evil.example", f"evil.example:{self.port}", "127.0.0.1", f"127.0.0.1:{self.port + 1}", "",
                     f"127.0.0.1:{self.port}.evil.example", f"[::1]:{self.port}"):
            with self.subTest(host):
                self.assert_status(self.raw(self.request(host=host)), 403)
        self.assert_status(self.raw(self.request(host=f"LocalHost:{self.port}")), 200)
        self.assert_alive()

    def test_headers(self):
        self.start()
        headers, page = self.good("")
        policy = headers["Content-Security-Policy"]
        nonce = re.search(r"script-src 'nonce-([0-9a-f]{32})'", policy)[1]
        self.assertIn(f'<script nonce="{nonce}">'.encode(), page)
        self.assertNotIn("unsafe", policy)
        self.assertIn("default-src 'self'", policy)
        self.assertNotRegex(page.decode().replace("http://www.w3.org/2000/svg", ""), "https?://")
        self.assertNotEqual(self.good("")[0]["Content-Security-Policy"], policy)
        for what in ("", "info", "frame", "nothing"):
            headers = self.get(what)[1]
            for name, value in (("X-Content-Type-Options", "nosniff"), ("Cache-Control", "no-store"),
                                ("Referrer-Policy", "no-referrer"), ("X-Frame-Options", "DENY")):
                self.assertEqual(headers[name], value)
            self.assertNotIn("Access-Control-Allow-Origin", headers)

    def test_no_file_is_ever_served(self):
        self.start()
        (self.folder / "secret.txt").write_text("secret words")
        for path in ("../../etc/passwd", "../../../../../../etc/passwd", "%2e%2e/%2e%2e/etc/passwd", "..%2f..%2fetc%2fpasswd",
                     "/etc/passwd", "secret.txt", "blob.h5", "./secret.txt", "frame/../secret.txt", "%00", "info%00.txt",
                     "file:///etc/passwd", "\\..\\..\\etc\\passwd", "info/", "Info"):
            with self.subTest(path):
                answer = self.raw(self.request(f"/{self.token}/{path}"))
                self.assert_status(answer, 404)
                self.assertNotIn(b"root:", answer)
                self.assertNotIn(b"secret words", answer)
        for field in ("../../etc/passwd", "/etc/passwd", "secret.txt"):
            status, _, body = self.get("frame", field=field)
            self.assertEqual(status, 400)
            self.assertNotIn(b"root:", body)
        self.assert_alive()

    def test_signals_end_it(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number.name):
                job = self.start()
                self.frame(pixels=64)
                idle = socket.create_connection(("127.0.0.1", self.port))
                job.send_signal(number)
                self.assertEqual(job.wait(10), DONE)
                self.assertIn("browser", job.stderr.read())
                idle.close()

    def test_refusals_of_the_command(self):
        (self.folder / "rays.yaml").write_text("driver: raytrace\nline: Nope\n")
        taken = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(taken.close)
        with h5py.File(self.folder / "empty.h5", "w") as file:
            file["a"] = 1.0
        for arguments, code, words in (
                (("missing.h5",), INPUT, "missing.h5"), (("missing.yaml",), USAGE, "missing.yaml"),
                (("rays.yaml",), USAGE, "dataset"), (("empty.h5",), INPUT, "not a grid"),
                ((self.path, "--field", "HI_densty"), INPUT, "HI_density"), ((self.path, "--port", "70000"), USAGE, "port"),
                ((self.path, "--device", "abacus"), None, "abacus"),
                ((self.path, "--port", taken.getsockname()[1]), USAGE, "cannot be used"), ((), USAGE, "FILE")):
            with self.subTest(arguments):
                done = thor("view", *arguments, cwd=self.folder)
                self.assertIn(words, done.stderr)
                self.assertEqual(done.stdout, "")
                self.assertEqual(done.returncode, code if code is not None else done.returncode)
                self.assertNotIn(done.returncode, (0, 1))


class Hostile(ViewCase):
    """Clients that are wrong, rude, slow or many: each gets an error or nothing, and the next one is served."""

    def test_malformed_requests(self):
        self.start()
        host = f"Host: 127.0.0.1:{self.port}\r\n"
        good = f"/{self.token}/info"
        for data in ("\r\n\r\n", "GET\r\n\r\n", f"GET {good}\r\n{host}\r\n", f"GET {good} HTTP/2.0\r\n{host}\r\n",
                     f"GET {good} HTTP/1.1\r\nHost 127.0.0.1\r\n\r\n", f"GET {good} HTTP/1.1\r\n{host}{host}\r\n",
                     f"GET {good} HTTP/1.1\r\n\r\n", f"G\x01T {good} HTTP/1.1\r\n{host}\r\n",
                     f"GET {good}\x00 HTTP/1.1\r\n{host}\r\n", f"GET {good} x HTTP/1.1\r\n{host}\r\n",
                     f"GET {good} HTTP/1.1\r\n{host} folded: 1\r\n\r\n", f"GET {good} HTTP/1.1\r\n{host}A: \x07\r\n\r\n",
                     f"GET http://127.0.0.1:{self.port}{good} HTTP/1.1\r\n{host}\r\n", f"GET {good}?a=%zz HTTP/1.1\r\n{host}\r\n",
                     f"GET {good}?field=%00 HTTP/1.1\r\n{host}\r\n", f"GET {good}?a=1&a=2 HTTP/1.1\r\n{host}\r\n",
                     "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", "\xff" * 100 + "\r\n\r\n"):
            with self.subTest(data[:60]):
                self.assert_status(self.raw(data.encode("latin1")), 400)
        self.assert_alive()

    def test_oversized_requests(self):
        self.start()
        for data in (b"GET /" + b"a" * 20000, b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 4000, b"x" * 3_000_000,
                     self.request(f"/{self.token}/info?field=" + "a" * 9000)):
            self.assert_status(self.raw(data), 431)
        self.assert_status(self.raw(self.request(f"/{self.token}/frame?field=" + "a" * 5000)), 400)
        self.assert_status(self.raw(self.request(f"/{self.token}/frame?" + "a" * 5000 + "=1")), 400)
        for more in ("Content-Length: 1000000\r\n", "Transfer-Encoding: chunked\r\n"):
            self.assert_status(self.raw(self.request(more=more) + b"x" * 200_000), 413)
        self.assert_alive()

    def test_other_methods(self):
        self.start()
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "HEAD", "TRACE", "CONNECT", "get", "BREW"):
            with self.subTest(method):
                answer = self.raw(self.request(method=method))
                self.assert_status(answer, 405)
                self.assertIn(b"Allow: GET\r\n", answer)
        self.assert_alive()

    def test_slow_clients(self):
        """More of them than there are places."""
        self.start()
        slow = [socket.create_connection(("127.0.0.1", self.port), timeout=20) for _ in range(24)]
        for client in slow:
            client.sendall(b"GET /")
        begin = time.monotonic()
        self.assertEqual(self.get("info")[0], 200)  # as soon as a place is free
        self.assertLess(time.monotonic() - begin, 15)
        self.assert_status(slow[0].recv(4096), 408)
        for client in slow:
            client.close()
        # One that sends now and then has no longer than one that sends nothing.
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as client:
            begin = time.monotonic()
            with contextlib.suppress(ConnectionError):
                while time.monotonic() - begin < 12:
                    client.sendall(b"a")
                    time.sleep(0.2)
            self.assertLess(time.monotonic() - begin, 11)
        self.assert_alive()

    def test_those_who_leave(self):
        self.start()
        for data in (b"", b"GET", self.request()[:-2], self.request(f"/{self.token}/frame?pixels=1024"), self.request()):
            for _ in range(8):
                client = socket.create_connection(("127.0.0.1", self.port))
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # leaves with a reset
                client.sendall(data)
                client.close()
        self.assert_alive()
        client = socket.create_connection(("127.0.0.1", self.port))  # takes the first bytes of a long answer only
        client.sendall(self.request(f"/{self.token}/frame?pixels=1024"))
        client.recv(10)
        client.close()
        self.assert_alive()

    def test_many_at_once(self):
        self.start()
        expected = self.frame(pixels=64)
        with concurrent.futures.ThreadPoolExecutor(40) as pool:
            frames = list(pool.map(lambda _: self.frame(pixels=64), range(80)))
        self.assertTrue(all((frame == expected).all() for frame in frames))
        kinds = [("frame", {"kind": "slice", "pixels": 32}), ("spectrum", {"px": 256, "py": 256}), ("info", {}),
                 ("frame", {"field": "temperature", "kind": "projection", "pixels": 32})] * 12
        with concurrent.futures.ThreadPoolExecutor(24) as pool:
            answers = list(pool.map(lambda job: self.get(job[0], **job[1])[0], kinds))
        self.assertEqual(set(answers), {200})
        self.assert_alive()

    def test_random_bytes(self):
        self.start()
        random = np.random.default_rng(1)
        good = self.request(f"/{self.token}/frame?kind=slice&pixels=16&dx=1&width=1e-2")
        for _ in range(150):
            data = bytearray(good)
            for at in random.integers(0, len(data), 3):
                data[at] = random.integers(0, 256)
            answer = self.raw(bytes(data) + b"\r\n\r\n")
            self.assertRegex(answer[:40].decode("latin1"), r"^HTTP/1\.1 (200|400|403|404|405|413) ")
        self.assert_alive()


class Pictures(ViewCase):
    def test_bad_parameters(self):
        self.start()
        for parameters, words in (
                ({"pixels": 15}, "16 to 2048"), ({"pixels": 2049}, "pixels"), ({"pixels": 20.5}, "whole"), ({"rows": "many"}, "rows"),
                ({"rows": -1}, "rows"), ({"dx": "nan"}, "dx"), ({"ux": "inf"}, "ux"), ({"dy": "1e400"}, "dy"), ({"dx": "1;2"}, "dx"),
                ({"dx": 0, "dy": 0, "dz": 0}, "direction"), ({"ux": 0, "uy": 0, "uz": 0}, "ux"), ({"width": 0}, "width"),
                ({"dx": 0, "dy": 0, "dz": 1, "ux": 0, "uy": 0, "uz": 2}, "parallel"), ({"width": -1}, "width"),
                ({"width": 1e30}, "width"), ({"cx": 1e300}, "cx"), ({"field": "HI_densty"}, "did you mean"),
                ({"field": "*"}, "expected a field"), ({"field": "density"}, "there are: HI_density"),
                ({"kind": "hologram"}, "render, projection, slice"), ({"map": "jet"}, "inferno"), ({"scale": "cubic"}, "scale"),
                ({"low": 2, "high": 1}, "less than"), ({"low": -1, "scale": "log"}, "greater than 0"), ({"opacity": -1}, "opacity"),
                ({"opacity": "1e9"}, "opacity"), ({"field": "velocity"}, "velocity"), ({"pixel": 20}, "did you mean"),
                ({"weight": "nothing", "kind": "projection"}, "nothing"), ({"scale": "log", "field": "velocity_y"}, "linear")):
            with self.subTest(parameters):
                status, headers, body = self.get("frame", **parameters)
                self.assertEqual(status, 400, body)
                self.assertEqual(headers["Content-Type"], "application/json")
                self.assertEqual(body.count(b"\n"), 1)
                self.assertIn(words, json.loads(body)["error"])
        self.assert_alive()

    def test_sizes_and_turns(self):
        self.start()
        for columns, rows in ((16, 16), (33, 70), (257, 64)):
            self.assertEqual(self.frame(pixels=columns, rows=rows).shape, (rows, columns, 3))
        for kind in ("render", "projection", "slice"):
            with self.subTest(kind):
                seen = [self.frame(kind=kind, pixels=48, dx=d[0], dy=d[1], dz=d[2], ux=0.1, uy=0.2, uz=1).astype(int)
                        for d in ((1, 0, 0), (0, 1, 0), (1, 1, 1))]
                seen.append(self.frame(kind=kind, pixels=48, dx=1, dy=0, dz=0, ux=0.1, uy=0.2, uz=1, width=0.3).astype(int))
                for i, a in enumerate(seen):
                    self.assertGreater(a.max(), 100)
                    for b in seen[:i]:
                        self.assertGreater(np.abs(a - b).mean(), 1)
        self.assertGreater(np.abs(self.frame(map="ice").astype(int) - self.frame(map="viridis")).mean(), 1)
        self.assertGreater(np.abs(self.frame(opacity=0.1).astype(int) - self.frame(opacity=100)).mean(), 1)

    def test_a_slice_has_the_values_of_its_cells(self):
        self.start()
        n, size = len(self.density), len(self.density) * CELL / KPC
        middle = 0.5 * size
        shades = self.frame(kind="slice", field="HI_density", map="grey", scale="linear", low=0, high=2, pixels=n, dx=0, dy=0, dz=1,
                            ux=0, uy=1, uz=0, cx=middle, cy=middle, cz=size * 10.5 / n, width=size)
        expected = 255 * np.clip(self.density[:, :, 10] / 2, 0, 1)  # [x, y]
        self.assertLess(np.abs(shades[::-1, :, 0].T - expected).max(), 1.01)
        headers, _ = self.good("frame", kind="projection", field="HI_density", pixels=n, dx=0, dy=0, dz=1, ux=0, uy=1, uz=0, width=size)
        self.assertEqual((headers["X-Thor-Units"], headers["X-Thor-Scale"]), ("cm-2", "log"))
        columns = self.density.sum(axis=2) * CELL
        self.assertGreaterEqual(float(headers["X-Thor-Low"]), columns.min() * (1 - 1e-5))
        self.assertAlmostEqual(float(headers["X-Thor-High"]) / np.sort(columns.ravel())[-2:].mean(), 1, delta=0.02)

    def test_more_fields_than_there_is_room_for(self):
        with h5py.File(self.path, "a") as file:
            for i in range(20):
                file[f"field{i}"] = self.density * (i + 1)
        self.start()
        seen = [self.frame(kind=kind, field=f"field{i}", pixels=32, map="ice") for i in range(20) for kind in ("render", "projection")]
        for frame in seen[2:]:  # the same shape, in its own range
            self.assertTrue(any((np.abs(frame.astype(int) - seen[k]) <= 2).all() for k in (0, 1)))
        self.frame(field="field1*field2", weight="field3", kind="projection", pixels=16)

    def test_info(self):
        self.start()
        info = self.json("info")
        self.assertEqual((info["name"], info["cells"], info["periodic"]), ("blob.h5", [24] * 3, False))
        self.assertEqual([f["units"] for f in info["fields"] if f["name"] == "HI_density"], ["cm-3"])
        self.assertIn("velocity", [f["name"] for f in info["fields"]])
        self.assertEqual(info["lines"], ["Lya"])
        self.assertNotIn(str(self.folder), json.dumps(info))
        field = self.json("info", field="HI_density")["field"]
        self.assertAlmostEqual(field["largest"] / self.density.max(), 1, delta=1e-6)
        self.assertAlmostEqual(field["least"] / self.density.min(), 1, delta=1e-6)
        self.assertEqual(self.get("info", field="nope")[0], 400)

    def test_a_configuration_is_where_it_starts(self):
        path = self.write({"driver": "raytrace", "dataset": {"type": "uniform_grid", "path": "blob.h5"},
                           "cameras": [{"name": "side", "direction": [1, 0, 0], "up": [0, 0, 1], "width": "0.3 kpc", "pixels": 64}],
                           "operators": [{"type": "slice", "name": "cut", "camera": "side", "field": "temperature"},
                                         {"type": "render", "name": "view", "camera": "side", "field": "HI_density", "transfer":
                                          {"range": [0.01, 10], "peaks": [{"at": 1, "width": 0.2, "colour": [0, 1, 0], "opacity": 30}]}}],
                           "output": {"path": "rays.h5"}})
        self.start(path)
        start = self.json("info")["start"]
        self.assertEqual((start["kind"], start["field"], start["direction"], start["map"]), ("render", "HI_density", [1, 0, 0], "file"))
        self.assertAlmostEqual(start["width"], 0.3)
        self.assertEqual(thor("run", path).returncode, DONE)
        with h5py.File(self.folder / "rays.h5") as file:
            expected = 255 * np.clip(file["images/view/rgba"][()][::-1, :, :3], 0, 1)
        for more in ({}, {"low": start["low"], "high": start["high"], "scale": start["scale"]}):
            shades = self.frame(pixels=64, **more)
            self.assertGreater(shades[:, :, 1].max(), 150)  # the ball is green
            self.assertLess(np.abs(shades - expected).max(), 3)
        self.assertGreater(np.abs(self.frame(pixels=64, low=1, high=100) - expected).mean(), 3)

    def test_models(self):
        """Whose fields are formulas: any number of pictures."""
        for dataset in ({"type": "shell", "outer_radius": "1 kpc", "inner_radius": "0.3 kpc"}, {"type": "slab", "half_thickness": "1 kpc"}):
            with self.subTest(dataset["type"]):
                path = self.write({"driver": "raytrace", "dataset": {**dataset, "temperature": "1e4 K", "tau0": 1e4},
                                   "cameras": [{"name": "c", "direction": [1, 0, 1], "up": [0, 1, 0], "width": "3 kpc", "pixels": 32}],
                                   "operators": [{"type": "projection", "name": "p", "camera": "c", "field": "density"}],
                                   "output": {"path": "o.h5"}})
                self.start(path)
                for i in range(8):
                    for kind in ("render", "projection", "slice"):
                        self.frame(kind=kind, pixels=24, dz=1 + i)
                self.assertGreater(self.json("spectrum", px=256, py=256)["column_density"], 1e15)


class Spectra(ViewCase):
    def look(self, px, py, **more):
        n = len(self.density)
        return {"dx": 0, "dy": 0, "dz": 1, "ux": 0, "uy": 1, "uz": 0, "width": n * CELL / KPC, "pixels": n, "px": px, "py": py, **more}

    def test_the_column_is_the_sum_of_the_cells(self):
        self.start()
        n = len(self.density)
        for i, j in ((0, 0), (7, 14), (23, 2)):
            got = self.json("spectrum", **self.look(i + 0.5, n - j - 0.5))
            self.assertAlmostEqual(got["column_density"] / (self.density[i, j].sum(dtype="f8") * CELL), 1, delta=1e-6)
            self.assertAlmostEqual(got["length"], n * CELL / KPC, delta=1e-6)
            flux, tau = np.array(got["flux"]), np.array(got["tau"])
            self.assertTrue(((flux > 0) | (tau > 30)).all() and (flux <= 1).all())
            self.assertGreater(flux[0], 0.8)  # the wings end outside, or nearly so
            step = np.diff(1215.6701 * np.exp(np.array(got["velocity"]) / 299792.458)).mean()
            self.assertAlmostEqual(got["equivalent_width"] / ((1 - flux).sum() * step), 1, delta=1e-2)
            begin, end = np.array(got["begin"]), np.array(got["end"])
            self.assertAlmostEqual(begin[0] / CELL * KPC, i + 0.5, delta=1e-4)
            self.assertGreater(begin[2], end[2])  # away from the camera
        # Integral of the optical depth: N pi e^2/(m c) f lambda, where the wings are within the range.
        thin = self.json("spectrum", **self.look(0.5, n - 0.5, low=-20000, high=20000, bins=8192))
        area = np.sum(thin["tau"]) * np.diff(thin["velocity"]).mean() * 1e5
        self.assertAlmostEqual(area / (thin["column_density"] * 0.02654 * 0.4164 * 1215.6701e-8), 1, delta=2e-3)

    def test_motion_and_the_hubble_flow(self):
        """Looking along -x the gas moves from -50 to 50 km/s, away from +x where the camera is; H adds with the distance."""
        hubble = 1e-14
        moving = self.folder / "moving.h5"
        write_grid(moving, 24, CELL, 1e-9, hubble=hubble, redshift=1.0)
        with h5py.File(moving, "a") as file:
            file["velocity_x"][...] = 30
        self.start(moving)
        got = self.json("spectrum", dx=1, dy=0, dz=0, ux=0, uy=0, uz=1, px=12, py=12, pixels=24, width=24 * CELL / KPC)
        tau, v = np.array(got["tau"]), np.array(got["velocity"])
        self.assertAlmostEqual(np.average(v, weights=tau), -30 + 0.5 * hubble * 24 * CELL / 1e5, delta=0.2)

    def test_bad_parameters(self):
        self.start()
        for parameters, words in (
                (self.look(12, 12, line="Lyb"), "lines:"), (self.look(12, 12, line="MgII"), "MgII_density"), (self.look(-1, 3), "px"),
                ({"px": 1}, "py"), (self.look(12, 12, cx=50), "does not meet"), (self.look(12, 12, low=3, high=2), "less than"),
                (self.look(12, 12, low=2e5, high=2.5e5), "beyond"), (self.look(12, 12, bins=3), "bins"), (self.look("x", 12), "px"),
                (self.look(12, 12, density_field="nope"), "nope"), (self.look(12, 12, opacity=1), "unknown")):
            with self.subTest(parameters):
                status, _, body = self.get("spectrum", **parameters)
                self.assertEqual(status, 400, body)
                self.assertIn(words, json.loads(body)["error"])
        self.assert_alive()


class Page(ViewCase):
    """The page in a browser: what a user does, and what is then to be seen."""

    def shown(self):
        return self.browser.evaluate("document.getElementById('picture').toDataURL()")

    def settle(self):
        """Waits for a full picture after a change."""
        time.sleep(0.4)
        self.assertTrue(self.browser.wait("document.body.dataset.full === 'yes' && !busy && !wanted && !moving"))
        return self.shown()

    def choose(self, name, value):
        self.browser.evaluate(f"(() => {{ const s = document.getElementById('{name}'); s.value = '{value}'; "
                              "s.dispatchEvent(new Event('change')); })()")

    def test_a_visit(self):
        if not find_browser():
            skip_loudly(self, "no chromium: the page of thor view in a browser")
        grid = os.environ.get("THOR_VIEW_GRID")
        self.start(grid)
        with Browser(self.folder) as self.browser:
            browser = self.browser
            browser.open(self.address)
            self.assertTrue(browser.wait("Number(document.body?.dataset.frames) > 0"), browser.complaints())
            first = self.settle()
            box = browser.evaluate("(() => { const b = document.getElementById('picture').getBoundingClientRect(); "
                                   "return [b.left, b.top, b.width, b.height]; })()")
            x, y = box[0] + box[2] / 2, box[1] + box[3] / 2
            self.assertEqual(browser.evaluate("picture.width"), round(box[2]))
            self.assertIn("×", browser.evaluate("document.getElementById('status').textContent"))
            self.assertGreater(browser.evaluate("document.querySelectorAll('#ticks span').length"), 1)

            width = browser.evaluate("view.width")
            seen = [first]
            browser.drag((x, y), (x + 120, y + 60))
            seen.append(self.settle())
            browser.mouse("mouseWheel", x + 40, y, deltaX=0, deltaY=-240)
            seen.append(self.settle())
            self.assertLess(browser.evaluate("view.width"), 0.9 * width)
            browser.drag((x, y), (x - 60, y + 40), modifiers=8)
            seen.append(self.settle())
            browser.evaluate("picture.focus()")
            browser.key("ArrowLeft")
            seen.append(self.settle())
            self.choose("map", "viridis")
            seen.append(self.settle())
            high = browser.evaluate("range.high")
            browser.evaluate("change(true)")  # a picture is on its way, in the range of before
            self.choose("kind", "projection")
            seen.append(self.settle())
            self.assertIn("∫", browser.evaluate("document.getElementById('caption').textContent"))
            self.assertGreater(browser.evaluate("range.high"), 1e3 * high)  # cm^-2, not cm^-3
            self.assertEqual(len(set(seen)), len(seen))
            self.assertTrue(browser.evaluate("document.getElementById('spectrum').hidden"))

            self.choose("kind", "render")
            self.choose("map", "inferno")
            browser.key("Home")
            self.assertEqual(self.settle(), first)
            browser.click(x, y)
            self.assertTrue(browser.wait("!document.getElementById('spectrum').hidden && !!document.querySelector('#plot .curve')"))
            told = browser.evaluate("document.getElementById('numbers').textContent")
            self.assertRegex(told, r"Lya: N = [\d.e+-]+ cm⁻², EW = [\d.e+-]+ Å")
            labels = browser.evaluate("[...document.querySelectorAll('#plot text')].map(t => t.textContent).join('|')")
            self.assertIn("km s⁻¹", labels)
            self.assertIn("flux / continuum", labels)
            if not grid:
                self.assertAlmostEqual(browser.evaluate("sightline.column_density") / self.middle_column(), 1, delta=1e-3)
            self.assertEqual(browser.complaints(), [])
            self.settle()
            if wanted := os.environ.get("THOR_VIEW_SCREENSHOT"):
                browser.screenshot(Path(wanted))

            self.choose("field", "velocity")  # which no transfer function can show
            self.assertTrue(browser.wait("!document.getElementById('error').hidden"))
            self.assertIn("velocity", browser.evaluate("document.getElementById('error').textContent"))
            self.choose("kind", "slice")
            self.settle()
            self.assertTrue(browser.evaluate("document.getElementById('error').hidden"))
            for address in browser.requests():
                self.assertTrue(address.startswith((self.address, "data:", "about:", "blob:")), address)
            self.job.send_signal(signal.SIGTERM)
            self.assertEqual(self.job.wait(10), DONE)
            self.choose("kind", "render")
            self.assertTrue(browser.wait("document.getElementById('error').textContent.includes('has thor view ended')"))

    def middle_column(self):
        """Along the line of sight of the first view, through the middle of the box [cm^-2]."""
        n, d = len(self.density), np.array([0.6, -1, 0.6])
        t = (np.arange(200_000) + 0.5) / 200_000 - 0.5
        path = n * np.linalg.norm(d) / np.abs(d).max()
        cells = np.floor(n / 2 + np.outer(t * path, d / np.linalg.norm(d))).astype(int).clip(0, n - 1)
        return self.density[tuple(cells.T)].mean(dtype="f8") * path * CELL


if __name__ == "__main__":
    main()
