"""A real browser, driven over a pipe with the DevTools protocol.

Only Python's own library is used: Chromium reads commands from descriptor 3
and writes answers and events to descriptor 4, each ended by a zero byte.
"""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


def find():
    """The path of a browser, or None."""
    for name in NAMES:
        path = shutil.which(name)
        if path:
            return path
    return None


class Failed(Exception):
    pass


class Browser:
    def __init__(self, seconds=60):
        self.home = tempfile.mkdtemp(prefix="holdfast-browser-")
        self.deadline = time.monotonic() + seconds
        self.buffer = b""
        self.last = 0
        self.events = []
        to_child, self.write_fd = os.pipe()
        self.read_fd, from_child = os.pipe()

        def inherit():
            # the pipes may themselves be 3 or 4: move them out of the way
            first, second = os.dup(to_child), os.dup(from_child)
            high = [os.dup2(first, 100), os.dup2(second, 101)]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        command = [
            find(), "--headless", "--remote-debugging-pipe",
            "--user-data-dir=" + self.home, "--no-first-run",
            "--disable-gpu", "--disable-dev-shm-usage",
            "--disable-background-networking", "--disable-component-update",
            "--disable-default-apps", "--disable-sync", "--disable-extensions",
            "--force-device-scale-factor=1", "--hide-scrollbars",
        ]
        if os.getuid() == 0:
            command.append("--no-sandbox")
        self.process = subprocess.Popen(
            command, preexec_fn=inherit, pass_fds=(3, 4),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, env=dict(os.environ, HOME=self.home))
        os.close(to_child)
        os.close(from_child)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call("Browser.close")
            self.process.wait(10)
        except (Failed, OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.write_fd)
        os.close(self.read_fd)
        shutil.rmtree(self.home, ignore_errors=True)

    def receive(self):
        while b"\0" not in self.buffer:
            left = self.deadline - time.monotonic()
            ready = select.select([self.read_fd], [], [], max(left, 0))[0]
            if not ready:
                raise Failed("the browser did not answer in time")
            piece = os.read(self.read_fd, 1 << 16)
            if not piece:
                raise Failed("the browser ended")
            self.buffer += piece
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, session=None, **params):
        self.last += 1
        message = {"id": self.last, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.write_fd, data):]
        while True:
            answer = self.receive()
            if answer.get("id") == self.last:
                if "error" in answer:
                    raise Failed(method + ": " + answer["error"]["message"])
                return answer.get("result", {})
            if "method" in answer:
                self.events.append(answer)

    def open(self, path, width=1280, height=900, dark=False, mobile=False,
             script=True):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target,
                            flatten=True)["sessionId"]
        page = Page(self, session, target)
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.call(domain + ".enable")
        page.size(width, height, mobile)
        page.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme",
             "value": "dark" if dark else "light"}])
        if not script:
            page.call("Emulation.setScriptExecutionDisabled", value=True)
        page.call("Page.navigate", url="file://" + os.path.abspath(path))
        page.wait_event("Page.loadEventFired")
        return page


class Page:
    def __init__(self, browser, session, target):
        self.browser, self.session, self.target = browser, session, target

    def call(self, method, **params):
        return self.browser.call(method, self.session, **params)

    def mine(self, *methods):
        return [e for e in self.browser.events
                if e.get("sessionId") == self.session
                and e["method"] in methods]

    def wait_event(self, method):
        while not self.mine(method):
            event = self.browser.receive()
            if "method" in event:
                self.browser.events.append(event)

    def size(self, width, height, mobile=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width,
                  height=height, deviceScaleFactor=1, mobile=mobile)

    def ask(self, expression):
        """The value of a JavaScript expression."""
        answer = self.call("Runtime.evaluate", expression=expression,
                           returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise Failed(expression + ": " + details.get(
                "exception", {}).get("description", details["text"]))
        return answer["result"].get("value")

    def frame(self):
        """Waits until what is pending has been drawn."""
        self.ask("new Promise((done) => requestAnimationFrame("
                 "() => requestAnimationFrame(() => done(1))))")

    def middle(self, selector):
        """Scrolls there and returns a point of it."""
        return self.ask(
            "(() => { const n = document.querySelector(%s);"
            "n.scrollIntoView({block: 'center'});"
            "const b = n.getBoundingClientRect();"
            "return [b.left + b.width / 2, b.top + b.height / 2]; })()"
            % json.dumps(selector))

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, selector):
        x, y = self.middle(selector)
        self.mouse("mouseMoved", x, y)
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, x, y, button="left", clickCount=1)
        self.frame()

    def drag(self, selector, by):
        x, y = self.middle(selector)
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=1)
        for step in range(1, 6):
            self.mouse("mouseMoved", x + by * step / 5, y, button="left",
                       buttons=1)
        self.mouse("mouseReleased", x + by, y, button="left", clickCount=1)
        self.frame()

    def key(self, name, text=None):
        self.call("Input.dispatchKeyEvent", type="keyDown", key=name, text=text
                  or ("\r" if name == "Enter" else ""))
        self.call("Input.dispatchKeyEvent", type="keyUp", key=name)
        self.frame()

    def complaints(self):
        """Errors and warnings of the console, exceptions, requests of the
        network."""
        found = []
        for e in self.mine("Runtime.exceptionThrown"):
            found.append("exception: " + str(e["params"]["exceptionDetails"]))
        for e in self.mine("Runtime.consoleAPICalled"):
            found.append("console: " + str(e["params"]["args"]))
        for e in self.mine("Log.entryAdded"):
            found.append("log: " + e["params"]["entry"]["text"])
        for e in self.mine("Network.requestWillBeSent"):
            url = e["params"]["request"]["url"]
            if not url.startswith("file://") or e["params"]["type"] != \
                    "Document":
                found.append("request: " + url)
        return found

    def shot(self, path, whole=True):
        data = self.call("Page.captureScreenshot", format="png",
                         captureBeyondViewport=whole)["data"]
        with open(path, "wb") as out:
            out.write(base64.b64decode(data))

    def pdf(self):
        return base64.b64decode(self.call("Page.printToPDF",
                                          printBackground=True)["data"])

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)
