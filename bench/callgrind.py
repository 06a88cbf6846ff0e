"""User-space instructions per request of the floor, muster and wrk under callgrind. Two run lengths are subtracted, so that
start-up cancels out. Prints one table and writes build/bench/callgrind.json."""

import argparse
import pathlib
import re
import shutil
import subprocess
import tempfile

import lab


def instructions(generator, load):
    """(requests, instructions of all processes of the run)."""
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder, "summary.json")
        # Debian's valgrind cannot read clang's debug information; symbols are enough here.
        program = pathlib.Path(folder, pathlib.Path(generator.program).name)
        subprocess.run(["objcopy", "--strip-debug", shutil.which(generator.program), program], check=True)
        use = lab.measure(["valgrind", "--tool=callgrind", "--trace-children=yes", "--trace-children-skip=*/taskset",
                           f"--callgrind-out-file={folder}/callgrind.%p", program, *generator.command(load, scratch)])
        total = sum(int(re.search(r"^(?:totals|summary): (\d+)", file.read_text(), re.MULTILINE).group(1))
                    for file in pathlib.Path(folder).glob("callgrind.*"))
        return generator.requests(use.output, scratch), total


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-c", "--connections", type=int, default=64)
    parser.add_argument("--seconds", type=int, nargs=2, default=(5, 20), help="the two run lengths")
    parser.add_argument("--tls", action="store_true")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="floor,muster,wrk")
    arguments = parser.parse_args()
    lab.raise_limits()
    result = {}
    print(f"{'':12} {'instructions per request':>26}   (each round)")
    with lab.Nginx() as server:
        for generator in lab.GENERATORS:
            if generator.name not in arguments.only.split(",") or not generator.available():
                continue
            rounds = []
            for _ in range(arguments.rounds):
                short, long = (instructions(generator, lab.Load(server.url(arguments.tls), arguments.connections, seconds))
                               for seconds in arguments.seconds)
                rounds.append((long[1] - short[1]) / (long[0] - short[0]))
            result[generator.name] = rounds
            print(f"{generator.name:12} {sorted(rounds)[len(rounds) // 2]:26.0f}   {' '.join(f'{value:.0f}' for value in rounds)}")
    lab.save("callgrind", {"connections": arguments.connections, "tls": arguments.tls, "instructions_per_request": result})


if __name__ == "__main__":
    main()
