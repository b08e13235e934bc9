"""The server of thor view: whom it serves, what it refuses, and that nothing ends it.

    /usr/bin/python3 tests/e2e/test_view_server.py --thor build/release/thor [unittest arguments]

The binary may also come from the environment, THOR_BINARY. Needs numpy and h5py.
"""

import concurrent.futures
import contextlib
import re
import signal
import socket
import struct
import sys
import time
from pathlib import Path

import h5py
import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from support import DONE, INPUT, USAGE, main, thor  # noqa: E402
from view_case import ViewCase  # noqa: E402


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
                ((self.path, "--field", "HI_densty"), INPUT, "HI_density"),
                ((self.path, "--field", "*"), USAGE, "product"), ((self.path, "--port", "70000"), USAGE, "port"),
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
        """Have two seconds."""
        self.start()
        slow = [socket.create_connection(("127.0.0.1", self.port), timeout=20) for _ in range(24)]
        for client in slow:
            client.sendall(b"GET /")
        self.assertEqual(self.get("info")[0], 200)
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

    def test_half_open_connections(self):
        """Many more than there are places, of which none has shown the token: the next one is served at once, not when they time out."""
        self.start()
        self.good("info")
        with contextlib.ExitStack() as stack:
            for i in range(500):
                client = stack.enter_context(socket.create_connection(("127.0.0.1", self.port), timeout=20))
                with contextlib.suppress(ConnectionError):
                    client.sendall(b"GET / HTTP/1.1\r\n" if i % 2 else b"")
            begin = time.monotonic()
            self.good("info")
            self.assertLess(time.monotonic() - begin, 5)  # milliseconds; a minute if each were waited for
        self.assert_alive()

    def test_frames_that_nobody_waits_for(self):
        """Are not drawn: a hundred of them delay the next by one, and not by all."""
        self.start()
        wanted = {"pixels": 1024, "rows": 1024, "kind": "render"}
        self.frame(**wanted)
        begin = time.monotonic()
        self.frame(**wanted)
        one = time.monotonic() - begin
        for i in range(100):
            with socket.create_connection(("127.0.0.1", self.port), timeout=20) as client:
                client.sendall(self.request(f"/{self.token}/frame?pixels=1024&rows=1024&kind=render&dz={i + 1}"))
        begin = time.monotonic()
        self.frame(**wanted)
        self.assertLess(time.monotonic() - begin, 1 + 20 * one)

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

    def test_a_spectrum_of_no_density(self):
        self.start()
        for field in ("velocity", "temperature", "nothing", "density*density"):
            self.assertEqual(self.get("spectrum", px=256, py=256, density_field=field)[0], 400, field)
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


if __name__ == "__main__":
    main()
