#include "script/lua_job.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/step_kind.h"

namespace muster::script {
namespace {

std::expected<model::Job, authoring::Problems> load(const std::string& text) {
  return load_lua_job(text, "shop.lua", {}, {.kinds = model::built_in_kinds(), .shapes = {}});
}

model::Job loaded(const std::string& text) {
  auto job = load(text);
  if (job) return std::move(*job);
  for (const auto& problem : job.error().list) ADD_FAILURE() << authoring::to_text(problem);
  return {};
}

std::string problem(const std::string& text) {
  auto job = load(text);
  if (job) return "no problem";
  return authoring::to_text(job.error().list.front());
}

constexpr const char* kShop = R"(
job { target = "http://shop.test", thresholds = { "latency p95 < 300ms" } }
local home = http.get("/", { name = "home", check = { status = 200 } })
local buy = http.post("/cart", { name = "buy", json = { id = "${id}" }, expect = { 200, 409 } })
workflow("shop", {
  load = { vus = 3, iterations = 9 },
  start = function() end,
  run = function() home() buy { id = 7 } end,
})
)";

TEST(LuaJob, DeclaresTheSameJobAsYamlWould) {
  const model::Job job = loaded(kShop);
  ASSERT_EQ(job.workflows.size(), 1u);
  const model::Workflow& workflow = job.workflows.front();
  EXPECT_EQ(workflow.name, "shop");
  EXPECT_EQ(workflow.load.vus, 3u);
  EXPECT_EQ(workflow.load.iterations, 9u);
  ASSERT_EQ(workflow.steps.size(), 2u);
  EXPECT_EQ(workflow.steps[0].name, "home");
  EXPECT_EQ(workflow.steps[0].checks.size(), 1u);
  EXPECT_EQ(workflow.steps[1].kind, "http");
  EXPECT_EQ(job.thresholds.size(), 1u);
  ASSERT_TRUE(workflow.scripted.has_value());
  EXPECT_TRUE(workflow.scripted->start);
  EXPECT_TRUE(workflow.scripted->loop);
  EXPECT_FALSE(workflow.scripted->stop);
}

TEST(LuaJob, AThresholdOnChecksNeedsAStepThatHasOne) {
  const auto with = [](const std::string& declared) {
    return "job { target = 'http://shop.test', load = { vus = 1, iterations = 1 },\n"
           "  thresholds = { 'checks rate > 99%' } }\n"
           "local home = http.get('/', { name = 'home' })\n" +
           declared + "\nfunction run() home() end\n";
  };
  EXPECT_NE(problem(with("")).find("no step has a `check`, so there is nothing to judge"), std::string::npos);
  EXPECT_EQ(problem(with("local small = check('small enough')")), "no problem");
}

TEST(LuaJob, AFileWithAFunctionRunIsOneWorkflowNamedAfterIt) {
  const model::Job job = loaded(
      "job { target = 'http://a.test', load = { vus = 2, iterations = 4 } }\n"
      "local home = http.get('/')\nfunction run() home() end\n");
  ASSERT_EQ(job.workflows.size(), 1u);
  EXPECT_EQ(job.workflows.front().name, "shop");
  EXPECT_EQ(job.workflows.front().load.vus, 2u);
}

TEST(LuaJob, ASetWithoutTheWorkflowsNameReachesTheOnlyOneOfAShortForm) {
  const authoring::Languages languages{.kinds = model::built_in_kinds(), .shapes = {}};
  authoring::LoadInput input;
  input.sets = {{"load.for", "2s"}, {"load.vus", "7"}};
  const std::string short_form =
      "job { target = 'http://a.test', load = { vus = 2, ['for'] = '9s' } }\n"
      "local home = http.get('/')\nfunction run() home() end\n";
  const auto job = load_lua_job(short_form, "shop.lua", input, languages);
  ASSERT_TRUE(job.has_value()) << authoring::to_text(job.error().list.front());
  EXPECT_EQ(job->workflows.front().load.vus, 7u);
  const auto refused = load_lua_job(kShop, "shop.lua", input, languages);
  ASSERT_FALSE(refused.has_value()) << "a workflow that has a name is meant by it";
  EXPECT_NE(authoring::to_text(refused.error().list.front()).find("write workflows[0].load"), std::string::npos);
}

TEST(LuaJob, AWorkflowWithoutFunctionsRunsItsStepsAsWritten) {
  const model::Job job = loaded(
      "job { target = 'http://a.test' }\n"
      "workflow('plain', { load = { vus = 1, iterations = 1 }, steps = { { get = '/' } } })\n");
  ASSERT_EQ(job.workflows.size(), 1u);
  EXPECT_FALSE(job.workflows.front().scripted.has_value());
}

TEST(LuaJob, AMistakeIsToldWithTheLineOfTheDeclaration) {
  EXPECT_EQ(problem("job { target = 'http://a.test' }\nlocal a = http.get('/', { chekc = { status = 200 } })\n"
                    "function run() a() end\n"),
            "shop.lua:2:1: unknown key 'chekc' in this 'get' step; did you mean 'check'?\n"
            "  2 | local a = http.get('/', { chekc = { status = 200 } })\n    | ^");
}

TEST(LuaJob, ASyntaxErrorIsToldAsLuaTellsIt) {
  EXPECT_EQ(problem("function run( end"), "shop.lua:1: <name> or '...' expected near 'end'");
}

TEST(LuaJob, AnErrorOutsideOfFunctionsIsTold) {
  EXPECT_EQ(problem("local a = nil\na.b = 1"), "shop.lua:2: attempt to index local 'a' (a nil value)");
}

TEST(LuaJob, AStepCannotBeCalledOutsideOfFunctions) {
  EXPECT_NE(problem("local a = http.get('/')\na()").find("only inside the functions"), std::string::npos);
}

TEST(LuaJob, NothingToRunIsSaid) {
  EXPECT_NE(problem("local a = 1").find("nothing to run"), std::string::npos);
}

TEST(LuaJob, AGlobalStartOrStopBesideAGlobalRunIsRefusedWithWhatToWrite) {
  const std::string head = "job { target = 'http://a.test' }\nlocal a = http.get('/')\nfunction run() a() end\n";
  EXPECT_EQ(problem(head + "function start(vu) end"),
            "shop.lua: a global function `start` is never called by itself, only `run` is; write workflow(\"shop\", { "
            "load = …, start = start, run = run }), or `local function start` if it is a function of your own");
  EXPECT_EQ(problem(head + "function stop(vu) end"),
            "shop.lua: a global function `stop` is never called by itself, only `run` is; write workflow(\"shop\", { "
            "load = …, run = run, stop = stop }), or `local function stop` if it is a function of your own");
  EXPECT_NE(problem(head + "function start() end function stop() end").find("start = start, run = run, stop = stop }"),
            std::string::npos);
  loaded(
      "job { target = 'http://a.test', load = { vus = 1, iterations = 1 } }\nlocal a = http.get('/')\n"
      "local function start() a() end\nfunction run() start() stop() end\n");
  loaded(
      "job { target = 'http://a.test' }\nlocal a = http.get('/')\nfunction start() end\nfunction run() a() end\n"
      "workflow('w', { load = { vus = 1, iterations = 1 }, start = start, run = run })\n");
}

TEST(LuaJob, ASecondJobIsRefusedBecauseItWouldReplaceWhatTheFirstSaid) {
  EXPECT_EQ(problem("job { target = 'http://a.test', thresholds = { 'failed rate < 1%' } }\n"
                    "local a = http.get('/')\n"
                    "job { thresholds = { 'latency p95 < 10s' } }\nfunction run() a() end\n"),
            "shop.lua:3: `job` was called before, on line 1; a script has one: put all its keys into that table");
  EXPECT_NE(problem("job {}\njob { target = 'http://a.test' }\nfunction run() end\n").find("shop.lua:2: `job` was"),
            std::string::npos);
}

TEST(LuaJob, AnUnknownOptionOfACheckIsRefused) {
  EXPECT_EQ(problem("local a = 1\nlocal ok = check('must hold', { requird = true })\nfunction run() ok(false) end\n"),
            "shop.lua:2: unknown key 'requird' in the options of check 'must hold'; there is only 'required'");
  EXPECT_EQ(problem("local ok = check('must hold', true)\nfunction run() ok(false) end\n"),
            "shop.lua:1: the options of a check are a table such as { required = true }, found a boolean");
}

TEST(LuaJob, StepsBesideAFunctionRunAreRefusedBecauseOnlyOneOfThemWouldRun) {
  EXPECT_EQ(
      problem("job { target = 'http://a.test' }\n"
              "workflow('w', { steps = { { get = '/' } }, run = function() end })\n"),
      "shop.lua:2: workflow 'w' has both `steps` and the function `run`, and only one of them can be what its VUs "
      "do; take one out, or declare the steps by step { … } outside of functions and call them in `run`");
}

TEST(LuaJob, AGlobalRunThatNoWorkflowWasGivenIsRefused) {
  const std::string head = "job { target = 'http://a.test' }\nlocal a = http.get('/')\nfunction run() a() end\n";
  EXPECT_EQ(problem(head + "workflow('w', { run = function() a() end })\n"),
            "shop.lua: a global function `run` is never called where there is workflow(…); give it to one of its own, "
            "workflow(\"…\", { load = …, run = run }), or write `local function run` if it is a function of your own");
  EXPECT_EQ(loaded(head + "workflow('w', { run = run })\n").workflows.size(), 1u);
}

TEST(LuaJob, AGlobalStartOrStopThatNoWorkflowWasGivenIsRefused) {
  const std::string head = "job { target = 'http://a.test' }\nlocal a = http.get('/')\n";
  const std::string tail = "workflow('w', { load = { vus = 1, iterations = 1 }, run = function() a() end })\n";
  EXPECT_EQ(problem(head + "function start() a() end\n" + tail),
            "shop.lua: a global function `start` is never called where there is workflow(…); give it to one of its "
            "own, workflow(\"…\", { load = …, start = start, run = … }), or write `local function start` if it is a "
            "function of your own");
  EXPECT_NE(problem(head + "function stop() a() end\n" + tail).find("a global function `stop` is never called"),
            std::string::npos);
  EXPECT_EQ(loaded(head + tail).workflows.size(), 1u) << "`stop` of the language itself is nobody's";
}

TEST(LuaJob, WhatAStepOrAWorkflowIsGivenTwiceIsRefused) {
  EXPECT_EQ(problem("job { target = 'http://a.test' }\nlocal a = http.get('/', { get = '/x' })\n"
                    "function run() a() end\n"),
            "shop.lua:2: get has what it takes before the table; take `get` out of that");
  EXPECT_EQ(problem("job { target = 'http://a.test' }\nlocal a = http.get('/')\n"
                    "workflow('w', { name = 'x', run = function() a() end })\n"),
            "shop.lua:3: workflow 'w' has its name before the table; take `name` out of that");
}

TEST(LuaJob, WhatOnlyAWorkflowCanHaveIsRefusedInTheJobBesideOne) {
  EXPECT_NE(problem("job { target = 'http://a.test', load = { vus = 1, iterations = 5 } }\nlocal a = http.get('/')\n"
                    "workflow('w', { run = function() a() end })\n")
                .find("shop.lua:1:1: 'load' belongs inside one of the 'workflows'"),
            std::string::npos);
  EXPECT_NE(problem("job { target = 'http://a.test', provide = { t = 'a' } }\nfunction run() end\n")
                .find("'provide' belongs inside one of the 'workflows'"),
            std::string::npos);
}

TEST(LuaJob, AScriptWrittenForWrkIsToldWhatItNeeds) {
  for (const char* text : {"wrk.method = 'POST'", "request = function() return wrk.format() end",
                           "math.randomseed(os.time())\nwrk.path = '/x'", "function done() end"}) {
    EXPECT_EQ(problem(text), "this is a script written for wrk; give it an address: muster run shop.lua --url http://…")
        << text;
  }
  EXPECT_EQ(problem("job { target = 'http://a.test' }\nlocal a = wrk.path"),
            "shop.lua:2: attempt to index global 'wrk' (a nil value)");
}

TEST(LuaJob, TheSandboxHasNoWayOut) {
  for (const char* name : {"io", "os", "package", "require", "dofile", "loadfile", "load", "loadstring", "ffi", "jit",
                           "debug", "collectgarbage", "setfenv", "getfenv"}) {
    const std::string text = fmt::format("if rawget(_G, '{0}') ~= nil then error('there is {0}') end", name);
    EXPECT_NE(problem(text).find("nothing to run"), std::string::npos) << name << ": " << problem(text);
  }
  EXPECT_NE(problem("if string.dump ~= nil then error('there is string.dump') end").find("nothing to run"),
            std::string::npos);
}

TEST(LuaJob, WhatTheSandboxTookAwayIsSaidToBeMissing) {
  for (const char* name : {"os", "io", "require", "load", "collectgarbage", "ffi", "debug", "package"}) {
    EXPECT_EQ(problem(fmt::format("local x = 1\nlocal y = {}.z", name)),
              fmt::format("shop.lua:2: {} is not available in workflows (docs/lua.md#limits)", name));
    EXPECT_EQ(problem(fmt::format("local x = 1\n{}('x')", name)),
              fmt::format("shop.lua:2: {} is not available in workflows (docs/lua.md#limits)", name));
  }
  EXPECT_EQ(problem("local y = x.z"), "shop.lua:1: attempt to index global 'x' (a nil value)");
  EXPECT_NE(problem("if jit or loadstring or something then error('no') end").find("nothing to run"),
            std::string::npos);
}

TEST(LuaJob, AnErrorThatIsNoTextIsToldWithItsPlace) {
  EXPECT_EQ(problem("local a = 1\nerror({ code = a })"), "shop.lua:2: an error that is no text but a table");
}

TEST(LuaJob, ATableThatHoldsItselfIsRefused) {
  EXPECT_NE(
      problem("local t = {}\nt.json = t\nlocal a = http.post('/', t)\nfunction run() end").find("nested too deeply"),
      std::string::npos);
}

TEST(LuaJob, AStepAsItStandsInYamlIsAStep) {
  const model::Job job = loaded(
      "job { target = 'http://a.test' }\nlocal a = step { name = 'a', get = '/' }\n"
      "local b = step { retry = 2, steps = { { get = '/' } } }\nfunction run() a() b() end\n");
  ASSERT_EQ(job.workflows.size(), 1u);
  ASSERT_EQ(job.workflows.front().steps.size(), 2u);
  EXPECT_EQ(job.workflows.front().steps[0].name, "a");
  EXPECT_EQ(job.workflows.front().steps[1].kind, "retry");
}

TEST(LuaJob, MemoryIsLimitedWhileTheScriptIsRead) {
  EXPECT_NE(
      problem("local t = {}\nfor i = 1, 1e9 do t[i] = string.rep('x', 1e6) .. i end")
          .find("'shop.lua' needs more than the 512 MiB that a script may have on a core; is there a loop outside "
                "its functions?"),
      std::string::npos);
}

}  // namespace
}  // namespace muster::script
