"""What `muster try` shows: every exchange, whole, with the bytes that it leaves out counted."""

import json
import unittest

from harness import ProcessTest


class Try(ProcessTest):
    def setUp(self):
        super().setUp()
        self.url = self.target()

    def tried(self, *arguments):
        run = self.run_muster(*arguments, command="try")
        self.assertEqual(run.code, 0, run)
        return run.out

    def test_every_exchange_of_a_chain_of_redirects_is_shown(self):
        out = self.tried("--url", f"{self.url}/redirect/2")
        sent = [line for line in out.splitlines() if line.startswith("  > GET ")]
        self.assertEqual(len(sent), 3, out)
        statuses = [line.split()[2] for line in out.splitlines() if line.startswith("  < HTTP/1.1 ")]
        self.assertEqual(statuses, ["302", "302", "200"], out)
        told = json.loads(self.tried("--url", f"{self.url}/redirect/2", "--json"))
        self.assertEqual(len(told["earlier"]), 2)
        self.assertTrue(told["earlier"][0]["response"].startswith("HTTP/1.1 302"))
        self.assertTrue(told["response"].startswith("HTTP/1.1 200"))

    def test_a_large_answer_is_shown_from_its_beginning_and_counted(self):
        out = self.tried("--url", f"{self.url}/bytes/100000", "--bytes", "100")
        self.assertIn("  < HTTP/1.1 200 OK", out)
        left_out = next(int(line.split()[2]) for line in out.splitlines() if line.endswith(" more bytes"))
        head = json.loads(self.tried("--url", f"{self.url}/bytes/100000", "--bytes", "65536", "--json"))["response"]
        self.assertEqual(left_out, head.index("\r\n\r\n") + 4 + 100000 - 100, out)


if __name__ == "__main__":
    unittest.main()
