"""A real Chromium, driven over its debugging pipe: no driver, no package and no port is needed. Collects what the page
says on its console and every request that it makes."""

import base64
import collections
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

LIMIT = 30  # seconds that any one answer may take
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
         "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
         "--disable-dev-shm-usage", "--remote-debugging-pipe", "about:blank"]


def program():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if found := shutil.which(name):
            return found
    raise AssertionError("there is no chromium here: run tools/setup test")


def high_pipe():
    """A pipe whose ends have numbers that nothing else wants."""
    return [fcntl.fcntl(each, fcntl.F_DUPFD_CLOEXEC, 20) for each in os.pipe()]


class Chromium:
    def __init__(self):
        self.profile = tempfile.mkdtemp(prefix="muster-chromium-")
        read_commands, self.commands = high_pipe()
        self.answers, write_answers = high_pipe()
        # Chromium takes commands at descriptor 3 and answers at 4; a shell puts them there.
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec "$0" "$@" 3<&{read_commands} 4>&{write_answers}', program(),
             f"--user-data-dir={self.profile}", *FLAGS],
            pass_fds=(read_commands, write_answers), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(read_commands)
        os.close(write_answers)
        self.number = 0
        self.bytes = b""
        self.events = collections.defaultdict(list)  # session → events not yet looked at

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.commands)
        os.close(self.answers)
        shutil.rmtree(self.profile, ignore_errors=True)

    def message(self, deadline):
        while b"\0" not in self.bytes:
            ready, _, _ = select.select([self.answers], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                raise AssertionError("chromium did not answer in time")
            part = os.read(self.answers, 1 << 20)
            if not part:
                raise AssertionError("chromium ended")
            self.bytes += part
        text, self.bytes = self.bytes.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, session=None, **parameters):
        self.number += 1
        command = {"id": self.number, "method": method, "params": parameters}
        if session:
            command["sessionId"] = session
        data = json.dumps(command).encode() + b"\0"
        while data:
            data = data[os.write(self.commands, data):]
        deadline = time.monotonic() + LIMIT
        while True:
            message = self.message(deadline)
            if message.get("id") == command["id"]:
                if "error" in message:
                    raise AssertionError(f"{method}: {message['error']}")
                return message["result"]
            if "method" in message:
                self.events[message.get("sessionId")].append(message)

    def wait_for(self, method, session):
        deadline = time.monotonic() + LIMIT
        while True:
            for event in self.events[session]:
                if event["method"] == method:
                    return event["params"]
            message = self.message(deadline)
            if "method" in message:
                self.events[message.get("sessionId")].append(message)

    def page(self, **options):
        return Page(self, **options)


class Page:
    """A tab of its own size. `dark` is what the user's system prefers."""

    def __init__(self, browser, width=1280, height=800, dark=False, scripts=True):
        self.browser = browser
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.target = target
        self.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        if not scripts:
            self.call("Emulation.setScriptExecutionDisabled", value=True)

    def call(self, method, **parameters):
        return self.browser.call(method, session=self.session, **parameters)

    def open(self, url):
        self.browser.events[self.session].clear()
        self.call("Page.navigate", url=url)
        self.browser.wait_for("Page.loadEventFired", self.session)

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)

    def value(self, expression):
        """What a JavaScript expression, or the promise that it is, comes to."""
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise AssertionError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def drawn(self):
        """Waits until what was asked for is on the screen."""
        self.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def requests(self):
        """Addresses of all requests since open(), the page itself among them; what a page holds itself is none."""
        return [event["params"]["request"]["url"] for event in self.browser.events[self.session]
                if event["method"] == "Network.requestWillBeSent"
                and not event["params"]["request"]["url"].startswith("data:")]

    def complaints(self):
        """Errors and warnings of the page: exceptions, console, policy."""
        found = []
        for event in self.browser.events[self.session]:
            parameters = event["params"]
            if event["method"] == "Runtime.exceptionThrown":
                found.append(json.dumps(parameters["exceptionDetails"]))
            elif event["method"] == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
                found.append(json.dumps(parameters["args"]))
            elif event["method"] == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
                found.append(parameters["entry"]["text"])
            elif event["method"] == "Page.javascriptDialogOpening":
                found.append("a dialog opened: " + parameters["message"])
        return found

    def screenshot(self, path, whole=True):
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        options = {}
        if whole:
            options = {"captureBeyondViewport": True,
                       "clip": {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 12000), "scale": 1}}
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png", **options)["data"]))

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def drag(self, from_x, until_x, y):
        held = {"button": "left", "buttons": 1, "clickCount": 1}
        self.mouse("mouseMoved", from_x, y)
        self.mouse("mousePressed", from_x, y, **held)
        for i in range(1, 5):
            self.mouse("mouseMoved", from_x + (until_x - from_x) * i / 4, y, buttons=1, button="left")
        self.mouse("mouseReleased", until_x, y, **held)
        self.drawn()

    def double_click(self, x, y):
        for count in (1, 2):
            self.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=count)
            self.mouse("mouseReleased", x, y, button="left", buttons=1, clickCount=count)
        self.drawn()

    def press(self, key, shift=False):
        codes = {"Escape": 27, "ArrowLeft": 37, "ArrowRight": 39, "Tab": 9, "Enter": 13, "+": 187, "-": 189}
        text = key if len(key) == 1 else ("\r" if key == "Enter" else "")
        common = {"key": key, "windowsVirtualKeyCode": codes[key], "modifiers": 8 if shift else 0}
        self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", text=text, **common)
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)
        self.drawn()
