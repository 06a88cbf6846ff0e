"""Workflows as a server sees them: control steps, graphs, data, values between workflows, load shapes, thresholds."""

import json
import os
import statistics
import threading
import time
import unittest

from harness import ProcessTest, response


class WorkflowTest(ProcessTest):
    """`self.server` answers {"n": <number of the request>, "path": …}; paths below /fail give 500, below /slow wait."""

    def setUp(self):
        super().setUp()
        self.times = []

        def reply(request):
            self.times.append(time.monotonic())
            if request.path.startswith("/slow"):
                time.sleep(0.15)
            if request.path.startswith("/fail"):
                return response("no", 500)
            with self.server.lock:
                number = len(self.server.requests)
            return response(json.dumps({"n": number, "path": request.path, "more": number < 3}))

        self.server = self.serve_http(reply)

    def go(self, steps, *arguments, code=0, load="{ vus: 1, iterations: 1 }", top="", workflow="", cores=1, environment=None,
           limit=20):
        """Runs one workflow; `steps` is YAML."""
        return self.flows(f"""
  - name: main
    load: {load}
    {workflow}
    steps: {steps}
""", *arguments, code=code, top=top, cores=cores, environment=environment, limit=limit)

    def flows(self, text, *arguments, code=0, top="", cores=1, environment=None, limit=20):
        run = self.run_muster("--cores", cores, *arguments, environment=environment, limit=limit, yaml=f"""
muster: 1
target: {self.server.url}
{top}
workflows:
{text}
""")
        self.assertEqual(run.code, code, run)
        return run

    def paths(self):
        return self.server.paths()


class Control(WorkflowTest):
    def test_if_and_else(self):
        self.go("""
      - { name: a, get: /a }
      - if: a.status == 200 and a.json.path == '/a'
        then: [ { get: /then } ]
        else: [ { get: /else } ]
      - if: a.json.nothing
        then: [ { get: /then2 } ]
        else: [ { get: /else2 } ]
      - if: false
        then: [ { get: /then3 } ]""")
        self.assertEqual(self.paths(), ["/a", "/then", "/else2"])

    def test_repeat_by_count_and_while(self):
        self.go("""
      - repeat: 3
        steps: [ { get: /count } ]
      - repeat: { while: "(list.json.n ?? 0) < 6", times: 100 }
        steps: [ { name: list, get: /while } ]
      - repeat: 0
        steps: [ { get: /never } ]
      - repeat: 2
        steps: [ { repeat: 2, steps: [ { get: /nested } ] } ]""")
        self.assertEqual(self.paths(), ["/count"] * 3 + ["/while"] * 3 + ["/nested"] * 4)

    def test_retry_until_a_condition_holds(self):
        run = self.go("""
      - retry: { until: job.json.n >= 3, times: 5, delay: 50ms }
        steps: [ { name: job, get: /job } ]
      - { get: /after }""")
        self.assertEqual(self.paths(), ["/job"] * 3 + ["/after"])
        self.assertGreater(self.times[2] - self.times[0], 0.09)
        self.assertEqual(run.step("job")["retried"], 2)
        self.assertEqual(run.workflow()["failed_iterations"], 0)

    def test_retry_gives_up_and_fails_the_iteration(self):
        run = self.go("""
      - retry: { times: 3 }
        steps: [ { name: bad, get: /fail }, { name: not-reached, get: /x } ]
      - { name: after, get: /after }""", code=99)
        self.assertEqual(self.paths(), ["/fail"] * 3)
        self.assertEqual((run.step("after")["skipped"], run.workflow()["failed_iterations"]), (1, 1))
        self.assertEqual(run.step("not-reached")["skipped"], 3)

    def test_a_retry_whose_condition_never_holds_says_so(self):
        said = "retry of 'j' gave up after 2 tries: 'j.json.n > 100' did not hold"
        steps = '[ { retry: { until: "j.json.n > 100", times: 2 }, steps: [ { name: j, get: /j } ] } ]'
        run = self.go(steps, code=99)
        self.assertEqual([(note["text"], note["count"]) for note in run.workflow()["notes"]], [(said, 1)])
        self.assertIn(said, " ".join(run.out.split()))
        tried = self.run_muster(command="try", yaml=f"muster: 1\ntarget: {self.server.url}\nsteps: {steps}\n")
        self.assertEqual(tried.code, 99, tried)
        self.assertIn(said, tried.out)

    def test_choose_by_weight(self):
        self.go("""
      - choose:
          - { weight: 3, steps: [ { get: /often } ] }
          - { weight: 1, steps: [ { get: /seldom } ] }""", "--seed", "7", load="{ vus: 2, iterations: 400 }")
        self.assertAlmostEqual(self.paths().count("/often"), 300, delta=40)
        self.assertEqual(len(self.paths()), 400)

    def test_group_has_a_latency_of_its_own(self):
        run = self.go("""
      - group: both
        steps: [ { get: /slow/1 }, { get: /slow/2 } ]""", load="{ vus: 1, iterations: 2 }")
        group = run.step("both")
        self.assertGreater(group["latency_us"]["min"], 300_000)
        self.assertEqual(run.summary["requests"], 4, "a group is no request")

    def test_a_group_whose_step_fails_has_failed(self):
        run = self.go("""
      - group: both
        steps: [ { get: /ok }, { get: /fail }, { get: /never } ]""", code=99)
        self.assertEqual(self.paths(), ["/ok", "/fail"])
        self.assertEqual(run.step("both")["failed"], 1)

    def test_think_waits(self):
        self.go("[ { get: /a }, { think: 100ms }, { get: /b }, { think: 10ms..20ms }, { get: /c } ]")
        self.assertGreaterEqual(self.times[1] - self.times[0], 0.1)
        self.assertTrue(0.01 <= self.times[2] - self.times[1] < 0.1, self.times)

    def test_set_keeps_types_and_order(self):
        self.go("""
      - set: { a: 1 + 1, b: "${a}", c: "n-${a}", d: "'text'" }
      - { post: /x, json: { a: "${a}", b: "${b}", c: "${c}", d: "${d}", e: "${nothing ?? 'none'}" } }"""
                .replace("nothing", "env.NOTHING"), environment={})
        self.assertEqual(json.loads(self.server.requests[0].body), {"a": 2, "b": 2, "c": "n-2", "d": "text", "e": "none"})

    def test_log_writes_lines(self):
        run = self.go("[ { log: 'vu ${vu.id} iteration ${iteration}' }, { get: / } ]", load="{ vus: 1, iterations: 2 }")
        self.assertIn("vu 1 iteration 0\n", run.err)
        self.assertIn("vu 1 iteration 1\n", run.err)

    def test_log_is_bounded(self):
        run = self.go("[ { repeat: 1000, steps: [ { log: line } ] }, { get: / } ]")
        self.assertLessEqual(run.err.count("line\n"), 200)
        self.assertTrue(any("log" in note["text"] if isinstance(note, dict) else "log" in str(note)
                            for note in run.workflow()["notes"]), run.workflow()["notes"])

    def test_stop_ends_the_iteration_the_vu_or_the_workflow(self):
        self.go("[ { get: /a }, { stop: iteration }, { get: /never } ]", load="{ vus: 1, iterations: 3 }")
        self.assertEqual(self.paths(), ["/a"] * 3)
        self.server.requests.clear()
        run = self.go("[ { get: '/${vu.id}' }, { if: vu.id == 1, then: [ { stop: vu } ] } ]", load="{ vus: 2, iterations: 5 each }")
        self.assertEqual((self.paths().count("/1"), self.paths().count("/2")), (1, 5))
        self.server.requests.clear()
        run = self.go("[ { get: /a }, { if: iteration == 4, then: [ { stop: workflow } ] } ]", load="{ vus: 1, for: 20s }")
        self.assertEqual(len(self.paths()), 5)
        self.assertLess(run.seconds, 2)

    def test_stop_vu_for_all_vus_ends_the_workflow(self):
        run = self.go("[ { get: /a }, { stop: vu } ]", load="{ vus: 3, for: 15s }")
        self.assertEqual(len(self.paths()), 3)
        self.assertLess(run.seconds, 3, "nothing is left to do")

    def test_metrics_of_each_type(self):
        run = self.go("""
      - { name: a, get: /a }
      - { metric: total, type: counter, value: 2 }
      - { metric: last, type: gauge, value: a.json.n }
      - { metric: share, type: rate, value: iteration < 1 }
      - { metric: size, type: trend, value: a.json.n * 10 }""", load="{ vus: 1, iterations: 4 }",
                      top="thresholds: [ total count == 8, last value == 4, share rate == 25%, size max == 40, size mean == 25 ]")
        metrics = {metric["name"]: metric for metric in run.workflow()["metrics"]}
        self.assertEqual(set(metrics), {"total", "last", "share", "size"})
        self.assertTrue(all(threshold["passed"] and threshold["judged"] for threshold in run.summary["thresholds"]))

    def test_check_steps_and_failed_checks_are_counted(self):
        run = self.go("""
      - { name: a, get: /a, check: { status: 200, json.n: "> 2" } }
      - { name: later, check: { a.json.n: "<= 3" } }
      - { get: /b }""", load="{ vus: 1, iterations: 3 }")
        checks = {check["label"]: (check["ok"], check["failed"]) for check in run.summary["checks"]}
        self.assertEqual(sorted(checks.values()), [(2, 1), (2, 1), (3, 0)], checks)
        self.assertEqual(self.paths().count("/b"), 3, "a check that is not required fails nothing")

    def test_a_required_check_step_skips_the_rest(self):
        run = self.go("""
      - { name: a, get: /a }
      - { check: { a.status: { that: 201, required: true } } }
      - { name: never, get: /never }""", code=99)
        self.assertEqual((self.paths(), run.step("never")["skipped"]), (["/a"], 1))

    def test_a_failed_step_skips_the_rest_of_its_sequence(self):
        run = self.go("[ { get: /fail }, { name: rest, get: /rest } ]", load="{ vus: 1, iterations: 3 }", code=99)
        self.assertEqual((self.paths(), run.step("rest")["skipped"]), (["/fail"] * 3, 3))
        self.assertEqual(run.workflow()["failed_iterations"], 3)


class Order(WorkflowTest):
    def test_parallel_runs_at_once(self):
        run = self.go("[ { parallel: [ { name: a, get: /slow/a }, { name: b, get: /slow/b } ] }, { get: '/${a.json.path}' } ]")
        self.assertEqual(self.server.most_at_once, 2)
        self.assertEqual(self.server.accepted, 2)
        self.assertEqual(sorted(self.paths()[:2]), ["/slow/a", "/slow/b"])
        self.assertLess(run.workflow()["iteration_us"]["max"], 290_000 + 150_000)

    def test_parallel_goes_on_beside_a_failure_and_skips_what_follows(self):
        run = self.go("""
      - parallel:
          - { name: bad, get: /fail }
          - { group: good, steps: [ { get: /slow/1 }, { name: two, get: /two } ] }
      - { name: after, get: /after }""", code=99)
        self.assertEqual(sorted(self.paths()), ["/fail", "/slow/1", "/two"])
        self.assertEqual((run.step("after")["skipped"], run.workflow()["failed_iterations"]), (1, 1))

    def test_a_graph_runs_in_its_order_and_at_once_where_it_may(self):
        self.go("""
      - { name: home, get: /home, after: [] }
      - { name: style, get: /slow/style, after: home }
      - { name: logo, get: /slow/logo, after: home }
      - { name: done, get: "/done${logo.json.path}", after: [ style, logo ] }""", load="{ vus: 1, iterations: 2 }")
        self.assertEqual(self.server.most_at_once, 2)
        self.assertEqual(len(self.paths()), 8)
        self.assertEqual((self.paths()[0], sorted(self.paths()[1:3]), self.paths()[3]),
                         ("/home", ["/slow/logo", "/slow/style"], "/done/slow/logo"))

    def test_a_failure_in_a_graph_skips_its_dependents_alone(self):
        run = self.go("""
      - { name: bad, get: /fail, after: [] }
      - { name: good, get: /good, after: [] }
      - { name: below-bad, get: /below-bad, after: bad }
      - { name: below-good, get: /below-good, after: good }
      - { name: below-below-bad, get: /x, after: below-bad }
      - { name: both, get: /both, after: [ below-good, below-bad ] }""", load="{ vus: 1, iterations: 2 }", code=99)
        self.assertEqual(sorted(self.paths()), ["/below-good"] * 2 + ["/fail"] * 2 + ["/good"] * 2)
        self.assertEqual([run.step(name)["skipped"] for name in ("below-bad", "below-below-bad", "both", "below-good")],
                         [2, 2, 2, 0])

    def test_start_and_stop_run_once_for_each_vu(self):
        run = self.go("[ { get: '/loop/${token}' } ]", load="{ vus: 2, iterations: 3 each }", workflow="""
    start: [ { name: in, get: "/start", save: { token: "'t' + vu.id" } } ]
    stop: [ { get: "/stop/${token}" } ]
""")
        self.assertEqual(self.paths().count("/start"), 2)
        self.assertEqual(sorted(path for path in self.paths() if path.startswith("/stop")), ["/stop/t1", "/stop/t2"])
        self.assertEqual(sorted(path for path in self.paths() if path.startswith("/loop")), ["/loop/t1"] * 3 + ["/loop/t2"] * 3)
        self.assertEqual(run.workflow()["iterations"], 6)

    def test_a_failing_start_ends_its_vu(self):
        run = self.go("[ { get: /loop } ]", load="{ vus: 2, for: 10s }", workflow="start: [ { get: /fail } ]", code=99)
        self.assertEqual(self.paths(), ["/fail", "/fail"])
        self.assertLess(run.seconds, 3)
        self.assertTrue(run.workflow()["notes"])


class Turns(WorkflowTest):
    FLOWS = """
  - { name: a, load: { vus: 1, for: 300ms, every: 20ms }, steps: [ { get: /a } ] }
  - { name: b, load: { vus: 1, for: 300ms, every: 20ms }, steps: [ { get: /b } ] }"""

    def test_workflows_that_take_turns_for_lack_of_cores_are_warned_of_and_marked(self):
        run = self.flows(self.FLOWS, "--ui", "none")
        self.assertIn("worth a look: 2 workflows of one layer need 2 cores to run together, and 1 is there: they run in 2 batches, one "
                      "after the other; --cores 2 runs them together", run.err)
        self.assertEqual([mark["id"] for mark in run.summary["marks"]], ["batches"])
        self.assertRegex(" ".join(run.out.split()), "they ran in 2 batches, one after the other; --cores 2 runs them together")
        self.assertIn("1 core ", run.out)
        run = self.flows(self.FLOWS, "--ui", "none", cores=2)
        self.assertEqual((run.err, run.summary["marks"]), ("", []))

    def test_check_warns_of_them_too(self):
        yaml = f"muster: 1\ntarget: {self.server.url}\nworkflows: {self.FLOWS}\n"
        alone = min(os.sched_getaffinity(0))
        for flags in ([], ["--json"]):
            run = self.run_muster(*flags, command="check", yaml=yaml, preexec_fn=lambda: os.sched_setaffinity(0, {alone}))
            self.assertEqual(run.code, 0, run)
            self.assertIn("2 workflows of one layer need 2 cores to run together, and 1 is there", run.out + run.err)
        self.assertEqual(len(json.loads(run.out)["warnings"]), 1)


class Data(WorkflowTest):
    def setUp(self):
        super().setUp()
        self.write("users.csv", "name,age\n" + "".join(f"u{i},{20 + i}\n" for i in range(6)))
        self.write("users.json", json.dumps([{"name": f"j{i}", "more": {"deep": i}} for i in range(3)]))

    def names(self, pick, load, file="csv: users.csv", code=0, cores=1, steps="[ { get: '/${data.users.name}' } ]"):
        run = self.go(steps, load=load, top=f"data: {{ users: {{ {file}, pick: {pick} }} }}", code=code, cores=cores)
        return [path[1:] for path in self.paths()], run

    def test_sequential_goes_round(self):
        names, _ = self.names("sequential", "{ vus: 1, iterations: 8 }")
        self.assertEqual(names, ["u0", "u1", "u2", "u3", "u4", "u5", "u0", "u1"])

    def test_random_draws_all(self):
        names, _ = self.names("random", "{ vus: 1, iterations: 200 }")
        self.assertEqual(set(names), {f"u{i}" for i in range(6)})

    def test_unique_gives_each_row_once_and_then_ends(self):
        for cores in (1, 2):
            with self.subTest(cores=cores):
                self.server.requests.clear()
                names, run = self.names("unique", "{ vus: 2, for: 10s }", cores=cores)
                self.assertEqual(sorted(names), [f"u{i}" for i in range(6)])
                self.assertLess(run.seconds, 3)
                self.assertIn("data", [mark["id"] for mark in run.summary["marks"]])

    def test_unique_that_suffices_is_not_marked(self):
        names, run = self.names("unique", "{ vus: 1, iterations: 6 }")
        self.assertEqual((sorted(names), run.summary["marks"]), ([f"u{i}" for i in range(6)], []))

    def test_each_vu_keeps_its_row(self):
        names, _ = self.names("per_vu", "{ vus: 2, iterations: 3 each }")
        self.assertEqual(sorted(names), ["u0"] * 3 + ["u1"] * 3)

    def test_json_rows_keep_their_structure(self):
        names, _ = self.names("sequential", "{ vus: 1, iterations: 3 }", "json: users.json",
                              steps="[ { get: '/${data.users.name}-${data.users.more.deep + 1}' } ]")
        self.assertEqual(names, ["j0-1", "j1-2", "j2-3"])

    def test_values_flow_from_workflow_to_workflow(self):
        for keep, expected in (("", {"/v/3"}), ("keep: first,", {"/v/1"}), ("keep: all, max: 10,", {"/v/1", "/v/2", "/v/3"})):
            with self.subTest(keep=keep):
                self.server.requests.clear()
                self.flows(f"""
  - name: one
    load: {{ vus: 1, iterations: 3 }}
    steps: [ {{ name: a, get: /a, save: {{ v: json.n }} }} ]
    provide: {{ v: {{ from: v, {keep} to: [two] }} }}
  - name: two
    depends: [one]
    use: {{ v: one, w: {{ from: one, default: none }} }}
    load: {{ vus: 1, iterations: 6 }}
    steps: [ {{ get: "/v/${{v}}" }} ]
""".replace(", w: { from: one, default: none }", ""))
                self.assertEqual(set(self.paths()[3:]), expected)
                self.assertEqual(len(self.paths()), 9)

    def test_a_default_stands_in_for_a_value_that_never_came(self):
        self.flows("""
  - { name: one, steps: [ { name: a, get: /a, save: { v: json.nothing } } ], provide: { v: { from: v } } }
  - { name: two, depends: [one], use: { v: { from: one, default: none } }, steps: [ { get: "/v/${v}" } ] }
""")
        self.assertEqual(self.paths(), ["/a", "/v/none"])

    def test_dependents_of_a_failed_workflow_are_skipped(self):
        run = self.flows("""
  - { name: one, steps: [ { get: /fail } ] }
  - { name: two, depends: [one], steps: [ { get: /two } ] }
  - { name: three, depends: [two], steps: [ { get: /three } ] }
  - { name: four, steps: [ { get: /four } ] }
""", code=1)
        self.assertEqual(sorted(self.paths()), ["/fail", "/four"])
        self.assertEqual({flow["name"]: flow["state"] for flow in run.summary["workflows"]},
                         {"one": "completed", "two": "skipped", "three": "skipped", "four": "completed"})

    def test_layers_run_one_after_the_other(self):
        self.flows("""
  - { name: last, depends: [a, b], steps: [ { get: /last } ] }
  - { name: a, steps: [ { get: /slow/a } ] }
  - { name: b, steps: [ { get: /b } ] }
""", cores=2)
        self.assertEqual(self.paths()[-1], "/last")

    def test_environment_set_and_include(self):
        self.write("more.yaml", "muster: 1\nworkflows: [ { name: included, steps: [ { get: '/inc/${env.WHO}' } ] } ]\n")
        self.flows("""
  - { name: own, load: { vus: 1, iterations: 1 }, steps: [ { get: '/own/${env.WHO}' } ] }
""", "-e", "WHO=me", "--set", "workflows.own.load.iterations=3", top="include: more.yaml\nenv: { WHO: nobody }")
        self.assertEqual(sorted(self.paths()), ["/inc/me"] + ["/own/me"] * 3)


class Secrets(WorkflowTest):
    SECRET = 'hush/"1+ü &x'

    def test_a_secret_is_shown_nowhere(self):
        steps = """
      - { log: "the secret is ${env.PASSWORD}" }
      - { name: in, post: "/fail/${env.PASSWORD}", query: { q: "${env.PASSWORD}" }, json: { p: "${env.PASSWORD}" },
          auth: { basic: "ada:${env.PASSWORD}" }, headers: { X-A: "${base64(env.PASSWORD)}" }, tags: { who: "${env.PASSWORD}" } }
"""
        self.server.reply = lambda request: response(f'{{"echo": "{self.SECRET}"}}'.encode(), 500)
        encoded = ["hush/", "hush%2F", 'hush/\\"', "YWRhOmh1c2g"]
        run = self.go(steps, code=99, top="secrets: [PASSWORD]", environment={"PASSWORD": self.SECRET},
                      workflow="tags: { a: b }", load="{ vus: 1, iterations: 2 }")
        for text in (self.SECRET, *encoded):
            self.assertNotIn(text, run.text())
        self.assertIn("the secret is ***", run.err)
        tried = self.run_muster(command="try", yaml=(self.folder / "job.yaml").read_text(), environment={"PASSWORD": self.SECRET})
        self.assertIn("/fail/", tried.out)
        for text in (self.SECRET, *encoded):
            self.assertNotIn(text, tried.out + tried.err)

    def test_a_secret_that_a_chunk_cuts_is_not_shown(self):
        body = b'c\r\n{"echo": "co\r\n9\r\nrrect-ho\\\r\n9\r\nu0072se"}\r\n0\r\n\r\n'
        self.server.reply = lambda request: b"HTTP/1.1 500 No\r\nTransfer-Encoding: chunked\r\n\r\n" + body
        run = self.go("[ { get: / } ]", code=99, top="secrets: [PASSWORD]", environment={"PASSWORD": "correct-horse"},
                      load="{ vus: 1, iterations: 1 }")
        self.assertIn("echo", run.text())
        self.assertNotIn("rrect-ho", run.text())

    def test_a_secret_on_the_command_line_is_not_shown(self):
        secret = "correct-horse"
        told = []
        for flags in (["--out", f"command=exit 3 # {secret}"], ["--out", f"json=/nope/{secret}"], ["--set", f"load.vus={secret}"],
                      ["--label", f"word={secret}"]):
            run = self.run_muster("--ui", "none", *flags, yaml=f"""
muster: 1
target: {self.server.url}
secrets: [PASSWORD]
load: {{ vus: 1, iterations: 1 }}
steps: [ {{ get: / }} ]
""", environment={"PASSWORD": secret, "MUSTER_DATA": str(self.folder / "data")})
            told.append(run.out + run.err)
        kept = self.run_muster(command="results", environment={"MUSTER_DATA": str(self.folder / "data")})
        self.assertIn("word=***", kept.out)
        for text in (*told, kept.out):
            self.assertNotIn(secret, text)

    def test_a_secret_that_is_not_set_is_told(self):
        run = self.go("[ { get: / } ]", code=2, top="secrets: [SURELY_NOT_SET]")
        self.assertIn("SURELY_NOT_SET", run.err)


class Tags(WorkflowTest):
    def test_requests_are_counted_by_tags(self):
        run = self.go("[ { get: /a, tags: { page: a, who: 'v${iteration % 2}' } } ]", load="{ vus: 1, iterations: 4 }")
        tagged = {each["tags"] if isinstance(each["tags"], str) else json.dumps(each["tags"], sort_keys=True): each
                  for each in run.workflow()["tagged"]}
        self.assertEqual(len(tagged), 2, tagged)
        self.assertEqual({each["requests"] for each in tagged.values()}, {2})

    def test_too_many_are_counted_as_other_and_it_is_said(self):
        run = self.go("[ { get: /a, tags: { id: '${iteration}' } } ]", load="{ vus: 1, iterations: 250 }")
        self.assertLessEqual(len(run.workflow()["tagged"]), 201)
        other = [each for each in run.workflow()["tagged"] if "other" in json.dumps(each["tags"])]
        self.assertEqual(other[0]["requests"], 50, run.workflow()["tagged"][-1])
        self.assertIn("other", json.dumps(run.workflow()["notes"]))


class Thresholds(WorkflowTest):
    def test_verdicts_and_exit_codes(self):
        for text, code in (("requests count == 4", 0), ("requests count > 4", 99), ("failed rate < 1%", 0),
                           ("latency p95 < 1us", 99), ("checks rate > 50%", 0),
                           ("{ that: requests count == 4, where: { step: a } }", 0),
                           ("{ that: requests count == 2, where: { step: b } }", 99),
                           ("{ that: latency max < 1us, min_samples: 1000 }", 0)):
            with self.subTest(threshold=text):
                run = self.go("[ { name: a, get: /a, check: { status: 200 } } ]".replace("/a", "/a") if "step: b" not in text
                              else "[ { name: a, get: /a }, { name: b, get: /b } ]", load="{ vus: 1, iterations: 4 }",
                              top=f"thresholds: [ {text} ]", code=code)
                self.assertEqual(run.summary["thresholds"][0]["passed"], code == 0)

    def test_one_that_is_not_judged_is_marked(self):
        run = self.go("[ { get: /a } ]", top="thresholds: [ { that: latency max < 1us, min_samples: 1000 } ]")
        self.assertFalse(run.summary["thresholds"][0]["judged"])
        self.assertIn("unjudged", [mark["id"] for mark in run.summary["marks"]])
        self.go("[ { get: /a } ]", "--strict", top="thresholds: [ { that: latency max < 1us, min_samples: 1000 } ]", code=1)

    def test_abort_ends_the_run_early(self):
        run = self.go("[ { get: /fail } ]", load="{ vus: 1, for: 60s, every: 10ms }", code=99, limit=40,
                      top="thresholds: [ { that: failed rate < 10%, abort: true, window: 1s, min_samples: 5 } ]")
        self.assertLess(run.seconds, 30)
        self.assertTrue(run.summary["thresholds"][0]["aborted"])
        self.assertEqual(run.workflow()["state"], "aborted")
        self.assertIn("failed and ended the run", run.workflow()["reason"])
        self.assertGreater(run.summary["requests"], 4)

    def test_a_tag_or_workflow_narrows(self):
        run = self.flows("""
  - { name: one, steps: [ { get: /a, tags: { page: a } }, { get: /b, tags: { page: b } } ] }
  - { name: two, steps: [ { get: /c } ] }
""", top="thresholds: [ { that: requests count == 1, where: { page: a } }, { that: requests count == 1, where: { workflow: two } } ]")
        self.assertEqual([(each["judged"], each["passed"]) for each in run.summary["thresholds"]], [(True, True)] * 2)


class Load(WorkflowTest):
    GET = "[ { name: call, get: / } ]"

    def test_iterations_are_exact_over_cores(self):
        for cores in (1, 2):
            for load, expected in (("{ vus: 3, iterations: 50 }", 50), ("{ vus: 3, iterations: 7 each }", 21),
                                   ("{ vus: 5, iterations: 2 }", 2)):
                with self.subTest(load=load, cores=cores):
                    self.server.requests.clear()
                    run = self.go(self.GET, load=load, cores=cores)
                    self.assertEqual((len(self.paths()), run.workflow()["iterations"], run.summary["requests"]), (expected,) * 3)

    def test_warm_up_is_not_counted(self):
        run = self.go(self.GET, load="{ rate: 100/s, for: 1s, warm_up: 500ms }")
        self.assertAlmostEqual(len(self.paths()), 100, delta=3)
        self.assertAlmostEqual(run.summary["requests"], 50, delta=3)
        self.assertAlmostEqual(run.workflow()["arrivals"], 50, delta=3)

    def test_retries_of_the_warm_up_are_not_counted(self):
        run = self.go("[ { retry: { until: false, times: 3 }, steps: [ { name: call, get: / } ] } ]",
                      load="{ vus: 1, for: 600ms, every: 10ms, warm_up: 400ms }", code=99)
        self.assertLessEqual(run.step("call")["retried"], run.step("call")["requests"])

    def test_vus_ramp_up_and_down(self):
        run = self.go(self.GET, load="{ vus: [ { to: 4, over: 2s }, { hold: 1s }, { to: 0, over: 1s } ], every: 20ms }")
        by_second = {point["second"]: point for point in run.summary["series"]}
        counts = [by_second[second]["requests"] for second in range(4)]
        self.assertLess(counts[0], counts[1])
        self.assertLess(counts[1], counts[2])
        self.assertGreater(counts[2], counts[3])
        self.assertEqual(run.workflow()["peak_vus"], 4)
        self.assertAlmostEqual(run.workflow()["duration_s"], 4, delta=0.3)

    def test_pacing_spaces_iterations(self):
        self.go(self.GET, load="{ vus: 1, for: 1s, every: 100ms }")
        self.assertAlmostEqual(len(self.times), 10, delta=1)
        gaps = [b - a for a, b in zip(self.times, self.times[1:])]
        self.assertAlmostEqual(statistics.median(gaps), 0.1, delta=0.02)

    def test_arrivals_come_evenly_or_at_random(self):
        run = self.go(self.GET, load="{ rate: 200/s, for: 1s }", cores=2)
        self.assertEqual((run.summary["model"], run.workflow()["arrivals"]), ("open", 200))
        self.assertEqual(run.summary["requests"], 200)
        self.assertIn("service_us", run.summary)
        self.times.clear()
        run = self.go(self.GET, load="{ rate: 200/s, for: 1s, spacing: poisson }")
        self.assertAlmostEqual(run.summary["requests"], 200, delta=60)
        gaps = [b - a for a, b in zip(self.times, self.times[1:])]
        self.assertGreater(statistics.pstdev(gaps) / statistics.mean(gaps), 0.6)

    def test_arrivals_ramp(self):
        run = self.go(self.GET, load="{ rate: [ { to: 100/s, over: 1s }, { hold: 500ms } ] }")
        self.assertAlmostEqual(run.summary["requests"], 100, delta=3)

    def test_late_arrivals_wait_or_are_dropped(self):
        slow = "[ { name: call, get: /slow } ]"
        run = self.go(slow, load="{ rate: 40/s, for: 500ms, max_vus: 2, late: queue }")
        self.assertEqual((run.summary["requests"], run.workflow()["dropped"]), (20, 0), run)
        self.assertGreater(run.workflow()["queued"], 5)
        self.assertIn("max-vus", [mark["id"] for mark in run.summary["marks"]])
        self.assertGreater(run.summary["latency_us"]["max"], 600_000)
        self.assertLess(run.summary["service_us"]["p50"], 300_000)
        run = self.go(slow, load="{ rate: 40/s, for: 500ms, max_vus: 2, late: drop }")
        self.assertEqual(run.summary["requests"] + run.workflow()["dropped"], 20)
        self.assertGreater(run.workflow()["dropped"], 5)
        self.assertIn("dropped", [mark["id"] for mark in run.summary["marks"]])
        self.go(slow, "--strict", load="{ rate: 40/s, for: 500ms, max_vus: 2, late: drop }", code=1)

    def test_time_outs_end_workflows_and_jobs(self):
        run = self.go(self.GET, load="{ vus: 1, for: 20s, every: 10ms }", workflow="timeout: 500ms", code=1)
        self.assertLess(run.seconds, 2)
        self.assertIn("time", run.workflow()["state"])
        run = self.go(self.GET, load="{ vus: 1, for: 20s, every: 10ms }", top="timeout: 500ms", code=1)
        self.assertLess(run.seconds, 2)
        self.assertIn("0.5 s", json.dumps(run.summary))

    def test_an_iteration_under_way_may_end_within_the_grace(self):
        run = self.go("[ { get: /slow/1 }, { get: /slow/2 }, { get: /slow/3 } ]", load="{ vus: 1, for: 200ms, grace: 5s }")
        self.assertEqual(self.paths(), ["/slow/1", "/slow/2", "/slow/3"])
        self.assertEqual((run.workflow()["iterations"], run.workflow()["interrupted_iterations"]), (1, 0))

    def test_the_same_seed_draws_the_same(self):
        runs = []
        for _ in range(2):
            self.server.requests.clear()
            self.go("[ { get: '/${random(1, 1000000)}' } ]", "--seed", "42", load="{ vus: 1, iterations: 5 }")
            runs.append(self.paths())
        self.assertEqual(runs[0], runs[1])


if __name__ == "__main__":
    unittest.main()
