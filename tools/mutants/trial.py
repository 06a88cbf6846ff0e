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
TOO_MANY_FAILURES = 5  # of the original in one scenario
FIRST_BATCH = 0.25  # seconds per scenario; doubles in every round
LEAST_LIMIT = 15  # a seed hangs that takes so many seconds more
PATIENCE = 10  # than so many times what the original takes


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
        listing = subprocess.run([self.binary, "--list", "--json"], capture_output=True, text=True, check=True).stdout
        return [each["name"] for each in json.loads(listing)]

    def run(self, number, scenario, first, last, limit, reached=None):
        command = [self.binary, "--scenario", scenario, "--seed", f"{first}..{last}", "--json"]
        environment = os.environ | {"MUSTER_MUTANT": str(number)}
        if reached:
            environment["MUSTER_MUTANTS_REACHED"] = reached
        with tempfile.TemporaryFile("w+") as output:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                                       env=environment)
            confine(process.pid, limit)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            output.seek(0)
            text = output.read()
        return verdict_of(process.returncode, text, usage.ru_utime + usage.ru_stime)


def confine(process, limit):
    seconds = max(1, round(limit + 0.5))
    for what, least, most in ((resource.RLIMIT_CPU, seconds, seconds + 1), (resource.RLIMIT_AS, MEMORY, MEMORY),
                              (resource.RLIMIT_CORE, 0, 0)):
        try:
            resource.prlimit(process, what, (least, most))
        except ProcessLookupError:
            return  # it has ended already


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
    """The simulator finds fault with the original again and again, so it cannot judge mutants."""


def baseline(simulator, scenario, unsound):
    """Runs the original for a while. Seeds at which it fails are told in `unsound` and passed over."""
    first, seconds, seeds, reached, failures = 1, 0.0, 0, set(), 0
    while seconds < SECONDS_OF_BASELINE:
        last = first + max(1, seeds) - 1
        with tempfile.NamedTemporaryFile("r") as table:
            run = simulator.run(-1, scenario, first, last, 600, table.name)
            reached |= {int(line) for line in table.read().split()}
        if run.end != "passed":
            failures += 1
            last = int(run.seed) if run.seed else last
            unsound[scenario, f"{run.seed or first}..{last}"] = f"{run.end} {run.invariant} {run.seen}"
            if failures == TOO_MANY_FAILURES:
                raise Unsound(f"{scenario}, seed {last}, without any mutant: {run.end} {run.invariant} {run.seen}")
        seeds, seconds, first = seeds + last - first + 1, seconds + run.seconds, last + 1
    return Baseline(seconds / seeds, seeds, reached)


class Court:
    """Tries mutants one by one. Scenarios in which a mutant's function is known to run come first."""

    def __init__(self, simulator, baselines, reach, seconds, unsound):
        self.simulator = simulator
        self.baselines = baselines
        self.reach = reach
        self.seconds = seconds
        self.unsound = unsound  # (scenario, seeds) at which the original fails, too → what was seen

    def scenarios_for(self, mutant, patterns):
        mine = [name for name in self.baselines if any(fnmatch.fnmatch(name, pattern) for pattern in patterns)]
        places = {self.reach[place] for place in mutant.edits}
        near = [name for name in mine if places & self.baselines[name].reached]
        return near, [name for name in mine if name not in near]

    def judge(self, mutant, patterns):
        near, far = self.scenarios_for(mutant, patterns)
        spent, seeds, share = 0.0, 0, FIRST_BATCH
        next_seed = dict.fromkeys(near + far, 1)
        while True:
            for scenario in near if near and share < 1 else near + far:
                first = next_seed[scenario]
                wanted = min(share, self.seconds - spent) / self.baselines[scenario].seconds
                last = first + max(1, int(wanted)) - 1
                run, last = self.batch(mutant, scenario, first, last)
                spent += run.seconds
                seeds += last - first + 1
                next_seed[scenario] = last + 1
                if run.end != "passed":
                    return Verdict(run.end, spent, seeds, scenario, run.seed or f"{first}..{last}", run.invariant, run.seen)
                if spent >= self.seconds:
                    return Verdict("survived", spent, seeds)
            share *= 2

    def limit(self, scenario, seeds):
        return LEAST_LIMIT + PATIENCE * self.baselines[scenario].seconds * seeds

    def batch(self, mutant, scenario, first, last):
        """Tries these seeds, and says what came of it and which of them was the last. Where the mutant falls the
        original must stand, else the place proves nothing and is passed over."""
        run = self.simulator.run(mutant.number, scenario, first, last, self.limit(scenario, last - first + 1))
        if run.end in ("crashed", "hung") and first < last:
            run, last = self.one_by_one(mutant, scenario, first, last, run.seconds)
        if run.end == "passed":
            return run, last
        if run.end == "refused":
            raise Unsound(f"muster-sim cannot be run: {run.seen}")
        if run.end in ("crashed", "hung"):
            run.seed = str(last)
        begin, end = (int(run.seed), int(run.seed)) if run.seed else (first, last)
        original = self.simulator.run(0, scenario, begin, end, 3600)
        if original.end == "passed":
            return run, end
        self.unsound[scenario, f"{begin}..{end}"] = f"{original.end} {original.invariant} {original.seen}"
        return Run("passed", run.seconds), end

    def one_by_one(self, mutant, scenario, first, last, spent):
        """Which seed it was. Many seeds that are merely slow are no hang."""
        for seed in range(first, last + 1):
            run = self.simulator.run(mutant.number, scenario, seed, seed, self.limit(scenario, 1))
            spent += run.seconds
            if run.end != "passed" or spent > 2 * self.seconds:
                return dataclasses.replace(run, seconds=spent), seed
        return Run("passed", spent), last
