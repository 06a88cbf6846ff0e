"""docs/tutorial.md, done by a newcomer who types everything: each ```sh block is run, in order, in one folder, and has to print
what the ```text block behind it shows.

In a ```text block, … stands for anything, and the lines have to appear in that order; others may lie between them. A comment
`# exit code N` in a command block says how it ends; 0 otherwise. A ```yaml block whose first line is `# file: NAME` is written to
that file, this line too: it has to work as it stands."""

import os
import re
import socket
import subprocess
import unittest

from harness import MUSTER, ROOT, ProcessTest

TUTORIAL = ROOT / "docs/tutorial.md"
LIMIT = 60  # seconds for one block


def blocks():
    """(line number, language, text) of every fenced block."""
    text = TUTORIAL.read_text()
    for match in re.finditer(r"^```(\w+)\n(.*?)^```$", text, re.S | re.M):
        yield text.count("\n", 0, match.start()) + 1, match[1], match[2]


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return str(listener.getsockname()[1])


def pattern(line):
    return ".*".join(re.escape(part) for part in line.strip().split("…"))


class Tutorial(ProcessTest):
    def setUp(self):
        super().setUp()
        self.home = self.folder / "home"
        self.work = self.folder / "work"
        bin_folder = self.folder / "bin"
        for each in (self.home, self.work, bin_folder):
            each.mkdir()
        (bin_folder / "muster").symlink_to(os.path.abspath(MUSTER))
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("MUSTER", "XDG_"))}
        self.environment = {**kept, "PATH": f"{bin_folder}:{os.environ['PATH']}", "HOME": str(self.home), "NO_COLOR": "1"}
        self.port = free_port()

    def type(self, line, commands):
        """Runs a block and returns what it prints."""
        code = re.search(r"# exit code (\d+)", commands)
        run = subprocess.run(["bash", "-uo", "pipefail", "-c", commands.replace("8080", self.port)], cwd=self.work,
                             env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             timeout=LIMIT, check=False)
        said = run.stdout.decode(errors="replace").replace(self.port, "8080")
        self.assertEqual(run.returncode, int(code[1]) if code else 0, f"{TUTORIAL.name}:{line}\n{commands}\n{said}")
        return said

    def compare(self, line, shown, said):
        at = 0
        for each in filter(str.strip, shown.splitlines()):
            found = re.compile(pattern(each)).search(said, at)
            self.assertIsNotNone(found, f"{TUTORIAL.name}:{line}: '{each}' is not in, or not in this order:\n{said}")
            at = found.end()

    def test_every_command_does_what_the_text_shows(self):
        said = None
        commands = 0
        for line, language, text in blocks():
            name = re.match(r"# file: (\S+)\n", text)
            if language == "sh":
                said = self.type(line, text)
                commands += 1
            elif language == "text":
                self.assertIsNotNone(said, f"{TUTORIAL.name}:{line}: no command stands before this")
                self.compare(line, text, said)
            elif language == "yaml" and name is not None:
                (self.work / name[1]).write_text(text)
            else:
                self.fail(f"{TUTORIAL.name}:{line}: a block of '{language}' is neither run nor written to a file")
        self.assertGreater(commands, 10)


if __name__ == "__main__":
    unittest.main()
