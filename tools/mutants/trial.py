"""Runs mutants through muster-sim. All times are of the processor, so that a busy machine changes no verdict."""

import dataclasses
import fnmatch
import json
import os
import resource
import signal
import subprocess
import tempfile

MEMORY = 3 << 30  # bytes of address space; a mutant that grows without end crashes instead of taking the machine along
SECONDS_OF_BASELINE = 1.5  # per scenario
FIRST_BATCH = 0.25  # seconds per scenario; doubles in every round
LEAST_LIMIT = 15  # seconds that a batch may take at least before it counts as a hang
PATIENCE = 30  # a batch that takes so many times what the original takes hangs


@dataclasses.dataclass
class Run:
    """What one call of muster-sim gave: passed, violated, crashed, hung, or refused if it could not be run."""
    end: str
    seconds: float
    seed: str = ""
    invariant: str = ""
    seen: str = ""


@dataclasses.dataclass
class Verdict:
    end: str  # violated, crashed, hung, survived
    seconds: float
    seeds: int
    scenario: str = ""
    seed: str = ""
    invariant: str = ""
    seen: str = ""

    @property
    def killed(self):
        return self.end != "survived"


class Simulator:
    def __init__(self, binary):
        self.binary = str(binary)

    def scenarios(self):
        listing = subprocess.run([self.binary, "--list"], capture_output=True, text=True, check=True).stdout
        return [line.split()[0] for line in listing.splitlines() if line.strip() and not line[0].isspace()]

    def run(self, number, scenario, first, last, limit, reached=None):
        command = [self.binary, "--scenario", scenario, "--seed", f"{first}..{last}", "--json"]
        environment = os.environ | {"MUSTER_MUTANT": str(number)}
        if reached:
            environment["MUSTER_MUTANTS_REACHED"] = reached
        with tempfile.TemporaryFile("w+") as output:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                                       env=environment, preexec_fn=lambda: confine(limit))
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            output.seek(0)
            text = output.read()
        return verdict_of(process.returncode, text, usage.ru_utime + usage.ru_stime)


def confine(limit):
    seconds = max(1, round(limit + 0.5))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def verdict_of(code, text, seconds):
    if code in (-signal.SIGXCPU, -signal.SIGKILL):
        return Run("hung", seconds)
    if code not in (0, 1):
        last = text.strip().splitlines()[-1:] or [""]
        return Run("refused" if code == 2 else "crashed", seconds, seen=f"{ending(code)} {last[0][:160]}".strip())
    if code == 0:
        return Run("passed", seconds)
    try:
        told = json.loads(text.strip().splitlines()[-1])
    except (ValueError, IndexError):
        return Run("crashed", seconds, seen=text.strip()[-160:])
    for failure in told.get("failures", []):
        return Run("violated", seconds, str(failure["seed"]), failure["invariant"], failure["seen"])
    if told.get("verdict"):
        return Run("violated", seconds, "", told["verdict"]["invariant"], told["verdict"]["seen"])
    return Run("violated", seconds, "", "counter", "never seen: " + ", ".join(told.get("unseen", [])))


def ending(code):
    return signal.Signals(-code).name if code < 0 else f"exit {code}"


@dataclasses.dataclass
class Baseline:
    """The original in one scenario: what a seed costs, and which functions ran."""
    seconds: float  # of one seed
    seeds: int
    reached: set


class Unsound(Exception):
    """The simulator finds fault with the original, so it cannot judge mutants."""


def baseline(simulator, scenario):
    first, seconds, seeds, reached = 1, 0.0, 0, set()
    while seconds < SECONDS_OF_BASELINE:
        count = max(1, seeds)
        with tempfile.NamedTemporaryFile("r") as table:
            run = simulator.run(-1, scenario, first, first + count - 1, 600, table.name)
            reached |= {int(line) for line in table.read().split()}
        if run.end != "passed":
            raise Unsound(f"{scenario}, seeds {first} to {first + count - 1}, without any mutant: {run.end} "
                          f"{run.invariant} {run.seen}")
        seeds, seconds, first = seeds + count, seconds + run.seconds, first + count
    return Baseline(seconds / seeds, seeds, reached)


class Court:
    """Tries mutants one by one. Scenarios in which a mutant's function is known to run come first."""

    def __init__(self, simulator, baselines, reach, seconds):
        self.simulator = simulator
        self.baselines = baselines
        self.reach = reach
        self.seconds = seconds

    def scenarios_for(self, mutant, patterns):
        mine = [name for name in self.baselines if any(fnmatch.fnmatch(name, pattern) for pattern in patterns)]
        places = {self.reach[mutant.file, function] for function in mutant.edits}
        near = [name for name in mine if places & self.baselines[name].reached]
        return near, [name for name in mine if name not in near]

    def judge(self, mutant, patterns):
        near, far = self.scenarios_for(mutant, patterns)
        spent, seeds, share = 0.0, 0, FIRST_BATCH
        next_seed = dict.fromkeys(near + far, 1)
        while True:
            for scenario in near if near and share < 1 else near + far:
                cost = self.baselines[scenario].seconds
                first = next_seed[scenario]
                last = first + max(0, int(min(share, self.seconds - spent) / cost) - 1)
                run = self.simulator.run(mutant.number, scenario, first, last,
                                         max(LEAST_LIMIT, PATIENCE * cost * (last - first + 1)))
                spent += run.seconds
                seeds += last - first + 1
                next_seed[scenario] = last + 1
                if run.end != "passed":
                    return self.confirmed(mutant, scenario, first, last, run, spent, seeds)
                if spent >= self.seconds:
                    return Verdict("survived", spent, seeds)
            share *= 2

    def confirmed(self, mutant, scenario, first, last, run, spent, seeds):
        """A kill counts only if the original passes where the mutant falls."""
        if run.end == "refused":
            raise Unsound(f"muster-sim cannot be run: {run.seen}")
        if run.end == "crashed":
            run.seed = self.crashing_seed(mutant, scenario, first, last)
        begin, end = (run.seed, run.seed) if run.seed else (first, last)
        original = self.simulator.run(0, scenario, begin, end, 3600)
        if original.end != "passed":
            raise Unsound(f"{scenario}, seed {begin}, without any mutant: {original.end} {original.invariant} {original.seen}")
        return Verdict(run.end, spent, seeds, scenario, run.seed or f"{first}..{last}", run.invariant, run.seen)

    def crashing_seed(self, mutant, scenario, first, last):
        for seed in range(first, last + 1):
            if self.simulator.run(mutant.number, scenario, seed, seed, LEAST_LIMIT).end == "crashed":
                return str(seed)
        return ""
