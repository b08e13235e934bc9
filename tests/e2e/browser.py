"""A browser without a window, for tests of pages: Debian's chromium, driven over its debugging pipe (no other package is needed).

    with Browser(folder) as browser:
        browser.open("http://127.0.0.1:1234/")
        browser.evaluate("document.title")
"""

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import time

NAMES = ("chromium", "chromium-browser", "google-chrome")


def find_browser():
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    def __init__(self, folder, width=1200, height=800):
        self.folder, self.size = folder, (width, height)
        self.number, self.session, self.buffer, self.events = 0, None, b"", []

    def __enter__(self):
        # It reads commands from descriptor 3 and writes answers to 4.
        theirs_in, self.ours_out = os.pipe()
        self.ours_in, theirs_out = os.pipe()
        high = [fcntl.fcntl(d, fcntl.F_DUPFD, 20) for d in (theirs_in, theirs_out)]
        os.close(theirs_in), os.close(theirs_out)

        def arrange():
            os.dup2(high[0], 3), os.dup2(high[1], 4)
        self.log = open(self.folder / "chromium.log", "wb")
        self.job = subprocess.Popen(
            [find_browser(), "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-extensions",
             "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage", "--hide-scrollbars",
             f"--user-data-dir={self.folder / 'profile'}", "--window-size={},{}".format(*self.size),
             "--remote-debugging-pipe", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, preexec_fn=arrange, pass_fds=(3, 4),
            env={**os.environ, "HOME": str(self.folder)})
        for descriptor in high:
            os.close(descriptor)
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(t["targetId"] for t in targets if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.call("Emulation.setDeviceMetricsOverride", width=self.size[0], height=self.size[1], deviceScaleFactor=1,
                  mobile=False)
        return self

    def __exit__(self, *_):
        os.close(self.ours_out)  # it ends when nobody commands it
        try:
            self.job.wait(10)
        except subprocess.TimeoutExpired:
            self.job.kill()
            self.job.wait()
        os.close(self.ours_in)
        self.log.close()

    def receive(self, end):
        while b"\0" not in self.buffer:
            ready = select.select([self.ours_in], [], [], max(0, end - time.monotonic()))[0]
            chunk = os.read(self.ours_in, 1 << 16) if ready else b""
            if not chunk:
                raise RuntimeError(f"the browser does not answer: {(self.folder / 'chromium.log').read_text()[-2000:]}")
            self.buffer += chunk
        text, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(text)

    def call(self, method, **parameters):
        self.number += 1
        command = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            command["sessionId"] = self.session
        os.write(self.ours_out, json.dumps(command).encode() + b"\0")
        end = time.monotonic() + 60
        while True:
            answer = self.receive(end)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            if "method" in answer:
                self.events.append(answer)

    def open(self, address):
        self.call("Page.navigate", url=address)

    def evaluate(self, script):
        done = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in done:
            raise RuntimeError(str(done["exceptionDetails"]))
        return done["result"].get("value")

    def wait(self, script, seconds=30):
        """Until a script gives something true, which is returned."""
        end = time.monotonic() + seconds
        while True:
            value = self.evaluate(script)
            if value or time.monotonic() > end:
                return value
            time.sleep(0.05)

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def drag(self, begin, end, modifiers=0, steps=8):
        self.mouse("mousePressed", *begin, button="left", buttons=1, clickCount=1, modifiers=modifiers)
        for i in range(1, steps + 1):
            x, y = (a + (b - a) * i / steps for a, b in zip(begin, end))
            self.mouse("mouseMoved", x, y, button="left", buttons=1, modifiers=modifiers)
        self.mouse("mouseReleased", *end, button="left", clickCount=1, modifiers=modifiers)

    def click(self, x, y):
        self.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=1)
        self.mouse("mouseReleased", x, y, button="left", clickCount=1)

    def key(self, name):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=name)

    def screenshot(self, path):
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def complaints(self):
        """Errors of scripts, of the console and of the security policy."""
        wrong = []
        for event in self.events:
            if event["method"] == "Runtime.exceptionThrown":
                wrong.append(str(event["params"]["exceptionDetails"]))
            elif event["method"] == "Log.entryAdded" and event["params"]["entry"]["level"] == "error":
                wrong.append(event["params"]["entry"]["text"])
        return wrong

    def requests(self):
        return [e["params"]["request"]["url"] for e in self.events if e["method"] == "Network.requestWillBeSent"]
