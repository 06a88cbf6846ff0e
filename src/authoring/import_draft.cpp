#include "authoring/import_draft.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/characters.h"
#include "base/letter_case.h"
#include "base/utf8.h"
#include "protocol/form.h"
#include "protocol/url.h"

namespace muster::authoring {
namespace {

bool sounds_secret(std::string_view name) {
  constexpr std::array<std::string_view, 6> kParts{"TOKEN", "SECRET", "PASS", "KEY", "AUTH", "CREDENTIAL"};
  const std::string upper = base::upper(name);
  return std::ranges::any_of(kParts, [&](std::string_view each) { return upper.find(each) != std::string::npos; });
}

// Nothing where the piece is not what our own encoder would write.
std::optional<std::string> form_decoded(std::string_view piece) {
  std::string text(piece);
  std::ranges::replace(text, '+', ' ');
  text = protocol::percent_decode(text);
  std::string again;
  protocol::append_form_encoded(again, text);
  if (again != piece) return std::nullopt;
  if (!base::is_utf8(text) || text.find('\0') != std::string::npos) return std::nullopt;
  return text;
}

// Texts that are cut for a note may end within a character.
std::string readable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = base::utf8_length(text);
    out += text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

constexpr std::string_view kLoadComment =
    "One virtual user goes through the steps once. When `muster try` shows what you expect, ask for more, such as\n"
    "load: { vus: 10, for: 30s }";

}  // namespace

std::string template_text(std::string_view text) {
  std::string out;
  // A `$` right before a hole would escape it.
  const auto hole = [&out](std::string_view expression) {
    std::size_t dollars = 0;
    while (dollars < out.size() && out[out.size() - 1 - dollars] == '$') ++dollars;
    if (dollars > 0) {
      out.resize(out.size() - dollars);
      out += fmt::format("${{'{}'}}", std::string(dollars, '$'));
    }
    out += fmt::format("${{{}}}", expression);
  };
  const bool braces = text.find("}}") != std::string_view::npos;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::string_view rest = text.substr(at);
    if (rest.front() == kVariableBegin) {
      const std::size_t end = std::min(rest.find(kVariableEnd), rest.size());
      hole(fmt::format("env.{}", rest.substr(1, end - 1)));
      at += end;
    } else if (rest.starts_with("${{")) {
      hole("'${'");  // what is left would read as {{ }}, which the loader takes for another tool's hole
      ++at;
    } else if (rest.starts_with("${")) {
      out += "$${";
      ++at;
    } else if (braces && rest.starts_with("{{")) {
      hole("'{{'");
      ++at;
    } else {
      out += rest.front();
    }
  }
  return out;
}

std::string escape_marks(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == kVariableBegin || c == kVariableEnd) {
      out += {kVariableBegin, c == kVariableBegin ? '0' : '1', kVariableEnd};
    } else {
      out += c;
    }
  }
  return out;
}

std::optional<char> escaped_mark(std::string_view text) {
  if (text.size() < kEscapedMark || text[0] != kVariableBegin || text[2] != kVariableEnd) return std::nullopt;
  if (text[1] == '0') return kVariableBegin;
  if (text[1] == '1') return kVariableEnd;
  return std::nullopt;
}

std::vector<std::string> variables_in(std::string_view text) {
  std::vector<std::string> names;
  for (std::size_t at = text.find(kVariableBegin); at != std::string_view::npos; at = text.find(kVariableBegin, at)) {
    const std::size_t end = std::min(text.find(kVariableEnd, at), text.size());
    names.emplace_back(text.substr(at + 1, end - at - 1));
    at = end;
  }
  return names;
}

YamlOut form_fields(std::string_view body) {
  YamlOut fields = YamlOut::of_map();
  while (!body.empty()) {
    if (fields.map.size() >= kMostFields) return YamlOut::of_map();
    const std::string_view pair = body.substr(0, body.find('&'));
    if (pair.size() == body.size() - 1) return YamlOut::of_map();  // ends in '&'
    body.remove_prefix(std::min(pair.size() + 1, body.size()));
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos || equals == 0 || equals > kLongestKey) return YamlOut::of_map();
    const auto name = form_decoded(pair.substr(0, equals));
    const auto value = form_decoded(pair.substr(equals + 1));
    if (!name || !value || fields.find(*name) != nullptr) return YamlOut::of_map();
    // Around an escaped `${` blanks would be written as %20: then the text is kept as it is.
    if (template_text(*value) != *value) return YamlOut::of_map();
    fields.set(*name, YamlOut::of(*value));
  }
  return fields;
}

void HeaderList::add(std::string_view name, std::string_view value) {
  for (Entry& entry : entries_) {
    if (!base::equal_ignoring_case(entry.name, name)) continue;
    entry.values.emplace_back(value);
    return;
  }
  entries_.push_back({std::string(name), {std::string(value)}});
}

void HeaderList::none(std::string_view name) {
  if (!has(name)) entries_.push_back({std::string(name), {}});
}

bool HeaderList::has(std::string_view name) const {
  return std::ranges::any_of(entries_, [&](const Entry& entry) { return base::equal_ignoring_case(entry.name, name); });
}

void HeaderList::drop(std::string_view name) {
  std::erase_if(entries_, [&](const Entry& entry) { return base::equal_ignoring_case(entry.name, name); });
}

YamlOut HeaderList::take() {
  YamlOut map = YamlOut::of_map();
  for (Entry& entry : entries_) {
    if (entry.values.empty()) {
      map.set(std::move(entry.name), YamlOut::bare("null"));
    } else if (entry.values.size() == 1) {
      map.set(std::move(entry.name), YamlOut::of(template_text(entry.values.front())));
    } else {
      YamlOut list = YamlOut::of_list();
      for (const std::string& value : entry.values) list.add(YamlOut::of(template_text(value)));
      map.set(std::move(entry.name), std::move(list));
    }
  }
  entries_.clear();
  return map;
}

ImportDraft::ImportDraft(std::string_view importer, const ImportInput& input)
    : importer_(importer), source_(input.source), limits_(input.limits) {
  workflows_.emplace_back();
}

void ImportDraft::note(std::string where, std::string message) {
  if (notes_.size() >= limits_.notes) {
    ++dropped_notes_;
    return;
  }
  for (std::string* text : {&where, &message}) {
    for (std::size_t at = text->find(kVariableBegin); at != std::string::npos;
         at = text->find(kVariableBegin, at + 1)) {
      if (escaped_mark(std::string_view(*text).substr(at))) text->replace(at, kEscapedMark, "\uFFFD");
    }
    std::ranges::replace(*text, kVariableBegin, '$');
    std::erase(*text, kVariableEnd);
  }
  notes_.push_back({readable(where), readable(message)});
}

std::string ImportDraft::clean(std::string_view text, std::string_view where, std::string_view what) {
  std::string out;
  std::size_t zeros = 0;
  std::size_t wrong = 0;
  while (!text.empty()) {
    if (escaped_mark(text)) {
      ++wrong;
      text.remove_prefix(kEscapedMark);
      continue;
    }
    const std::size_t length = base::utf8_length(text);
    const bool variable = text.front() == kVariableBegin || text.front() == kVariableEnd;
    if (text.front() == '\0') {
      ++zeros;
    } else if (length == 0 && !variable) {
      ++wrong;
    } else {
      out += text.substr(0, std::max<std::size_t>(length, 1));
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  if (zeros > 0) note(std::string(where), fmt::format("{} holds {} zero byte(s), which are left out", what, zeros));
  if (wrong > 0) {
    note(std::string(where), fmt::format("{} is not UTF-8: {} byte(s) are left out; put a binary body into a file and "
                                         "name it with `file:`",
                                         what, wrong));
  }
  return out;
}

std::string ImportDraft::target(std::string_view address, const YamlOut& options) {
  const std::string written = write_yaml(options);
  for (const Target& each : targets_) {
    if (each.address == address && each.written == written) return each.name;
  }
  // No step fits into the file any more, so that none would go there.
  if (steps_ >= limits_.steps || bytes_ > limits_.yaml_bytes || nodes_ > limits_.nodes) return {};
  targets_.push_back({.name = targets_.empty() ? std::string() : free_name(address),
                      .address = std::string(address),
                      .options = options,
                      .written = written});
  bytes_ += written.size() + address.size() + 100;
  nodes_ += options.nodes() + 4;
  return targets_.back().name;
}

std::string ImportDraft::free_name(std::string_view address) const {
  std::string base;
  const std::size_t scheme = address.find("://");
  for (const char c : address.substr(scheme == std::string_view::npos ? 0 : scheme + 3)) {
    base += base::is_letter_or_digit(c) ? c : '_';
  }
  base = base.substr(0, 40);
  std::string name = base;
  for (int number = 2; std::ranges::find(targets_, name, &Target::name) != targets_.end(); ++number) {
    name = fmt::format("{}_{}", base, number);
  }
  return name;
}

bool ImportDraft::step(YamlOut step, std::string_view where) {
  const std::size_t nodes = step.nodes();
  // As it is written, and some more for its indentation.
  const std::size_t size = write_yaml(step).size() + nodes * 8;
  const bool request = step.find("think") == nullptr;
  const YamlOut* at_once = step.find("parallel");
  if (steps_ >= limits_.steps || bytes_ + size > limits_.yaml_bytes || nodes_ + nodes > limits_.nodes) {
    if (request) {
      if (at_once != nullptr && at_once->list.size() > 1) left_out_ += at_once->list.size() - 1;
      leave_out(std::string(where),
                steps_ >= limits_.steps
                    ? fmt::format("the file has {} steps already", limits_.steps)
                    : std::string("the file would become too large to be read; import less at once"));
    }
    return false;
  }
  bytes_ += size;
  nodes_ += nodes;
  if (request) steps_ += at_once != nullptr ? at_once->list.size() : 1;
  YamlOut& steps = workflows_.back().steps;
  YamlOut& into = in_group_ ? *steps.list.back().find("steps") : steps;
  into.add(std::move(step));
  return true;
}

void ImportDraft::begin_group(std::string name) {
  end_group();
  YamlOut group = YamlOut::of_map();
  group.set("group", YamlOut::of(template_text(name)));
  group.set("steps", YamlOut::of_list());
  workflows_.back().steps.add(std::move(group));
  in_group_ = true;
}

void ImportDraft::end_group() {
  if (!in_group_) return;
  in_group_ = false;
  YamlOut& steps = workflows_.back().steps;
  if (steps.list.back().find("steps")->empty()) steps.list.pop_back();
}

void ImportDraft::begin_workflow(std::string name) {
  end_group();
  if (workflows_.size() >= limits_.workflows) {
    if (!workflows_full_)
      note("", fmt::format("a job has at most {} workflows: the last one holds the rest", limits_.workflows));
    workflows_full_ = true;
  } else if (workflows_.back().steps.empty()) {
    workflows_.back().name = std::move(name);
  } else {
    workflows_.push_back({.name = std::move(name)});
  }
}

void ImportDraft::leave_out(std::string where, std::string why) {
  ++left_out_;
  note(std::move(where), "left out: " + std::move(why));
}

void ImportDraft::leave_out(std::size_t count, std::string note_text) {
  if (count == 0) return;
  left_out_ += count;
  note("", std::move(note_text));
}

void ImportDraft::need_variable(const std::string& name, bool secret) {
  variables_.insert(name);
  if (secret) secrets_.insert(name);
}

void ImportDraft::need_variables(std::string_view text) {
  for (const std::string& name : variables_in(text)) need_variable(name, sounds_secret(name));
}

YamlOut ImportDraft::target_value(const Target& target, bool first) const {
  if (first && target.options.empty()) return YamlOut::of(template_text(target.address));
  YamlOut value = YamlOut::of_map();
  value.set(first ? "url" : "http", YamlOut::of(template_text(target.address)));
  for (const YamlOutEntry& option : target.options.map) value.map.push_back(option);
  return value;
}

Imported ImportDraft::finish() {
  end_group();
  while (workflows_.size() > 1 && workflows_.back().steps.empty()) workflows_.pop_back();
  YamlOut root = YamlOut::of_map();
  root.set("muster", YamlOut::bare("1"));
  if (!targets_.empty()) root.set("target", target_value(targets_.front(), true));
  if (targets_.size() > 1) {
    YamlOut others = YamlOut::of_map();
    for (std::size_t i = 1; i < targets_.size(); ++i) others.set(targets_[i].name, target_value(targets_[i], false));
    root.set("targets", std::move(others));
  }
  if (!secrets_.empty()) {
    YamlOut names = YamlOut::of_list();
    for (const std::string& name : secrets_) names.add(YamlOut::of(name));
    root.set("secrets", std::move(names), "From the environment; never shown.");
  }
  const auto once = [] { return YamlOut::bare("{ vus: 1, iterations: 1 }"); };
  if (workflows_.size() == 1) {
    root.set("load", once(), std::string(kLoadComment));
    root.set("steps", std::move(workflows_.front().steps));
  } else {
    YamlOut all = YamlOut::of_list();
    for (Workflow& workflow : workflows_) {
      YamlOut one = YamlOut::of_map();
      one.set("name", YamlOut::of(template_text(workflow.name)));
      one.set("load", once(), all.empty() ? std::string(kLoadComment) : std::string());
      one.set("steps", std::move(workflow.steps));
      all.add(std::move(one));
    }
    root.set("workflows", std::move(all));
  }
  if (dropped_notes_ > 0) {
    notes_.push_back(
        {"", fmt::format("{} further notes are not shown; import in smaller parts to see them", dropped_notes_)});
  }
  const std::string head =
      fmt::format("Made by `muster import {}`{}{}.", importer_, source_.empty() ? "" : " from ", source_);
  return {.yaml = write_yaml(root, head),
          .steps = steps_,
          .left_out = left_out_,
          .notes = std::move(notes_),
          .variables = {variables_.begin(), variables_.end()}};
}

YamlOut request_step(std::string_view method, std::string url, const std::string& on, YamlOut fields) {
  constexpr std::array<std::string_view, 7> kVerbs{"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"};
  YamlOut step = YamlOut::of_map();
  if (std::ranges::find(kVerbs, method) != kVerbs.end()) {
    step.set(base::lower(method), YamlOut::of(std::move(url)));
    if (!on.empty()) step.set("on", YamlOut::of(on));
    for (YamlOutEntry& field : fields.map) step.map.push_back(std::move(field));
    return step;
  }
  YamlOut http = YamlOut::of_map();
  http.set("url", YamlOut::of(std::move(url)));
  http.set("method", YamlOut::of(std::string(method)));
  for (YamlOutEntry& field : fields.map) http.map.push_back(std::move(field));
  step.set("http", std::move(http));
  if (!on.empty()) step.set("on", YamlOut::of(on));
  return step;
}

}  // namespace muster::authoring
