#include "authoring/loader_context.h"

#include <fmt/format.h>

#include <algorithm>

#include "authoring/expression_words.h"
#include "authoring/text_template.h"
#include "base/closest.h"
#include "base/units.h"

namespace muster::authoring {
namespace {

// The names of a place that is fixed before the run: only the environment.
class ConstantScope : public Scope {
 public:
  ConstantScope(LoaderContext& context, bool may_be_missing) : context_(context), may_be_missing_(may_be_missing) {}

  base::Expected<Slot> resolve(const Path& path) override {
    const std::string* first = std::get_if<std::string>(&path.front());
    const std::string* second = path.size() == 2 ? std::get_if<std::string>(&path[1]) : nullptr;
    if (first == nullptr || *first != "env" || second == nullptr) {
      return unknown(to_text(path));
    }
    const auto found = context_.environment.find(*second);
    if (found == context_.environment.end() && !may_be_missing_) {
      return base::fail(context_.not_set(*second));
    }
    context_.named_environment.insert(*second);
    const auto index = static_cast<std::uint32_t>(slots_.size());
    slots_.push_back(found == context_.environment.end() ? model::Value()
                                                         : model::Value::of(std::string_view(found->second)));
    return Slot{index, {}};
  }

  base::Expected<void> allow_changing(std::string_view written) override { return unknown(written); }

  const std::vector<model::Value>& slots() const { return slots_; }

 private:
  static std::unexpected<base::Error> unknown(std::string_view written) {
    return base::fail(fmt::format("'{}' is not known before the run; only ${{env.NAME}} can stand here", written));
  }

  LoaderContext& context_;
  bool may_be_missing_;
  std::vector<model::Value> slots_;
};

bool fill(LoaderContext& context, YamlNode& node) {
  if (node.text.find("${") == std::string::npos) return true;
  ConstantScope scope(context, node.text.find("??") != std::string::npos);
  const model::Text text{node.text, node.where};
  const auto compiled = TextTemplate::compile(node.text, scope, Escape::kNone);
  if (!compiled) {
    context.reporter.report_inside(text, compiled.error().offset, compiled.error().message);
    return false;
  }
  base::BlockPool pool;
  base::Arena arena(pool);
  Evaluation evaluation;
  evaluation.slots = scope.slots().data();
  evaluation.arena = &arena;
  std::string filled;
  if (const auto rendered = compiled->render(evaluation, filled); !rendered) {
    context.report(node.where, rendered.error().message);
    return false;
  }
  node.text = std::move(filled);
  node.plain = true;
  return true;
}

}  // namespace

std::string LoaderContext::not_set(const std::string& name) const {
  if (valueless_environment.contains(name)) {
    return fmt::format("environment variable '{0}' is declared under `env:` without a value; give it one there", name);
  }
  std::vector<std::string_view> others(named_environment.begin(), named_environment.end());
  std::erase(others, name);
  return fmt::format("environment variable '{0}' is not set{1}; pass -e {0}=…, or give it a default under `env:`", name,
                     base::did_you_mean(name, others));
}

bool LoaderContext::check_keys(const YamlNode& map, std::span<const std::string_view> known, std::string_view what) {
  bool good = true;
  for (const YamlEntry& entry : map.map) {
    if (std::ranges::find(known, entry.key) != known.end()) continue;
    good = false;
    if (reporter.full()) break;
    std::string hint = base::did_you_mean(entry.key, known);
    if (hint.empty()) {
      hint =
          fmt::format("; it takes {}", quoted_list(std::vector<std::string_view>(known.begin(), known.end()), "and"));
    }
    report(entry.key_where, fmt::format("unknown key '{}' in {}{}", entry.key, what, hint));
  }
  return good;
}

bool LoaderContext::expect_name(const YamlEntry& entry) {
  if (identifier(entry.key)) return true;
  report(entry.key_where, fmt::format("'{}' cannot be a name; names are letters, digits and '_', and do not begin with "
                                      "a digit",
                                      entry.key));
  return false;
}

bool LoaderContext::expect_value_name(const YamlEntry& entry) {
  if (!expect_name(entry)) return false;
  if (!expression_word(entry.key)) return true;
  report(entry.key_where, fmt::format("'{}' cannot be a name: expressions take it as a word of their own, so that "
                                      "nothing could read it; choose another",
                                      entry.key));
  return false;
}

bool LoaderContext::expect_map(const YamlNode& node, std::string_view what, std::string_view example) {
  if (node.is_map()) return true;
  report(node.where, fmt::format("{} must be a map such as `{}`, found {}", what, example, describe(node)));
  return false;
}

bool LoaderContext::expect_list(const YamlNode& node, std::string_view what, std::string_view example) {
  if (node.is_list()) return true;
  report(node.where, fmt::format("{} must be a list such as `{}`, found {}", what, example, describe(node)));
  return false;
}

std::optional<std::string> LoaderContext::constant_text(const YamlNode& node, std::string_view what) {
  if (!node.is_scalar()) {
    report(node.where, fmt::format("{} must be text, found {}", what, describe(node)));
    return std::nullopt;
  }
  YamlNode filled = node;
  if (!fill(*this, filled)) return std::nullopt;
  return std::move(filled.text);
}

std::optional<std::string> LoaderContext::shown_text(const YamlNode& node, std::string_view what) {
  auto text = constant_text(node, what);
  if (!text || *text == node.text) return text;
  for (const auto& [name, value] : secrets) {
    if (value.empty() || text->find(value) == std::string::npos) continue;
    report(node.where,
           fmt::format("{} is printed and reported, so that it must not be made of the secret {}; take it out", what,
                       name));
    break;
  }
  return text;
}

bool LoaderContext::fill_constants(YamlNode& node) {
  bool good = true;
  if (node.is_scalar()) good = fill(*this, node);
  for (YamlNode& each : node.list) good = fill_constants(each) && good;
  for (YamlEntry& each : node.map) good = fill_constants(each.value) && good;
  return good;
}

std::vector<std::string> LoaderContext::text_list(const YamlNode& node, std::string_view what) {
  std::vector<std::string> texts;
  if (node.is_list()) {
    for (const YamlNode& each : node.list) {
      if (auto text = constant_text(each, fmt::format("each item of {}", what))) texts.push_back(std::move(*text));
    }
  } else if (auto text = constant_text(node, what)) {
    texts.push_back(std::move(*text));
  }
  return texts;
}

std::optional<base::Duration> LoaderContext::duration(const YamlNode& node, std::string_view what, base::Duration least,
                                                      base::Duration most) {
  if (!node.is_scalar()) {
    report(node.where, fmt::format("{} must be a time such as 30s, found {}", what, describe(node)));
    return std::nullopt;
  }
  const auto text = constant_text(node, what);
  if (!text) return std::nullopt;
  const auto parsed = base::parse_duration(*text);
  if (!parsed) {
    report(node.where, fmt::format("{}: {}", what, parsed.error().message));
    return std::nullopt;
  }
  if (*parsed < least || *parsed > most) {
    report(node.where, fmt::format("{} must be between {} and {}, found '{}'", what, base::format_duration(least),
                                   base::format_duration(most), *text));
    return std::nullopt;
  }
  return *parsed;
}

std::optional<std::uint64_t> LoaderContext::whole_number(const YamlNode& node, std::string_view what,
                                                         std::uint64_t least, std::uint64_t most) {
  YamlNode filled = node;
  if (filled.is_scalar() && !fill(*this, filled)) return std::nullopt;
  const model::Tree tree = to_tree(filled);
  const std::int64_t* value = tree.integer();
  if (value == nullptr && too_large(filled)) {
    report(node.where, fmt::format("{} must be between {} and {}, found {}", what, least, most, filled.text));
    return std::nullopt;
  }
  if (value == nullptr) {
    report(node.where,
           fmt::format("{} must be a whole number, found {}{}", what, describe(filled), number_advice(filled)));
    return std::nullopt;
  }
  if (*value < 0 || static_cast<std::uint64_t>(*value) < least || static_cast<std::uint64_t>(*value) > most) {
    report(node.where, fmt::format("{} must be between {} and {}, found {}", what, least, most, *value));
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(*value);
}

std::optional<std::size_t> LoaderContext::choice(const YamlNode& node, std::string_view what,
                                                 std::span<const std::string_view> choices) {
  const std::vector<std::string_view> words(choices.begin(), choices.end());
  if (!node.is_scalar()) {
    report(node.where, fmt::format("{} must be {}, found {}", what, quoted_list(words, "or"), describe(node)));
    return std::nullopt;
  }
  const auto text = constant_text(node, what);
  if (!text) return std::nullopt;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == *text) return i;
  }
  report(node.where, fmt::format("{} must be {}, found '{}'{}", what, quoted_list(words, "or"), *text,
                                 base::did_you_mean(*text, choices)));
  return std::nullopt;
}

}  // namespace muster::authoring
