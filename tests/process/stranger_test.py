"""Mistakes of someone who had not seen the loader: each tests/data/stranger/NN-name.yaml with what `muster check` says to it.

After a change that was meant, MUSTER_REWRITE_EXPECTED=1 writes the answers anew; read the differences before committing."""

import os
import subprocess
import unittest

from harness import MUSTER, ROOT

FOLDER = ROOT / "tests/data/stranger"
LIMIT = 20  # seconds for one file


def answer(name):
    """The exit code and all that is printed."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("STRANGER_")}
    run = subprocess.run([os.path.abspath(MUSTER), "check", name], cwd=FOLDER, env=environment, timeout=LIMIT,
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return run.returncode, run.stdout.decode()


class Stranger(unittest.TestCase):
    maxDiff = None

    def test_every_file_gets_its_exact_answer(self):
        for file in sorted(FOLDER.glob("[0-9]*.yaml")):
            with self.subTest(file=file.name):
                code, said = answer(file.name)
                expected = file.with_suffix(".txt")
                if "MUSTER_REWRITE_EXPECTED" in os.environ:
                    expected.write_text(said)
                self.assertEqual(said, expected.read_text())
                self.assertEqual(code, 0 if said.startswith(f"{file.name}: ok\n") else 2)

    def test_there_are_enough_of_them(self):
        self.assertGreaterEqual(len(list(FOLDER.glob("[0-9]*.txt"))), 40)


if __name__ == "__main__":
    unittest.main()
