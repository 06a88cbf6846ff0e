// The first byte chooses options, the rest is a recording. It is imported or refused; each of its entries is a step or
// counted as left out, what is made loads, and where values are handed on, what is sent stays what was recorded.
// covers: authoring/import_har.cpp authoring/import_har_entry.cpp authoring/import_correlate.cpp
// covers: authoring/import_json.cpp
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "authoring/holes.h"
#include "authoring/import_fuzz_check.h"
#include "authoring/import_fuzz_mutate.h"
#include "base/letter_case.h"

namespace muster::authoring {
namespace {

using base::require;

constexpr auto kWords = std::to_array<std::string_view>({"log",
                                                         "entries",
                                                         "pages",
                                                         "id",
                                                         "title",
                                                         "pageref",
                                                         "request",
                                                         "response",
                                                         "method",
                                                         "url",
                                                         "headers",
                                                         "name",
                                                         "value",
                                                         "postData",
                                                         "mimeType",
                                                         "text",
                                                         "params",
                                                         "fileName",
                                                         "encoding",
                                                         "base64",
                                                         "content",
                                                         "status",
                                                         "time",
                                                         "startedDateTime",
                                                         "POST",
                                                         "_fromCache",
                                                         "_resourceType",
                                                         "document",
                                                         "websocket",
                                                         "application/json",
                                                         "html",
                                                         "cookie",
                                                         "Set-Cookie",
                                                         "X-Token",
                                                         "content-type",
                                                         "multipart/form-data",
                                                         "PURGE",
                                                         "host",
                                                         "a1b2c3d4e5",
                                                         "a1b2c3d4e5f",
                                                         "csrf token(",
                                                         "application/x-www-form-urlencoded",
                                                         "a=1&b=2",
                                                         "http://b.test/",
                                                         "[\"a1b2c3d4e5\"]",
                                                         "<meta name=\"a.b\" content=\"a1b2c3d4e5\">",
                                                         "2026-01-01T00:00:01Z",
                                                         "a1b2c3d4e5.test"});

// A text of a job as what it stands for: literals and constant holes as they are rendered, values that are handed on or
// left to the environment as holes.
std::vector<TextPiece> flattened(const std::string& text) {
  const auto pieces = split_holes(text);
  require(pieces.has_value());
  std::vector<TextPiece> made;
  for (const TextPiece& piece : *pieces) {
    if (piece.hole && (piece.text.starts_with("saved_") || piece.text.starts_with("env."))) {
      made.push_back(piece);
    } else {
      require(!piece.hole || (piece.text.size() > 2 && piece.text.starts_with('\'') && piece.text.ends_with('\'')));
      append_literal(made, piece.hole ? std::string_view(piece.text).substr(1, piece.text.size() - 2) : piece.text, 0);
    }
  }
  return made;
}

class Comparer {
 public:
  // Of the same recording, with values handed on and without.
  void compare(const std::vector<model::Step>& with, const std::vector<model::Step>& without) {
    require(with.size() == without.size());
    for (std::size_t i = 0; i < with.size(); ++i) {
      require(with[i].kind == without[i].kind && with[i].target == without[i].target);
      for (const std::string_view field : {"url", "method", "body", "form", "multipart", "type", "group"}) {
        compare(with[i].field(field), without[i].field(field));
      }
      headers(with[i].field("headers"), without[i].field("headers"));
      require(with[i].branches.size() == without[i].branches.size());
      for (std::size_t branch = 0; branch < with[i].branches.size(); ++branch) {
        compare(with[i].branches[branch].steps, without[i].branches[branch].steps);
      }
    }
  }

 private:
  void compare(const model::Tree* with, const model::Tree* without) {
    require((with == nullptr) == (without == nullptr));
    if (with == nullptr) return;
    require(with->value.index() == without->value.index());
    if (with->text() != nullptr) text(*with->text(), *without->text());
    if (const model::TreeList* list = with->list()) {
      require(list->size() == without->list()->size());
      for (std::size_t i = 0; i < list->size(); ++i) compare(&(*list)[i], &(*without->list())[i]);
    }
    if (const model::TreeMap* map = with->map()) {
      require(map->size() == without->map()->size());
      for (std::size_t i = 0; i < map->size(); ++i) {
        require((*map)[i].first == (*without->map())[i].first);
        compare(&(*map)[i].second, &(*without->map())[i].second);
      }
    }
  }

  // Bodies from which values are taken must be readable: nothing else is asked for.
  void headers(const model::Tree* with, const model::Tree* without) {
    const auto kept = [](const model::Tree* tree) {
      model::Tree made{{}, model::TreeMap()};
      if (tree == nullptr) return made;
      for (const model::TreeEntry& each : *tree->map()) {
        if (base::lower(each.first) != "accept-encoding") std::get<model::TreeMap>(made.value).push_back(each);
      }
      return made;
    };
    const model::Tree left = kept(with);
    const model::Tree right = kept(without);
    compare(&left, &right);
  }

  void text(const std::string& with, const std::string& without) {
    std::string recorded;
    for (const TextPiece& piece : flattened(without)) {
      if (piece.hole) return;  // a credential, whose value is not in the file
      recorded += piece.text;
    }
    std::string_view rest = recorded;
    for (const TextPiece& piece : flattened(with)) {
      std::string value = piece.text;
      if (piece.hole) {
        value = rest.substr(0, rest.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                                      "0123456789_-.~"));
        require(!value.empty() && values_.try_emplace(piece.text, value).first->second == value);
      }
      require(rest.starts_with(value));
      rest.remove_prefix(value.size());
    }
    require(rest.empty());
  }

  std::map<std::string, std::string> values_;  // by the names under which they are handed on
};

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  return mutate_json(data, size, max_size, seed, kWords);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const unsigned options = data[0];
  ImportInput input;
  input.text = base::text_of(data + 1, size - 1);
  if ((options & 4) == 0) input.settings.emplace_back("host", "*");
  if ((options & 8) != 0) input.settings = {{"think", "none"}, {"only", "document,xhr,other"}};
  if ((options & 2) != 0) input.settings.emplace_back("parallel", "true");
  const auto plain = check_import(har_importer(), input);
  if (plain) {
    const auto document = parse_import_json(input.text, input.limits.depth);
    const std::size_t entries = member(member(*document, "log"), "entries").size();
    require(plain->made.steps + plain->made.left_out == entries);
    // Only credentials of recorded headers are left to the environment.
    for (const std::string& name : plain->made.variables) require(plain->made.yaml.contains("${env." + name + "}"));
  }
  if ((options & 1) == 0) return 0;
  input.settings.emplace_back("correlate", "true");
  const auto handed_on = check_import(har_importer(), input);
  require(handed_on.has_value() == plain.has_value());
  // Steps that ran at the same time cannot hand on anything: then the steps are others.
  if (!plain || (options & 2) != 0) return 0;
  Comparer().compare(handed_on->job.workflows.front().steps, plain->job.workflows.front().steps);
  return 0;
}

}  // namespace muster::authoring
