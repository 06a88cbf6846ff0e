#include "engine/program_scope.h"

#include <fmt/format.h>

#include <algorithm>

#include "authoring/json_document.h"
#include "engine/tree_json.h"

namespace muster::engine {
namespace {

using authoring::Path;
using authoring::Slot;

// The part at `index` if it is a name.
const std::string* name_at(const Path& path, std::size_t index) {
  return index < path.size() ? std::get_if<std::string>(&path[index]) : nullptr;
}

// All values that `keep: all` has handed on, JSON texts, as a table of one column.
authoring::Feeder handed_on(const std::string& key, const std::vector<std::string>& texts) {
  base::BlockPool pool;
  base::Arena arena(pool);
  authoring::JsonDocument document;
  std::vector<model::Value> values;
  for (const std::string& text : texts)
    values.push_back(document.parse(text) ? document.find({}, arena) : model::Value());
  return authoring::Feeder::from_values(key, values);
}

Path rest_of(const Path& path, std::size_t used) {
  return Path(path.begin() + static_cast<std::ptrdiff_t>(std::min(used, path.size())), path.end());
}

}  // namespace

base::Expected<Slot> ProgramScope::resolve(const Path& path) {
  const std::string* root = name_at(path, 0);
  if (root == nullptr) return base::fail("a path must begin with a name");
  if (own_) {
    if (auto slot = own_result(path)) return *slot;
  }
  if (const auto found = variables_.find(*root); found != variables_.end()) {
    if (arguments_ != nullptr) add_argument(*root, found->second);
    return Slot{.index = found->second, .rest = rest_of(path, 1)};
  }
  if (auto slot = used_key(path)) return *slot;
  if (const auto found = steps_.find(*root); found != steps_.end()) return step_result(found->second, path);
  if (*root == "data") return data_column(path);
  if (*root == "env") return environment(path);
  if (auto slot = intrinsic(path)) return *slot;
  if (arguments_ != nullptr) {
    const std::uint32_t slot = variable(*root);
    add_argument(*root, slot);
    return Slot{.index = slot, .rest = rest_of(path, 1)};
  }
  return base::fail(fmt::format("unknown name '{}'", authoring::to_text(path)));
}

std::uint32_t ProgramScope::variable(const std::string& name) {
  const auto [entry, fresh] = variables_.try_emplace(name, 0);
  if (fresh) entry->second = new_slot();
  auto& kept = program_.kept_slots;
  if (list_ == VuList::kStart && std::find(kept.begin(), kept.end(), entry->second) == kept.end())
    kept.push_back(entry->second);
  return entry->second;
}

void ProgramScope::add_argument(const std::string& name, std::uint32_t slot) {
  const std::pair added(name, slot);
  if (std::find(arguments_->begin(), arguments_->end(), added) == arguments_->end()) arguments_->push_back(added);
}

void ProgramScope::add_step(const std::string& name, std::uint32_t call, const model::StepKind& kind) {
  const StepEntry entry{.call = call, .kind = &kind, .in_start = list_ == VuList::kStart};
  steps_.insert_or_assign(name, entry);
  calls_.insert_or_assign(call, entry);
}

std::uint32_t ProgramScope::new_slot() {
  program_.initial.emplace_back();
  return static_cast<std::uint32_t>(program_.initial.size() - 1);
}

std::uint32_t ProgramScope::text_constant(std::string text) {
  const auto& kept = program_.constants.emplace_back(std::make_unique<std::string>(std::move(text)));
  const std::uint32_t slot = new_slot();
  program_.initial[slot] = model::Value::of(std::string_view(*kept));
  return slot;
}

std::uint32_t ProgramScope::json_constant(const std::string& json) {
  base::BlockPool pool;
  base::Arena arena(pool);
  authoring::JsonDocument document;
  const model::Value value = document.parse(json) ? document.find({}, arena) : model::Value();
  if (value.type() == model::ValueType::kText) return text_constant(std::string(value.text()));
  const std::uint32_t slot = new_slot();
  program_.initial[slot] = value;
  if (value.type() == model::ValueType::kJson) {
    const auto& kept = program_.constants.emplace_back(std::make_unique<std::string>(value.text()));
    program_.initial[slot] = model::Value::json(*kept);
  }
  return slot;
}

std::optional<Slot> ProgramScope::own_result(const Path& path) {
  const StepEntry& entry = calls_.at(*own_);
  const auto& results = entry.kind->results;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i].name == std::get<std::string>(path[0])) return capture(entry, i, path, 1);
  }
  return std::nullopt;
}

Slot ProgramScope::capture(const StepEntry& entry, std::size_t result, const Path& path, std::size_t used) {
  Path rest = rest_of(path, used);
  auto& captures = program_.calls[entry.call].captures;
  for (const Capture& each : captures) {
    if (each.result == result && each.rest == rest) return Slot{.index = each.slot, .rest = {}};
  }
  const std::uint32_t slot = new_slot();
  captures.push_back({.slot = slot, .result = static_cast<std::uint32_t>(result), .rest = std::move(rest)});
  program_.calls[entry.call].judged = true;
  program_.calls[entry.call].captured |= std::uint64_t{1} << result;
  if (entry.in_start) program_.kept_slots.push_back(slot);
  return Slot{.index = slot, .rest = {}};
}

base::Expected<Slot> ProgramScope::step_result(const StepEntry& entry, const Path& path) {
  const auto& results = entry.kind->results;
  const std::string* name = name_at(path, 1);
  if (name != nullptr) {
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (results[i].name == *name) return capture(entry, i, path, 2);
    }
  }
  std::string known;
  for (const model::ResultField& each : results) known += fmt::format("{}{}", known.empty() ? "" : ", ", each.name);
  return base::fail(
      fmt::format("'{}' names no result of a {} step; it has: {}", authoring::to_text(path), entry.kind->name, known));
}

FeederUse& ProgramScope::feeder_use(const std::string& name, std::shared_ptr<const authoring::Feeder> feeder,
                                    model::Pick pick) {
  auto use = std::ranges::find(program_.feeders, name, &FeederUse::name);
  if (use == program_.feeders.end()) {
    FeederUse& added = program_.feeders.emplace_back();
    added.feeder = std::move(feeder);
    added.name = name;
    added.pick = pick;
    use = program_.feeders.end() - 1;
  }
  use->read_by[static_cast<std::size_t>(list_)] = true;
  const auto index = static_cast<std::uint32_t>(use - program_.feeders.begin());
  if (rows_ != nullptr && std::ranges::find(*rows_, index) == rows_->end()) rows_->push_back(index);
  return *use;
}

base::Expected<std::shared_ptr<const authoring::Feeder>> ProgramScope::feeder_of(const model::DataSource& source) {
  for (const FeederUse& each : program_.feeders) {
    if (each.name == source.name) return each.feeder;
  }
  auto loaded = authoring::Feeder::load(source);
  if (!loaded) return std::unexpected(loaded.error());
  return std::make_shared<const authoring::Feeder>(std::move(*loaded));
}

base::Expected<void> ProgramScope::add_script_values(std::string_view script_text) {
  const auto mentioned = [&](const std::string& name) {
    return script_text.find("data." + name) != std::string_view::npos ||
           script_text.find("data[\"" + name + "\"]") != std::string_view::npos ||
           script_text.find("data['" + name + "']") != std::string_view::npos;
  };
  for (const model::DataSource& source : job_.data) {
    if (!mentioned(source.name)) continue;
    const auto feeder = feeder_of(source);
    if (!feeder) return std::unexpected(feeder.error());
    for (const std::string& column : (*feeder)->columns()) {
      const auto slot = data_column({"data", source.name, column});
      if (!slot) return std::unexpected(slot.error());
      program_.script_values.push_back({.group = "data." + source.name, .name = column, .slot = slot->index});
    }
  }
  for (const model::Use& use : workflow_.uses) {
    if (const auto slot = used_key({use.key})) {
      program_.script_values.push_back({.group = "use", .name = use.key, .slot = slot->index});
    }
  }
  return {};
}

base::Expected<Slot> ProgramScope::data_column(const Path& path) {
  const std::string* source_name = name_at(path, 1);
  const std::string* column_name = name_at(path, 2);
  if (source_name == nullptr || column_name == nullptr) {
    return base::fail(fmt::format("'{}' must be data.<source>.<column>", authoring::to_text(path)));
  }
  const auto source = std::find_if(job_.data.begin(), job_.data.end(),
                                   [&](const model::DataSource& each) { return each.name == *source_name; });
  if (source == job_.data.end()) return base::fail(fmt::format("there is no data source '{}'", *source_name));
  const auto feeder = feeder_of(*source);
  if (!feeder) return std::unexpected(feeder.error());
  const auto column = (*feeder)->column(*column_name);
  if (!column) return base::fail(fmt::format("data source '{}' has no column '{}'", *source_name, *column_name));
  FeederUse& use = feeder_use(*source_name, *feeder, source->pick);
  for (const auto& [slot, index] : use.columns) {
    if (index == *column) return Slot{.index = slot, .rest = rest_of(path, 3)};
  }
  const std::uint32_t slot = new_slot();
  use.columns.emplace_back(slot, static_cast<std::uint32_t>(*column));
  return Slot{.index = slot, .rest = rest_of(path, 3)};
}

base::Expected<Slot> ProgramScope::environment(const Path& path) {
  const std::string* name = name_at(path, 1);
  if (name == nullptr) return base::fail("'env' must be followed by a name: env.PASSWORD");
  const std::string key = "env." + *name;
  if (const auto found = constants_.find(key); found != constants_.end())
    return Slot{.index = found->second, .rest = {}};
  for (const auto& [each, value] : job_.environment) {
    if (each == *name) {
      const std::uint32_t slot = text_constant(value);
      constants_.emplace(key, slot);
      return Slot{.index = slot, .rest = {}};
    }
  }
  // Not set: missing, so that `?? default` works; a step that needs it fails and says so.
  const std::uint32_t slot = new_slot();
  constants_.emplace(key, slot);
  return Slot{.index = slot, .rest = {}};
}

std::optional<Slot> ProgramScope::used_key(const Path& path) {
  const std::string& root = std::get<std::string>(path[0]);
  const auto use = std::find_if(workflow_.uses.begin(), workflow_.uses.end(),
                                [&](const model::Use& each) { return each.key == root; });
  if (use == workflow_.uses.end()) return std::nullopt;
  const std::string key = "use." + root;
  if (const auto found = constants_.find(key); found != constants_.end()) {
    for (const FeederUse& each : program_.feeders) {
      if (each.name == key) feeder_use(key, each.feeder, each.pick);
    }
    return Slot{.index = found->second, .rest = rest_of(path, 1)};
  }
  std::uint32_t slot = 0;
  const auto given = std::find_if(received_.begin(), received_.end(), [&](const auto& each) {
    return each.first == use->source && each.second.key == root && !each.second.values.empty();
  });
  if (given == received_.end()) {
    slot = use->fallback ? json_constant(json_text(*use->fallback)) : new_slot();
  } else if (given->second.keep_all) {
    auto feeder = std::make_shared<const authoring::Feeder>(handed_on(root, given->second.values));
    slot = new_slot();
    feeder_use(key, std::move(feeder), model::Pick::kSequential).columns.emplace_back(slot, 0);
  } else {
    slot = json_constant(given->second.values.front());
  }
  constants_.emplace(key, slot);
  return Slot{.index = slot, .rest = rest_of(path, 1)};
}

std::optional<Slot> ProgramScope::intrinsic(const Path& path) {
  const std::string& root = std::get<std::string>(path[0]);
  const std::string* second = name_at(path, 1);
  if (root == "workflow") return Slot{.index = text_constant(workflow_.name), .rest = {}};
  if (root == "iteration" || (root == "vu" && second != nullptr && *second == "iteration")) {
    if (!program_.iteration_slot) program_.iteration_slot = new_slot();
    return Slot{.index = *program_.iteration_slot, .rest = {}};
  }
  if (root == "vu" && second != nullptr && *second == "id") {
    if (!program_.vu_slot) program_.vu_slot = new_slot();
    return Slot{.index = *program_.vu_slot, .rest = {}};
  }
  return std::nullopt;
}

}  // namespace muster::engine
