#include "script/lua_state.h"

#include <gtest/gtest.h>

#include "script/options.h"

namespace muster::script {
namespace {

constexpr std::size_t kSmall = 8u << 20;

// What goes wrong when `text` runs; "good" if nothing does.
std::string outcome(LuaState& state, std::string_view text) {
  if (auto compiled = state.compile(text, "a.lua"); !compiled) return compiled.error().message;
  auto done = state.call(0, 0);
  return done ? "good" : done.error().message;
}

std::string outcome(std::string_view text) {
  LuaState state(kSmall, "a.lua");
  if (auto opened = state.open(); !opened) return opened.error().message;
  return outcome(state, text);
}

TEST(LuaState, AScriptThatCatchesTheEndOfItsMemoryDoesNotGoOn) {
  LuaState state(kSmall, "a.lua");
  ASSERT_TRUE(state.open());
  EXPECT_EQ(outcome(state, "local t = {} while true do pcall(function() while true do t[#t + 1] = { 1 } end end) end"),
            "'a.lua' needs more than the 8 MiB that a script may have on a core");
  EXPECT_TRUE(state.exhausted());
  EXPECT_FALSE(state.compile("x = 1", "a.lua")) << "it is never entered again";
}

TEST(LuaState, MemoryEndsInsideCoroutinesAndCallbacksToo) {
  for (const char* text : {"coroutine.wrap(function() local t = {} while true do t[#t + 1] = { 1 } end end)()",
                           "local t = {} string.gsub('a', '.', function() while true do t[#t + 1] = { 1 } end end)",
                           "local s = string.rep('x', 1e9)"}) {
    EXPECT_EQ(outcome(text), "'a.lua' needs more than the 8 MiB that a script may have on a core") << text;
  }
}

TEST(LuaState, EndlessRecursionIsAnErrorWhateverItGoesThrough) {
  for (const char* text :
       {"local function f() return 1 + f() end f()", "local function f() return (string.gsub('a', '.', f)) end f()",
        "local function f() table.sort({ 2, 1 }, f) return true end f()",
        "local function f() return coroutine.wrap(f)() end f()",
        "local function f() error(select(2, coroutine.resume(coroutine.create(f))), 0) end f()",
        "local t = setmetatable({}, { __tostring = function(s) return string.format('%s', s) end }) tostring(t)",
        "local function f() coroutine.wrap(string.gsub)('a', '.', f) end f()"}) {
    const std::string said = outcome(text);
    EXPECT_NE(said.find("stack overflow"), std::string::npos) << text << said;
    EXPECT_TRUE(said.starts_with("a.lua")) << said;
  }
}

TEST(LuaState, RecursionThatWasCaughtLeavesTheStateGood) {
  EXPECT_EQ(outcome("local function f() return coroutine.wrap(f)() end\n"
                    "for i = 1, 300 do assert(not pcall(f)) end\n"
                    "assert(coroutine.wrap(function(a) return a + 1 end)(1) == 2)"),
            "good");
}

TEST(LuaState, CoroutinesDoWhatTheyDoElsewhere) {
  EXPECT_EQ(outcome(R"lua(
local co = coroutine.create(function(a, b)
  assert(a == 1 and b == 2 and coroutine.running() ~= nil)
  local c = coroutine.yield(a + b, "x")
  assert(pcall(function() assert(coroutine.yield(c) == nil) end))
  error({ code = 7 })
end)
local ok, sum, x = coroutine.resume(co, 1, 2)
assert(ok and sum == 3 and x == "x" and coroutine.status(co) == "suspended")
assert(select(2, coroutine.resume(co, "c")) == "c")
local good, why = coroutine.resume(co)
assert(not good and why.code == 7 and coroutine.status(co) == "dead")
good, why = coroutine.resume(co)
assert(not good and why == "cannot resume dead coroutine")

local each = coroutine.wrap(function() for i = 1, 3 do coroutine.yield(i) end end)
assert(each() == 1 and each() == 2 and each() == 3 and each() == nil)
good, why = pcall(each)
assert(not good and why:find("dead coroutine"), why)

local own
own = coroutine.create(function() return coroutine.resume(own) end)
ok, good, why = coroutine.resume(own)
assert(ok and not good and why == "cannot resume non-suspended coroutine")
local outer
outer = coroutine.create(function() return coroutine.wrap(function() return coroutine.resume(outer) end)() end)
ok, good, why = coroutine.resume(outer)
assert(ok and not good and why == "cannot resume non-suspended coroutine")
assert(select("#", coroutine.resume(coroutine.create(function(...) return ... end), nil, nil)) == 3)
assert(not pcall(coroutine.resume, 5) and not pcall(coroutine.wrap, 5) and coroutine.running() == nil)
assert(("hello"):gsub("l", { l = "L" }) == "heLLo" and select(2, ("abc"):gsub("%w", "%0%0")) == 3)
local t = { 3, 1, 2 }
table.sort(t, function(a, b) return a > b end)
assert(t[1] == 3 and t[3] == 1)
)lua"),
            "good");
}

TEST(LuaState, ATextThatIsTooLargeToBeMadeEndsTheScriptHoweverLargeItIs) {
  for (const char* text : {"local s = string.rep('x', 1e10)", "local s = ('x'):rep(2 ^ 31)",
                           "local s = ('x'):rep(1e9, '12')", "pcall(string.rep, 'x', 1e300)"}) {
    EXPECT_EQ(outcome(text), "'a.lua' needs more than the 8 MiB that a script may have on a core") << text;
  }
}

TEST(LuaState, RepDoesWhatItDoesElsewhere) {
  EXPECT_EQ(outcome("assert(('ab'):rep(3) == 'ababab' and ('a'):rep(2, '-') == 'a-a' and ('a'):rep(0) == '')\n"
                    "assert(('a'):rep(-1) == '' and (''):rep(5) == '' and string.rep(7, '2') == '77')"),
            "good");
  EXPECT_EQ(outcome("string.rep({}, 2)"), "a.lua:1: bad argument #1 to 'rep' (string expected, got table)");
}

TEST(LuaState, CompiledLuaIsRefusedByName) {
  EXPECT_EQ(outcome("\x1bLJ\x02"), "a.lua: this is compiled Lua; muster reads scripts as text only");
}

}  // namespace
}  // namespace muster::script
