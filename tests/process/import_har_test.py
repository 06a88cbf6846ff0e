"""A session of a real browser, its recording, and what the imported file sends: seen from the server, the same.

Chromium is driven over its debugging pipe; the recording is made from the events that its own network panel uses."""

import datetime
import json
import os
import select
import shutil
import subprocess
import time
import unittest
import uuid

from harness import MUSTER, ProcessTest, response

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")

PAGE = """<!doctype html><html><head><title>Shop</title><link rel="icon" href="data:,">
<link rel="stylesheet" href="/style.css"></head><body><img src="/logo.svg"><script src="/app.js"></script>
<form id="order" method="post" action="/order"><input type="hidden" name="csrf" value="{token}">
<input name="what" value="Tee &amp; K&auml;se"></form></body></html>"""

SCRIPT = """
async function session() {
  const login = await (await fetch('/api/login', {method: 'POST', headers: {'Content-Type': 'application/json'},
    body: JSON.stringify({user: 'ada', text: 'Gr\\u00fc\\u00dfe ${x} {{y}}'})})).json();
  await fetch('/api/items?page=1&q=a%20b', {headers: {'X-Token': login.session.token}});
  await new Promise(done => setTimeout(done, 300));
  await fetch('/api/items/' + login.session.token, {method: 'DELETE', headers: {'X-Token': login.session.token}});
  document.getElementById('order').submit();
}
session();
"""


class Shop:
    """A small shop that hands out a new token each time, and refuses those that it did not hand out."""

    def __init__(self, test):
        self.tokens = set()
        self.refused = 0
        self.server = test.serve_http(self.reply)
        self.url = self.server.url

    def token(self):
        self.tokens.add(made := uuid.uuid4().hex)
        return made

    def reply(self, request):
        if request.path == "/":
            return response(PAGE.format(token=self.token()), headers=[("Content-Type", "text/html; charset=utf-8"),
                                                                      ("Set-Cookie", "visit=1; Path=/")])
        if request.path == "/style.css":
            return response("body { color: black }", headers=[("Content-Type", "text/css")])
        if request.path == "/logo.svg":
            return response('<svg xmlns="http://www.w3.org/2000/svg"/>', headers=[("Content-Type", "image/svg+xml")])
        if request.path == "/app.js":
            return response(SCRIPT, headers=[("Content-Type", "text/javascript")])
        if request.path == "/api/login":
            return response(json.dumps({"session": {"token": self.token()}}), headers=[("Content-Type", "application/json"),
                                                                                       ("Set-Cookie", "sid=7; Path=/")])
        if request.path.startswith("/api/items"):
            self.refused += request.header("x-token") not in self.tokens
            return response("{}", headers=[("Content-Type", "application/json")])
        if request.path == "/order":
            fields = dict(pair.split("=", 1) for pair in request.body.decode().split("&"))
            self.refused += fields["csrf"] not in self.tokens
            return response("", status=303, headers=[("Location", "/thanks")])
        return response("<!doctype html><link rel='icon' href='data:,'>thanks", headers=[("Content-Type", "text/html")])


class Browser:
    """Chromium without a window, spoken to over two pipes: JSON messages that end in a zero byte."""

    def __init__(self, test):
        profile = test.folder / "profile"
        read_commands, self.commands = os.pipe()
        self.events, write_events = os.pipe()
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
                 "--disable-background-networking", "--disable-component-update", "--disable-default-apps",
                 "--disable-dev-shm-usage", "--proxy-server=direct://", f"--user-data-dir={profile}",
                 "--remote-debugging-pipe", "about:blank"]
        # The browser expects the pipes as descriptors 3 and 4.
        script = f'exec 3<&{read_commands} 4>&{write_events}; exec "$@"'
        self.process = subprocess.Popen(["bash", "-c", script, "browser", CHROMIUM, *flags], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=test.folder,
                                        pass_fds=(read_commands, write_events), env={**os.environ, "HOME": str(test.folder)})
        os.close(read_commands)
        os.close(write_events)
        test.addCleanup(self.end)
        self.buffer = b""
        self.number = 0
        self.session = None
        self.seen = []
        self.asked, self.bodies = {}, {}

    def end(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait(10)
        os.close(self.commands)
        os.close(self.events)

    def receive(self, limit):
        """The next message, or nothing within `limit` seconds."""
        end = time.monotonic() + limit
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.events], [], [], max(0, end - time.monotonic()))
            part = os.read(self.events, 1 << 20) if ready else b""
            if not part:
                return None
            self.buffer += part
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def send(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        return self.number

    def take(self, message):
        """Keeps an event. Bodies are asked for as soon as they are there: a browser lets go of them with their page."""
        if message.get("id") in self.asked:
            self.bodies[self.asked.pop(message["id"])] = message.get("result")
            return
        self.seen.append(message)
        if message.get("method") == "Network.loadingFinished":
            request = message["params"]["requestId"]
            self.asked[self.send("Network.getResponseBody", requestId=request)] = request

    def ask(self, method, limit=30, **parameters):
        number = self.send(method, **parameters)
        end = time.monotonic() + limit
        while time.monotonic() < end:
            answer = self.receive(end - time.monotonic())
            if answer is None:
                break
            if answer.get("id") == number:
                if "error" in answer:
                    raise AssertionError(f"{method}: {answer['error']}")
                return answer["result"]
            self.take(answer)
        raise AssertionError(f"the browser did not answer to {method}")

    def listen(self, seconds):
        """Collects events until none has come for so long."""
        while (message := self.receive(seconds)) is not None:
            self.take(message)

    def open_page(self):
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.ask("Network.enable")
        self.ask("Page.enable")


class Recording:
    """Events of the network panel as a HAR."""

    def __init__(self, browser):
        self.entries, self.open, self.raw, self.raw_answers = [], {}, {}, {}
        for message in browser.seen:
            handler = getattr(self, message.get("method", "").replace("Network.", "on_"), None)
            if handler:
                handler(message["params"])
        for entry in self.entries:
            headers = self.raw.get(entry["id"], [])
            if headers:
                entry["request"]["headers"] = headers.pop(0)
            headers = self.raw_answers.get(entry["id"], [])
            if headers:
                entry["response"]["headers"] = headers.pop(0)
            answer = browser.bodies.get(entry["id"])
            if entry["response"]["status"] == 200 and answer is not None:
                entry["response"]["content"]["text"] = answer["body"]
                if answer["base64Encoded"]:
                    entry["response"]["content"]["encoding"] = "base64"

    @staticmethod
    def pairs(headers):
        return [{"name": name, "value": value} for name, value in headers.items()]

    def on_requestWillBeSent(self, event):
        request = event["request"]
        if not request["url"].startswith("http"):
            return
        if "redirectResponse" in event:
            self.answer(self.open[event["requestId"]], event["redirectResponse"], event["timestamp"])
        started = datetime.datetime.fromtimestamp(event["wallTime"], datetime.timezone.utc)
        entry = {"id": event["requestId"], "pageref": event["loaderId"], "_resourceType": event["type"].lower(),
                 "startedDateTime": started.isoformat(timespec="milliseconds").replace("+00:00", "Z"), "time": 0,
                 "request": {"method": request["method"], "url": request["url"], "headers": self.pairs(request["headers"])},
                 "response": {"status": 0, "headers": [], "content": {}}, "began": event["timestamp"]}
        if "postData" in request:
            entry["request"]["postData"] = {"mimeType": request["headers"].get("Content-Type", ""), "text": request["postData"]}
        self.entries.append(entry)
        self.open[event["requestId"]] = entry

    def on_requestWillBeSentExtraInfo(self, event):
        self.raw.setdefault(event["requestId"], []).append(self.pairs(event["headers"]))

    def on_responseReceivedExtraInfo(self, event):
        pairs = [{"name": name, "value": each} for name, value in event["headers"].items() for each in value.split("\n")]
        self.raw_answers.setdefault(event["requestId"], []).append(pairs)

    def answer(self, entry, answer, timestamp):
        entry["response"] = {"status": answer["status"], "headers": self.pairs(answer["headers"]),
                             "content": {"mimeType": answer["mimeType"]}}
        entry["time"] = (timestamp - entry["began"]) * 1000

    def on_responseReceived(self, event):
        if event["requestId"] in self.open:
            self.answer(self.open[event["requestId"]], event["response"], event["timestamp"])

    def har(self):
        pages = [{"id": each, "title": f"page {number}"} for number, each in
                 enumerate(dict.fromkeys(entry["pageref"] for entry in self.entries))]
        return {"log": {"version": "1.2", "pages": pages, "entries": self.entries}}


RELEVANT = ("accept", "user-agent", "accept-language", "content-type", "cookie", "referer", "origin", "x-token",
            "sec-fetch-mode", "sec-fetch-dest", "upgrade-insecure-requests")


def comparable(request, tokens):
    """What of a request has to be the same; tokens are told apart by being handed out, not by their value."""

    def known(text):
        for token in tokens:
            text = text.replace(token, "TOKEN")
        return text

    headers = {name: known(request.header(name)) for name in RELEVANT if request.header(name) is not None}
    if "cookie" in headers:
        headers["cookie"] = "; ".join(sorted(headers["cookie"].split("; ")))
    return json.dumps([request.method, known(request.target), known(request.body.decode()), headers], sort_keys=True)


@unittest.skipUnless(CHROMIUM, "there is no chromium on PATH")
class BrowserTest(ProcessTest):
    def record(self, shop):
        browser = Browser(self)
        browser.open_page()
        browser.ask("Page.navigate", url=shop.url + "/")
        wait = time.monotonic() + 30
        while time.monotonic() < wait and not any(each.path == "/thanks" for each in shop.server.requests):
            browser.listen(0.2)
        browser.listen(1)
        har = Recording(browser).har()
        (self.folder / "session.har").write_text(json.dumps(har))
        return har

    def imported(self, *flags, environment=None):
        done = subprocess.run([MUSTER, "import", "har", "session.har", "-o", "job.yaml", "--force", "--json", *flags],
                              cwd=self.folder, capture_output=True, timeout=30)
        self.assertEqual(done.returncode, 0, done.stderr.decode() + done.stdout.decode())
        checked = self.run_muster("job.yaml", command="check", environment=environment)
        self.assertEqual(checked.code, 0, str(checked) + (self.folder / "job.yaml").read_text())
        return json.loads(done.stdout)

    def test_sends_what_the_browser_sent(self):
        shop = Shop(self)
        har = self.record(shop)
        browsed = [comparable(each, shop.tokens) for each in shop.server.requests]
        self.assertEqual(len(browsed), 9, [each.target for each in shop.server.requests])
        self.assertEqual(shop.refused, 0)
        recorded_tokens = set(shop.tokens)

        shop.server.requests.clear()
        token = next(header["value"] for entry in har["log"]["entries"] for header in entry["request"]["headers"]
                     if header["name"].lower() == "x-token")
        made = self.imported(environment={"TOKEN": token})
        self.assertEqual((made["steps"], made["left_out"], made["variables"]), (9, 0, ["TOKEN"]))
        notes = " ".join(note["message"] for note in made["notes"])
        self.assertIn("--correlate saves it", notes)
        self.assertRegex(notes, "(?i)the credentials in the header x-token are not written down")
        self.assertIn("think: ", (self.folder / "job.yaml").read_text())
        run = self.run_muster("job.yaml", "--cores", "1", environment={"TOKEN": token})
        self.assertEqual(run.code, 0, str(run) + (self.folder / "job.yaml").read_text())
        sent = [comparable(each, recorded_tokens | shop.tokens) for each in shop.server.requests]
        self.assertEqual(sorted(sent), sorted(browsed))

        with self.subTest("values that the server hands out are handed back"):
            shop.server.requests.clear()
            shop.tokens.clear()
            shop.refused = 0
            self.assertEqual(self.imported("--correlate", "--think", "none")["variables"], [])
            run = self.run_muster("job.yaml", "--cores", "1")
            self.assertEqual((run.code, shop.refused), (0, 0), str(run) + (self.folder / "job.yaml").read_text())
            self.assertEqual(len(shop.server.requests), 9)


if __name__ == "__main__":
    unittest.main()
