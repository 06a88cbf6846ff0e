"""Scripts written for wrk, run by muster and by wrk itself: the same requests, callbacks and figures must come out."""

import collections
import json
import re
import shutil
import subprocess
import time
import unittest

from harness import CLOSE, MUSTER, ProcessTest, response

WRK = shutil.which("wrk")

ADDR = """
local seen = {}
function setup(thread)
  local all = wrk.lookup(wrk.host, wrk.port or "http")
  local good = {}
  for _, address in ipairs(all) do if wrk.connect(address) then good[#good + 1] = address end end
  thread.addr = good[1]
  print("address " .. tostring(thread.addr))
end
function init(args) request_path = tostring(wrk.thread.addr) end
function request() return wrk.format("GET", "/" .. request_path) end
"""
AUTH = """
local token = nil
local path = "/authenticate"
function request() return wrk.format("GET", path) end
function response(status, headers, body)
  if not token and status == 200 then
    token = headers["X-Token"]
    path = "/resource"
    wrk.headers["X-Token"] = token
  end
end
"""
COUNTER = """
local counter = 0
function request()
  counter = counter + 1
  wrk.headers["X-Counter"] = counter
  return wrk.format(nil, "/" .. counter)
end
"""
DELAY = """
function delay() return 40 end
"""
PIPELINE = """
function init(args)
  local parts = {}
  parts[1] = wrk.format(nil, "/?foo")
  parts[2] = wrk.format(nil, "/?bar")
  parts[3] = wrk.format(nil, "/?baz")
  all = table.concat(parts)
end
function request() return all end
"""
POST = """
wrk.method = "POST"
wrk.body = "foo=bar&baz=quux"
wrk.headers["Content-Type"] = "application/x-www-form-urlencoded"
"""
REPORT = """
function done(summary, latency, requests)
  io.write("duration ", summary.duration, "\\n")
  io.write("requests ", summary.requests, "\\n")
  io.write("bytes ", summary.bytes, "\\n")
  for _, name in ipairs({ "connect", "read", "write", "status", "timeout" }) do
    io.write("errors.", name, " ", summary.errors[name], "\\n")
  end
  for _, name in ipairs({ "min", "max", "mean", "stdev" }) do
    io.write("latency.", name, " ", latency[name], "\\n")
    io.write("requests.", name, " ", requests[name], "\\n")
  end
  for _, p in ipairs({ 50, 90, 99, 99.999 }) do io.write("p", p, " ", latency:percentile(p), "\\n") end
  local value, count = latency(1)
  io.write("first ", value, "\\n", "values ", #latency > 0 and "some" or "none", "\\n")
end
"""
SETUP = """
local counter = 1
local threads = {}
function setup(thread)
  thread:set("id", counter)
  thread:set("names", { first = "a", second = 2, third = true })
  threads[#threads + 1] = thread
  counter = counter + 1
end
function init(args)
  requests, responses = 0, 0
  io.write("thread ", id, " has ", names.first, names.second, tostring(names.third), " and ", args[1], ",", args[2], "\\n")
end
function request()
  requests = requests + 1
  return wrk.request()
end
function response() responses = responses + 1 end
function done(summary)
  for _, thread in ipairs(threads) do
    local sent, got = thread:get("requests"), thread:get("responses")
    io.write("done ", thread:get("id"), " ", sent - got <= 2 and "even" or "odd", " ", got, "\\n")
  end
  io.write("sum ", summary.requests, "\\n")
end
"""
STOP = """
local counter = 1
function response()
  if counter == 20 then wrk.thread:stop() end
  counter = counter + 1
end
"""
# The order in which everything is called, on one connection.
ORDER = """
local events = {}
local function note(what) if #events < 40 then events[#events + 1] = what end order = table.concat(events, " ") end
local all = {}
function setup(thread) all[1] = thread print("setup " .. type(init)) end
function init(args) note("init") end
function delay() note("delay") return 1 end
function request() note("request") return wrk.format() end
function response(status, headers, body)
  note("response:" .. status .. ":" .. tostring(headers["X-Odd"]) .. ":" .. body)
end
function done() print("order " .. all[1]:get("order")) end
"""


@unittest.skipUnless(WRK, "wrk is not installed: tools/setup test")
class Wrk(ProcessTest):
    def setUp(self):
        super().setUp()
        self.took = 0.02

        def reply(request):
            time.sleep(self.took)
            if request.path == "/authenticate":
                return response("ok", headers=[("X-Token", "t1")])
            return response("ok", headers=[("X-Odd", "yes")])

        self.server = self.serve_http(reply)

    def both(self, script, *arguments, seconds=1, connections=1, threads=1, path="/start?x=1"):
        """[(requests, output)] of wrk and muster."""
        file = self.write("script.lua", script)
        outcomes = []
        shared = ["-c", str(connections), "-t", str(threads), "-d", f"{seconds}s"]
        for command in ([WRK, "-s", file, *shared, self.server.url + path, *arguments],
                        [MUSTER, "run", file, "--url", self.server.url + path, *shared, "--ui", "none",
                         *(["--", *arguments] if arguments else [])]):
            self.server.requests.clear()
            done = subprocess.run([str(each) for each in command], capture_output=True, text=True, timeout=30, cwd=self.folder,
                                  check=False)
            self.assertEqual(done.returncode, 0, f"{command[0]}\n{done.stdout}\n{done.stderr}")
            time.sleep(self.took * 3)  # what was under way at the end arrives
            outcomes.append((list(self.server.requests), done.stdout))
        return outcomes

    @staticmethod
    def shape(request):
        return request.line, tuple(sorted(tuple(header) for header in request.headers)), request.body

    def assert_same_kinds(self, outcomes):
        ours, theirs = ({self.shape(request) for request in requests} for requests, _ in reversed(outcomes))
        self.assertEqual(ours, theirs)

    def test_addr(self):
        outcomes = self.both(ADDR, threads=2, connections=2)
        self.assert_same_kinds(outcomes)
        for _, out in outcomes:
            self.assertEqual(out.count(f"address 127.0.0.1:{self.server.port}"), 2, out)

    def test_auth(self):
        outcomes = self.both(AUTH)
        self.assert_same_kinds(outcomes)
        for requests, _ in outcomes:
            self.assertEqual([request.path for request in requests].count("/authenticate"), 1)
            self.assertEqual(requests[-1].header("x-token"), "t1")

    def test_counter(self):
        (wrk, _), (ours, _) = self.both(COUNTER)
        count = min(len(wrk), len(ours))
        self.assertGreater(count, 10)
        self.assertEqual([self.shape(each) for each in ours[:count]], [self.shape(each) for each in wrk[:count]])

    def test_delay(self):
        (wrk, _), (ours, _) = self.both(DELAY)
        # 20 ms to answer and 40 ms of delay: about sixteen a second, or fewer where cores stand still.
        for requests in (wrk, ours):
            self.assertTrue(3 <= len(requests) <= 18, len(requests))
        self.assert_same_kinds([(wrk, ""), (ours, "")])

    def test_pipeline(self):
        outcomes = self.both(PIPELINE)
        self.assert_same_kinds(outcomes)
        for requests, _ in outcomes:
            self.assertEqual([request.target for request in requests[:6]], ["/?foo", "/?bar", "/?baz"] * 2)

    def test_post(self):
        outcomes = self.both(POST)
        self.assert_same_kinds(outcomes)
        self.assertEqual(outcomes[1][0][0].body, b"foo=bar&baz=quux")

    def test_report(self):
        fields = []
        for requests, out in self.both(REPORT, seconds=2):
            found = dict(re.findall(r"^([a-z0-9.]+) ([-a-z0-9.e+]+)$", out, re.MULTILINE))
            fields.append(sorted(found))
            # Microseconds: a unit that is mistaken is a thousand times off, cores that stand still are not.
            self.assertTrue(1.9e6 <= float(found["duration"]) <= 1.9e7, found)
            self.assertLessEqual(abs(float(found["requests"]) - len(requests)), 2, found)
            for name in ("latency.min", "latency.mean", "latency.max", "p50", "p99", "first"):
                self.assertTrue(20e3 <= float(found[name]) <= 20e5, f"{name} {found}")
            self.assertTrue(1 <= float(found["requests.mean"]) <= 60, found)
            self.assertEqual(found["values"], "some")
        self.assertEqual(fields[0], fields[1])

    def test_setup(self):
        tells = []
        for requests, out in self.both(SETUP, "one", "two", threads=2, connections=2):
            lines = [line for line in out.splitlines() if line.startswith(("thread ", "done ", "sum "))]
            got = sum(int(line.split()[-1]) for line in lines if line.startswith("done "))
            self.assertLessEqual(abs(got - len(requests)), 4)
            tells.append([re.sub(r"\d+$", "", line) for line in lines])
        self.assertEqual(tells[0], tells[1])

    def test_stop(self):
        for requests, _ in self.both(STOP, seconds=3):
            self.assertTrue(20 <= len(requests) <= 21, len(requests))

    def test_callbacks_come_in_the_same_order(self):
        orders = []
        for _, out in self.both(ORDER):
            self.assertIn("setup function", out)
            orders.append(re.search(r"^order (.*)$", out, re.MULTILINE).group(1))
        self.assertEqual(orders[1], orders[0])
        self.assertEqual(collections.Counter(orders[0].split()), collections.Counter(orders[1].split()))

    def bytes_of(self, command, *after):
        """What the tool of this command sends, as it comes in; the address stands between both parts of the command."""
        taken = []

        def converse(connection):
            while received := connection.recv(65536):
                taken.append(received.replace(f":{server.port}".encode(), b":PORT"))
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok" * received.count(b" HTTP/1.1\r\n"))

        server = self.serve(converse)
        subprocess.run([*command, server.url + "/a%20b?c=d", *after], capture_output=True, timeout=30, cwd=self.folder, check=True)
        return taken

    def test_every_byte_is_the_same_but_for_the_order_of_the_headers(self):
        # Lua keeps no order in tables; wrk itself sends another one each time it runs.
        flags = ["-c1", "-t1", "-d1s", "-H", "X-One:  1 "]
        for name, script in {"counter": COUNTER, "pipeline": PIPELINE, "post": POST, "report": REPORT, "setup": SETUP}.items():
            file = str(self.write("script.lua", script))
            theirs = self.bytes_of([WRK, *flags, "-s", file], "one", "two")
            ours = self.bytes_of([MUSTER, "run", file, *flags, "--ui", "none", "--url"], "--", "one", "two")
            self.assertGreater(min(len(theirs), len(ours)), 20)
            for mine, other in zip(ours[:1000], theirs[:1000]):
                self.assertEqual(sorted(mine.split(b"\r\n")), sorted(other.split(b"\r\n")), name)

    def test_headers_of_the_command_line_reach_the_script(self):
        file = self.write("script.lua", "function request() return wrk.format() end")
        kinds = []
        for command in ([WRK, "-s", file, "-c1", "-t1", "-d1s", "-H", "X-One: 1", self.server.url + "/"],
                        [MUSTER, "run", file, "--url", self.server.url + "/", "-c", "1", "-d", "1s", "-H", "X-One: 1", "--ui", "none"]):
            self.server.requests.clear()
            subprocess.run([str(each) for each in command], capture_output=True, timeout=30, cwd=self.folder, check=True)
            kinds.append({self.shape(request) for request in list(self.server.requests)})
        self.assertEqual(kinds[0], kinds[1])

    def test_flags_that_the_script_would_not_heed_are_refused(self):
        file = self.write("script.lua", "wrk.path = '/x'")
        for flags in (["-X", "POST"], ["--body", "x"], ["-u", "a:b"], ["--no-keepalive"]):
            done = subprocess.run([MUSTER, "run", str(file), "--url", self.server.url, "-d", "1s", *flags], capture_output=True,
                                  text=True, timeout=30, check=False)
            self.assertEqual(done.returncode, 2, (flags, done))
            self.assertIn(f"{flags[0]} given with a script written for wrk", done.stderr)
        self.assertEqual(self.server.requests, [])

    def test_a_mistake_in_done_is_told_beside_the_results(self):
        file = self.write("script.lua", "function done()\n  error('oops')\nend")
        run = self.run_muster(file, "--url", self.server.url, "-d", "1s")
        self.assertEqual(run.code, 1, run)
        self.assertIn("script.lua:2: oops", " ".join(run.out.split()))
        self.assertGreater(run.workflow()["requests"], 5, run)

    def test_a_hook_that_hoards_memory_ends_the_run_and_keeps_its_results(self):
        file = self.write("script.lua", "local all = {}\nfunction response() all[#all + 1] = string.rep('x', 5e7) .. #all end")
        run = self.run_muster(file, "--url", self.server.url, "-d", "20s")
        self.assertEqual(run.code, 1, run)
        self.assertIn("512 MiB", run.workflow()["reason"], run)
        self.assertGreater(run.workflow()["requests"], 5, run)

    def test_endless_recursion_in_init_is_told(self):
        for body in ("return coroutine.wrap(f)()", "return (string.gsub('a', '.', f))"):
            file = self.write("script.lua", f"function init() local function f() {body} end f() end")
            run = self.run_muster(file, "--url", self.server.url, "-d", "1s")
            self.assertEqual(run.code, 1, run)
            self.assertIn("stack overflow", " ".join(run.out.split()), run)

    def test_a_mistake_in_a_hook_ends_the_run_with_its_line(self):
        file = self.write("script.lua", "function request()\n  local x = nil\n  return x.y\nend")
        done = subprocess.run([MUSTER, "run", str(file), "--url", self.server.url, "-d", "1s"], capture_output=True, text=True,
                              timeout=30, check=False)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("script.lua:3: attempt to index local 'x' (a nil value)", " ".join(done.stdout.split()))


class Alone(ProcessTest):
    """What can be seen without wrk."""

    def setUp(self):
        super().setUp()
        self.server = self.serve_http(lambda request: response("ok"))

    def run_script(self, text, *arguments, command="run", **options):
        path = self.write("post.lua", text)
        return self.run_muster(path, "--url", self.server.url + "/start", *arguments, command=command, **options)

    def test_what_a_script_prints_does_not_spoil_output_for_machines(self):
        script = "print('outside')\nfunction init() io.write('init', '\\n') end\nfunction done() print('the', 'end') end"
        load = ("-c", "1", "-n", "2")
        run = self.run_script(script, *load)
        self.assertEqual(run.code, 0, run)
        for text in ("outside\n", "init\n", "the\tend\n"):
            self.assertIn(text, run.out, "without anything else to write there")
        for flags in (["--json"], ["--out", "json=-"], ["--out", "ndjson=-"]):
            with self.subTest(flags=flags):
                run = self.run_script(script, *load, *flags)
                self.assertEqual(run.code, 0, run)
                for text in ("outside\n", "init\n", "the\tend\n"):
                    self.assertNotIn(text, run.out)
                    self.assertIn(text, run.err)
                texts = run.out.splitlines() if "ndjson=-" in flags else [run.out]
                for text in texts:
                    json.loads(text)
        run = self.run_script(script, "--json", command="try")
        for line in run.out.splitlines():
            json.loads(line)
        self.assertIn("init\n", run.err)

    def test_a_hook_that_never_comes_back_is_named(self):
        running = {}
        for hook in ("setup", "init", "request", "done"):
            file = self.write(f"{hook}.lua", f"function {hook}() while true do end end")
            running[hook] = subprocess.Popen([MUSTER, "run", str(file), "--url", self.server.url, "-n", "9", "--grace", "100ms",
                                              "--json"],
                                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for hook, process in running.items():
            out, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 1, out + err)
            workflow = json.loads(out)["workflows"][0]
            self.assertEqual(workflow["state"], "failed", out + err)
            self.assertRegex(workflow["reason"], f"^`{hook}` of '.*{hook}.lua' did not come back for 10 s")
            self.assertEqual(workflow["requests"], 9 if hook == "done" else 0, out)

    def test_what_a_script_posts_is_not_sent_twice(self):
        # Answers the first request of a connection and closes it on seeing the second.
        def reply(request):
            with server.lock:
                number = sum(1 for each in server.requests if each.connection == request.connection)
            return response("x") if number == 1 else CLOSE

        for text, asked, failed in (("wrk.method = 'POST'", 4, 2), ("wrk.method = 'GET'", 7, 0)):
            with self.subTest(text=text):
                server = self.server = self.serve_http(reply)
                run = self.run_script(text, "-c", "1", "-n", "4")
                self.assertEqual((len(server.requests), run.summary["failed"]), (asked, failed), run)

    def test_a_batch_fails_only_if_all_its_requests_do(self):
        script = """
function init(args) batch = wrk.format(nil, "/good") .. wrk.format(nil, "/good") .. wrk.format(nil, wrk.path) end
function request() return batch end
"""
        self.server = self.serve_http(lambda request: response("ok", 200 if request.path == "/good" else 404))
        run = self.run_script(script, "-c", "1", "-n", "4")
        self.assertEqual((run.code, run.summary["requests"], run.summary["failed"]), (0, 12, 4), run)
        self.assertEqual(run.workflow()["failed_iterations"], 0)
        run = self.run_script(script.replace("/good", "/bad"), "-c", "1", "-n", "4")
        self.assertEqual((run.code, run.workflow()["failed_iterations"]), (99, 4), run)

    def test_a_thread_that_stops_hides_no_failed_iteration(self):
        self.server = self.serve_http(lambda request: response("no", 404))
        run = self.run_script("function response() wrk.thread:stop() end", "-c", "4", "-n", "8")
        self.assertEqual((run.code, run.summary["failed"]), (99, run.summary["requests"]), run)
        self.assertEqual(run.workflow()["failed_iterations"], run.summary["requests"], run)

    def test_the_step_is_called_after_what_the_script_sends(self):
        for text, name in (("wrk.method = 'POST'", "POST /start"),
                           ("wrk.path = '/other?a=${b}'", "GET /other?a=${b}"),
                           ("function response() end", "GET /start"),
                           ("function init() wrk.path = '/later' end", "post.lua"),
                           ("wrk.method = 'POST'\nfunction request() return wrk.format('PUT') end", "post.lua")):
            with self.subTest(text=text):
                run = self.run_script(text, "-c", "1", "-n", "2")
                self.assertEqual(run.code, 0, run)
                self.assertEqual([step["name"] for step in run.workflow()["steps"]], [name])

    def test_to_name_the_step_nothing_is_printed_or_sent(self):
        text = "print('outside', wrk.connect(wrk.lookup(wrk.host, wrk.port)[1]))"
        run = self.run_script(text, command="check")
        self.assertEqual((run.code, "outside" in run.out + run.err, self.server.requests), (0, False, []), run)
        run = self.run_script(text, "-c", "1", "-n", "2")
        self.assertEqual(run.out.count("outside\ttrue"), 2, "once for `setup` and `done`, once for the thread")

    def test_a_mistake_outside_of_functions_is_told_before_the_run(self):
        for command in ("check", "run"):
            run = self.run_script("local x = nil\nx.y = 1", command=command)
            self.assertEqual(run.code, 2, run)
            self.assertIn("post.lua:2: attempt to index local 'x' (a nil value)", run.err)

    def test_without_an_address_it_is_told_to_give_one(self):
        path = self.write("post.lua", "wrk.method = 'POST'")
        for command in ("check", "run"):
            run = self.run_muster(path, command=command)
            self.assertEqual(run.code, 2, run)
            self.assertIn("this is a script written for wrk; give it an address: muster run ", run.err)


if __name__ == "__main__":
    unittest.main()
