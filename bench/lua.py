"""What Lua costs: client CPU per request of scripts against the same plan in YAML, against wrk with an equivalent script and
against autocannon; then memory and lateness of 10,000 VUs that are Lua coroutines. Prints tables and writes
build/bench/lua.json."""

import argparse
import json
import os
import pathlib
import random
import statistics
import subprocess
import tempfile
import time

import intervals
import lab
import memory


LATEST_US = 2000  # what is asked of the p99.9 of lateness

CONSTANT_YAML = """\
muster: 1
target: {{ url: "{base}", insecure: true }}
workflows: [ {{ name: page, load: {{ vus: {connections}, for: {seconds}s }}, steps: [ {{ get: / }} ] }} ]
"""
CONSTANT_LUA = """\
job {{ target = {{ url = "{base}", insecure = true }} }}
local page = http.get("/")
workflow("page", {{ load = {{ vus = {connections}, ["for"] = "{seconds}s" }}, run = function() page() end }})
"""
WORK_LUA = """\
job {{ target = {{ url = "{base}", insecure = true }} }}
local document = http.get("/document.json?user=${{user}}", {{ name = "document", check = {{ status = 200 }},
  save = {{ token = "json.token" }} }})
workflow("work", {{ load = {{ vus = {connections}, ["for"] = "{seconds}s" }}, run = function(vu)
  local response = document {{ user = vu.iteration }}
  if response.token ~= "f1a6b0c4" then error("wrong token") end
end }})
"""
WORK_YAML = """\
muster: 1
target: {{ url: "{base}", insecure: true }}
workflows:
  - name: work
    load: {{ vus: {connections}, for: {seconds}s }}
    steps:
      - {{ name: document, get: "/document.json?user=${{vu.iteration}}", check: {{ status: 200, json.token: f1a6b0c4 }},
          save: {{ token: json.token }} }}
"""
WRK_CONSTANT = "function request() return wrk.request() end\n"
WRK_WORK = """\
local number = 0
function request()
  number = number + 1
  return wrk.format("GET", "/document.json?user=" .. number)
end
function response(status, headers, body)
  local token = body:match('"token": "(%w+)"')
  if status ~= 200 or token ~= "f1a6b0c4" then wrong = (wrong or 0) + 1 end
end
"""
IDLE_YAML = """\
muster: 1
target: "{url}"
workflows:
  - {{ name: idle, load: {{ vus: [ {{ to: {vus}, over: {ramp}s }}, {{ hold: {hold}s }} ], warm_up: {warm_up}s }},
      steps: [ {{ get: / }}, {{ think: {think}s }} ] }}
"""
IDLE_LUA = """\
job {{ target = "{url}" }}
local page = http.get("/")
workflow("idle", {{ load = {{ vus = {{ {{ to = {vus}, over = "{ramp}s" }}, {{ hold = "{hold}s" }} }}, warm_up = "{warm_up}s" }},
  run = function() page() think({think}) end }})
"""


def muster_file(name, template, suffix):
    def command(load, scratch):
        base = load.url[:load.url.index("/", 8)]
        plan = scratch.parent / f"plan.{suffix}"
        plan.write_text(template.format(base=base, connections=load.connections, seconds=lab.whole(load.seconds)))
        return ["run", plan, "--cores", "1", "--ui", "none", "--out", f"json={scratch}"]

    return lab.Generator(name, lab.MUSTER, command, lab.muster_requests)


def wrk_script(name, text):
    def command(load, scratch):
        script = scratch.parent / "script.lua"
        script.write_text(text)
        return ["-t1", f"-c{load.connections}", f"-d{lab.whole(load.seconds)}s", "-s", script, load.url]

    return lab.Generator(name, "wrk", command, lab.wrk_requests)


def muster_wrk(name, text):
    def command(load, scratch):
        script = scratch.parent / "script.lua"
        script.write_text(text)
        return ["run", script, "--url", load.url, "-c", load.connections, "-d", f"{lab.whole(load.seconds)}s", "--cores", "1", "--ui",
                "none", "--out", f"json={scratch}"]

    return lab.Generator(name, lab.MUSTER, command, lab.muster_requests)


def compare(title, load, contestants, rounds, base):
    samples = {each.name: [] for each in contestants}
    for number in range(-1, rounds):
        order = list(contestants)
        random.Random(number).shuffle(order)
        for each in order:
            requests, use = each.run(load)
            if number >= 0:
                samples[each.name].append((use.user * 1e6 / requests, (use.user + use.sys) * 1e6 / requests))
    print(f"\n{title} (CPU of the client in µs per request, medians with 95 % intervals)")
    print(f"{'':20} {'user':>22} {'total':>22} {'user less ' + base:>22}")
    rows = {}
    for name, values in samples.items():
        user = intervals.median([value[0] for value in values])
        total = intervals.median([value[1] for value in values])
        more = intervals.median([value[0] - other[0] for value, other in zip(values, samples[base])])
        rows[name] = {"user_us": vars(user), "total_us": vars(total), "user_more_us": vars(more)}
        print(f"{name:20} {user.text():>22} {total.text():>22} {more.text():>22}")
    return rows


def on_any_core():
    os.sched_setaffinity(0, lab.ALL_CORES)


# Not bound to a core, as nobody binds it: a kernel thread that holds one core for milliseconds must not count as muster's pause.
def idle(server, suffix, vus, ramp, hold, think, warm_up=0):
    with tempfile.TemporaryDirectory() as folder:
        plan, summary = pathlib.Path(folder, f"plan.{suffix}"), pathlib.Path(folder, "summary.json")
        plan.write_text({"lua": IDLE_LUA, "yaml": IDLE_YAML}[suffix].format(url=server.url(), vus=vus, ramp=ramp, hold=hold, think=think,
                                                                              warm_up=warm_up))
        process = subprocess.Popen([lab.MUSTER, "run", plan, "--cores", "1", "--ui", "none", "--out", f"json={summary}"],
                                   stdout=subprocess.DEVNULL, preexec_fn=on_any_core)
        start, sizes = time.monotonic(), []
        while process.poll() is None:
            time.sleep(0.5)
            if ramp + 2 < time.monotonic() - start < ramp + hold - 1:
                sizes.append(memory.resident(process.pid)[0])
        return sorted(sizes)[len(sizes) // 2], json.loads(summary.read_text())


# Once while all VUs are there, and once with the ramp, in which the machine finds memory for their connections; the same plan in
# YAML beside it.
def many_idle(server, rounds):
    cases = {"lua, held": ("lua", 12), "yaml, held": ("yaml", 12), "lua, with the ramp": ("lua", 0)}
    base = {suffix: idle(server, suffix, 1, 1, 6, 1)[0] for suffix in ("lua", "yaml")}
    print(f"\n10,000 VUs, a connection each, 2 s think, {rounds} rounds; lateness in ms")
    results = {}
    for name, (suffix, warm_up) in cases.items():
        runs, bare = lab.in_turn(lambda: idle(server, suffix, 10_000, 10, 20, 2, warm_up),
                                 lambda: lab.pace(server.url(), 5000, 20, 10_000, lab.ALL_CORES), rounds)
        sizes = [(size - base[suffix]) / 9_999 / 1024 for size, _ in runs]
        late = [summary["workflows"][0]["lateness_us"] for _, summary in runs]
        rate = statistics.median(summary["rate"] for _, summary in runs)
        results[name] = {"kib_per_vu": sizes, "lateness_us": late, "bare_us": bare, "rate": rate}
        print(f"{name}: {statistics.median(sizes):.2f} KiB per VU, {rate:.0f} requests/s, "
              + ", ".join(f"{label} {statistics.median(each[quantile] for each in late) / 1000:.2f}"
                          for quantile, label in (("p50", "p50"), ("p99", "p99"), ("max", "maximum"))))
        print("  p99.9 of lateness "
              + lab.Lateness([each["p999"] for each in late], [each["p999"] for each in bare]).text(LATEST_US))
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--idle-rounds", type=int, default=5, help="of each case of 10,000 VUs, 30 seconds each and 20 of a bare loop")
    parser.add_argument("--quick", action="store_true", help="3 rounds of 2 seconds: to see that it works, not to judge")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.rounds, arguments.seconds, arguments.idle_rounds = 3, 2, 1
    lab.raise_limits()
    results = {}
    with lab.Nginx() as server:
        results["constant"] = compare(
            "a constant request, 64 connections", lab.Load(server.url(), 64, arguments.seconds),
            [muster_file("muster yaml", CONSTANT_YAML, "yaml"), muster_file("muster lua", CONSTANT_LUA, "lua"),
             muster_wrk("muster, wrk script", WRK_CONSTANT), wrk_script("wrk, script", WRK_CONSTANT)], arguments.rounds, "muster yaml")
        autocannon = [each for each in lab.GENERATORS if each.name == "autocannon" and each.available()]
        results["work"] = compare(
            "a request, a JSON extraction and a check, 64 connections (autocannon only fetches it)",
            lab.Load(server.url(path="/document.json"), 64, arguments.seconds),
            [muster_file("muster yaml", WORK_YAML, "yaml"), muster_file("muster lua", WORK_LUA, "lua"),
             muster_wrk("muster, wrk script", WRK_WORK), wrk_script("wrk, script", WRK_WORK), *autocannon], arguments.rounds,
            "muster yaml")
        memory.look_from_the_side()
        results["idle"] = many_idle(server, arguments.idle_rounds)
    lab.save("lua", {"rounds": arguments.rounds, "seconds": arguments.seconds, **results})


if __name__ == "__main__":
    main()
