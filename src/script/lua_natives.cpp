#include "script/lua_natives.h"

#include <algorithm>
#include <array>
#include <lua.hpp>
#include <string>
#include <string_view>

#include "base/random.h"
#include "base/units.h"
#include "engine/options.h"
#include "model/result.h"
#include "script/lua_json.h"
#include "script/lua_script.h"
#include "script/lua_values.h"
#include "script/options.h"

namespace muster::script {
namespace {

using engine::ScriptAction;
using engine::StopScope;
using engine::VuList;

void push_text(lua_State* state, std::string_view text) {
  lua_pushlstring(state, text.data(), text.size());
}

void set_field(lua_State* state, std::string_view name, std::string_view value) {
  push_text(state, name);
  push_text(state, value);
  lua_rawset(state, -3);
}

// "1s..3s" or "2s" → least and most, in nanoseconds.
int range(lua_State* state) {
  const std::string_view text(luaL_checkstring(state, 1));
  const std::size_t dots = text.find("..");
  bool good = false;
  base::Duration least{};
  base::Duration most{};
  {
    const auto first = base::parse_duration(text.substr(0, dots));
    const auto second = dots == std::string_view::npos ? first : base::parse_duration(text.substr(dots + 2));
    good = first && second && *first <= *second;
    if (good) {
      least = *first;
      most = *second;
    }
  }
  if (!good) return raise(state, "expected a time such as '2s' or a range such as '1s..3s', found '%s'", text.data());
  lua_pushnumber(state, static_cast<double>(least.count()));
  lua_pushnumber(state, static_cast<double>(most.count()));
  return 2;
}

int encode(lua_State* state) {
  thread_local std::string out;  // outlives an error that leaves this function
  out.clear();
  append_json(state, 1, out, 0);
  push_text(state, out);
  return 1;
}

int decode(lua_State* state) {
  luaL_checkstring(state, 1);
  const char* const problem = push_json(state, text_at(state, 1));
  if (problem == nullptr) return 1;
  lua_pushfstring(state, "this is no JSON: %s", problem);
  return 2;
}

// Makes a table a list, which an empty one is not by itself.
int list(lua_State* state) {
  luaL_checktype(state, 1, LUA_TTABLE);
  lua_settop(state, 1);
  mark_list(state, 0);
  return 1;
}

// An argument is for one call: what earlier calls were given, and this one may not be, is there no more.
void take_back(engine::Vu& vu, const engine::Callable& callable) {
  for (const engine::ScriptVariable& each : callable.arguments) {
    if (vu.slots[each.given].missing()) continue;
    vu.slots[each.slot] = vu.slots[each.given + 1];
    vu.slots[each.given] = {};
  }
}

void push_kinds(lua_State* state, const model::StepKinds& kinds) {
  lua_newtable(state);
  int position = 0;
  for (const model::StepKind& kind : kinds.all()) {
    if (kind.role != model::StepRole::kTest) continue;
    lua_newtable(state);
    set_field(state, "name", kind.name);
    lua_newtable(state);
    int shorthand = 0;
    for (const model::Shorthand& each : kind.shorthands) {
      push_text(state, each.key);
      lua_rawseti(state, -2, ++shorthand);
    }
    lua_setfield(state, -2, "shorthands");
    lua_rawseti(state, -2, ++position);
  }
}

}  // namespace

void add_plain_natives(lua_State* state, const model::StepKinds& kinds) {
  lua_pushcfunction(state, &range);
  lua_setfield(state, -2, "range");
  lua_pushcfunction(state, &encode);
  lua_setfield(state, -2, "encode");
  lua_pushcfunction(state, &decode);
  lua_setfield(state, -2, "decode");
  lua_pushcfunction(state, &list);
  lua_setfield(state, -2, "list");
  push_kinds(state, kinds);
  lua_setfield(state, -2, "kinds");
}

LuaScript& LuaNatives::self(lua_State* state) {
  return *static_cast<LuaScript*>(lua_touserdata(state, lua_upvalueindex(1)));
}

void LuaNatives::must_run(lua_State* state, const LuaScript& script, const char* what) {
  if (script.running_ == nullptr) {
    raise(state, "%s can be used only inside the functions start, run and stop", what);
  } else if (state != script.fiber_->thread) {
    raise(state, "%s cannot be used inside a coroutine of the script's own", what);
  }
}

void LuaNatives::must_be_able_to_wait(lua_State* state, const LuaScript& script, const char* what) {
  must_run(state, script, what);
  if (lua_isyieldable(state) != 0) return;
  raise(state, "%s cannot be used inside a function that table.sort or string.gsub calls: it has to wait", what);
}

int LuaNatives::push_run_table(lua_State* state) {
  auto* const script = static_cast<LuaScript*>(lua_touserdata(state, 1));
  constexpr std::array<std::pair<const char*, lua_CFunction>, 15> kFunctions{
      {{"call", &LuaNatives::call},
       {"fill", &LuaNatives::fill},
       {"sleep", &LuaNatives::sleep},
       {"fork", &LuaNatives::fork},
       {"branch_failed", &LuaNatives::branch_failed},
       {"now", &LuaNatives::now},
       {"transaction", &LuaNatives::transaction},
       {"stop", &LuaNatives::stop},
       {"set", &LuaNatives::set},
       {"log", &LuaNatives::log},
       {"value", &LuaNatives::value},
       {"random", &LuaNatives::random},
       {"step", &LuaNatives::step},
       {"job", &LuaNatives::job},
       {"workflow", &LuaNatives::workflow}}};
  const auto closure = [&](lua_CFunction function) {
    lua_pushlightuserdata(state, script);
    lua_pushcclosure(state, function, 1);
  };
  lua_newtable(state);
  for (const auto& [name, function] : kFunctions) {
    closure(function);
    lua_setfield(state, -2, name);
  }
  lua_newtable(state);
  for (const auto& [name, value] : script->services_.program.environment) set_field(state, name, value);
  lua_setfield(state, -2, "environment");
  add_plain_natives(state, script->kinds_);
  lua_rawseti(state, LUA_REGISTRYINDEX, kTable);

  const auto metatable = [&](lua_CFunction function) {
    lua_newtable(state);
    closure(function);
    lua_setfield(state, -2, "__index");
    lua_pushliteral(state, "locked");
    lua_setfield(state, -2, "__metatable");
    return luaL_ref(state, LUA_REGISTRYINDEX);
  };
  script->result_meta_ = metatable(&LuaNatives::read_result);
  script->names_meta_ = metatable(&LuaNatives::read_name);
  lua_rawgeti(state, LUA_REGISTRYINDEX, kTable);
  lua_rawgeti(state, LUA_REGISTRYINDEX, script->result_meta_);
  lua_setfield(state, -2, "result_meta");
  return 0;
}

int LuaNatives::prepare(lua_State* state) {
  auto& preparation = *static_cast<Preparation*>(lua_touserdata(state, 1));
  if (preparation.thread == nullptr) {
    lua_State* const thread = lua_newthread(state);
    preparation.reference = luaL_ref(state, LUA_REGISTRYINDEX);
    preparation.thread = thread;
  }
  lua_rawgeti(state, LUA_REGISTRYINDEX, preparation.function);
  lua_createtable(state, 0, 4);
  lua_pushnumber(state, static_cast<double>(preparation.vu));
  lua_setfield(state, -2, "id");
  lua_pushnumber(state, static_cast<double>(preparation.iteration));
  lua_setfield(state, -2, "iteration");
  if (preparation.starting) {
    lua_createtable(state, 0, 1);
    lua_pushvalue(state, -2);
    lua_setfield(state, -2, "__index");
    preparation.kept = luaL_ref(state, LUA_REGISTRYINDEX);
  } else if (preparation.kept != 0) {
    lua_rawgeti(state, LUA_REGISTRYINDEX, preparation.kept);
    lua_setmetatable(state, -2);
  }
  lua_xmove(state, preparation.thread, 2);
  return 0;
}

int LuaNatives::prepare_branch(lua_State* state) {
  auto& preparation = *static_cast<BranchPreparation*>(lua_touserdata(state, 1));
  if (preparation.thread == nullptr) {
    lua_State* const thread = lua_newthread(state);
    preparation.reference = luaL_ref(state, LUA_REGISTRYINDEX);
    preparation.thread = thread;
  }
  lua_rawgeti(state, LUA_REGISTRYINDEX, preparation.functions);
  lua_rawgeti(state, -1, preparation.position);
  lua_xmove(state, preparation.thread, 1);
  return 0;
}

bool LuaNatives::is_failure(const LuaScript& script, lua_State* thread) {
  if (lua_type(thread, -1) != LUA_TTABLE || lua_getmetatable(thread, -1) == 0) return false;
  lua_rawgeti(thread, LUA_REGISTRYINDEX, script.result_meta_);
  const bool same = lua_rawequal(thread, -1, -2) != 0;
  lua_pop(thread, 2);
  return same;
}

void LuaNatives::must_have_room(lua_State* state, const LuaScript& script) {
  if (script.running_->vu->arena.held() <= engine::kMaxIterationBytes) return;
  raise(state,
        "the values of this iteration take more than 16 MiB: what it gave to its steps and what they saved or checked; "
        "let `run` return now and then");
}

void LuaNatives::take_arguments(lua_State* state, LuaScript& script, std::uint32_t index) {
  const engine::Callable& callable = script.services_.program.callables[index];
  engine::Vu& vu = *script.running_->vu;
  lua_pushnil(state);
  while (lua_next(state, 2) != 0) {
    if (lua_type(state, -2) != LUA_TSTRING) raise(state, "the arguments of a step have names: { id = 7 }");
    const std::string_view name = text_at(state, -2);
    const auto found = std::ranges::find(callable.arguments, name, &engine::ScriptVariable::name);
    if (found == callable.arguments.end()) {
      const auto& values = script.services_.program.script_values;
      if (std::ranges::any_of(values, [&](const auto& each) { return each.group == "use" && each.name == name; })) {
        raise(state, "${%s} is what another workflow provides (`use`), so it cannot be given to step '%s'", name.data(),
              callable.name.c_str());
      }
      raise(state, "step '%s' mentions no ${%s}, so it cannot be given", callable.name.c_str(), name.data());
    }
    const model::Value value = to_value(state, lua_gettop(state), vu.arena, found->name.c_str());
    vu.slots[found->given] = model::Value::of(true);
    vu.slots[found->given + 1] = vu.slots[found->slot];
    vu.slots[found->slot] = value;
    lua_pop(state, 1);
  }
}

int LuaNatives::call(lua_State* state) {
  LuaScript& script = self(state);
  must_be_able_to_wait(state, script, "a step");
  const auto index = static_cast<std::uint32_t>(lua_tointeger(state, 1) - 1);
  if (index >= script.services_.program.callables.size()) raise(state, "there is no such step");
  must_have_room(state, script);
  take_back(*script.running_->vu, script.services_.program.callables[index]);
  if (lua_type(state, 2) == LUA_TTABLE) {
    take_arguments(state, script, index);
  } else if (!lua_isnoneornil(state, 2)) {
    raise(state, "a step takes its arguments as a table: { id = 7 }");
  }
  script.fiber_->callable = index;
  script.wanted_ = {.kind = ScriptAction::Kind::kCall, .callable = index};
  script.wants_ = true;
  return lua_yield(state, 0);
}

int LuaNatives::fill(lua_State* state) {
  const LuaScript& script = self(state);
  must_run(state, script, "a step's result");
  const engine::StepReport* const report = script.report_;
  if (report == nullptr) return raise(state, "there is no result");
  const engine::Callable& callable = script.services_.program.callables[script.fiber_->callable];
  if (!report->ok) {
    if (report->error) set_field(state, "error", model::to_text(*report->error));
    set_field(state, "detail", report->detail);
  }
  // Without a response nothing was saved: what the slots hold is of an earlier call.
  if (!report->ok && report->response == nullptr) return 0;
  for (const auto& [name, slot] : callable.saves) {
    push_text(state, name);
    push(state, script.running_->vu->slots[slot]);
    lua_rawset(state, -3);
  }
  return 0;
}

// result.body, result.json, result.headers: what the step's kind promises, read when it is asked for.
int LuaNatives::read_result(lua_State* state) {
  LuaScript& script = self(state);
  lua_rawgeti(state, 1, 1);
  lua_rawgeti(state, 1, 2);
  const auto generation = static_cast<std::uint64_t>(lua_tonumber(state, -2));
  const auto index = static_cast<std::size_t>(lua_tointeger(state, -1) - 1);
  lua_settop(state, 2);
  if (lua_type(state, 2) != LUA_TSTRING || index >= script.services_.program.callables.size()) return 0;
  const engine::Callable& callable = script.services_.program.callables[index];
  const std::string_view key = text_at(state, 2);
  const auto& results = callable.kind->results;
  const auto found = std::ranges::find(results, key, &model::ResultField::name);
  if (found == results.end()) return 0;
  if (script.running_ == nullptr || generation != script.generation_ || script.report_ == nullptr) {
    return raise(state, "'%s' of step '%s' is gone: read it before the next step or think", key.data(),
                 callable.name.c_str());
  }
  if (script.report_->response == nullptr) return 0;
  if (script.services_.program.script->text.find(key) == std::string::npos) {
    return raise(state, "what a script reads of a response must be written out in it: response.%s", key.data());
  }
  const auto position = static_cast<std::size_t>(found - results.begin());
  if (found->type == model::FieldType::kTextMap) {
    lua_createtable(state, 2, 0);
    lua_pushnumber(state, static_cast<double>(generation));
    lua_rawseti(state, -2, 1);
    lua_pushnumber(state, static_cast<double>(position));
    lua_rawseti(state, -2, 2);
    lua_rawgeti(state, LUA_REGISTRYINDEX, script.names_meta_);
    lua_setmetatable(state, -2);
  } else {
    push(state, script.report_->response->result(position, {}, script.scratch_));
  }
  lua_pushvalue(state, 2);
  lua_pushvalue(state, -2);
  lua_rawset(state, 1);
  return 1;
}

// result.headers["content-type"]
int LuaNatives::read_name(lua_State* state) {
  LuaScript& script = self(state);
  lua_rawgeti(state, 1, 1);
  lua_rawgeti(state, 1, 2);
  const auto generation = static_cast<std::uint64_t>(lua_tonumber(state, -2));
  const auto position = static_cast<std::size_t>(lua_tonumber(state, -1));
  if (lua_type(state, 2) != LUA_TSTRING) return 0;
  if (script.running_ == nullptr || generation != script.generation_ || script.report_ == nullptr) {
    return raise(state, "the response is gone: read '%s' before the next step or think", lua_tostring(state, 2));
  }
  model::Value value;
  {
    const authoring::Path path{std::string(text_at(state, 2))};
    value = script.report_->response->result(position, path, script.scratch_);
  }
  push(state, value);
  return 1;
}

int LuaNatives::sleep(lua_State* state) {
  LuaScript& script = self(state);
  must_be_able_to_wait(state, script, "think");
  const double least = luaL_checknumber(state, 1);
  const double most = luaL_checknumber(state, 2);
  constexpr double kDay = 86'400e9;
  if (!(least >= 0 && most >= least && most <= kDay)) raise(state, "think takes a time from 0 to a day");
  script.wanted_ = {.kind = ScriptAction::Kind::kSleep,
                    .least = base::Duration(static_cast<std::int64_t>(least)),
                    .most = base::Duration(static_cast<std::int64_t>(most))};
  script.wants_ = true;
  return lua_yield(state, 0);
}

int LuaNatives::fork(lua_State* state) {
  LuaScript& script = self(state);
  must_be_able_to_wait(state, script, "parallel");
  const auto count = static_cast<std::uint32_t>(luaL_checkinteger(state, 2));
  if (count > kScriptLimits.branches) return raise(state, "parallel takes at most %d functions", 64);
  lua_settop(state, 1);
  script.fiber_->functions = luaL_ref(state, LUA_REGISTRYINDEX);
  script.wanted_ = {.kind = ScriptAction::Kind::kFork, .branches = count};
  script.wants_ = true;
  return lua_yield(state, 0);
}

// Where another branch stops the iteration, `parallel` never comes to raise what failed in this one. Gives back whether
// the error is the first of its branches that is the script's own mistake: failed steps are recorded already.
int LuaNatives::branch_failed(lua_State* state) {
  LuaScript& script = self(state);
  engine::Join* const join = script.running_->part_of;
  if (join == nullptr) return 0;
  join->failed = true;
  lua_settop(state, 1);
  if (is_failure(script, state)) return 0;
  auto& mistake = static_cast<LuaScript::Fiber*>(join->parent->fiber)->mistake;
  const bool first = mistake.empty();
  {
    std::string message = LuaState::take_error(state);
    if (first) {
      mistake = std::move(message);
    } else if (message != mistake) {
      script.tell_mistake(message);
    }
  }
  lua_pushboolean(state, first ? 1 : 0);
  return 1;
}

int LuaNatives::now(lua_State* state) {
  lua_pushnumber(state, static_cast<double>(self(state).services_.host.now().time_since_epoch().count()));
  return 1;
}

int LuaNatives::transaction(lua_State* state) {
  LuaScript& script = self(state);
  must_run(state, script, "a group");
  const auto index = static_cast<std::size_t>(lua_tointeger(state, 1) - 1);
  const base::Instant began(base::Duration(static_cast<std::int64_t>(lua_tonumber(state, 2))));
  if (index >= script.services_.program.callables.size()) return raise(state, "there is no such group");
  script.services_.host.transaction(script.services_.program.callables[index].step, began,
                                    lua_toboolean(state, 3) != 0);
  return 0;
}

int LuaNatives::stop(lua_State* state) {
  LuaScript& script = self(state);
  must_be_able_to_wait(state, script, "stop");
  const std::string_view word(luaL_checkstring(state, 1));
  StopScope scope = StopScope::kIteration;
  if (word == "vu") {
    scope = StopScope::kVu;
  } else if (word == "workflow") {
    scope = StopScope::kWorkflow;
  } else if (word != "iteration") {
    return raise(state, "stop takes 'iteration', 'vu' or 'workflow', found '%s'", word.data());
  }
  script.wanted_ = {.kind = ScriptAction::Kind::kStop, .scope = scope};
  script.wants_ = true;
  return lua_yield(state, 0);
}

int LuaNatives::set(lua_State* state) {
  LuaScript& script = self(state);
  must_run(state, script, "set");
  const std::string_view name(luaL_checkstring(state, 1));
  const auto& variables = script.services_.program.variables;
  const auto found = std::ranges::find(variables, name, &engine::ScriptVariable::name);
  if (found == variables.end()) {
    return raise(state, "no step mentions ${%s} and nothing is provided from it, so it cannot be set", name.data());
  }
  must_have_room(state, script);
  engine::Vu& vu = *script.running_->vu;
  vu.slots[found->slot] = to_value(state, 2, vu.arena, found->name.c_str());
  vu.slots[found->given] = {};
  return 0;
}

int LuaNatives::log(lua_State* state) {
  const LuaScript& script = self(state);
  luaL_checkstring(state, 1);
  if (script.running_ != nullptr) script.services_.host.log(text_at(state, 1));
  return 0;
}

int LuaNatives::value(lua_State* state) {
  LuaScript& script = self(state);
  must_run(state, script, "data");
  const std::string_view group(luaL_checkstring(state, 1));
  const std::string_view name(luaL_checkstring(state, 2));
  for (const engine::ScriptValue& each : script.services_.program.script_values) {
    if (each.group != group || each.name != name) continue;
    if (each.row && !script.services_.host.row(*script.running_->vu, *each.row)) {
      must_be_able_to_wait(state, script, "data that has run out");
      script.wanted_ = {.kind = ScriptAction::Kind::kStop, .scope = StopScope::kIteration};
      script.wants_ = true;
      return lua_yield(state, 0);
    }
    push(state, script.running_->vu->slots[each.slot]);
    return 1;
  }
  if (group == "use") {
    return raise(state,
                 "there is no use.%s in this workflow; name the workflow that provides it, `use = { %s = \"login\" }`, "
                 "and wait for that one, `depends = { \"login\" }`",
                 name.data(), name.data());
  }
  return raise(state, "there is no %s.%s; name the source under `data` of the job and write it out in the script",
               group.data(), name.data());
}

int LuaNatives::random(lua_State* state) {
  base::Random& random = self(state).services_.host.random();
  const int arguments = lua_gettop(state);
  if (arguments == 0) {
    lua_pushnumber(state, random.unit());
    return 1;
  }
  const double least = arguments == 1 ? 1 : luaL_checknumber(state, 1);
  const double most = luaL_checknumber(state, arguments == 1 ? 1 : 2);
  constexpr double kExact = 9007199254740992.0;
  if (!(least <= most && least > -kExact && most < kExact)) return raise(state, "random: the interval is empty");
  const auto width = static_cast<std::uint64_t>(most - least) + 1;
  lua_pushnumber(state, least + static_cast<double>(random.below(width)));
  return 1;
}

int LuaNatives::step(lua_State* state) {
  LuaScript& script = self(state);
  if (script.running_ != nullptr) {
    return raise(state, "steps are declared outside of functions, so that they are known before the run");
  }
  ++script.declared_;
  return 0;
}

// What the job says was taken when the script was first read.
int LuaNatives::job(lua_State* state) {
  if (self(state).running_ == nullptr) return 0;
  return raise(state, "job stands outside of functions, so that what it says is known before the run");
}

int LuaNatives::workflow(lua_State* state) {
  LuaScript& script = self(state);
  if (script.running_ != nullptr) {
    return raise(state, "workflows are declared outside of functions, so that they are known before the run");
  }
  luaL_checkstring(state, 1);
  luaL_checktype(state, 2, LUA_TTABLE);
  if (text_at(state, 1) != script.services_.program.workflow) return 0;
  constexpr std::array<std::pair<const char*, VuList>, 3> kLists{
      {{"start", VuList::kStart}, {"run", VuList::kLoop}, {"stop", VuList::kStop}}};
  for (const auto& [name, list] : kLists) {
    lua_getfield(state, 2, name);
    if (lua_isfunction(state, -1)) {
      script.functions_[static_cast<std::size_t>(list)] = luaL_ref(state, LUA_REGISTRYINDEX);
    } else {
      lua_pop(state, 1);
    }
  }
  return 0;
}

int LuaNatives::take_functions(lua_State* state) {
  auto& script = *static_cast<LuaScript*>(lua_touserdata(state, 1));
  lua_rawgeti(state, LUA_REGISTRYINDEX, kTable);
  lua_getfield(state, -1, "launch");
  script.launch_ = luaL_ref(state, LUA_REGISTRYINDEX);
  if (script.functions_ != std::array<int, 4>{}) return 0;
  lua_getglobal(state, "run");
  if (!lua_isfunction(state, -1)) return raise(state, "there is no function `run`");
  script.functions_[static_cast<std::size_t>(VuList::kLoop)] = luaL_ref(state, LUA_REGISTRYINDEX);
  return 0;
}

}  // namespace muster::script
