#include "script/lua_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <lua.hpp>
#include <optional>

#include "authoring/yaml_node.h"
#include "script/lua_natives.h"
#include "script/lua_script.h"
#include "script/lua_state.h"
#include "script/lua_values.h"
#include "script/options.h"
#include "script/prelude.h"
#include "script/wrk_script.h"

namespace muster::script {
namespace {

using authoring::YamlEntry;
using authoring::YamlNode;

constexpr std::array<const char*, 3> kPhases{"start", "run", "stop"};
constexpr std::array<const char*, 6> kWrkHooks{"setup", "init", "delay", "request", "response", "done"};

YamlNode scalar(std::string text, std::uint32_t line) {
  YamlNode node;
  node.kind = YamlNode::Kind::kScalar;
  node.where.line = line;
  node.where.column = 1;
  node.text = std::move(text);
  return node;
}

YamlNode list(std::uint32_t line) {
  YamlNode node;
  node.kind = YamlNode::Kind::kList;
  node.where.line = line;
  node.where.column = 1;
  return node;
}

void put(YamlNode& map, std::string key, YamlNode value) {
  const model::Where where = value.where;
  map.map.push_back({.key = std::move(key), .key_where = where, .value = std::move(value)});
}

void drop(YamlNode& map, std::string_view key) {
  std::erase_if(map.map, [&](const YamlEntry& entry) { return entry.key == key; });
}

// What a script declares while it is read.
class Declarations {
 public:
  Declarations(std::string file, const authoring::Languages& languages)
      : file_(std::move(file)), languages_(languages), state_(kScriptLimits.memory_bytes, file_) {
    job_.kind = YamlNode::Kind::kMap;
    job_.where = {.file = nullptr, .line = 1, .column = 1};
  }

  base::Expected<void> read(std::string_view text);
  // The document that was declared; called once.
  base::Expected<YamlNode> document();
  // It named no workflow: `load` stood in `job`, and the function is the global `run`.
  bool short_form() const { return short_form_; }

 private:
  static Declarations& self(lua_State* state) {
    return *static_cast<Declarations*>(lua_touserdata(state, lua_upvalueindex(1)));
  }
  static int push_table(lua_State* state);
  static int step(lua_State* state);
  static int job(lua_State* state);
  static int workflow(lua_State* state);
  static int only_in_functions(lua_State* state);

  // What there is when the script has been read.
  struct Globals {
    // The script's own functions of those names, as Lua tells them apart; null where there is none.
    std::array<const void*, kPhases.size()> functions{};
    bool hooks = false;  // one of wrk's

    bool has(std::string_view name) const {
      return functions[static_cast<std::size_t>(std::ranges::find(kPhases, name) - kPhases.begin())] != nullptr;
    }
  };
  static int look(lua_State* state);
  // Nothing of muster's was used so far: it may be a script of wrk's.
  bool nothing_declared() const { return job_.map.empty() && steps_.empty() && workflows_.empty(); }
  base::Expected<void> refuse_wrk() const;
  base::Expected<void> refuse_beside(const Globals& found) const;
  // A global `start`, `run` or `stop` that looks like a workflow's, but was given to none.
  base::Expected<void> all_taken(const Globals& found) const;
  base::Expected<void> must_be_one_kind(const YamlNode& description, const std::vector<std::string>& functions) const;

  // The line of the script that called.
  std::uint32_t line(lua_State* state) const;
  // The table at `index` as a document, or an error on the stack to be raised.
  std::optional<YamlNode> table(lua_State* state, int index, const char* what);
  YamlNode scripted(YamlNode description, const std::vector<std::string>& functions) const;

  std::string file_;
  const authoring::Languages& languages_;
  LuaState state_;
  YamlNode job_;
  std::uint32_t job_line_ = 0;  // where `job` was called; 0: not yet
  std::vector<YamlNode> steps_;
  struct Workflow {
    YamlNode description;
    std::vector<std::string> functions;
  };
  std::vector<Workflow> workflows_;
  std::vector<const void*> taken_;  // the functions that workflows were given, as Lua tells them apart
  bool short_form_ = false;
};

int Declarations::only_in_functions(lua_State* state) {
  return raise(state, "steps, think, stop, set and data can be used only inside the functions start, run and stop");
}

int Declarations::push_table(lua_State* state) {
  void* const declarations = lua_touserdata(state, 1);
  lua_newtable(state);
  const auto add = [&](const char* name, lua_CFunction function) {
    lua_pushlightuserdata(state, declarations);
    lua_pushcclosure(state, function, 1);
    lua_setfield(state, -2, name);
  };
  add("step", &Declarations::step);
  add("job", &Declarations::job);
  add("workflow", &Declarations::workflow);
  for (const char* name :
       {"call", "fill", "sleep", "stop", "set", "value", "fork", "branch_failed", "now", "transaction"})
    add(name, &only_in_functions);
  add("log", [](lua_State*) { return 0; });
  add("random", [](lua_State* each) {
    // What is declared must be the same on every core: here nothing is random.
    lua_pushnumber(each, lua_gettop(each) == 0 ? 0.5 : luaL_checknumber(each, 1));
    return 1;
  });
  lua_newtable(state);
  lua_setfield(state, -2, "environment");
  add_plain_natives(state, static_cast<Declarations*>(declarations)->languages_.kinds);
  lua_rawseti(state, LUA_REGISTRYINDEX, LuaNatives::kTable);
  return 0;
}

std::uint32_t Declarations::line(lua_State* state) const {
  lua_Debug frame{};
  for (int level = 0; lua_getstack(state, level, &frame) != 0; ++level) {
    lua_getinfo(state, "Sl", &frame);
    if (frame.source == "@" + file_ && frame.currentline > 0) return static_cast<std::uint32_t>(frame.currentline);
  }
  return 1;
}

std::optional<YamlNode> Declarations::table(lua_State* state, int index, const char* what) {
  auto document = to_document(state, index, line(state));
  if (document && document->is_map()) return std::move(*document);
  lua_pushfstring(state, "%s:%d: %s: %s", file_.c_str(), static_cast<int>(line(state)), what,
                  document ? "expected a table with names as keys" : document.error().message.c_str());
  return std::nullopt;
}

int Declarations::step(lua_State* state) {
  Declarations& declarations = self(state);
  {
    auto description = declarations.table(state, 2, "a step");
    const bool room = declarations.steps_.size() < kScriptLimits.steps;
    if (description && room) {
      declarations.steps_.push_back(std::move(*description));
      return 0;
    }
    if (description) lua_pushliteral(state, "a script can declare at most 10,000 steps");
  }
  return lua_error(state);
}

int Declarations::job(lua_State* state) {
  Declarations& declarations = self(state);
  // A second table would take the place of what the first said, thresholds among it, and nobody would notice.
  if (declarations.job_line_ != 0) {
    return raise(state, "`job` was called before, on line %d; a script has one: put all its keys into that table",
                 static_cast<int>(declarations.job_line_));
  }
  {
    if (auto description = declarations.table(state, 1, "job")) {
      declarations.job_line_ = declarations.line(state);
      std::ranges::move(description->map, std::back_inserter(declarations.job_.map));
      return 0;
    }
  }
  return lua_error(state);
}

int Declarations::workflow(lua_State* state) {
  Declarations& declarations = self(state);
  luaL_checkstring(state, 1);
  luaL_checktype(state, 2, LUA_TTABLE);
  {
    Workflow made;
    // The functions stay in Lua; a copy without them becomes a document.
    lua_newtable(state);
    const int copy = lua_gettop(state);
    lua_pushnil(state);
    while (lua_next(state, 2) != 0) {
      const bool named = lua_type(state, -2) == LUA_TSTRING;
      const std::string key = named ? lua_tostring(state, -2) : "";
      if (lua_isfunction(state, -1) && std::ranges::find(kPhases, key) != kPhases.end()) {
        made.functions.push_back(key);
        declarations.taken_.push_back(lua_topointer(state, -1));
        lua_pop(state, 1);
        continue;
      }
      lua_pushvalue(state, -2);
      lua_insert(state, -2);
      lua_rawset(state, copy);
    }
    if (auto description = declarations.table(state, copy, "workflow")) {
      made.description = std::move(*description);
      put(made.description, "name", scalar(lua_tostring(state, 1), made.description.where.line));
      declarations.workflows_.push_back(std::move(made));
      return 0;
    }
  }
  return lua_error(state);
}

base::Expected<void> Declarations::read(std::string_view text) {
  const ReadingLimit limit(file_, kScriptLimits.read_time, kBadScript);
  if (auto opened = state_.open(); !opened) return opened;
  lua_State* const lua = state_.get();
  if (auto compiled = state_.compile(prelude(), kPreludeName); !compiled) return compiled;
  if (auto done = state_.call(&Declarations::push_table, this); !done) return done;
  lua_rawgeti(lua, LUA_REGISTRYINDEX, LuaNatives::kTable);
  if (auto done = state_.call(1, 0); !done) return done;
  if (auto compiled = state_.compile(text, file_); !compiled) return compiled;
  if (auto done = state_.run(); !done) {
    const bool for_wrk = nothing_declared() && text.find("wrk.") != std::string_view::npos;
    return for_wrk ? refuse_wrk() : done;
  }
  Globals found;
  if (auto done = state_.call(&Declarations::look, &found); !done) return done;
  if (!workflows_.empty()) return all_taken(found);
  if (!found.has("run") && found.hooks && nothing_declared()) return refuse_wrk();
  if (!found.has("run")) {
    return base::fail(fmt::format(
        "{}: there is nothing to run; declare workflow(\"name\", {{ load = …, run = function(vu) … end }}) or "
        "a function `run`",
        file_));
  }
  if (found.has("start") || found.has("stop")) return refuse_beside(found);
  short_form_ = true;
  return {};
}

int Declarations::look(lua_State* state) {
  auto& found = *static_cast<Globals*>(lua_touserdata(state, 1));
  const auto is_function = [&](const char* name) {
    lua_getglobal(state, name);
    const bool is = lua_isfunction(state, -1);
    lua_pop(state, 1);
    return is;
  };
  // `stop` is also what ends an iteration, until a script puts its own in its place.
  const auto own = [&](const char* name) -> const void* {
    if (!is_function(name)) return nullptr;
    lua_getglobal(state, name);
    const void* const function = lua_topointer(state, -1);
    lua_Debug made{};
    const bool told = lua_getinfo(state, ">S", &made) != 0;  // takes the function from the stack
    return told && std::string_view(made.source) != kPreludeSource ? function : nullptr;
  };
  std::ranges::transform(kPhases, found.functions.begin(), own);
  found.hooks = std::ranges::any_of(kWrkHooks, is_function);
  return 0;
}

base::Expected<void> Declarations::refuse_wrk() const {
  return base::fail(
      fmt::format("this is a script written for wrk; give it an address: muster run {} --url http://…", file_));
}

base::Expected<void> Declarations::refuse_beside(const Globals& found) const {
  const std::string name = std::filesystem::path(file_).stem().string();
  const bool start = found.has("start");
  const std::string_view which = start ? "start" : "stop";
  return base::fail(fmt::format(
      "{}: a global function `{}` is never called by itself, only `run` is; write workflow(\"{}\", {{ load = "
      "…, {}run = run{} }}), or `local function {}` if it is a function of your own",
      file_, which, name, start ? "start = start, " : "", found.has("stop") ? ", stop = stop" : "", which));
}

base::Expected<void> Declarations::all_taken(const Globals& found) const {
  for (std::size_t i = 0; i < kPhases.size(); ++i) {
    const void* const function = found.functions[i];
    if (function == nullptr || std::ranges::find(taken_, function) != taken_.end()) continue;
    return base::fail(fmt::format(
        "{0}: a global function `{1}` is never called where there is workflow(…); give it to one of its own, "
        "workflow(\"…\", {{ load = …, {1} = {1}{2} }}), or write `local function {1}` if it is a function of your own",
        file_, kPhases[i], kPhases[i] == std::string_view("run") ? "" : ", run = …"));
  }
  return {};
}

base::Expected<void> Declarations::must_be_one_kind(const YamlNode& description,
                                                    const std::vector<std::string>& functions) const {
  const bool runs = std::ranges::find(functions, "run") != functions.end();
  if (!runs && !functions.empty())
    return base::fail(fmt::format("{}:{}: a workflow with functions needs `run`", file_, description.where.line));
  if (!runs || description.find("steps") == nullptr) return {};
  return base::fail(fmt::format(
      "{}:{}: workflow '{}' has both `steps` and the function `run`, and only one of them can be what its VUs do; take "
      "one out, or declare the steps by step {{ … }} outside of functions and call them in `run`",
      file_, description.where.line, description.find("name")->text));
}

YamlNode Declarations::scripted(YamlNode description, const std::vector<std::string>& functions) const {
  const std::uint32_t line = description.where.line;
  YamlNode names = list(line);
  for (const std::string& each : functions) names.list.push_back(scalar(each, line));
  put(description, "functions", std::move(names));
  YamlNode steps = list(line);
  steps.list = steps_;
  put(description, "steps", std::move(steps));
  return description;
}

base::Expected<YamlNode> Declarations::document() {
  YamlNode workflows = list(1);
  if (short_form_) {
    YamlNode only;
    only.kind = YamlNode::Kind::kMap;
    only.where = job_.where;
    put(only, "name", scalar(std::filesystem::path(file_).stem().string(), 1));
    if (YamlNode* load = job_.find("load")) put(only, "load", *load);
    drop(job_, "load");
    workflows.list.push_back(scripted(std::move(only), {"run"}));
  }
  for (Workflow& each : workflows_) {
    if (auto good = must_be_one_kind(each.description, each.functions); !good) return std::unexpected(good.error());
    workflows.list.push_back(each.functions.empty() ? std::move(each.description)
                                                    : scripted(std::move(each.description), each.functions));
  }
  if (job_.find("muster") == nullptr) put(job_, "muster", scalar("1", 1));
  put(job_, "workflows", std::move(workflows));
  return std::move(job_);
}

class LuaProgram final : public engine::ScriptProgram {
 public:
  explicit LuaProgram(const model::StepKinds& kinds) : kinds_(kinds) {}

  std::unique_ptr<engine::Script> make(const engine::ScriptServices& services) override {
    return std::make_unique<LuaScript>(services, kinds_);
  }

 private:
  const model::StepKinds& kinds_;
};

class Lua final : public engine::ScriptLanguage {
 public:
  explicit Lua(model::StepKinds kinds) : kinds_(std::move(kinds)) {}

  std::unique_ptr<engine::ScriptProgram> open(const engine::Program& program) override {
    if (program.script->profile == "wrk") return open_wrk(program);
    return std::make_unique<LuaProgram>(kinds_);
  }

 private:
  model::StepKinds kinds_;
};

}  // namespace

std::expected<model::Job, authoring::Problems> load_lua_job(std::string_view text, const std::string& file_name,
                                                            const authoring::LoadInput& input,
                                                            const authoring::Languages& languages) {
  const auto explain = [](std::string message) {
    return std::unexpected(authoring::Problems{{{.where = {}, .message = std::move(message), .excerpt = {}}}});
  };
  if (text.size() > kScriptLimits.file_bytes)
    return explain(fmt::format("{}: the script is larger than 4 MiB", file_name));
  Declarations declarations(file_name, languages);
  if (auto read = declarations.read(text); !read) return explain(read.error().message);
  auto document = declarations.document();
  if (!document) return explain(document.error().message);
  auto script = std::make_shared<model::Script>();
  script->language = "lua";
  script->profile = "muster";
  script->file = file_name;
  script->text = text;
  return authoring::load_document(std::move(*document), text, file_name, input, languages,
                                  {.script = std::move(script), .single_workflow = declarations.short_form()});
}

std::shared_ptr<engine::ScriptLanguage> lua(model::StepKinds kinds) {
  return std::make_shared<Lua>(std::move(kinds));
}

}  // namespace muster::script
