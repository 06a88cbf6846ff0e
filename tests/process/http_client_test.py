"""What the HTTP client sends and how it treats connections, redirects, cookies and bodies, seen from the server."""

import base64
import gzip
import json
import socket
import threading
import unittest
import urllib.parse
import zlib

from harness import CLOSE, ProcessTest, response


class HttpTest(ProcessTest):
    def job(self, url, steps, load="{ vus: 1, iterations: 1 }", options="", workflow="", top=""):
        return f"""
muster: 1
target: {{ url: "{url}"{', ' + options if options else ''} }}
{top}
workflows:
  - name: main
    load: {load}
    {workflow}
    steps: {json.dumps(steps) if not isinstance(steps, str) else steps}
"""

    def go(self, server, steps, *arguments, code=0, **job):
        run = self.run_muster("--cores", "1", *arguments, yaml=self.job(getattr(server, "url", server), steps, **job))
        self.assertEqual(run.code, code, run)
        return run

    def connections(self, run):
        return sum(step.get("connections", 0) for step in run.workflow()["steps"])


class Connections(HttpTest):
    def test_a_connection_lives_as_long_as_its_policy_says(self):
        for policy, expected in (("vu", 2), ("iteration", 10), ("none", 20)):
            with self.subTest(policy=policy):
                server = self.serve_http()
                run = self.go(server, [{"get": "/a"}, {"get": "/b"}], load="{ vus: 2, iterations: 5 each }",
                              options=f"connections: {policy}")
                self.assertEqual(server.accepted, expected)
                self.assertEqual(self.connections(run), expected)
                self.assertEqual(len(server.requests), 20)

    def test_reset_iteration_drops_connections_cookies_and_what_start_saved(self):
        server = self.serve_http(lambda request: response("{}", headers=[("Set-Cookie", "a=1")]))
        self.go(server, [{"get": "/1"}, {"get": "/2"}], load="{ vus: 1, iterations: 3 }", workflow="reset: iteration")
        self.assertEqual([request.header("cookie") for request in server.requests], [None, "a=1"] * 3)
        self.assertEqual(server.accepted, 3)

    def test_a_server_that_closes_after_each_reply_is_obeyed(self):
        server = self.serve_http(lambda request: (response("x", headers=[("Connection", "close")]), CLOSE))
        run = self.go(server, [{"get": "/"}], load="{ vus: 1, iterations: 10 }")
        self.assertEqual((server.accepted, run.summary["failed"], self.connections(run)), (10, 0, 10))

    def test_http_1_0_without_keep_alive_ends_the_connection(self):
        server = self.serve_http(lambda request: (b"HTTP/1.0 200 OK\r\n\r\nuntil the end", CLOSE))
        run = self.go(server, [{"get": "/", "check": {"body": "until the end"}}], load="{ vus: 1, iterations: 3 }")
        self.assertEqual((server.accepted, run.summary["failed"]), (3, 0))
        self.assertEqual(run.summary["checks"][0]["ok"], 3)

    def test_a_stale_connection_is_replaced_once_for_idempotent_requests(self):
        # Answers the first request of a connection and closes it on seeing the second.
        def reply(request):
            with server.lock:
                number = sum(1 for each in server.requests if each.connection == request.connection)
            return response("x") if number == 1 else CLOSE

        for method, failed in (("get", 0), ("put", 0), ("delete", 0), ("post", 2), ("patch", 2)):
            with self.subTest(method=method):
                server = self.serve_http(reply)
                run = self.go(server, [{"name": "call", method: "/"}], load="{ vus: 1, iterations: 5 }")
                self.assertEqual(run.summary["failed"], failed, run)
                again = [note["count"] for note in run.workflow()["notes"] if note["text"].startswith("a request was sent again")]
                if failed:
                    self.assertEqual(run.errors, {"reset": failed})
                    self.assertEqual((len(server.requests), again), (5, []))
                else:
                    self.assertEqual((len(server.requests), server.accepted), (9, 5))
                    self.assertEqual(self.connections(run), 5)
                    self.assertEqual(again, [4], "each request that was sent twice is told of")
                    self.assertIn("(4 times)", " ".join(run.out.split()))

    def test_a_fresh_connection_that_is_closed_is_not_tried_again(self):
        server = self.serve_http(lambda request: CLOSE)
        run = self.go(server, [{"get": "/"}], load="{ vus: 1, iterations: 5 }", code=99)
        self.assertEqual((len(server.requests), run.errors), (5, {"reset": 5}))

    def test_a_server_that_closes_idle_connections_costs_no_request(self):
        closing = []

        def handler(connection):
            stream = connection.makefile("rb")
            while stream.readline() not in (b"\r\n", b""):
                pass
            connection.sendall(response("x"))
            connection.shutdown(socket.SHUT_RDWR)
            closing.append(1)

        server = self.serve(handler)
        run = self.go(server, [{"post": "/"}, {"think": "30ms"}], load="{ vus: 1, iterations: 5 }")
        self.assertEqual((run.summary["failed"], server.accepted), (0, 5), run)

    def test_bytes_behind_a_response_end_the_connection(self):
        server = self.serve_http(lambda request: response("x") + b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")
        run = self.go(server, [{"get": "/", "check": {"body": "x"}}], load="{ vus: 1, iterations: 4 }")
        self.assertEqual((server.accepted, run.summary["checks"][0]["ok"]), (4, 4))

    def test_ipv6_is_spoken(self):
        server = self.serve_http(address="::1")
        self.go(server, [{"get": "/"}])
        self.assertEqual(server.requests[0].header("host"), f"[::1]:{server.port}")

    def test_hosts_send_a_name_elsewhere(self):
        server = self.serve_http()
        self.go("http://shop.test", [{"get": "/"}], options=f'hosts: {{ shop.test: "127.0.0.1:{server.port}" }}')
        self.assertEqual(server.requests[0].header("host"), "shop.test")
        self.go(f"http://shop.test:{server.port}", [{"get": "/"}], options="hosts: { shop.test: 127.0.0.1 }")
        self.assertEqual(server.requests[1].header("host"), f"shop.test:{server.port}")

    def test_an_address_of_a_family_that_is_not_allowed_is_refused_where_it_is_known(self):
        server = self.serve_http()
        told = "'127.0.0.1' is an IPv4 address, and `ip: 6` allows none; leave `ip` out"
        for url, options in ((server.url, "ip: 6"),
                             ("http://shop.test", f'ip: 6, hosts: {{ shop.test: "127.0.0.1:{server.port}" }}')):
            for command in ("check", "run"):
                with self.subTest(url=url, command=command):
                    run = self.run_muster(yaml=self.job(url, [{"get": "/"}], options=options), command=command)
                    self.assertEqual(run.code, 2, run)
                    self.assertIn(told, run.err)
        self.go(server, [{"get": "/"}], options="ip: 4")
        self.go("http://[::1]", [{"get": "/"}], options=f'ip: 4, hosts: {{ "::1": "127.0.0.1:{server.port}" }}')
        self.assertEqual(len(server.requests), 2)

    def test_an_address_of_a_family_that_is_not_allowed_fails_the_request_that_comes_upon_it(self):
        server = self.serve_http()
        six = self.serve_http(lambda request: response("", 302, [("Location", server.url)]), address="::1")
        for url in ("/", "${env.WHERE}"):
            with self.subTest(url=url):
                run = self.go(six, [{"name": "call", "get": url}], "--env", f"WHERE={server.url}", options="ip: 6", code=99)
                self.assertEqual((run.errors, server.requests), ({"dns": 1}, []), run)
                self.assertIn("'127.0.0.1' is an IPv4 address, and `ip: 6` allows none",
                              run.step("call")["samples"][0]["detail"])

    def test_source_addresses_are_used_in_rotation(self):
        peers = []
        server = self.serve_http()
        plain = server.serve
        server.serve = lambda connection: (peers.append(connection.getpeername()[0]), plain(connection))
        self.go(server, [{"get": "/"}], load="{ vus: 4, iterations: 1 each }",
                options="source: [127.0.0.2, 127.0.0.3]")
        self.assertEqual(sorted(peers), ["127.0.0.2"] * 2 + ["127.0.0.3"] * 2)

    def test_a_source_address_that_is_not_ours_is_resource(self):
        server = self.serve_http()
        run = self.go(server, [{"get": "/"}], options="source: 192.0.2.1", code=99)
        self.assertEqual(run.errors, {"resource": 1})

    def test_phases_are_timed(self):
        server = self.serve_http()
        run = self.go(server, [{"name": "call", "get": "/"}], load="{ vus: 1, iterations: 3 }")
        phases = run.step("call")["phases_us"]
        self.assertEqual({"connect", "wait", "receive"} - set(phases), set())
        self.assertNotIn("tls", phases)

    def test_an_answer_before_all_was_sent_is_waited_for_from_when_sending_began(self):
        enough = threading.Event()
        self.addCleanup(enough.set)

        def refuse(connection):
            connection.recv(1000)
            connection.sendall(response("too much", 413))
            enough.wait(5)

        large = {"a": "'" + "x" * 4_000 + "'", "b": "${a}" * 8, "c": "${b}" * 8, "d": "${c}" * 8}
        run = self.go(self.serve(refuse),
                      [{"set": large}, {"name": "call", "post": "/", "body": "${d}" * 8, "expect": 413}])
        step = run.step("call")
        self.assertLess(step["bytes_out"], 16_000_000, "it was answered before all was sent")
        self.assertLessEqual(step["phases_us"]["wait"]["mean"], step["latency_us"]["mean"])


class Redirects(HttpTest):
    def redirecting(self, status, location="/there"):
        return self.serve_http(lambda request: response("there") if request.path == "/there" else
                               response("", status, [("Location", location)]))

    def test_methods_and_bodies_follow_the_status(self):
        cases = {301: ("GET", b""), 302: ("GET", b""), 303: ("GET", b""), 307: ("POST", b"pay"), 308: ("POST", b"pay")}
        for status, (method, body) in cases.items():
            with self.subTest(status=status):
                server = self.redirecting(status)
                run = self.go(server, [{"name": "call", "post": "/here", "body": "pay", "headers": {"X-A": "b"}}])
                self.assertEqual([(each.method, each.path) for each in server.requests], [("POST", "/here"), (method, "/there")])
                self.assertEqual(server.requests[1].body, body)
                self.assertEqual(server.requests[1].header("x-a"), "b")
                self.assertEqual(server.requests[1].header("content-length"), "3" if body else None)
                self.assertEqual(run.step("call")["statuses"], {"200": 1})
                self.assertEqual((server.accepted, self.connections(run), run.summary["requests"]), (1, 1, 1))

    def test_other_methods_stay_except_for_303(self):
        for status, method in ((301, "PUT"), (302, "PUT"), (303, "GET"), (307, "PUT")):
            with self.subTest(status=status):
                server = self.redirecting(status)
                self.go(server, [{"put": "/here", "body": "x"}])
                self.assertEqual(server.requests[1].method, method)

    def test_relative_locations_are_resolved(self):
        for location, path in (("there", "/a/there"), ("../there", "/there"), ("?x=1", "/a/b?x=1"), ("//{}/there", "/there")):
            with self.subTest(location=location):
                server = self.serve_http(lambda request: response("x") if len(server.requests) > 1 else response(
                    "", 302, [("Location", location.format(f"127.0.0.1:{server.port}"))]))
                self.go(server, [{"get": "/a/b"}])
                self.assertEqual(server.requests[1].target, path)

    def test_a_loop_ends_at_the_limit(self):
        server = self.serve_http(lambda request: response("", 302, [("Location", "/again")]))
        run = self.go(server, [{"name": "call", "get": "/", "redirects": 4}], code=99)
        self.assertEqual((len(server.requests), run.step("call")["statuses"], run.errors), (5, {"302": 1}, {"status": 1}))
        self.assertIn("still redirects after 4", run.out)
        server = self.serve_http(lambda request: (response("", 302, [("Location", "/again")]), CLOSE))
        self.go(server, [{"get": "/", "redirects": 4}], code=99)
        self.assertEqual(len(server.requests), 5)

    def test_none_are_followed_when_told_so(self):
        server = self.redirecting(302)
        run = self.go(server, [{"name": "call", "get": "/", "redirects": 0, "check": {"header.location": "/there"}}])
        self.assertEqual((len(server.requests), run.step("call")["statuses"]), (1, {"302": 1}))
        self.assertEqual(run.summary["checks"][0]["ok"], 1)

    def test_credentials_stay_with_their_origin(self):
        other = self.serve_http()
        server = self.redirecting(302, f"{other.url}/there")
        self.go(server, [{"get": "/here", "auth": {"bearer": "t"}, "headers": {
            "Cookie": "mine=1", "Proxy-Authorization": "Basic eA==", "X-Other": "y"}}])
        self.assertEqual(server.requests[0].header("authorization"), "Bearer t")
        self.assertIsNone(other.requests[0].header("authorization"))
        self.assertIsNone(other.requests[0].header("proxy-authorization"))
        self.assertIsNone(other.requests[0].header("cookie"))
        self.assertEqual(other.requests[0].header("x-other"), "y")
        self.assertEqual(other.requests[0].header("host"), f"127.0.0.1:{other.port}")
        same = self.redirecting(302)
        self.go(same, [{"get": "/here", "auth": {"bearer": "t"}}])
        self.assertEqual(same.requests[1].header("authorization"), "Bearer t")

    def test_cookies_of_a_redirect_are_sent_on(self):
        server = self.serve_http(lambda request: response("x") if request.path == "/there" else
                                 response("", 302, [("Location", "/there"), ("Set-Cookie", "sid=7")]))
        self.go(server, [{"get": "/"}])
        self.assertEqual(server.requests[1].header("cookie"), "sid=7")

    def test_a_cookie_of_the_step_goes_along_within_the_origin_and_those_of_the_jar_are_looked_up_anew(self):
        replies = {"/one": ("/two", "sid=1"), "/two": ("/three", "sid=2")}

        def reply(request):
            if request.path not in replies:
                return response("x")
            location, cookie = replies[request.path]
            return response("", 302, [("Location", location), ("Set-Cookie", cookie)])

        server = self.serve_http(reply)
        for step in ({"get": "/one"}, {"get": "/one?${iteration}"}):
            with self.subTest(step=step):
                server.requests.clear()
                self.go(server, [dict(step, headers={"Cookie": "mine=1"})])
                self.assertEqual([request.header("cookie") for request in server.requests],
                                 ["mine=1", "mine=1; sid=1", "mine=1; sid=2"])

    def test_a_cookie_of_the_step_that_was_dropped_at_another_origin_does_not_come_back(self):
        other = self.serve_http(lambda request: response("", 302, [("Location", f"{server.url}/back")]))
        server = self.serve_http(lambda request: response("x") if request.path == "/back" else
                                 response("", 302, [("Location", other.url), ("Set-Cookie", "sid=1")]))
        self.go(server, [{"get": "/", "headers": {"Cookie": "mine=1"}}])
        self.assertEqual([request.header("cookie") for request in server.requests], ["mine=1", "sid=1"])

    def test_a_location_that_is_no_address_is_protocol(self):
        server = self.redirecting(302, "gopher://x/")
        run = self.go(server, [{"get": "/"}], code=99)
        self.assertEqual(run.errors, {"protocol": 1})

    def test_a_redirect_that_cannot_be_followed_is_told_and_counted_whole(self):
        location = "gopher://x/" + "long" * 500
        server = self.serve_http(lambda request: (response("", 302, [("Location", location), ("Connection", "close")]),
                                                  CLOSE))
        run = self.go(server, [{"name": "call", "get": "/"}], code=99)
        step = run.step("call")
        sample = step["samples"][0]
        self.assertTrue(sample["detail"].startswith("cannot follow the redirect to 'gopher://x/longlong"), sample)
        self.assertTrue(sample["response"].startswith("HTTP/1.1 302"), sample)
        self.assertEqual((step["statuses"], step["connections"]), ({"302": 1}, 1))
        self.assertGreater(step["bytes_in"], len(location))

    def test_a_host_that_is_served_elsewhere_stays_the_same_origin(self):
        server = self.redirecting(302, "/there")
        self.go("http://shop.test", [{"get": "/here", "auth": {"bearer": "t"}, "headers": {"Cookie": "mine=1"}}],
                options=f'hosts: {{ shop.test: "127.0.0.1:{server.port}" }}')
        here, there = server.requests
        self.assertEqual((here.header("host"), there.header("host")), ("shop.test", "shop.test"))
        self.assertEqual((there.header("authorization"), there.header("cookie")), ("Bearer t", "mine=1"))
        self.assertEqual(server.accepted, 1)

    def test_a_host_that_the_step_names_stays_within_the_origin(self):
        other = self.serve_http()
        for location in ("/there", f"{other.url}/there"):
            with self.subTest(location=location):
                server = self.redirecting(302, location)
                self.go(server, [{"get": "/here", "headers": {"Host": "shop.test"}}])
                hosts = [request.header("host") for request in server.requests]
                self.assertEqual(hosts, ["shop.test"] * (2 if location == "/there" else 1))
        self.assertEqual(other.requests[0].header("host"), f"127.0.0.1:{other.port}")

    def test_a_second_cookie_line_of_the_step_is_left_whole(self):
        server = self.serve_http(lambda request: response("", 302, [("Location", "/there")]) if request.path == "/here" else
                                 response("x", headers=[("Set-Cookie", "sid=1")]))
        self.go(server, [{"get": "/"}, {"get": "/here", "headers": {"Cookie": ["one=1", "two=22222222"]}}])
        for request in server.requests[1:]:
            self.assertEqual(request.all("cookie"), ["one=1; sid=1", "two=22222222"])

    def test_what_comes_behind_a_redirect_is_no_answer_to_the_next_request(self):
        def reply(request):
            if request.path == "/there":
                return response("right")
            return response("", 302, [("Location", "/there")]) + response("wrong")

        server = self.serve_http(reply)
        run = self.go(server, [{"name": "call", "get": "/here", "check": {"body": "right"}}])
        self.assertEqual((run.summary["checks"][0]["ok"], server.accepted), (1, 2))

    def test_credentials_in_the_address_of_a_redirect_are_not_told(self):
        server = self.redirecting(302, "myapp://cb?access_token=TOKEN9&state=1#id_token=IDENT9")
        run = self.go(server, [{"name": "call", "get": "/"}], code=99)
        told = run.out + json.dumps(run.summary)
        self.assertIn("cannot follow the redirect to 'myapp://cb?access_token=***&state=1", told)
        self.assertNotIn("TOKEN9", told)
        self.assertNotIn("IDENT9", told)

    def test_what_is_said_of_a_body_does_not_go_along_without_it(self):
        server = self.redirecting(303)
        self.go(server, [{"post": "/here", "body": "x", "headers": {"Expect": "100-continue"}}])
        self.assertIsNone(server.requests[1].header("expect"))

    def test_ever_new_addresses_are_not_taken_up_without_end(self):
        server = self.serve_http(address="0.0.0.0")
        self.write("hosts.csv", "host\n" + "".join(f"127.1.{i // 250}.{i % 250 + 1}\n" for i in range(4100)))
        run = self.go(server, [{"name": "call", "get": f"http://${{data.hosts.host}}:{server.port}/"}],
                      load="{ vus: 1, iterations: 4100 }", options="connections: none",
                      top='data: { hosts: { csv: "hosts.csv", pick: sequential } }')
        step = run.step("call")
        self.assertEqual((step["requests"], run.errors), (4100, {"resource": 4}))
        self.assertIn("more are not taken up", step["samples"][0]["detail"])

    def test_a_redirect_to_nobody_is_connect(self):
        server = self.redirecting(302, "http://127.0.0.1:1/there")
        run = self.go(server, [{"get": "/"}], load="{ vus: 2, iterations: 3 each }", code=99)
        self.assertEqual(run.errors, {"connect": 6})


class Cookies(HttpTest):
    def test_an_empty_cookie_of_the_step_gives_way_to_those_of_the_jar(self):
        server = self.serve_http(lambda request: response("x", headers=[("Set-Cookie", "sid=1")]))
        for own in ("", "${env.NONE}"):
            server.requests.clear()
            self.go(server, [{"get": "/"}, {"get": "/", "headers": {"Cookie": own}}], "-e", "NONE=")
            self.assertEqual(server.requests[1].all("cookie"), ["sid=1"])

    def sent(self, cookies, then="/x", load="{ vus: 1, iterations: 1 }", options=""):
        server = self.serve_http(lambda request: response("ok", headers=[("Set-Cookie", each) for each in cookies]
                                                          if request.path == "/set" else []))
        self.go(server, [{"get": "/set"}, {"get": then}], load=load, options=options)
        return [request.header("cookie") for request in server.requests if request.path == then]

    def test_attributes_decide_whether_a_cookie_is_sent(self):
        cases = {("a=1", "b=2"): "a=1; b=2", ("a=1; Path=/other",): None, ("a=1; Path=/x",): "a=1", ("a=1; Secure",): None,
                 ("a=1; Max-Age=0",): None, ("a=1; Max-Age=60",): "a=1",
                 ("a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT",): None, ("a=1; Domain=other.test",): None,
                 ("a=1", "a=2"): "a=2"}
        for cookies, expected in cases.items():
            with self.subTest(cookies=cookies):
                self.assertEqual(self.sent(cookies), [expected])

    def test_each_vu_has_its_own_jar(self):
        counter = iter(range(100))

        def reply(request):
            with server.lock:
                number = next(counter)
            return response("ok", headers=[("Set-Cookie", f"id={number}")] if request.path == "/set" else [])

        server = self.serve_http(reply)
        self.go(server, [{"if": "iteration == 0", "then": [{"get": "/set"}]}, {"get": "/x"}],
                load="{ vus: 3, iterations: 2 each }")
        by_connection = {}
        for request in server.requests:
            if request.path == "/x":
                by_connection.setdefault(request.connection, []).append(request.header("cookie"))
        self.assertEqual([len(set(each)) for each in by_connection.values()], [1, 1, 1], by_connection)
        self.assertEqual(len({each[0] for each in by_connection.values()}), 3)

    def test_cookies_can_be_left_out(self):
        self.assertEqual(self.sent(["a=1"], options="cookies: false"), [None])

    def test_cookies_are_readable(self):
        server = self.serve_http(lambda request: response("ok", headers=[("Set-Cookie", "sid=abc")]))
        self.go(server, [{"name": "in", "get": "/", "save": {"sid": "cookie.sid"}}, {"get": "/${sid}"}])
        self.assertEqual(server.requests[1].path, "/abc")


class Requests(HttpTest):
    def one(self, step, **job):
        server = self.serve_http()
        self.go(server, [step], **job)
        return server.requests[0]

    def test_authentication(self):
        def basic(text):
            return "Basic " + base64.b64encode(text.encode()).decode()

        self.assertEqual(self.one({"get": "/", "auth": {"basic": "ada:p w"}}).header("authorization"), basic("ada:p w"))
        self.assertEqual(self.one({"get": "/", "auth": {"bearer": "t-1"}}).header("authorization"), "Bearer t-1")
        self.assertEqual(self.one({"get": "/"}, options='auth: { basic: "a:b" }').header("authorization"), basic("a:b"))
        server = self.serve_http()
        self.go(server.url.replace("//", "//ada:p%20w@"), [{"get": "/"}])
        self.assertEqual(server.requests[0].header("authorization"), basic("ada:p w"))
        self.assertEqual(server.requests[0].header("host"), f"127.0.0.1:{server.port}")

    def test_queries_are_encoded(self):
        request = self.one({"get": "/p?a=1", "query": {"b": "x y&z=ü", "c": "${1 + 1}"}})
        self.assertEqual(request.target, "/p?a=1&b=x%20y%26z%3D%C3%BC&c=2")

    def test_the_address_of_a_step_follows_that_of_its_target(self):
        for base, url, target in (("/b/", "?x=1", "/b/?x=1"), ("/b", "?x=1", "/b?x=1"), ("", "?x=${1}", "/?x=1"),
                                  ("/b/", "/c", "/b/c"), ("/b", "c", "/b/c"), ("/b/", "", "/b/")):
            with self.subTest(base=base, url=url):
                server = self.serve_http()
                self.go(server.url + base, [{"get": url}])
                self.assertEqual(server.requests[0].target, target)

    def test_values_are_encoded_in_a_path(self):
        self.assertEqual(self.one({"get": "/x/${'a b?c'}"}).target, "/x/a%20b%3Fc")

    def test_json_bodies(self):
        request = self.one({"post": "/", "json": {"a": 1, "b": ["x", None, True], "c": "${'q\\\"uote'}", "d": "${1.5}"}})
        self.assertEqual(request.header("content-type"), "application/json")
        self.assertEqual(json.loads(request.body), {"a": 1, "b": ["x", None, True], "c": 'q"uote', "d": 1.5})
        self.assertEqual(request.header("content-length"), str(len(request.body)))

    def test_form_bodies(self):
        request = self.one({"post": "/", "form": {"a b": "c&d", "e": "${'ü +'}"}})
        self.assertEqual(request.header("content-type"), "application/x-www-form-urlencoded")
        self.assertEqual(urllib.parse.parse_qsl(request.body.decode()), [("a b", "c&d"), ("e", "ü +")])
        self.assertNotIn(b"\xc3", request.body)

    def test_text_and_file_bodies(self):
        self.assertEqual(self.one({"put": "/", "body": "as it ${'stands'}\r\n"}).body, b"as it stands\r\n")
        content = bytes(range(256)) * 5000
        self.write("body.bin", content)
        self.assertEqual(self.one({"post": "/", "file": "body.bin"}).body, content)

    def test_a_query_goes_on_where_the_url_ends(self):
        for url, sent in (("/p?", "/p?b=1&b=2"), ("/p?a&", "/p?a&b=1&b=2"), ("/p?a", "/p?a&b=1&b=2"), ("/p", "/p?b=1&b=2")):
            with self.subTest(url=url):
                self.assertEqual(self.one({"get": url, "query": {"b": [1, 2]}}).target, sent)

    def test_the_type_of_the_target_is_not_that_of_multipart_bodies(self):
        request = self.one({"post": "/", "multipart": {"a": "1"}}, options="headers: { content-type: application/json }")
        self.assertTrue(request.header("content-type").startswith("multipart/form-data; boundary="), request.header("content-type"))

    def test_the_name_of_a_files_part_is_constant(self):
        part = {"text": "${vu.id}", "filename": "a$${x}.txt"}
        self.assertIn(b'filename="a${x}.txt"\r\n', self.one({"post": "/", "multipart": {"f": part}}).body)
        run = self.run_muster(yaml=f"""
muster: 1
target: {self.serve_http().url}
load: {{ vus: 1, iterations: 1 }}
steps: [ {{ post: /, multipart: {{ f: {{ text: x, filename: "a${{vu.id}}" }} }} }} ]
""")
        self.assertEqual(run.code, 2, run)
        self.assertIn("`filename` of a part of `multipart` is written out and takes no values, found 'a${vu.id}'", run.err)

    def test_multipart_bodies(self):
        self.write("photo.bin", bytes(range(256)))
        request = self.one({"post": "/", "multipart": {"name": "ada ${1}", "photo": {"file": "photo.bin", "type": "image/x",
                                                                                     "filename": "p.bin"}}})
        kind = request.header("content-type")
        self.assertTrue(kind.startswith("multipart/form-data; boundary="), kind)
        boundary = kind.partition("boundary=")[2].strip('"').encode()
        parts = request.body.split(b"--" + boundary)
        self.assertEqual((parts[0], parts[-1]), (b"", b"--\r\n"))
        self.assertIn(b'name="name"', parts[1])
        self.assertTrue(parts[1].endswith(b"\r\n\r\nada 1\r\n"), parts[1])
        self.assertIn(b'name="photo"; filename="p.bin"', parts[2])
        self.assertIn(b"Content-Type: image/x", parts[2])
        self.assertTrue(parts[2].endswith(b"\r\n\r\n" + bytes(range(256)) + b"\r\n"))

    def test_nobody_knows_the_boundary_of_multipart_bodies_before_the_run(self):
        server = self.serve_http()
        steps = [{"post": "/", "multipart": {"a": "1", "b": "${iteration}"}}, {"post": "/", "multipart": {"a": "1"}}]

        def boundaries(*flags):
            del server.requests[:]
            self.go(server, steps, *flags, load="{ vus: 2, iterations: 4 }")
            return {request.header("content-type").partition("boundary=")[2] for request in server.requests}

        first, second = boundaries(), boundaries()
        self.assertEqual((len(first), len(second)), (1, 1), "the same for the whole run")
        self.assertNotEqual(first, second)
        seeded = boundaries("--seed", "7")
        self.assertEqual(boundaries("--seed", "7"), seeded)
        (known,) = seeded
        shown = self.run_muster("--seed", "7", "--bytes", "2000", yaml=self.job(server.url, steps), command="explain")
        self.assertIn(known, shown.out)
        self.write("part.txt", f"x\r\n--{known}\r\n")
        for clash in ({"text": f"x\r\n--{known}--\r\n"}, {"text": f"${{iteration}}\r\n--{known}\r\n"}, {"file": "part.txt"}):
            with self.subTest(clash=clash):
                steps = [{"post": "/", "multipart": {"a": clash}}]
                (other,) = boundaries("--seed", "7")
                self.assertNotEqual(other, known)
                self.assertEqual(server.requests[0].body.count(b"--" + other.encode()), 2)

    def test_headers_replace_muster_s_own(self):
        request = self.one({"get": "/", "headers": {"Host": "other.test", "user-agent": "me", "X-N": "${vu.id}"}},
                           options="headers: { Accept: text/x, X-T: t }")
        self.assertEqual(request.all("host"), ["other.test"])
        self.assertEqual(request.all("user-agent"), ["me"])
        self.assertEqual(request.all("accept"), ["text/x"])
        self.assertEqual((request.header("x-n"), request.header("x-t")), ("1", "t"))

    def test_a_cookie_of_the_step_joins_those_of_the_jar(self):
        server = self.serve_http(lambda request: response("ok", headers=[("Set-Cookie", "sid=1")]))
        self.go(server, [{"get": "/"}, {"get": "/", "headers": {"Cookie": "mine=2"}, "body": "Cookie: x"}])
        self.assertEqual(server.requests[1].all("cookie"), ["mine=2; sid=1"])

    def test_a_content_length_of_the_step_stands_alone(self):
        request = self.one({"post": "/", "body": "four", "headers": {"content-length": "4"}})
        self.assertEqual((request.all("content-length"), request.body), (["4"], b"four"))

    def test_a_line_break_in_a_header_is_refused(self):
        server = self.serve_http()
        run = self.go(server, [{"get": "/", "headers": {"X": "${'a\\r\\nEvil: 1'}"}}], code=99)
        self.assertEqual((run.errors, server.requests), ({"value": 1}, []))

    def test_a_constant_and_a_rendered_request_are_the_same_bytes(self):
        constant = self.one({"post": "/a", "body": "text", "headers": {"X": "1"}})
        rendered = self.one({"post": "/${'a'}", "body": "${'text'}", "headers": {"X": "${1}"}})
        self.assertEqual([h for h in constant.headers if h[0] != "Host"], [h for h in rendered.headers if h[0] != "Host"])
        self.assertEqual((constant.line, constant.body), (rendered.line, rendered.body))

    def test_an_address_on_the_command_line_keeps_its_path_and_query(self):
        for tail, target in (("", "/"), ("/a/b?c=d&e=%20f", "/a/b?c=d&e=%20f"), ("?q=1", "/?q=1"), ("/${x}", "/$%7Bx%7D"),
                             ("/a#part", "/a")):
            with self.subTest(tail=tail):
                server = self.serve_http()
                run = self.run_muster("--url", server.url + tail, "-n", "1", "-c", "1")
                self.assertEqual(run.code, 0, run)
                self.assertEqual(server.requests[0].target, target)

    def test_the_command_line_compiles_to_the_same(self):
        server = self.serve_http()
        self.write("body.txt", "from a file")
        run = self.run_muster("--url", server.url + "/x", "-n", "1", "-c", "1", "-X", "PUT", "-H", "X-A: b: c", "--body",
                              "@body.txt", "-u", "ada:pw")
        self.assertEqual(run.code, 0, run)
        request = server.requests[0]
        self.assertEqual((request.method, request.path, request.body), ("PUT", "/x", b"from a file"))
        self.assertEqual(request.header("x-a"), "b: c")
        self.assertEqual(request.header("authorization"), "Basic " + base64.b64encode(b"ada:pw").decode())


class Responses(HttpTest):
    def checked(self, reply, check, step=None, **job):
        server = self.serve_http(reply if callable(reply) else lambda request: reply)
        run = self.go(server, [{"name": "call", **(step or {"get": "/"}), "check": check}, {"get": "/after"}], **job)
        checks = run.step("call")["checks"]
        self.assertEqual([each["ok"] for each in checks], [1] * len(checks), f"{checks}\n{run}")
        self.assertEqual(server.accepted, 1, "the connection is still good")
        return server, run

    def test_compressed_bodies_are_decoded_when_read(self):
        plain = json.dumps({"name": "x" * 2000}).encode()
        raw = zlib.compressobj(wbits=-15)
        for coding, body in (("gzip", gzip.compress(plain)), ("deflate", zlib.compress(plain)),
                             ("deflate", raw.compress(plain) + raw.flush())):
            with self.subTest(coding=coding):
                server, _ = self.checked(response(body, headers=[("Content-Encoding", coding)]),
                                         {"json.name": "x" * 2000, "size": len(body)}, {"get": "/", "compressed": True})
                self.assertIn("gzip", server.requests[0].header("accept-encoding"))

    def test_a_broken_compressed_body_matters_only_when_read(self):
        broken = response(b"\x1f\x8bnot gzip", headers=[("Content-Encoding", "gzip")])
        self.checked(broken, {"status": 200})
        server = self.serve_http(lambda request: broken)
        run = self.go(server, [{"name": "call", "get": "/", "check": {"body": "exists"}}])
        self.assertEqual(run.step("call")["checks"][0]["failed"], 1, run)

    def test_nothing_holds_of_a_body_that_cannot_be_read(self):
        broken = response(gzip.compress(b'{"a": 1}' * 100)[:-6], headers=[("Content-Encoding", "gzip")])
        server = self.serve_http(lambda request: broken)
        run = self.go(server, [{"name": "call", "get": "/", "check": {
            "body": {"that": "not contains error", "required": True}, "json.errors": "not exists", "status": "not in [500]"}}], code=99)
        failed = {each["label"]: each["failed"] for each in run.step("call")["checks"]}
        self.assertEqual(failed, {"body: not contains error": 1, "json.errors: not exists": 1, "status: not in [500]": 0})
        self.assertIn("did not hold – the compressed body ends in the middle", run.step("call")["samples"][0]["detail"])

    def test_responses_without_a_body(self):
        for status in (204, 304):
            with self.subTest(status=status):
                reply = f"HTTP/1.1 {status} X\r\nContent-Length: 5\r\n\r\n".encode()
                self.checked(lambda request: reply if request.path == "/" else response("x"), {"status": status, "size": 0})

    def test_head_has_no_body(self):
        self.checked(lambda request: b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n" if request.method == "HEAD" else
                     response("x"), {"status": 200, "size": 0}, {"head": "/"})

    def test_interim_responses_are_passed_over(self):
        self.checked(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + response("end"),
                     {"status": 200, "body": "end"})

    def test_chunks_with_extensions_and_trailers(self):
        self.checked(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-T\r\n\r\n"
                     b"3;a=b\r\nabc\r\n0004\r\ndefg\r\n0\r\nX-T: 1\r\n\r\n", {"body": "abcdefg", "size": 7})

    def test_headers_are_read_in_any_case(self):
        self.checked(response("x", headers=[("X-ThInG", "v")]), {"header.x-thing": "v", "header.X-THING": "v"})

    def test_a_reply_before_the_whole_body_was_sent_counts(self):
        def handler(connection):
            stream = connection.makefile("rb")
            while stream.readline() not in (b"\r\n", b""):
                pass
            connection.sendall(response("too large", 413, [("Connection", "close")]))
            connection.shutdown(socket.SHUT_WR)
            done.wait(20)

        done = threading.Event()
        self.write("large.bin", b"x" * 40_000_000)
        run = self.go(self.serve(handler), [{"name": "call", "post": "/", "file": "large.bin"}], code=99)
        done.set()
        step = run.step("call")
        self.assertEqual((run.errors, step["statuses"]), ({"status": 1}, {"413": 1}))
        self.assertTrue(0 < step["bytes_out"] < 40_000_000, step["bytes_out"])
        self.assertLessEqual(step["phases_us"]["wait"]["max"], step["latency_us"]["max"])

    def test_a_sample_shows_its_own_reply_though_others_were_read_meanwhile(self):
        half = b"HTTP/1.1 200 OK\r\nX-Half: mine\r\nContent-Length: 9\r\n\r\nhalf"
        other = response("other", headers=[("Set-Cookie", "sid=of-another")])

        def handler(connection):
            stream = connection.makefile("rb")
            while line := stream.readline():
                while stream.readline() not in (b"\r\n", b""):
                    pass
                connection.sendall(half if line.startswith(b"GET /half") else other)

        steps = [{"parallel": [[{"name": "half", "get": "/half", "timeout": "400ms"}],
                               [{"think": "50ms"}, {"get": "/other"}, {"get": "/other"}, {"get": "/other"}]]}]
        run = self.go(self.serve(handler), steps, code=99)
        reply = run.step("half")["samples"][0]["response"]
        self.assertTrue(reply.startswith("HTTP/1.1 200 OK") and reply.endswith("half"), reply)

    def test_a_reply_in_single_bytes_is_whole(self):
        def handler(connection):
            stream = connection.makefile("rb")
            while stream.readline() not in (b"\r\n", b""):
                pass
            for byte in response('{"a": "b"}', headers=[("X", "y")]):
                connection.sendall(bytes([byte]))

        run = self.go(self.serve(handler), [{"name": "call", "get": "/", "check": {"json.a": "b", "header.x": "y"}}])
        self.assertEqual([each["ok"] for each in run.step("call")["checks"]], [1, 1])

    def test_statuses_and_bytes_are_counted(self):
        reply = response("12345")
        server = self.serve_http(lambda request: reply)
        run = self.go(server, [{"name": "call", "get": "/"}], load="{ vus: 1, iterations: 7 }")
        self.assertEqual(run.step("call")["bytes_in"], 7 * len(reply))
        self.assertGreater(run.step("call")["bytes_out"], 7 * 30)


if __name__ == "__main__":
    unittest.main()
