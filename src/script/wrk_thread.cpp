#include "script/wrk_thread.h"

#include <fmt/format.h>

#include <array>
#include <lua.hpp>

#include "protocol/http1_request.h"
#include "script/lua_natives.h"
#include "script/lua_values.h"
#include "script/options.h"
#include "script/prelude.h"

namespace muster::script {
namespace {

struct TableContext {
  const model::Script& script;
  WrkThread& thread;
  std::FILE* output;
  int reference;
};

int make_table(lua_State* state) {
  auto& context = *static_cast<TableContext*>(lua_touserdata(state, 1));
  lua_newtable(state);
  lua_newtable(state);  // settings
  lua_newtable(state);  // headers
  constexpr std::string_view kHeader = "header ";
  for (const auto& [name, value] : context.script.settings) {
    const bool header = name.starts_with(kHeader);
    lua_pushlstring(state, name.data() + (header ? kHeader.size() : 0), name.size() - (header ? kHeader.size() : 0));
    lua_pushlstring(state, value.data(), value.size());
    lua_rawset(state, header ? -3 : -4);
  }
  lua_setfield(state, -3, "headers");
  lua_setfield(state, -2, "settings");
  push_thread(state, context.thread);
  lua_setfield(state, -2, "thread");
  add_wrk_natives(state, context.output);
  context.reference = luaL_ref(state, LUA_REGISTRYINDEX);
  return 0;
}

struct HooksContext {
  int table;
  const std::vector<std::string>& arguments;
  int request = 0;
  int response = 0;
  int delay = 0;
  int done = 0;
  bool dynamic = false;
};

int begin_hooks(lua_State* state) {
  auto& context = *static_cast<HooksContext*>(lua_touserdata(state, 1));
  lua_rawgeti(state, LUA_REGISTRYINDEX, context.table);
  lua_getfield(state, -1, "begin");
  lua_newtable(state);
  int position = 0;
  for (const std::string& each : context.arguments) {
    lua_pushlstring(state, each.data(), each.size());
    lua_rawseti(state, -2, position++);
  }
  lua_call(state, 1, 0);
  lua_getfield(state, -1, "hooks");
  lua_call(state, 0, 5);
  const auto take = [&]() {
    if (lua_isfunction(state, -1)) return luaL_ref(state, LUA_REGISTRYINDEX);
    lua_pop(state, 1);
    return 0;
  };
  context.done = take();
  context.delay = take();
  context.response = take();
  context.dynamic = lua_toboolean(state, -1) != 0;
  lua_pop(state, 1);
  context.request = take();
  return 0;
}

struct ThreadCall {
  int table;
  const char* function;
  WrkThread* thread;
};

int call_with_thread(lua_State* state) {
  const auto& call = *static_cast<ThreadCall*>(lua_touserdata(state, 1));
  lua_rawgeti(state, LUA_REGISTRYINDEX, call.table);
  lua_getfield(state, -1, call.function);
  if (call.thread != nullptr) push_thread(state, *call.thread);
  lua_call(state, call.thread != nullptr ? 1 : 0, 0);
  return 0;
}

struct ResponseCall {
  int function;
  std::uint32_t status;
  std::string_view headers;
  std::string_view body;
};

int call_response(lua_State* state) {
  const auto& call = *static_cast<ResponseCall*>(lua_touserdata(state, 1));
  lua_rawgeti(state, LUA_REGISTRYINDEX, call.function);
  lua_pushnumber(state, call.status);
  lua_newtable(state);
  std::string_view rest = call.headers;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const std::size_t colon = line.find(": ");
    if (colon == std::string_view::npos) continue;
    lua_pushlstring(state, line.data(), colon);
    lua_pushlstring(state, line.data() + colon + 2, line.size() - colon - 2);
    lua_rawset(state, -3);
  }
  lua_pushlstring(state, call.body.data(), call.body.size());
  lua_call(state, 3, 0);
  return 0;
}

struct PlanCall {
  int table;
  WrkPlan plan;
};

int call_plan(lua_State* state) {
  auto& call = *static_cast<PlanCall*>(lua_touserdata(state, 1));
  lua_rawgeti(state, LUA_REGISTRYINDEX, call.table);
  lua_getfield(state, -1, "plan");
  lua_call(state, 0, 3);
  call.plan.known = lua_toboolean(state, -3) != 0;
  call.plan.method = text_at(state, -2);
  call.plan.path = text_at(state, -1);
  return 0;
}

struct CountingSink : protocol::Http1RequestSink {};

}  // namespace

WrkThread::WrkThread(const model::Script& script, std::size_t memory_bytes, Use use)
    : script_(script), use_(use), state_(memory_bytes, script.file) {}

base::Expected<void> WrkThread::open() {
  if (auto opened = state_.open(); !opened) return opened;
  lua_State* const lua = state_.get();
  std::FILE* const shown = script_.to_standard_error ? stderr : stdout;
  TableContext context{
      .script = script_, .thread = *this, .output = use_ == Use::kRunning ? shown : nullptr, .reference = 0};
  if (auto done = state_.call(&make_table, &context); !done) return done;
  table_ = context.reference;
  if (auto compiled = state_.compile(wrk_prelude(), "wrk"); !compiled) return compiled;
  lua_rawgeti(lua, LUA_REGISTRYINDEX, table_);
  if (auto done = state_.call(1, 0); !done) return done;
  if (auto compiled = state_.compile(script_.text, script_.file); !compiled) return compiled;
  return state_.run();
}

base::Expected<void> WrkThread::resolve() {
  ThreadCall call{.table = table_, .function = "resolve", .thread = nullptr};
  return state_.call(&call_with_thread, &call);
}

base::Expected<WrkPlan> WrkThread::plan() {
  PlanCall call{.table = table_, .plan = {}};
  if (auto done = state_.call(&call_plan, &call); !done) return std::unexpected(done.error());
  return std::move(call.plan);
}

base::Expected<void> WrkThread::set_up(WrkThread& thread) {
  ThreadCall call{.table = table_, .function = "set_up", .thread = &thread};
  return state_.call(&call_with_thread, &call);
}

base::Expected<void> WrkThread::begin() {
  HooksContext context{.table = table_, .arguments = script_.arguments};
  if (auto done = state_.call(&begin_hooks, &context); !done) return done;
  request_ = context.request;
  response_ = context.response;
  delay_ = context.delay;
  done_ = context.done;
  dynamic_ = context.dynamic;
  if (dynamic_) return {};
  // A request that never changes is asked for once.
  dynamic_ = true;
  auto constant = request();
  dynamic_ = false;
  if (!constant) return std::unexpected(constant.error());
  return {};
}

int WrkThread::find_done() {
  int reference = 0;
  const auto find = [](lua_State* state) {
    auto& found = *static_cast<int*>(lua_touserdata(state, 1));
    lua_getglobal(state, "done");
    if (lua_isfunction(state, -1)) found = luaL_ref(state, LUA_REGISTRYINDEX);
    return 0;
  };
  return state_.call(find, &reference) ? reference : 0;
}

base::Expected<std::string_view> WrkThread::request() {
  if (!dynamic_) return std::string_view(bytes_);
  if (state_.exhausted()) return base::fail(state_.out_of_memory());
  lua_State* const lua = state_.get();
  lua_rawgeti(lua, LUA_REGISTRYINDEX, request_);
  if (auto done = state_.call(0, 1); !done) return std::unexpected(done.error());
  if (lua_type(lua, -1) != LUA_TSTRING) {
    lua_pop(lua, 1);
    return base::fail(
        fmt::format("{}: `request` must return the bytes of a request, such as wrk.format()", script_.file));
  }
  std::size_t length = 0;
  const char* text = lua_tolstring(lua, -1, &length);
  bytes_.assign(text, length);
  lua_pop(lua, 1);
  if (bytes_.empty()) return base::fail(fmt::format("{}: `request` returned no bytes", script_.file));
  return std::string_view(bytes_);
}

base::Expected<std::uint32_t> WrkThread::count_requests() {
  auto bytes = request();
  if (!bytes) return std::unexpected(bytes.error());
  const protocol::Http1Limits limits;
  protocol::Http1RequestParser parser(limits);
  CountingSink sink;
  std::string_view rest = *bytes;
  std::uint32_t count = 0;
  while (!rest.empty()) {
    parser.reset();
    const protocol::FeedResult fed = parser.feed(rest, sink);
    if (fed.state != protocol::ParseState::kComplete) {
      return base::fail(fmt::format("{}: what `request` returned is no whole HTTP request: {}", script_.file,
                                    fed.state == protocol::ParseState::kError ? std::string(parser.error_text())
                                                                              : std::string("its end is missing")));
    }
    rest.remove_prefix(fed.consumed);
    ++count;
  }
  return count;
}

base::Expected<double> WrkThread::delay() {
  if (state_.exhausted()) return base::fail(state_.out_of_memory());
  lua_State* const lua = state_.get();
  lua_rawgeti(lua, LUA_REGISTRYINDEX, delay_);
  if (auto done = state_.call(0, 1); !done) return std::unexpected(done.error());
  const double milliseconds = lua_tonumber(lua, -1);
  lua_pop(lua, 1);
  constexpr double kDay = 86'400'000;
  return milliseconds >= 0 && milliseconds <= kDay ? milliseconds : 0;
}

base::Expected<void> WrkThread::response(std::uint32_t status, std::string_view headers, std::string_view body) {
  ResponseCall call{.function = response_, .status = status, .headers = headers, .body = body};
  return state_.call(&call_response, &call);
}

}  // namespace muster::script
