"""Checks one rule over the repository: tidy.py RULE [--root DIR] [--build DIR]. `--list` names the rules."""

import argparse
import pathlib
import sys

import includes
import names
import sizes
import words
from tree import Tree

RULES = {rule.__name__: rule for rule in (
    includes.room_levels, includes.pure_rooms, includes.self_contained, sizes.file_length, sizes.function_length,
    sizes.main_length, names.own_names, words.vague_names, words.forbidden_words, words.no_sleeps, words.header_shape,
    words.formatting)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rule", nargs="?", choices=RULES)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--root", default=pathlib.Path(__file__).resolve().parents[2])
    parser.add_argument("--build", help="where results are remembered between runs")
    arguments = parser.parse_args()
    if arguments.list:
        print(";".join(RULES), end="")
        return 0
    tree = Tree(arguments.root, arguments.build)
    status = 0
    for rule in [arguments.rule] if arguments.rule else RULES:
        found = RULES[rule](tree)
        for violation in found:
            print(f"{violation}  [{rule}]")
        status |= bool(found)
    return status


if __name__ == "__main__":
    sys.exit(main())
