"""The command line itself: help, flags from the environment, colours, JSON, completions, manual pages and exit codes."""

import json
import os
import pathlib
import pty
import re
import shutil
import signal
import subprocess
import unittest

from harness import MUSTER, ROOT, ProcessTest

PROGRAM = os.path.abspath(MUSTER)
QUICK = "muster: 1\ntarget: http://127.0.0.1:1\nload: { vus: 1, iterations: 1 }\nsteps: [ { name: home, get: / } ]\n"


def commands():
    """The names that `muster --help` lists."""
    text = subprocess.run([PROGRAM, "--help"], capture_output=True, text=True, check=True).stdout
    listed = text.split("\nCommands:\n", 1)[1].split("\n\n", 1)[0]
    return [line.split()[0] for line in listed.splitlines() if re.match(r"  \w", line)]


class CommandLine(ProcessTest):
    def ask(self, *words, code=0, **environment):
        """Standard output and error of a command that ends by itself."""
        env = {key: value for key, value in os.environ.items() if not key.startswith("MUSTER_") and key != "NO_COLOR"}
        run = subprocess.run([PROGRAM, *words], cwd=self.folder, env={**env, **environment}, capture_output=True, text=True,
                             timeout=30, stdin=subprocess.DEVNULL, check=False)
        self.assertEqual(run.returncode, code, f"{words}\n{run.stdout}\n{run.stderr}")
        return run.stdout, run.stderr

    def on_a_terminal(self, *words, **environment):
        """What a command writes to standard output when that is a terminal."""
        ours, theirs = pty.openpty()
        env = {key: value for key, value in os.environ.items() if not key.startswith("MUSTER_") and key != "NO_COLOR"}
        process = subprocess.Popen([PROGRAM, *words], cwd=self.folder, env={**env, "TERM": "xterm", **environment}, stdout=theirs,
                                   stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        os.close(theirs)
        text = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            text += part
        os.close(ours)
        process.wait(30)
        return text.decode()


class Help(CommandLine):
    def test_every_command_teaches_by_example_in_80_columns(self):
        names = commands()
        self.assertGreaterEqual(len(names), 11)
        for name in names:
            with self.subTest(command=name):
                text, _ = self.ask(name, "--help")
                self.assertEqual(text, self.ask("help", name)[0])
                self.assertLess(max(map(len, text.splitlines())), 81, text)
                self.assertIn("Usage: muster " + name, text)
                self.assertIn("\nExamples:\n", text)
                self.assertLess(text.index("\nExamples:\n"), text.index("  -h, --help"))
                self.assertRegex(text.split("\nExamples:\n")[1], rf"\bmuster {name}\b")

    def test_without_a_command_the_list_is_shown_and_it_is_a_mistake(self):
        out, err = self.ask(code=2)
        self.assertEqual(out, "")
        self.assertIn("Usage: muster COMMAND", err)
        self.assertLess(max(map(len, err.splitlines())), 81, err)

    def test_help_of_what_is_not_there_says_what_was_meant(self):
        self.assertIn("did you mean 'explain'?", self.ask("help", "explian", code=2)[1])

    def test_unknown_commands_and_flags_say_what_was_meant(self):
        self.assertIn("unknown command 'rnu'; did you mean 'run'?", self.ask("rnu", code=2)[1])
        self.assertIn("did you mean '--duration'?", self.ask("run", "--url", "http://a.test", "--durtion", "3s", code=2)[1])
        self.assertIn("muster run test.yaml", self.ask("test.yaml", code=2)[1])
        self.assertIn("muster run --url http://a.test", self.ask("http://a.test", code=2)[1])

    def test_mistakes_are_told_in_plain_words(self):
        for words, said in ((("new", "-", "--kind", "foo"), "muster new: --kind: expected simple, flow or open, found 'foo'"),
                            (("run", "x.yaml", "--ui", "foo"), "muster run: --ui: expected auto, full, ci or none, found 'foo'"),
                            (("run", "--url"), "muster run: --url needs an address"),
                            (("run", "x.yaml", "--target", ""), "muster run: --target: expected a value, found ''"),
                            (("new", ""), "muster new: expected the name of a file, found ''"),
                            (("run", "--ulr", "http://a.test"), "muster run: unknown flag '--ulr'; did you mean '--url'?"),
                            (("run", "--url", "http://a.test", "-c", "0"), "muster run: -c: expected a whole number from 1"),
                            (("--color", "never"), "muster: name a command; 'muster help' lists them"),
                            (("import",), "muster import: name a command; 'muster help import' lists them"),
                            (("import", "crul"), "muster import: unknown command 'crul'; did you mean 'curl'?"),
                            (("completion", "tcsh"), "muster completion: SHELL: expected bash, zsh or fish, found 'tcsh'"),
                            (("check",), "nothing to check: give a file (muster check test.yaml)")):
            with self.subTest(words=words):
                self.assertTrue(self.ask(*words, code=2)[1].startswith(said), self.ask(*words, code=2)[1])

    def test_check_answers_in_json_also_where_its_flags_are_wrong(self):
        said = "unknown flag '--tagret'; did you mean '--target'?"
        for words, environment in ((("--json", "--tagret", "x"), {}), (("--tagret", "x", "--json"), {}),
                                   (("--tagret", "x"), {"MUSTER_JSON": "1"})):
            with self.subTest(words=words):
                out, err = self.ask("check", "job.yaml", *words, code=2, **environment)
                self.assertEqual(json.loads(out), {"ok": False, "problems": [{"message": said}]})
                self.assertIn(said, err)
        self.assertEqual(self.ask("check", "job.yaml", "--tagret", "x", code=2)[0], "")

    def test_what_is_likely_a_slip_is_worth_a_look_and_no_mistake(self):
        self.write("job.yaml", QUICK + "datacenters: [ eu ]\nthresholds: [ failed rate <= 1 ]\n")
        said = self.ask("check", "job.yaml")[1].splitlines()
        self.assertEqual([line.split(" has no effect")[0].split(" compares")[0] for line in said],
                         ["worth a look: `datacenters`", "worth a look: the threshold `failed rate <= 1`"])
        self.assertEqual(len(json.loads(self.ask("check", "job.yaml", "--json")[0])["warnings"]), 2)
        said = self.ask("run", "job.yaml", "--target", "embedded", "--no-save", "--ui", "none")[1]
        self.assertEqual(said, "worth a look: `datacenters` has no effect on one machine: all of the load comes from here\n")

    def test_examples_in_the_help_are_commands_that_exist(self):
        for name in commands():
            text = self.ask("help", name)[0].split("\nExamples:\n", 1)[1].split("\n\n", 1)[0].replace("\\\n", " ")
            for used, flags in re.findall(r"\bmuster ([a-z]+)((?: [^|;&>#)\n]*)?)", text):
                self.assertIn(used, commands(), text)
                known = self.ask("help", used)[0]
                for flag in re.findall(r"(?<= )--?[a-zA-Z][a-z-]*", re.sub(r"'[^']*'", "''", flags)):
                    self.assertRegex(known, rf"(?m)(^|[ ,]){re.escape(flag)}([ ,]|$)", f"{name}: {flag}")


class Environment(CommandLine):
    def setUp(self):
        super().setUp()
        self.write("job.yaml", QUICK)

    def seed(self, *words, **environment):
        out, _ = self.ask("run", "job.yaml", "--json", *words, **environment)
        return json.loads(out)["seed"]

    def test_flags_win_over_the_environment_and_that_over_the_file(self):
        with self.subTest("the file's target, where nobody listens, is replaced"):
            self.assertEqual(self.seed(MUSTER_TARGET="embedded", MUSTER_UI="none", MUSTER_SEED="7"), 7)
        with self.subTest("what is typed wins"):
            self.assertEqual(self.seed("--seed", "8", "--target", "embedded", MUSTER_SEED="7", MUSTER_TARGET="http://127.0.0.1:1"), 8)

    def test_switches_can_be_set_too(self):
        out, _ = self.ask("check", "job.yaml", MUSTER_JSON="1")
        self.assertTrue(json.loads(out)["ok"])
        out, _ = self.ask("check", "job.yaml", MUSTER_JSON="false")
        self.assertIn("job.yaml: ok", out)

    def test_a_wrong_value_names_its_variable(self):
        _, err = self.ask("run", "job.yaml", code=2, MUSTER_CORES="many")
        self.assertIn("expected a whole number from 1 to 1024, found 'many' (from MUSTER_CORES)", err)
        _, err = self.ask("run", "job.yaml", "--cores", "few", code=2, MUSTER_CORES="many")
        self.assertNotIn("MUSTER_CORES", err)

    def test_a_variable_for_one_command_does_not_break_another(self):
        self.ask("version", MUSTER_UI="nonsense", MUSTER_CORES="many")

    def test_what_a_test_is_does_not_come_from_the_environment(self):
        self.assertEqual(self.seed(MUSTER_VUS="5000", MUSTER_URL="http://nowhere.test", MUSTER_SET="x=y", MUSTER_SEED="3",
                                   MUSTER_TARGET="embedded"), 3)


class Colours(CommandLine):
    def setUp(self):
        super().setUp()
        self.write("job.yaml", QUICK)

    def test_colours_are_for_terminals_unless_told_otherwise(self):
        words = ("run", "job.yaml", "--target", "embedded", "--ui", "none")
        self.assertNotIn("\x1b", self.ask(*words)[0])
        self.assertIn("\x1b[", self.ask(*words, "--color", "always")[0])
        self.assertIn("\x1b[", self.ask(*words, "--color", "always", NO_COLOR="1")[0])
        self.assertIn("\x1b[", self.on_a_terminal(*words))
        self.assertNotIn("\x1b", self.on_a_terminal(*words, NO_COLOR="1"))
        self.assertNotIn("\x1b", self.on_a_terminal(*words, MUSTER_COLOR="never"))
        self.assertNotIn("\x1b", self.on_a_terminal(*words, TERM="dumb"))

    def test_every_command_takes_the_flag(self):
        for name in commands():
            with self.subTest(command=name):
                self.assertIn("\x1b[1m", self.ask(name, "--help", "--color", "always")[0])
                self.assertNotIn("\x1b", self.on_a_terminal(name, "--help", "--color", "never"))
        self.assertIn("\x1b[", self.ask("explain", "job.yaml", "--color", "always")[0])
        self.assertNotIn("\x1b", self.ask("explain", "job.yaml")[0])


class Json(CommandLine):
    def test_what_prints_data_prints_json(self):
        self.write("job.yaml", QUICK)
        self.assertRegex(json.loads(self.ask("version", "--json")[0])["version"], r"^\d+\.\d+")
        self.assertTrue(json.loads(self.ask("check", "job.yaml", "--json")[0])["ok"])
        self.assertEqual(json.loads(self.ask("explain", "job.yaml", "--json")[0])["job"], "job")
        steps = [json.loads(line) for line in self.ask("try", "job.yaml", "--target", "embedded", "--json")[0].splitlines()]
        self.assertEqual([(step["step"], step["ok"], step["status"]) for step in steps], [("home", True, 200)])
        self.assertTrue(steps[0]["request"].startswith("GET / HTTP/1.1\r\n"))
        self.assertEqual(json.loads(self.ask("schema")[0])["$schema"], "https://json-schema.org/draft/2020-12/schema")

    def test_the_target_says_where_it_listens_and_what_it_served(self):
        process = subprocess.Popen([PROGRAM, "target", "--listen", "127.0.0.1:0", "--json"], stdout=subprocess.PIPE, text=True)
        try:
            url = json.loads(process.stdout.readline())["listening"]
            self.ask("run", "--url", url, "-n", "3", "-c", "1", "--ui", "none")
        finally:
            process.send_signal(signal.SIGTERM)
            rest, _ = process.communicate(timeout=10)
        self.assertEqual(json.loads(rest), {"requests": 3, "connections": 1})

    def test_the_target_writes_each_of_its_files_apart(self):
        for flags in (["--log", "a", "--http-log", "./a"], ["--tls", "--cert-out", "a", "--log", "a"]):
            with self.subTest(flags=flags):
                done = subprocess.run([PROGRAM, "target", "--listen", "127.0.0.1:0", *flags], cwd=self.folder,
                                      capture_output=True, text=True, timeout=10)
                self.assertEqual(done.returncode, 2, done)
                self.assertIn("name the same file; give each one of its own", done.stderr)

    def test_names_do_nothing_to_the_terminal(self):
        nasty = "a\u001b[31m\u202eb"
        self.write("nasty.yaml", 'muster: 1\ntarget: http://127.0.0.1:1\nworkflows:\n'
                   '  - { name: "a\\e[31m\\u202Eb", load: { vus: 1, iterations: 1 }, steps: [ { get: / } ] }\n')
        for words in (["check", "nasty.yaml"], ["check", nasty], [nasty], ["run", f"{nasty}.yaml"],
                      ["run", "--set", f"{nasty}=1", "nasty.yaml"], ["results", "show", nasty], ["run", "-c", nasty],
                      ["import", "curl", nasty]):
            with self.subTest(words=words):
                done = subprocess.run([PROGRAM, *words], cwd=self.folder, capture_output=True, text=True, timeout=10)
                self.assertNotRegex(done.stdout + done.stderr, "[\u001b\u202e]")
                self.assertTrue(done.stdout + done.stderr)


class Passwords(CommandLine):
    def test_those_that_are_typed_are_never_shown_nor_kept(self):
        server = self.serve_http()
        script = self.write("script.lua", "function request() return wrk.format() end\n")
        address = server.url.replace("http://", "http://ada:hunter2@")
        basic = ["--url", server.url, "-u", "ada:hunter2"]
        load = ["-c", "1", "-n", "3", "--out", "html=page.html", "--out", "ndjson=points", "--out", "json=summary.json"]
        home = {"MUSTER_DATA": str(self.folder / "data")}
        for words in (["check", address], ["check", address, "--json"], ["explain", "--url", address], ["explain", *basic],
                      ["explain", *basic, "--json"], ["explain", script, address], ["try", "--url", address], ["try", *basic],
                      ["try", *basic, "--json"], ["run", "--url", address, *load], ["run", *basic, *load],
                      ["run", script, address, "-c", "1", "-d", "1s", *load[4:]]):
            with self.subTest(words=words):
                told = "".join(self.ask(*map(str, words), **home))
                self.assertGreater(len(told), 10)
                for secret in ("hunter2", "YWRhOmh1bnRlcjI"):
                    self.assertNotIn(secret, told)
                    for file in (each for each in self.folder.rglob("*") if each.is_file()):
                        self.assertNotIn(secret.encode(), file.read_bytes(), file)
        self.assertIn("Basic YWRhOmh1bnRlcjI=", [request.header("authorization") for request in server.requests])


class Completions(CommandLine):
    def complete(self, *words):
        """What bash would offer for the last word; bash itself is asked."""
        script = f"""
eval "$({PROGRAM} completion bash)"
compopt() {{ :; }}
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_muster
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
        run = subprocess.run(["bash", "-c", script, "bash", PROGRAM, *words], cwd=self.folder, capture_output=True, text=True,
                             timeout=20, check=True)
        self.assertEqual(run.stderr, "")
        return sorted(line for line in run.stdout.splitlines() if line)

    def test_bash_completes_commands_flags_values_and_files(self):
        self.write("shop.yaml", "")
        self.write("shop.txt", "")
        (self.folder / "shops").mkdir()
        self.assertEqual(self.complete("ex"), ["explain"])
        self.assertEqual(self.complete("run", "--max"), ["--max-vus"])
        self.assertIn("ci", self.complete("run", "--ui", ""))
        self.assertEqual(self.complete("run", "--color", "a"), ["always", "auto"])
        self.assertEqual(self.complete("run", "sh"), ["shop.yaml", "shops"])
        self.assertIn("json=", self.complete("run", "--out", ""))
        self.assertEqual(self.complete("target", "--log", "shop."), ["shop.txt", "shop.yaml"])
        self.assertEqual(self.complete("completion", ""), ["bash", "fish", "zsh"])
        self.assertIn("run", self.complete("help", ""))

    def test_bash_cuts_words_at_equals_signs_and_gets_only_the_rest(self):
        self.write("result.json", "")
        self.assertIn("none", self.complete("run", "--ui", "=", "no"))
        self.assertEqual(self.complete("run", "--out", "json", "=", "res"), ["result.json"])

    def test_the_scripts_of_the_other_shells_are_well_formed(self):
        for shell, check in (("bash", ["bash", "-n"]), ("zsh", ["zsh", "-n"]), ("fish", ["fish", "-n"])):
            script, _ = self.ask("completion", shell)
            self.assertIn("complete --", script)
            if shutil.which(shell) is None:
                continue
            run = subprocess.run([*check, str(self.write("script", script))], capture_output=True, text=True, check=False)
            self.assertEqual((run.returncode, run.stderr), (0, ""), shell)

    def test_an_unknown_shell_is_a_mistake(self):
        self.assertIn("tcsh", self.ask("completion", "tcsh", code=2)[1])


class ManualPages(CommandLine):
    def test_there_is_one_for_every_command(self):
        self.ask("man", "--to", "pages")
        names = sorted(path.name for path in (self.folder / "pages").iterdir())
        for name in commands():
            self.assertIn(f"muster-{name}.1", names)
        self.assertIn("muster.1", names)
        self.assertEqual((self.folder / "pages/muster-run.1").read_text(), self.ask("man", "run")[0])

    def test_they_are_typeset_without_a_warning(self):
        self.ask("man", "--to", "pages")
        groff = shutil.which("groff")
        if groff is None:
            self.skipTest("groff is not installed")
        for page in sorted((self.folder / "pages").iterdir()):
            run = subprocess.run([groff, "-man", "-ww", "-K", "utf-8", "-T", "utf8", "-rLL=80n", str(page)], capture_output=True,
                                 text=True, timeout=20, check=False)
            self.assertEqual((run.returncode, run.stderr), (0, ""), page.name)
            self.assertIn("EXIT STATUS", re.sub(r"\x1b\[[0-9;]*m|.\x08", "", run.stdout))

    def test_only_the_last_folder_is_made(self):
        self.assertIn("there is no folder 'none' to make it in", self.ask("man", "--to", "none/pages", code=1)[1])
        self.assertFalse((self.folder / "none").exists())
        (self.folder / "none").mkdir()
        self.ask("man", "--to", "none/pages/")
        self.assertTrue((self.folder / "none/pages/muster.1").is_file())

    def test_a_page_that_is_not_there_is_a_mistake(self):
        self.assertIn("did you mean 'muster-run'?", self.ask("man", "rnu", code=2)[1])


class Documents(CommandLine):
    def test_every_command_and_flag_is_documented(self):
        text = "\n".join(path.read_text() for path in sorted((ROOT / "docs").glob("*.md")))
        for name in commands():
            self.assertIn(f"`muster {name}", text)
            flags = self.ask("help", name)[0].split("\nExamples:\n")[1].split("\n\n", 1)[1]
            for flag in re.findall(r"(?m)^  (?:-\w, )?(--[a-z-]+)", flags):
                self.assertIn(f"`{flag}", text, f"{name} {flag}")


if __name__ == "__main__":
    unittest.main()
