#include "script/lua_script.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/rehearsal.h"
#include "script/lua_job.h"

namespace muster::script {
namespace {

using engine::Rehearsal;

// Runs a script with the `play` steps of the engine's own tests.
class Stage {
 public:
  Stage() { rehearsal.registry.scripts.add("lua", lua(rehearsal.registry.kinds)); }

  model::WorkflowResult run(const std::string& text) {
    auto job = load_lua_job(text, "play.lua", {}, {.kinds = rehearsal.registry.kinds, .shapes = {}});
    if (!job) {
      for (const auto& problem : job.error().list) ADD_FAILURE() << authoring::to_text(problem);
      return {};
    }
    return rehearsal.run_job(*job);
  }

  Rehearsal rehearsal;
};

TEST(LuaScript, EachIterationCallsItsSteps) {
  Stage stage;
  const auto result = stage.run(R"(
    job { load = { vus = 2, iterations = 10 } }
    local a = play("hello", { name = "a" })
    local b = play('hello', { name = "b" })
    function run(vu)
      a()
      if vu.iteration % 2 == 0 then b() end
    end
  )");
  EXPECT_EQ(result.iterations, 10u);
  EXPECT_EQ(engine::step(result, "a").ok, 10u);
  EXPECT_GT(engine::step(result, "b").ok, 0u);
  EXPECT_LT(engine::step(result, "b").ok, 10u);
}

TEST(LuaScript, WhatStartKeepsEveryIterationSeesButNotWhatIterationsLeave) {
  Stage stage;
  const auto result = stage.run(R"(
    local a = play("hello", { name = "a" })
    workflow("w", {
      load = { vus = 1, iterations = 3 },
      start = function(vu) vu.token = "t" end,
      run = function(vu)
        if vu.token ~= "t" then error("no token") end
        if vu.left ~= nil then error("it was left over") end
        vu.left = true
        a()
      end,
    })
  )");
  EXPECT_EQ(result.failed_iterations, 0u);
  EXPECT_EQ(engine::step(result, "a").ok, 3u);
}

TEST(LuaScript, AMistakeInAFunctionFailsTheIterationAndIsTold) {
  Stage stage;
  const auto result = stage.run(
      "job { load = { vus = 1, iterations = 2 } }\nlocal a = play('hello', { name = 'a' })\n"
      "function run() a() local x = nil; x.y = 1 end\n");
  EXPECT_EQ(result.failed_iterations, 2u);
  ASSERT_EQ(result.notes.size(), 1u);
  EXPECT_EQ(result.notes[0].first, "script error: play.lua:3: attempt to index local 'x' (a nil value)");
  EXPECT_EQ(result.notes[0].second, 2u);
}

TEST(LuaScript, ArgumentsFillTheHolesOfAStep) {
  Stage stage;
  stage.run(
      "job { load = { vus = 1, iterations = 1 } }\nlocal say = play('${greeting} ${name ?? \"you\"}', { name = 'say' "
      "})\n"
      "function run() say { greeting = 'good day' } say { greeting = 1, name = true } end\n");
  EXPECT_EQ(stage.rehearsal.journal->texts(), (std::vector<std::string>{"good day you", "1 true"}));
}

TEST(LuaScript, AnArgumentIsForOneCallAndALaterOneWithoutItFails) {
  Stage stage;
  const auto result = stage.run(R"(
    local say = play("say ${word}", { name = "say" })
    local also = play("also ${word}", { name = "also" })
    workflow("w", {
      load = { vus = 1, iterations = 1 },
      start = function() say { word = "before" } end,
      run = function()
        if say:try().ok then error("the argument of `start` was sent") end
        for _, item in ipairs({ { word = 1 }, { word = 2 }, { name = "no word" }, { word = 4 } }) do
          say:try { word = item.word }
        end
        if also:try().ok then error("the argument of another step was sent") end
      end,
    })
  )");
  EXPECT_EQ(stage.rehearsal.journal->texts(),
            (std::vector<std::string>{"say before", "say ", "say 1", "say 2", "say ", "say 4", "also "}));
  EXPECT_EQ(engine::step(result, "say").errors[static_cast<std::size_t>(model::ErrorClass::kValue)], 2u);
  EXPECT_EQ(engine::step(result, "also").failed, 1u);
  EXPECT_EQ(result.failed_iterations, 0u) << (result.notes.empty() ? "" : result.notes[0].first);
}

TEST(LuaScript, WhatWasSetOrSavedIsThereAgainAfterACallWithAnArgument) {
  Stage stage;
  const auto result = stage.run(R"(
    job { load = { vus = 1, iterations = 1 } }
    local say = play("${word}", { name = "say" })
    local save = play("abc${word}", { name = "save", save = { word = "size" } })
    local put = step { set = { word = "'put'" } }
    function run()
      set("word", "set")
      say { word = "given" }
      say()
      save { word = "x" }
      say()
      say { word = 4 }
      set("word", 5)
      say()
      say { word = "given" }
      put()
      say()
    end
  )");
  EXPECT_EQ(stage.rehearsal.journal->texts(),
            (std::vector<std::string>{"given", "set", "abcx", "4", "4", "5", "given", "put"}));
  EXPECT_EQ(result.failed_iterations, 0u) << (result.notes.empty() ? "" : result.notes[0].first);
}

TEST(LuaScript, AnArgumentThatNothingMentionsIsAMistake) {
  Stage stage;
  const auto result = stage.run(
      "job { load = { vus = 1, iterations = 1 } }\nlocal say = play('${word}', { name = 'say' })\n"
      "function run() say { wrod = 'x' } end\n");
  ASSERT_EQ(result.notes.size(), 1u);
  EXPECT_EQ(result.notes[0].first, "script error: play.lua:3: step 'say' mentions no ${wrod}, so it cannot be given");
}

TEST(LuaScript, WhatAStepSavesAndPromisesCanBeRead) {
  Stage stage;
  const auto result = stage.run(R"(
    job { load = { vus = 1, iterations = 2 } }
    local say = play("hello", { name = "say", save = { length = "size" }, check = { size = 5 } })
    local answer = play("${length}", { name = "answer" })
    function run()
      local r = say()
      if r.ok ~= true or r.said ~= "hello" or r.length ~= 5 or r.nothing ~= nil then error("wrong") end
      answer()
    end
  )");
  EXPECT_EQ(result.failed_iterations, 0u) << (result.notes.empty() ? "" : result.notes[0].first);
  EXPECT_EQ(engine::step(result, "say").checks.at(0).ok, 2u);
  EXPECT_EQ(stage.rehearsal.journal->count("5"), 2u);
}

TEST(LuaScript, AResponseIsGoneAfterTheNextCall) {
  Stage stage;
  const auto result = stage.run(
      "job { load = { vus = 1, iterations = 1 } }\nlocal a = play('hello', { name = 'a' })\n"
      "function run() local r = a() a() local x = r.said end\n");
  ASSERT_EQ(result.notes.size(), 1u);
  EXPECT_NE(result.notes[0].first.find("'said' of step 'a' is gone"), std::string::npos) << result.notes[0].first;
}

TEST(LuaScript, AFailedStepEndsTheIterationUnlessItIsTried) {
  Stage stage;
  const auto result = stage.run(R"(
    job { load = { vus = 1, iterations = 4 } }
    local bad = play("bad", { name = "bad", fails = "reset" })
    local next_one = play("next", { name = "next" })
    function run(vu)
      if vu.iteration < 2 then
        bad()
      else
        local r = bad:try()
        if r.ok or r.error ~= "reset" then error("wrong") end
        local caught = not pcall(bad)
        if not caught then error("it did not fail") end
      end
      next_one()
    end
  )");
  EXPECT_EQ(result.failed_iterations, 2u);
  EXPECT_EQ(engine::step(result, "bad").failed, 6u);
  EXPECT_EQ(engine::step(result, "next").ok, 2u);
  EXPECT_TRUE(result.notes.empty()) << result.notes[0].first;
}

TEST(LuaScript, AFailedTryGivesBackNothingThatAnEarlierCallSaved) {
  Stage stage;
  const auto result = stage.run(R"(
    job { load = { vus = 1, iterations = 1 } }
    local say = play("hello", { name = "say", fails = "${broken ?? 'false'}", save = { word = "said" } })
    local answer = play("${word}", { name = "answer" })
    function run()
      if say().word ~= "hello" then error("not saved") end
      local r = say:try { broken = "reset" }
      if r.ok or r.error ~= "reset" then error("it did not fail") end
      if r.word ~= nil then error("it gave back " .. tostring(r.word)) end
      answer()
    end
  )");
  EXPECT_TRUE(result.notes.empty()) << result.notes[0].first;
  EXPECT_EQ(stage.rehearsal.journal->texts(), (std::vector<std::string>{"hello", "hello", "hello"}))
      << "steps still see what was saved before";
}

TEST(LuaScript, ThinkSleepsAndGoesOn) {
  Stage stage;
  const auto result = stage.run(
      "job { load = { vus = 1, iterations = 3 } }\nlocal a = play('hello', { name = 'a' })\n"
      "function run() think(0.001) a() think('1ms..2ms') end\n");
  EXPECT_EQ(engine::step(result, "a").ok, 3u);
  EXPECT_GE(result.lateness.count(), 6u);
}

TEST(LuaScript, AScriptThatIsNeverMadeToWaitLeavesOthersTheirTurns) {
  for (const std::string turn : {"think(0)", "bad:try()", "set('word', 1) think('0s')"}) {
    Stage stage;
    const auto result = stage.run(
        "job { load = { vus = 2, iterations = '1 each' } }\nlocal done = 0\n"
        "local a = play('hello ${word ?? 1}', { name = 'a' })\n"
        "local bad = play('bad', { name = 'bad', at_once = true, fails = 'value' })\n"
        "function run(vu)\n"
        "  if vu.id == 1 then while done < 3 do " +
        turn +
        " end\n"
        "  else for i = 1, 3 do a() done = done + 1 end end\n"
        "end\n");
    EXPECT_EQ(engine::step(result, "a").ok, 3u) << turn;
    EXPECT_EQ(result.iterations, 2u) << turn;
    EXPECT_EQ(result.failed_iterations, 0u) << turn;
    EXPECT_TRUE(result.notes.empty()) << result.notes[0].first;
  }
}

TEST(LuaScript, AFailedStepOfSeveralTellsWhichFailureItWas) {
  Stage stage;
  const auto result = stage.run(R"(
    job { load = { vus = 1, iterations = 1 } }
    local poll = step { name = "poll", retry = { ["until"] = "asked.said == 'other'", times = 2 },
                        steps = { { play = "hello", name = "asked" } } }
    local both = step { name = "both", parallel = { { play = "good" }, { play = "bad", fails = "status", takes = "1ms" },
                                                    { play = "worse", fails = "reset", takes = "20ms" } } }
    local sum = step { name = "sum", group = "sum", steps = { { play = "good" }, { check = { that = "vu > 2", required = true } } } }
    local good = step { name = "good", parallel = { { play = "good" }, { play = "good" } } }
    local needs = play("hello", { name = "needs", check = { that = "said == 'other'", required = true } })
    local function expect(made, error_class, words)
      if made.error == error_class and (words == nil or made.detail:find(words, 1, true)) then return end
      error(tostring(made.error) .. ": " .. tostring(made.detail), 2)
    end
    function run()
      expect(poll:try(), "check", "did not hold")
      expect(both:try(), "status")
      expect(sum:try(), "check", "vu > 2")
      expect(needs:try(), "check", "said == 'other'")
      expect(good:try(), nil)
    end
  )");
  EXPECT_EQ(result.failed_iterations, 0u);
  for (const auto& note : result.notes) EXPECT_EQ(note.first.find("script error"), std::string::npos) << note.first;
}

TEST(LuaScript, AFailedIterationThinksAsLongAsWholeOnesDo) {
  for (const std::string failure : {"bad()", "local x = nil; x.y = 1", "parallel(bad, bad)"}) {
    Stage stage;
    const auto result = stage.run(R"(
    job { load = { vus = 1, iterations = 4 } }
    local bad = play("bad", { name = "bad", fails = "reset" })
    function run(vu)
      if vu.iteration > 0 then )" +
                                  failure + " end\n      think(0.03)\n    end\n");
    EXPECT_EQ(result.failed_iterations, 3u) << failure;
    EXPECT_GE(result.iteration_time.min(), std::chrono::milliseconds(30)) << failure;
    EXPECT_LT(result.iteration_time.max(), std::chrono::milliseconds(900)) << failure;
  }
}

TEST(LuaScript, ThinksInBranchesAndInStepsAreThoughtToo) {
  Stage stage;
  const auto result = stage.run(R"(
    job { load = { vus = 1, iterations = 3 } }
    local bad = play("bad", { name = "bad", fails = "reset" })
    local rest = step { think = "10ms" }
    function run(vu)
      if vu.iteration > 0 then bad() end
      parallel(function() think(0.01) end, function() think(0.02) think(0.01) end)
      rest()
      stop()
    end
  )");
  EXPECT_EQ(result.failed_iterations, 2u) << (result.notes.empty() ? "" : result.notes[0].first);
  EXPECT_GE(result.iteration_time.min(), std::chrono::milliseconds(40));
  EXPECT_LT(result.iteration_time.max(), std::chrono::milliseconds(900));
}

TEST(LuaScript, AnIterationThatFailsBeforeAnyWasWholeTakesASecondIfTheScriptThinks) {
  const std::string head =
      "job { load = { vus = 1, iterations = 1 } }\nlocal bad = play('bad', { name = 'bad', fails = 'reset' })\n";
  Stage thinking;
  const auto slow = thinking.run(head + "function run() think(0.01) bad() think(0.01) end\n");
  EXPECT_GE(slow.iteration_time.min(), std::chrono::seconds(1));
  Stage plain;
  const auto quick = plain.run(head + "function run() bad() end\n");
  EXPECT_EQ(quick.failed_iterations, 1u);
  EXPECT_LT(quick.iteration_time.max(), std::chrono::milliseconds(900));
}

// The note of a script whose function is `body`.
std::string mistake(const std::string& body) {
  Stage stage;
  const auto result = stage.run(
      "job { load = { vus = 1, iterations = 1 } }\nlocal a = play('hello', { name = 'a' })\nfunction run()\n" + body +
      "\nend\n");
  return result.notes.size() == 1 ? result.notes[0].first : "";
}

TEST(LuaScript, AThinkThatIsNoTimeIsToldWithItsPlace) {
  EXPECT_EQ(mistake("think({})"),
            "script error: play.lua:4: think takes seconds, a time such as '2s' or a range such as '1s..3s', found a "
            "table");
  EXPECT_EQ(mistake("think()"),
            "script error: play.lua:4: think takes seconds, a time such as '2s' or a range such as '1s..3s', found "
            "nothing");
}

TEST(LuaScript, DeclarationsInsideFunctionsAreRefused) {
  EXPECT_EQ(mistake("workflow('other', { run = function() end })"),
            "script error: play.lua:4: workflows are declared outside of functions, so that they are known before the "
            "run");
  EXPECT_EQ(mistake("job { target = 'http://a.test' }"),
            "script error: play.lua:4: job stands outside of functions, so that what it says is known before the run");
}

TEST(LuaScript, AnErrorThatIsNoTextIsToldWithItsPlace) {
  EXPECT_EQ(mistake("error({ code = 1 })"), "script error: play.lua:4: an error that is no text but a table");
}

TEST(LuaScript, TextThatIsNoJsonIsToldApartFromNull) {
  EXPECT_EQ(mistake(R"(
    local value, problem = json.decode("null")
    assert(value == nil and problem == nil)
    value, problem = json.decode("{")
    assert(value == nil and problem:find("this is no JSON: ", 1, true) == 1)
    assert(json.decode('{"a": [1]}').a[1] == 1)
  )"),
            "");
}

TEST(LuaScript, JsonComesBackAsItWas) {
  EXPECT_EQ(mistake(R"(
    for _, text in ipairs { '[]', '{}', '[1,null]', '[null]', '[1,null,3]', '{"a":[]}', '[[],[null]]', '["x"]' } do
      assert(json.encode(json.decode(text)) == text, text)
    end
    local grown = json.decode('[]')
    table.insert(grown, 'x')
    assert(json.encode(grown) == '["x"]')
    assert(json.encode(json.list {}) == '[]' and json.encode({}) == '{}')
  )"),
            "");
}

TEST(LuaScript, OneUnusualValueDoesNotMakeAllJsonNil) {
  EXPECT_EQ(mistake(R"(
    local read = json.decode('\239\187\191{"id":123456789012345678901234,"a":[1e999,null,"\\ud800x"],"token":"abc"}')
    assert(read.token == 'abc' and read.id > 1e23 and read.a[1] > 1e300 and read.a[2] == nil)
    assert(read.a[3] == '\239\191\189x')
  )"),
            "");
}

TEST(LuaScript, LargeWholeNumbersAreSentWithTheirDigits) {
  Stage stage;
  const auto result = stage.run(R"(
    job { load = { vus = 1, iterations = 1 } }
    local say = play("${v}", { name = "say" })
    function run()
      for _, each in ipairs { 2^53, -2^53, 2^62, 2^53 - 1, 0.5, 2^63, { 2^53 } } do say { v = each } end
      say { v = json.encode(2^60) }
    end
  )");
  EXPECT_EQ(
      stage.rehearsal.journal->texts(),
      (std::vector<std::string>{"9007199254740992", "-9007199254740992", "4611686018427387904", "9007199254740991",
                                "0.5", "9.223372036854776e+18", "[9007199254740992]", "1152921504606846976"}));
  EXPECT_EQ(result.failed_iterations, 0u) << (result.notes.empty() ? "" : result.notes[0].first);
}

TEST(LuaScript, NumbersThatAreNotFiniteAreRefused) {
  EXPECT_EQ(mistake("json.encode({ x = 0 / 0 })"),
            "script error: play.lua:4: a number that is not finite cannot be JSON");
  Stage stage;
  const auto result = stage.run(
      "job { load = { vus = 1, iterations = 1 } }\nlocal a = play('${x}', { name = 'a' })\n"
      "function run() a { x = 1 / 0 } end\n");
  ASSERT_EQ(result.notes.size(), 1u);
  EXPECT_EQ(result.notes[0].first, "script error: play.lua:3: 'x' must be a finite number");
}

TEST(LuaScript, AValueThatTheWorkflowDoesNotUseIsToldWithWhatToWrite) {
  Stage stage;
  const auto result = stage.run(
      "job { load = { vus = 1, iterations = 1 } }\nlocal a = play('hello', { name = 'a' })\n"
      "function run() a() log(use.token) end\n");
  ASSERT_EQ(result.notes.size(), 1u);
  EXPECT_EQ(result.notes[0].first,
            "script error: play.lua:3: there is no use.token in this workflow; name the workflow that provides it, "
            "`use = { token = \"login\" }`, and wait for that one, `depends = { \"login\" }`");
}

TEST(LuaScript, StopEndsWhatItNames) {
  Stage stage;
  const auto result = stage.run(
      "job { load = { vus = 1, iterations = 100 } }\nlocal a = play('hello', { name = 'a' })\n"
      "function run(vu) a() if vu.iteration == 4 then stop('workflow') end end\n");
  EXPECT_EQ(engine::step(result, "a").ok, 5u);
}

TEST(LuaScript, AScriptThatHoardsMemoryFailsItsWorkflowAndKeepsItsResults) {
  Stage stage;
  const auto result = stage.run(
      "job { load = { vus = 1, iterations = 100 } }\nlocal a = play('hello', { name = 'a' })\n"
      "local hoard = {}\n"
      "function run(vu) a() if vu.iteration == 3 then\n"
      "  for i = 1, 1e7 do hoard[i] = string.rep('x', 1e6) .. i end\nend end\n");
  EXPECT_EQ(result.state, model::WorkflowState::kFailed);
  EXPECT_NE(result.reason.find("needs more than the 512 MiB"), std::string::npos) << result.reason;
  EXPECT_EQ(engine::step(result, "a").ok, 4u);
}

TEST(LuaScript, EndlessRecursionFailsTheWorkflowAndKeepsItsResults) {
  Stage stage;
  const auto result = stage.run(
      "job { load = { vus = 1, iterations = 5 } }\nlocal a = play('hello', { name = 'a' })\n"
      "local function deep() return 1 + deep() end\nfunction run() a() deep() end\n");
  EXPECT_EQ(result.state, model::WorkflowState::kFailed);
  EXPECT_NE(result.reason.find("play.lua:3: stack overflow"), std::string::npos) << result.reason;
  EXPECT_EQ(engine::step(result, "a").ok, 1u);
}

TEST(LuaScript, StepsInCoroutinesOfTheScriptsOwnAreRefused) {
  Stage stage;
  const auto result = stage.run(
      "job { load = { vus = 1, iterations = 1 } }\nlocal a = play('hello', { name = 'a' })\n"
      "function run() local c = coroutine.wrap(function() a() end) c() end\n");
  EXPECT_EQ(result.failed_iterations, 1u);
  ASSERT_FALSE(result.notes.empty());
  EXPECT_NE(result.notes[0].first.find("coroutine of the script's own"), std::string::npos) << result.notes[0].first;
}

TEST(LuaScript, ParallelRunsItsFunctionsAtTheSameTimeAndGivesBackAValueOfEach) {
  Stage stage;
  const auto result = stage.run(R"(
    job { load = { vus = 2, iterations = 4 } }
    local slow = play("slow", { name = "slow", takes = "5ms" })
    local quick = play("quick ${word}", { name = "quick" })
    function run()
      local order = {}
      local a, b, c = parallel(
        function() slow() order[#order + 1] = "slow" return 1 end,
        function() local r = quick { word = "hare" } order[#order + 1] = "quick" return r.said end,
        function() think(0.001) return nil end)
      if a ~= 1 or b ~= "quick hare" or c ~= nil then error("wrong values") end
      if order[1] ~= "quick" or order[2] ~= "slow" then error("one after the other") end
      slow()
    end
  )");
  EXPECT_EQ(result.failed_iterations, 0u) << (result.notes.empty() ? "" : result.notes[0].first);
  EXPECT_EQ(engine::step(result, "slow").ok, 8u);
  EXPECT_EQ(engine::step(result, "quick").ok, 4u);
}

TEST(LuaScript, ABranchThatFailsLeavesTheOthersToEndAndThenEndsTheIteration) {
  Stage stage;
  const auto result = stage.run(R"(
    job { load = { vus = 1, iterations = 2 } }
    local bad = play("bad", { name = "bad", fails = "reset" })
    local slow = play("slow", { name = "slow", takes = "5ms" })
    local after = play("after", { name = "after" })
    function run(vu)
      if vu.iteration == 0 then
        parallel(function() bad() end, function() slow() slow() end)
      else
        local ok, failure = pcall(parallel, function() bad() end, function() slow() end)
        if ok or failure.error ~= "reset" then error("wrong") end
      end
      after()
    end
  )");
  EXPECT_EQ(result.failed_iterations, 1u);
  EXPECT_EQ(engine::step(result, "slow").ok, 3u);
  EXPECT_EQ(engine::step(result, "after").ok, 1u);
  EXPECT_TRUE(result.notes.empty()) << result.notes[0].first;
}

TEST(LuaScript, BranchesCanForkAndStop) {
  Stage stage;
  const auto result = stage.run(R"(
    job { load = { vus = 1, iterations = 3 } }
    local a = play("a", { name = "a" })
    local never = play("never", { name = "never" })
    function run(vu)
      parallel(function() parallel(a, function() a() a() end) a() end, function() a() end)
      parallel(function() think(0.001) stop() end, function() a() end)
      never()
    end
  )");
  EXPECT_EQ(result.failed_iterations, 0u) << (result.notes.empty() ? "" : result.notes[0].first);
  EXPECT_EQ(engine::step(result, "a").ok, 18u);
  EXPECT_EQ(engine::step(result, "never").ok, 0u);
}

TEST(LuaScript, StopInsideABranchDoesNotHideTheFailureOfAnother) {
  for (const std::string stop : {"stop()", "stop('vu')"}) {
    Stage stage;
    const auto result = stage.run(R"(
    job { load = { vus = 3, iterations = "1 each" } }
    local bad = play("bad", { name = "bad", fails = "reset" })
    function run() parallel(bad, function() think(0.002) )" +
                                  stop + " end) end\n");
    EXPECT_EQ(result.iterations, 3u);
    EXPECT_EQ(result.failed_iterations, 3u) << stop;
  }
}

TEST(LuaScript, AMistakeInABranchIsToldWhateverBecomesOfTheOthers) {
  const std::string head =
      "job { load = { vus = 1, iterations = 2 } }\nlocal a = play('a', { name = 'a' })\n"
      "local bad = play('bad', { name = 'bad', fails = 'reset' })\n";
  for (const std::string run :
       {"parallel(function() stop() end, function() error('x') end)",
        "parallel(function() error('x') end, function() a() stop() end)",
        "parallel(bad, function() a() a() error('x') end)", "parallel(function() error('x') end, bad)",
        "parallel(a, function() parallel(function() stop() end, function() error('x') end) end)"}) {
    Stage stage;
    const auto result = stage.run(head + "function run() " + run + " end\n");
    EXPECT_EQ(result.failed_iterations, 2u) << run;
    ASSERT_EQ(result.notes.size(), 1u) << run;
    EXPECT_EQ(result.notes[0].first, "script error: play.lua:4: x") << run;
    EXPECT_EQ(result.notes[0].second, 2u) << run;
  }
}

TEST(LuaScript, EveryMistakeOfSeveralBranchesIsToldOnce) {
  Stage stage;
  const auto result = stage.run(
      "job { load = { vus = 1, iterations = 1 } }\n"
      "function run() parallel(function() error('x') end, function() error('y') end, function() error('x') end) end\n"
      "local a = play('a', { name = 'a' })\n");
  std::vector<std::string> told;
  for (const auto& note : result.notes) told.push_back(note.first);
  std::ranges::sort(told);
  EXPECT_EQ(told, (std::vector<std::string>{"script error: play.lua:2: x", "script error: play.lua:2: y"}));
}

TEST(LuaScript, AMistakeInABranchThatIsCaughtIsNotTold) {
  Stage stage;
  const auto result = stage.run(R"(
    job { load = { vus = 1, iterations = 2 } }
    local a = play("a", { name = "a" })
    function run()
      local ok, why = pcall(parallel, a, function() error("x") end)
      if ok or not why:find("x") then error("it was not raised") end
      stop()
    end
  )");
  EXPECT_TRUE(result.notes.empty()) << result.notes[0].first;
}

TEST(LuaScript, AYieldOutsideOfACoroutineIsAMistakeOfTheScript) {
  Stage stage;
  const auto result = stage.run(
      "job { load = { vus = 1, iterations = 1 } }\nlocal a = play('a', { name = 'a' })\n"
      "function run() coroutine.yield() end\n");
  ASSERT_EQ(result.notes.size(), 1u);
  EXPECT_EQ(result.notes[0].first,
            "script error: play.lua: coroutine.yield was called outside of a coroutine of the script's own");
}

TEST(LuaScript, AGroupIsMeasuredAsAWhole) {
  Stage stage;
  const auto result = stage.run(R"(
    job { load = { vus = 1, iterations = 4 } }
    local slow = play("slow", { name = "slow", takes = "2ms" })
    local bad = play("bad", { name = "bad", fails = "reset" })
    local checkout = group("checkout")
    function run(vu)
      local a, b = checkout(function(x) slow() slow() if vu.iteration == 3 then bad() end return x, 2 end, 1)
      if a ~= 1 or b ~= 2 then error("wrong values") end
    end
  )");
  EXPECT_EQ(engine::step(result, "checkout").ok, 3u);
  EXPECT_EQ(engine::step(result, "checkout").failed, 1u);
  // More than one of them; timers and histograms round.
  EXPECT_GT(engine::step(result, "checkout").latency.min(), std::chrono::milliseconds(3));
  EXPECT_EQ(result.failed_iterations, 1u);
  EXPECT_TRUE(result.notes.empty()) << result.notes[0].first;
}

TEST(LuaScript, ACheckOfTheScriptsOwnIsCountedUnderItsLabel) {
  Stage stage;
  const auto result = stage.run(R"(
    job { load = { vus = 1, iterations = 4 } }
    local a = play("hello", { name = "a" })
    local early = check("it is early")
    local very_early = check("it is very early", { required = true })
    function run(vu)
      if early(vu.iteration < 3) ~= (vu.iteration < 3) then error("wrong") end
      very_early(vu.iteration < 2)
      a()
    end
  )");
  const auto& early = engine::step(result, "it is early").checks.at(0);
  EXPECT_EQ(early.label, "it is early");
  EXPECT_EQ(early.ok, 3u);
  EXPECT_EQ(early.failed, 1u);
  EXPECT_EQ(engine::step(result, "a").ok, 2u);
  EXPECT_EQ(result.failed_iterations, 2u);
  EXPECT_TRUE(result.notes.empty()) << result.notes[0].first;
}

TEST(LuaScript, AnIterationThatHoardsArgumentsIsEnded) {
  Stage stage;
  const auto result = stage.run(R"(
    job { load = { vus = 1, iterations = 1 } }
    local say = play("${word ?? 'nothing'}", { name = "say" })
    function run()
      local long = string.rep("x", 1000000)
      for i = 1, 100 do set("word", long) end
    end
  )");
  ASSERT_EQ(result.notes.size(), 1u);
  EXPECT_NE(result.notes[0].first.find("play.lua:6: the values of this iteration take more than 16 MiB"),
            std::string::npos)
      << result.notes[0].first;
}

TEST(LuaScript, AnIterationThatHoardsWhatItsStepsSaveIsEnded) {
  Stage stage;
  const auto result = stage.run(R"(
    job { load = { vus = 1, iterations = 1 } }
    local page = play(string.rep("x", 200000), { name = "page", save = { all = "said" } })
    function run()
      for i = 1, 300 do page() end
    end
  )");
  EXPECT_EQ(result.failed_iterations, 1u);
  EXPECT_LT(engine::step(result, "page").ok, 200u);
  ASSERT_EQ(result.notes.size(), 1u);
  EXPECT_NE(result.notes[0].first.find("more than 16 MiB"), std::string::npos) << result.notes[0].first;
}

std::string with_rows(int rows, const std::string& script) {
  std::string text = "name\n";
  for (int i = 1; i <= rows; ++i) text += "row" + std::to_string(i) + "\n";
  return "job { data = { people = { csv = '" + engine::temporary_file("people.csv", text) +
         "', pick = 'unique' } } }\n" + script;
}

TEST(LuaScript, UniqueRowsAreTakenOnlyByIterationsThatReadThem) {
  Stage stage;
  const auto result = stage.run(with_rows(3, R"(
    local say = play("${data.people.name}", { name = "say" })
    local other = play("other", { name = "other" })
    workflow("w", {
      load = { vus = 1, iterations = 9 },
      run = function(vu)
        other()
        if vu.iteration == 2 then say() say() end
        if vu.iteration == 4 then other() log(data.people.name) say() end
        if vu.iteration == 8 then parallel(say, say) end
      end,
    })
  )"));
  EXPECT_EQ(result.iterations, 9u);
  EXPECT_EQ(engine::step(result, "say").ok, 5u);
  for (const auto& [row, times] : {std::pair("row1", 2u), std::pair("row2", 1u), std::pair("row3", 2u)}) {
    EXPECT_EQ(stage.rehearsal.journal->count(row), times) << row;
  }
  EXPECT_TRUE(result.notes.empty()) << result.notes[0].first;
}

TEST(LuaScript, AnIterationThatFindsNoUniqueRowEndsItsVuAndDoesNotCount) {
  for (const std::string read : {"say()", "log(data.people.name)", "parallel(say, say)"}) {
    for (const std::string load :
         {"vus = 5, ['for'] = '30s'", "vus = 5, iterations = 100", "rate = '500/s', ['for'] = '30s'"}) {
      Stage stage;
      const auto result = stage.run(with_rows(
          8,
          "local say = play('${data.people.name}', { name = 'say' })\nlocal bye = play('bye', { name = 'bye' })\n"
          "workflow('w', { load = { " +
              load + " }, run = function() " + read + " end, stop = function() bye() end })\n"));
      EXPECT_EQ(result.iterations, 8u) << read << load;
      EXPECT_EQ(result.failed_iterations, 0u) << read << load;
      EXPECT_GT(engine::step(result, "bye").ok, 0u) << read << load;
      EXPECT_LT(result.elapsed, std::chrono::seconds(20)) << read << load;
      ASSERT_EQ(result.notes.size(), 1u) << read << load;
      EXPECT_NE(result.notes[0].first.find("'people' had no row left"), std::string::npos) << result.notes[0].first;
      if (result.open) EXPECT_EQ(result.dropped + result.iterations, result.arrivals) << read;
    }
  }
}

TEST(LuaScript, TheSameSeedDrawsTheSameNumbers) {
  const std::string text =
      "job { load = { vus = 1, iterations = 5 } }\nlocal m = metric('n', 'counter')\nlocal a = play('hello', { name = "
      "'a' })\n"
      "function run() a() m(math.random(1, 1000000)) end\n";
  Stage first;
  Stage second;
  const auto one = first.run(text);
  const auto two = second.run(text);
  ASSERT_EQ(one.metrics.size(), 1u);
  EXPECT_GT(one.metrics[0].sum, 0);
  EXPECT_EQ(one.metrics[0].sum, two.metrics[0].sum);
}

}  // namespace
}  // namespace muster::script
