"""The JSON Schema of `muster schema`, judged by a validator that is not ours: every good file passes, and of the wrong ones all
fail but those whose mistake no schema can see (tests/data/wrong/beyond_schema.txt, a list that should only shrink)."""

import json
import os
import re
import subprocess
import unittest

try:
    import jsonschema
    import yaml
except ImportError:
    jsonschema = yaml = None

from harness import MUSTER, ROOT

WRONG = ROOT / "tests/data/wrong"
BEYOND = WRONG / "beyond_schema.txt"


def core_loader():
    """YAML 1.2's core schema, as muster reads it: `on` and `yes` are texts, and so are dates and 1:30."""

    class Core(yaml.SafeLoader):
        yaml_implicit_resolvers = {}

    for tag, pattern, first in (("bool", r"^(?:true|false)$", "tf"), ("null", r"^(?:~|null|)$", ["~", "n", ""]),
                                ("int", r"^[-+]?[0-9]+$", "-+0123456789"),
                                ("float", r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$", "-+0123456789.")):
        Core.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(pattern), list(first))
    return Core


@unittest.skipIf(jsonschema is None, "python3-jsonschema and python3-yaml are not installed")
class Schema(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        text = subprocess.run([os.path.abspath(MUSTER), "schema"], capture_output=True, text=True, check=True).stdout
        cls.schema = json.loads(text)
        cls.validator = jsonschema.Draft202012Validator(cls.schema)
        cls.loader = core_loader()

    def problems(self, text):
        return [error.message for error in self.validator.iter_errors(yaml.load(text, self.loader))]

    def test_it_is_a_schema(self):
        jsonschema.Draft202012Validator.check_schema(self.schema)

    def test_every_example_passes(self):
        for file in [*sorted((ROOT / "examples").glob("*.yaml")), *sorted((ROOT / "tests/data/explain").glob("*.yaml"))]:
            with self.subTest(file=file.name):
                self.assertEqual(self.problems(file.read_text()), [])

    def test_every_example_of_the_documentation_passes(self):
        blocks = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs/yaml.md").read_text(), re.S)
        self.assertGreater(len(blocks), 5)
        for block in blocks:
            self.assertEqual(self.problems(block), [], block)

    def test_every_file_of_muster_new_passes(self):
        for kind in ("simple", "flow", "open"):
            text = subprocess.run([os.path.abspath(MUSTER), "new", "-", "--kind", kind], capture_output=True, text=True,
                                  check=True).stdout
            self.assertEqual(self.problems(text), [], kind)

    def test_wrong_files_fail_but_for_what_no_schema_can_see(self):
        passing = []
        for file in sorted(WRONG.glob("*.yaml")):
            try:
                wrong = self.problems(file.read_text())
            except (yaml.YAMLError, UnicodeDecodeError, ValueError, TypeError, RecursionError):
                wrong = ["not even YAML"]
            if not wrong:
                passing.append(file.stem)
        if "MUSTER_REWRITE_EXPECTED" in os.environ:
            BEYOND.write_text("\n".join(passing) + "\n")
        self.assertEqual(passing, BEYOND.read_text().split())
        self.assertLess(len(passing), len(list(WRONG.glob("*.yaml"))) * 2 / 3)


if __name__ == "__main__":
    unittest.main()
