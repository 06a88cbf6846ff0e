"""Workflows in Lua as people run them: what they send, and what happens when a script goes wrong."""

import contextlib
import json
import os
import re
import shlex
import signal
import subprocess
import time
import unittest

from harness import MUSTER, ROOT, ProcessTest, response, wait_until

HEAD = """
job {{ target = "{url}" }}
local home = http.get("/", {{ name = "home" }})
"""
GOOD = """
workflow("good", {{ load = {{ vus = 1, ["for"] = "{seconds}s", every = "20ms" }}, run = function() home() end }})
"""


class LuaTest(ProcessTest):
    def setUp(self):
        super().setUp()
        self.server = self.serve_http(lambda request: response('{"token": "abc", "items": [{"id": 7}]}',
                                                               headers=[("Content-Type", "application/json")]))

    def script(self, text, *arguments, limit=30):
        path = self.write("script.lua", text)
        return self.run_muster(path, "--cores", "1", *arguments, limit=limit)

    def beside(self, body, seconds=2, limit=40):
        """A workflow whose function is `body`, beside a good one that lasts for some seconds."""
        text = HEAD.format(url=self.server.url) + GOOD.format(seconds=seconds) + f"""
workflow("bad", {{ load = {{ vus = 1, ["for"] = "{seconds}s" }}, run = function(vu)
  home()
  if vu.iteration < 3 then return end
  {body}
end }})
"""
        path = self.write("script.lua", text)
        return self.run_muster(path, "--cores", "2", limit=limit)

    def assert_bad_alone(self, run, reason):
        bad, good = run.workflow("bad"), run.workflow("good")
        self.assertEqual((run.code, bad["state"]), (1, "failed"), run)
        self.assertIn(reason, bad["reason"], run)
        self.assertGreaterEqual(bad["requests"], 3, "results so far are kept")
        self.assertEqual(good["state"], "completed", run)
        self.assertEqual(good["failed"], 0, run)
        self.assertGreater(good["requests"], 10, run)  # of a hundred, where no core stands still
        self.assertIn(reason, self.unwrapped(run), "the summary says so")

    @staticmethod
    def unwrapped(run):
        """The summary without the line breaks that its eighty columns need."""
        return " ".join(run.out.split())


class Requests(LuaTest):
    def test_steps_send_what_yaml_would_and_results_come_back(self):
        run = self.script(f"""
job {{ target = "{self.server.url}", load = {{ vus = 1, iterations = 1 }} }}
local login = http.post("/login", {{ name = "login", json = {{ user = "${{user}}" }}, save = {{ token = "json.token" }} }})
local buy = http.get("/buy/${{id}}", {{ name = "buy", headers = {{ Authorization = "Bearer ${{token}}" }} }})
function run()
  local r = login {{ user = 'o"r' }}
  local first = r.json.items[1]
  assert(r.status == 200 and r.token == "abc" and r.header["content-type"] == "application/json")
  assert(#r.body > 10 and r.latency > 0)
  buy {{ id = first.id }}
end
""")
        self.assertEqual(run.code, 0, run)
        first, second = self.server.requests
        self.assertEqual((first.line, json.loads(first.body)), ("POST /login HTTP/1.1", {"user": 'o"r'}))
        self.assertEqual((second.line, second.header("authorization")), ("GET /buy/7 HTTP/1.1", "Bearer abc"))

    def test_any_step_can_be_declared_as_it_stands_in_yaml(self):
        run = self.script(f"""
job {{ target = "{self.server.url}", load = {{ vus = 1, iterations = 1 }} }}
local plain = step {{ name = "plain", get = "/plain" }}
local again = step {{ name = "again", retry = 2, steps = {{ {{ name = "in retry", get = "/retry" }} }} }}
local both = step {{ parallel = {{ {{ name = "left", get = "/both" }}, {{ name = "right", get = "/both" }} }} }}
local whole = step {{ group = "whole", steps = {{ {{ name = "in group", get = "/group" }} }} }}
local pause = step {{ think = "1ms" }}
function run()
  assert(plain().status == 200)
  again() both() whole() pause()
  assert(plain:try().ok)
end
""")
        self.assertEqual(run.code, 0, run)
        self.assertEqual([request.target for request in self.server.requests],
                         ["/plain", "/retry", "/both", "/both", "/group", "/plain"])
        self.assertEqual(run.step("whole")["requests"], 1)

    def test_what_the_script_computes_is_no_part_of_a_latency(self):
        run = self.script(f"""
job {{ target = "{self.server.url}", load = {{ vus = 1, iterations = 20 }} }}
local first = http.get("/", {{ name = "first" }})
local second = http.get("/", {{ name = "second" }})
local computing = group("computing")
local seen = metric("seen", "trend")
function run()
  first()
  computing(function() local t = {{}} for i = 1, 200000 do t[i % 100] = tostring(i) end end)
  seen(second().latency * 1000)
end
""")
        self.assertEqual(run.code, 0, run)
        computed = run.step("computing")["latency_us"]["p50"]
        self.assertGreater(computed, 2000, "the test computes for too short a time to show anything")
        self.assertLess(run.step("second")["latency_us"]["p50"], computed / 2, run)

    def test_rows_of_data_are_dealt_out_as_in_yaml(self):
        self.write("users.csv", "name\nann\nbob\ncleo\n")
        run = self.script(f"""
job {{ target = "{self.server.url}", load = {{ vus = 2, iterations = 3 }},
      data = {{ users = {{ csv = "users.csv", pick = "unique" }} }} }}
local hello = http.get("/hello/${{data.users.name}}?again=${{again}}", {{ name = "hello" }})
function run() hello {{ again = data.users.name }} end
""")
        self.assertEqual(run.code, 0, run)
        self.assertEqual(sorted(request.target for request in self.server.requests),
                         [f"/hello/{name}?again={name}" for name in ("ann", "bob", "cleo")])

    def test_context_goes_from_one_workflow_to_the_next(self):
        run = self.script(f"""
job {{ target = "{self.server.url}" }}
local login = http.get("/login", {{ name = "login", save = {{ token = "json.token" }} }})
local page = http.get("/page?t=${{t}}", {{ name = "page" }})
workflow("first", {{ load = {{ vus = 1, iterations = 1 }}, provide = {{ token = {{ from = "token" }} }},
  run = function() login() end }})
workflow("second", {{ depends = {{ "first" }}, use = {{ token = "first" }}, load = {{ vus = 1, iterations = 1 }},
  run = function() page {{ t = use.token }} end }})
""")
        self.assertEqual(run.code, 0, run)
        self.assertEqual([request.target for request in self.server.requests], ["/login", "/page?t=abc"])

    def test_environment_reaches_the_script_and_secrets_do_not_leave_it(self):
        run = self.run_muster(self.write("script.lua", f"""
job {{ target = "{self.server.url}", secrets = {{ "PASSWORD" }}, load = {{ vus = 1, iterations = 1 }} }}
local home = http.get("/?p=${{env.PASSWORD}}", {{ name = "home" }})
function run() home() log("the password is", env.PASSWORD) error("it is " .. env.PASSWORD) end
"""), environment={"PASSWORD": "tr0ub4dor"})
        self.assertEqual(self.server.requests[0].target, "/?p=tr0ub4dor")
        self.assertNotIn("tr0ub4dor", run.text(), run)

    def test_what_is_logged_neither_steers_the_terminal_nor_floods_it(self):
        run = self.script(f"""
job {{ target = "{self.server.url}", load = {{ vus = 1, iterations = 1 }} }}
local home = http.get("/", {{ name = "home" }})
function run() home() log("a\\27[2J\\nb") log(string.rep("x", 5000)) end
""")
        self.assertEqual(run.code, 0, run)
        lines = run.err.splitlines()
        self.assertIn("a\\x1b[2J\\nb", lines)
        self.assertIn("x" * 4000 + " … 1000 more bytes", lines)
        self.assertNotIn("\x1b", run.err)


class Pauses(LuaTest):
    def test_a_failing_server_is_asked_as_often_as_by_yaml(self):
        server = self.serve_http(lambda request: response("x", status=500 if request.target == "/bad" else 200))
        test = self.write("test.yaml", f'''
muster: 1
target: {server.url}
load: {{ vus: 10, for: 3s }}
steps: [ {{ name: good, get: / }}, {{ think: 200ms }} ]
''')
        expected = self.run_muster(test, "--cores", "1").workflow()["requests"]
        self.assertGreater(expected, 60, "the machine is too slow to show anything")
        for failure in ("bad()", "good() local x = nil; x.y = 1"):
            with self.subTest(failure=failure):
                run = self.script(f"""
job {{ target = "{server.url}", load = {{ vus = 10, ["for"] = "3s" }} }}
local bad, good = http.get("/bad", {{ name = "bad" }}), http.get("/", {{ name = "good" }})
function run(vu)
  if vu.id == 1 then {failure} else good() end
  think("200ms")
end
""")
                flow = run.workflow()
                self.assertGreater(flow["failed_iterations"], 0, run)
                self.assertLess(flow["requests"], 1.5 * expected, run)
                self.assertGreater(flow["requests"], 0.5 * expected, run)


class Summaries(LuaTest):
    def test_a_workflow_shows_only_what_it_called(self):
        run = self.script(f"""
job {{ target = "{self.server.url}" }}
local login = http.get("/login", {{ name = "login" }})
local page = http.get("/page", {{ name = "page" }})
local same_user = check("same user")
local basket = metric("basket", "counter")
workflow("before", {{ load = {{ vus = 1, iterations = 1 }}, run = function() login() same_user(true) end }})
workflow("after", {{ depends = {{ "before" }}, load = {{ vus = 1, iterations = 1 }}, run = function() page() basket(2) end }})
""")
        self.assertEqual(run.code, 0, run)
        self.assertEqual(run.out.count("login  "), 1, run)
        self.assertEqual(run.out.count("page  "), 1, run)
        self.assertEqual(run.out.count("same user"), 1, run)
        self.assertEqual(run.out.count("basket"), 1, run)
        self.assertNotIn("of 0", run.out)
        done = subprocess.run([MUSTER, "check", self.folder / "script.lua"], capture_output=True, text=True, timeout=20, check=False)
        self.assertIn("workflow after: may call 4 steps", done.stdout)


class Documentation(LuaTest):
    def test_every_script_in_it_is_good(self):
        blocks = re.findall(r"```lua\n(.*?)```", (ROOT / "docs/lua.md").read_text(), re.DOTALL)
        self.assertGreater(len(blocks), 1)
        for text in blocks:
            done = subprocess.run([MUSTER, "check", self.write("script.lua", text)], capture_output=True, text=True, timeout=20,
                                  env={**os.environ, "PASSWORD": "secret"}, check=False)
            self.assertEqual(done.returncode, 0, text + done.stdout + done.stderr)

    def test_every_command_in_it_succeeds(self):
        page = (ROOT / "docs/lua.md").read_text()
        blocks = re.findall(r"```lua\n(.*?)```", page, re.DOTALL)
        self.write("shop.lua", blocks[0])
        self.write("checkout.lua", blocks[1])
        commands = re.findall(r"^muster (\w+) ((?:shop|checkout)\.lua.*)$", page, re.MULTILINE)
        self.assertEqual([command for command, _ in commands], ["check", "run", "run", "run"])
        for command, rest in commands:
            with self.subTest(command=rest):
                words = shlex.split(rest)
                load = "load" if words[0] == "checkout.lua" else "workflows[0].load"
                shorter = ["--set", f"{load}.vus=2", "--set", f"{load}.for=1s"] if command == "run" else []
                run = self.run_muster(*words, *shorter, command=command)
                self.assertEqual(run.code, 0, run)
                if command == "run":
                    steps = [step for step in run.workflow()["steps"] if step["kind"] == "http"]
                    self.assertEqual([step["failed"] for step in steps], [0] * len(steps), run)
                    self.assertTrue(all(step["requests"] > 0 for step in steps), run)


class Mistakes(LuaTest):
    def test_bad_input_is_told_before_anything_runs(self):
        for text, message in (
                ("function run( end", "script.lua:1: <name> or '...' expected near 'end'"),
                ("error('no')", "script.lua:1: no"),
                ("local a = http.get('/')\nfunction run() a() end", "target"),
                ("x = 1", "nothing to run"),
                ("x = 1\nworkflow('a', { run = 5 })", "script.lua:2: workflow 'a': `run` must be a function"),
                ("x = 1\nworkflow()", "script.lua:2: workflow takes a name and a table"),
                ("x = 1\nstep()", "script.lua:2: step takes a table"),
                ("\x1bLJ\x02", "script.lua: this is compiled Lua"),
                ("while true do end", "took longer than 10 s")):
            with self.subTest(text=text):
                run = self.script(text)
                self.assertEqual(run.code, 2, run)
                self.assertIn(message, run.err, run)
                self.assertEqual(self.server.requests, [])

    def test_a_step_where_nothing_can_wait_is_told_with_its_line(self):
        run = self.script(HEAD.format(url=self.server.url) + """
workflow("w", { load = { vus = 1, iterations = 1 }, run = function()
  table.sort({ 2, 1 }, function(a, b) home() return a < b end)
end })
""")
        self.assertIn("script.lua:6: a step cannot be used inside a function that table.sort", self.unwrapped(run).replace("/ ", "/"))

    def test_what_another_workflow_provides_is_no_argument(self):
        run = self.script(f"""
job {{ target = "{self.server.url}" }}
local login = http.get("/login", {{ name = "login", save = {{ token = "json.token" }} }})
local me = http.get("/me?t=${{tok}}", {{ name = "me" }})
workflow("first", {{ load = {{ vus = 1, iterations = 1 }}, provide = {{ tok = {{ from = "token" }} }},
  run = function() login() end }})
workflow("second", {{ depends = {{ "first" }}, use = {{ tok = "first" }}, load = {{ vus = 1, iterations = 1 }},
  run = function() me {{ tok = "mine" }} end }})
""")
        self.assertIn("${tok} is what another workflow provides (`use`)", self.unwrapped(run), run)

    def test_an_iteration_that_fails_by_mistake_is_counted_and_told(self):
        run = self.script(HEAD.format(url=self.server.url) + """
workflow("w", { load = { vus = 1, iterations = 4 }, run = function(vu) home() if vu.iteration > 1 then local x = y.z end end })
""")
        self.assertIn("attempt to index global 'y'", self.unwrapped(run), run)
        self.assertEqual(run.step("home")["requests"], 4)

    def test_a_threshold_can_judge_by_iterations_that_failed(self):
        run = self.script(f'''
job {{ target = "{self.server.url}", thresholds = {{ "failed_iterations rate < 20%", "failed rate < 1%" }} }}
local home = http.get("/", {{ name = "home" }})
workflow("w", {{ load = {{ vus = 1, iterations = 4 }}, run = function(vu) home() if vu.iteration > 1 then local x = y.z end end }})
''')
        verdicts = run.summary["thresholds"]
        self.assertEqual([(each["value"], each["passed"]) for each in verdicts], [(0.5, False), (0, True)], run)
        self.assertEqual(run.code, 99, run)


class Runaways(LuaTest):
    def test_a_loop_that_never_ends(self):
        self.assert_bad_alone(self.beside("while true do end", seconds=9), "did not come back")

    def test_a_loop_on_a_machine_without_time_for_it_keeps_its_reason(self):
        path = self.write("script.lua", HEAD.format(url=self.server.url) + """
workflow("w", { load = { vus = 1, ["for"] = "1s", grace = "100ms" }, run = function() home() while true do end end })
""")
        under = self.start(path, "--ui", "none", "--cores", 1)
        executor = under.executor()
        wait_until(lambda: self.server.requests, what="a request")
        with contextlib.suppress(ProcessLookupError):
            while under.process.poll() is None:
                os.kill(executor, signal.SIGSTOP)
                time.sleep(0.09)
                os.kill(executor, signal.SIGCONT)
                time.sleep(0.01)
        run = under.end()
        self.assertEqual(run.code, 1, run)
        self.assertEqual(run.workflow()["state"], "failed", run)
        self.assertRegex(run.workflow()["reason"], "did not come back for .*: it got no CPU, or it hangs")
        self.assertEqual(run.step("home")["requests"], 1, run)

    def test_what_every_core_did_before_a_loop_is_counted(self):
        path = self.write("script.lua", HEAD.format(url=self.server.url) + """
workflow("w", { load = { vus = 2, ["for"] = "20s" },
  run = function(vu) home() if vu.id == 1 and vu.iteration == 200 then while true do end end end })
""")
        run = self.run_muster(path, "--ui", "none", "--cores", 2, limit=60)
        self.assertIn("did not come back", self.unwrapped(run), run)
        # What was under way on the other core is cut off there.
        served = len(self.server.requests)
        self.assertIn(run.step("home")["requests"], (served - 1, served), run)

    def test_a_pattern_that_never_ends(self):
        self.assert_bad_alone(
            self.beside("local s = string.rep('a', 200000) s:find(string.rep('a*', 30) .. 'b')", seconds=9),
            "did not come back")

    def test_a_hoard_of_tables(self):
        self.assert_bad_alone(self.beside("local t = {} while true do t = { t, {}, {}, {} } end"), "512 MiB")

    def test_a_text_that_doubles_for_ever(self):
        self.assert_bad_alone(self.beside("local s = 'x' while true do s = s .. s end"), "512 MiB")

    def test_one_enormous_text(self):
        self.assert_bad_alone(self.beside("local s = string.rep('x', 2e9)"), "512 MiB")
        self.assert_bad_alone(self.beside("local s = string.rep('x', 2 ^ 31)"), "512 MiB")

    def test_a_list_that_is_joined_to_an_enormous_text(self):
        self.assert_bad_alone(self.beside("local t = {} for i = 1, 1e6 do t[i] = 'x' end "
                                          "for i = 1, 12 do t[1] = table.concat(t) .. t[1] end "
                                          "local s = t[1]:rep(1000)"), "512 MiB")

    def test_endless_recursion(self):
        self.assert_bad_alone(self.beside("local function f() return 1 + f() end f()"), "stack overflow")

    # These two crashed the executor: LuaJIT watches neither its C stack nor how deep coroutines go.
    def test_endless_recursion_through_the_library(self):
        self.assert_bad_alone(self.beside("local function f() return (string.gsub('a', '.', f)) end f()"), "stack overflow")
        self.assert_bad_alone(self.beside("local function f() table.sort({2, 1}, f) return true end f()"), "stack overflow")

    def test_endless_recursion_through_coroutines(self):
        self.assert_bad_alone(self.beside("local function f() return coroutine.wrap(f)() end f()"), "stack overflow")
        self.assert_bad_alone(
            self.beside("local function f() error(select(2, coroutine.resume(coroutine.create(f))), 0) end f()"),
            "stack overflow")

    def test_endless_recursion_while_the_script_is_read(self):
        for text in ("local function f() return (string.gsub('a', '.', f)) end f()",
                     "local function f() return coroutine.wrap(f)() end f()"):
            path = self.write("script.lua", text)
            for command in ("check", "explain", "try", "run"):
                done = subprocess.run([MUSTER, command, path], capture_output=True, text=True, timeout=20, check=False)
                self.assertEqual(done.returncode, 2, (command, text, done))
                self.assertIn("stack overflow", done.stderr, done)
                self.assertIn("script.lua", done.stderr, done)

    def test_a_script_that_catches_the_end_of_its_memory_does_not_go_on(self):
        for body in ("pcall(function() while true do t[#t + 1] = {1} end end)",
                     "while true do pcall(function() while true do t[#t + 1] = {1} end end) end",
                     "pcall(function() while true do t[#t + 1] = ('x'):rep(1e6) .. #t end end)",
                     "coroutine.wrap(function() while true do t[#t + 1] = {1} end end)()"):
            with self.subTest(body=body):
                run = self.script(HEAD.format(url=self.server.url) + f"""
local t = {{}}
workflow("bad", {{ load = {{ vus = 1, iterations = 9 }}, run = function(vu)
  home()
  if vu.iteration < 3 then return end
  {body}
  home()
end }})
""")
                bad = run.workflow("bad")
                self.assertEqual((run.code, bad["state"]), (1, "failed"), run)
                self.assertIn("512 MiB", bad["reason"])
                self.assertEqual((bad["requests"], bad["iterations"]), (4, 4), "results so far, and no iteration after it")

    def test_memory_that_ends_while_the_script_is_read(self):
        run = self.script("local t = {} while true do t[#t + 1] = {1} end")
        self.assertEqual(run.code, 2, run)
        self.assertIn("script.lua' needs more than the 512 MiB", run.err)


if __name__ == "__main__":
    unittest.main()
