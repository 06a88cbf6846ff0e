#include "script/lua_script.h"

#include <fmt/format.h>

#include <lua.hpp>
#include <string>

#include "engine/marks.h"
#include "script/lua_natives.h"
#include "script/options.h"
#include "script/prelude.h"

namespace muster::script {
namespace {

using engine::ScriptAction;
using engine::VuList;

// A reference that a VU carries as a pointer; LUA_NOREF and 0 are none.
int reference_of(const engine::Vu& vu) {
  return static_cast<int>(reinterpret_cast<std::intptr_t>(vu.script));
}

// Not of a branch, nor of `start` or `stop`.
bool runs_iteration(const engine::Strand& strand) {
  return strand.part_of == nullptr && strand.vu->list == VuList::kLoop;
}

}  // namespace

LuaScript::LuaScript(const engine::ScriptServices& services, const model::StepKinds& kinds)
    : services_(services),
      kinds_(kinds),
      state_(kScriptLimits.memory_bytes, services.program.script->file),
      pace_(services.program.script->text.find("think") != std::string::npos) {}

LuaScript::~LuaScript() = default;

base::Expected<void> LuaScript::open() {
  const ReadingLimit limit(services_.program.script->file, kScriptLimits.read_time, 1);
  if (auto opened = state_.open(); !opened) return opened;
  return read();
}

base::Expected<void> LuaScript::read() {
  lua_State* const lua = state_.get();
  if (auto compiled = state_.compile(prelude(), kPreludeName); !compiled) return compiled;
  if (auto done = state_.call(&LuaNatives::push_run_table, this); !done) return done;
  lua_rawgeti(lua, LUA_REGISTRYINDEX, LuaNatives::kTable);
  if (auto done = state_.call(1, 0); !done) return done;
  if (auto compiled = state_.compile(services_.program.script->text, services_.program.script->file); !compiled)
    return compiled;
  if (auto done = state_.run(); !done) return done;
  if (auto done = state_.call(&LuaNatives::take_functions, this); !done) return done;
  if (declared_ != services_.program.callables.size()) {
    return base::fail(
        fmt::format("'{}' declared {} steps when it was first read and {} now; what stands outside its functions must "
                    "do the same each time",
                    services_.program.script->file, services_.program.callables.size(), declared_));
  }
  return {};
}

LuaScript::Fiber* LuaScript::take_fiber() {
  if (!free_.empty()) {
    Fiber* const fiber = free_.back();
    free_.pop_back();
    return fiber;
  }
  return fibers_.emplace_back(std::make_unique<Fiber>()).get();
}

void LuaScript::release(Fiber* fiber) {
  free_.push_back(fiber);
}

// Its coroutine can never be used again.
void LuaScript::discard(Fiber* fiber) {
  if (!state_.exhausted()) {
    if (fiber->functions != 0) luaL_unref(state_.get(), LUA_REGISTRYINDEX, fiber->functions);
    if (fiber->thread != nullptr) luaL_unref(state_.get(), LUA_REGISTRYINDEX, fiber->reference);
  }
  *fiber = {};
  free_.push_back(fiber);
}

base::Expected<void> LuaScript::prepare(engine::Strand& strand, Fiber& fiber, VuList list) {
  LuaNatives::Preparation preparation{.script = *this,
                                      .thread = fiber.thread,
                                      .reference = fiber.reference,
                                      .function = functions_[static_cast<std::size_t>(list)],
                                      .starting = list == VuList::kStart,
                                      .kept = reference_of(*strand.vu),
                                      .vu = strand.vu->number + 1,
                                      .iteration = strand.vu->iteration};
  if (auto done = state_.call(&LuaNatives::prepare, &preparation); !done) return done;
  fiber.thread = preparation.thread;
  fiber.reference = preparation.reference;
  strand.vu->script = reinterpret_cast<void*>(static_cast<std::intptr_t>(preparation.kept));
  return {};
}

ScriptAction LuaScript::begin(engine::Strand& strand, VuList list) {
  if (broken_) return {.kind = ScriptAction::Kind::kBroken};
  Fiber* const fiber = take_fiber();
  if (fiber->thread != nullptr && list != VuList::kStart) [[likely]] {
    strand.fiber = fiber;
    return launch(strand, *fiber, list);
  }
  if (auto prepared = prepare(strand, *fiber, list); !prepared) {
    discard(fiber);
    return give_up(prepared.error().message);
  }
  strand.fiber = fiber;
  return go_on(strand, *fiber, 1);
}

// On a coroutine that is there already, with nothing that could run out of memory outside of it.
ScriptAction LuaScript::launch(engine::Strand& strand, Fiber& fiber, VuList list) {
  lua_State* const thread = fiber.thread;
  lua_rawgeti(thread, LUA_REGISTRYINDEX, launch_);
  lua_rawgeti(thread, LUA_REGISTRYINDEX, functions_[static_cast<std::size_t>(list)]);
  lua_pushnumber(thread, static_cast<double>(strand.vu->number + 1));
  lua_pushnumber(thread, static_cast<double>(strand.vu->iteration));
  const int kept = reference_of(*strand.vu);
  if (kept != 0) lua_rawgeti(thread, LUA_REGISTRYINDEX, kept);
  return go_on(strand, fiber, kept != 0 ? 4 : 3);
}

ScriptAction LuaScript::begin_branch(engine::Strand& branch, engine::Strand& parent, std::uint32_t function) {
  if (broken_) return {.kind = ScriptAction::Kind::kBroken};
  Fiber* const fiber = take_fiber();
  LuaNatives::BranchPreparation preparation{.thread = fiber->thread,
                                            .reference = fiber->reference,
                                            .functions = static_cast<Fiber*>(parent.fiber)->functions,
                                            .position = static_cast<int>(function) + 1};
  if (auto done = state_.call(&LuaNatives::prepare_branch, &preparation); !done) {
    discard(fiber);
    return give_up(done.error().message);
  }
  fiber->thread = preparation.thread;
  fiber->reference = preparation.reference;
  branch.fiber = fiber;
  return go_on(branch, *fiber, 0);
}

ScriptAction LuaScript::give_up(const std::string& reason) {
  broken_ = true;
  services_.host.broken(reason);
  return {.kind = ScriptAction::Kind::kBroken};
}

ScriptAction LuaScript::resume(engine::Strand& strand, const engine::StepReport* report) {
  if (broken_) return {.kind = ScriptAction::Kind::kBroken};
  report_ = report;
  Fiber& fiber = *static_cast<Fiber*>(strand.fiber);
  if (fiber.functions != 0) [[unlikely]] {
    luaL_unref(state_.get(), LUA_REGISTRYINDEX, fiber.functions);
    fiber.functions = 0;
    fiber.mistake.clear();
  }
  if (report == nullptr) return go_on(strand, fiber, 0);
  // What the call gives back: whether there is more to know, then what the prelude makes a result of.
  lua_State* const thread = fiber.thread;
  const engine::Callable& callable = services_.program.callables[fiber.callable];
  if (report->ok || report->response != nullptr) {
    // What it saved is no argument, even where one stood.
    for (const std::uint32_t given : callable.fills) strand.vu->slots[given] = {};
  }
  lua_pushboolean(thread, !report->ok || !callable.saves.empty() ? 1 : 0);
  lua_pushnumber(thread, static_cast<double>(generation_));
  lua_pushboolean(thread, report->ok ? 1 : 0);
  lua_pushnumber(thread, base::seconds(report->latency));
  if (report->status != 0) lua_pushnumber(thread, report->status);
  return go_on(strand, fiber, report->status != 0 ? 5 : 4);
}

ScriptAction LuaScript::go_on(engine::Strand& strand, Fiber& fiber, int arguments) {
  running_ = &strand;
  fiber_ = &fiber;
  wants_ = false;
  const int status = state_.resume(fiber.thread, arguments);
  report_ = nullptr;
  running_ = nullptr;
  fiber_ = nullptr;
  scratch_.reset();
  ++generation_;
  if (state_.exhausted()) [[unlikely]] {
    strand.fiber = nullptr;
    return give_up(state_.out_of_memory());
  }
  if (status == LUA_YIELD && wants_) {
    lua_settop(fiber.thread, 0);
    return wanted_;
  }
  if (status == 0) {
    finish(strand, fiber);
    return {.kind = ScriptAction::Kind::kEnd};
  }
  return failed(strand, fiber, status);
}

// The function returned: its coroutine can run another.
void LuaScript::finish(engine::Strand& strand, Fiber& fiber) {
  if (runs_iteration(strand)) pace_.add(strand.thought);
  strand.fiber = nullptr;
  lua_settop(fiber.thread, 0);
  release(&fiber);
}

ScriptAction LuaScript::failed(engine::Strand& strand, Fiber& fiber, int status) {
  strand.fiber = nullptr;
  ScriptAction action{.kind = ScriptAction::Kind::kFail};
  if (status == LUA_YIELD) {
    tell_mistake(fmt::format("{}: coroutine.yield was called outside of a coroutine of the script's own",
                             services_.program.script->file));
  } else if (!LuaNatives::is_failure(*this, fiber.thread)) {
    // A failed step was recorded when it failed; anything else is the script's own mistake.
    const std::string message = LuaState::take_error(fiber.thread);
    if (message.find("stack overflow") != std::string::npos) {
      action = give_up(fmt::format("a function calls itself too often: {}", message.substr(0, message.find('\n'))));
    } else {
      tell_mistake(message);
    }
  }
  if (action.kind == ScriptAction::Kind::kFail && runs_iteration(strand)) action.least = pace_.owed(strand.thought);
  discard(&fiber);
  return action;
}

void LuaScript::tell_mistake(const std::string& message) {
  services_.host.note(std::string(engine::kScriptError) + message);
}

void LuaScript::drop(engine::Strand& strand) {
  if (strand.fiber == nullptr) return;
  auto* const fiber = static_cast<Fiber*>(strand.fiber);
  // Another branch has stopped the iteration: `parallel` never comes to raise it.
  if (!fiber->mistake.empty()) tell_mistake(fiber->mistake);
  // One that its script ended by `stop` is as whole as one that returned.
  const bool stopped = strand.vu->stop_list && !strand.vu->no_row && !strand.failing;
  if (stopped && runs_iteration(strand)) pace_.add(strand.thought);
  discard(fiber);
  strand.fiber = nullptr;
}

void LuaScript::forget(engine::Vu& vu) {
  if (const int reference = reference_of(vu); reference != 0) {
    if (!state_.exhausted()) luaL_unref(state_.get(), LUA_REGISTRYINDEX, reference);
    vu.script = nullptr;
  }
}

}  // namespace muster::script
