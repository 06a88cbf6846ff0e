#include "engine/http_body.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <fstream>

#include "authoring/holes.h"
#include "authoring/paths.h"
#include "base/escapes.h"
#include "base/random.h"
#include "base/units.h"
#include "engine/options.h"
#include "engine/tree_json.h"
#include "protocol/form.h"
#include "protocol/multipart.h"

namespace muster::engine {
namespace {

using authoring::Escape;
using authoring::Literals;
using authoring::TextTemplate;
using Done = base::Expected<void>;

bool has_hole(std::string_view text) {
  return text.find("${") != std::string_view::npos;
}

base::Expected<TextTemplate> compiled(const std::string& text, authoring::Scope& scope, Escape escape,
                                      Literals literals = Literals::kAsWritten) {
  auto made = TextTemplate::compile(text, scope, escape, literals);
  if (!made) return base::fail(fmt::format("'{}': {}", base::one_line(text), made.error().message));
  return std::move(*made);
}

Done add_text(Pieces& pieces, const std::string& text, authoring::Scope& scope, Escape escape) {
  if (!has_hole(text)) {
    pieces.literal(text);
    return {};
  }
  auto made = compiled(text, scope, escape);
  if (!made) return std::unexpected(made.error());
  if (!made->constant()) {
    pieces.hole(std::move(*made));
    return {};
  }
  std::string rendered;
  if (auto done = made->render(authoring::Evaluation{}, rendered); !done) return done;
  pieces.literal(rendered);
  return {};
}

std::string text_of(const model::Tree& tree) {
  if (const std::string* text = tree.text()) return *text;
  return json_text(tree);
}

Done add_json(Pieces& pieces, const model::Tree& tree, authoring::Scope& scope) {
  if (const std::string* text = tree.text(); text != nullptr && has_hole(*text)) {
    auto probe = compiled(*text, scope, Escape::kJson, Literals::kEscaped);
    if (!probe) return std::unexpected(probe.error());
    if (probe->single_hole()) {
      pieces.json_hole(std::move(*probe));
      return {};
    }
    pieces.literal("\"");
    pieces.hole(std::move(*probe));
    pieces.literal("\"");
    return {};
  }
  if (const model::TreeList* list = tree.list()) {
    pieces.literal("[");
    for (std::size_t i = 0; i < list->size(); ++i) {
      if (i != 0) pieces.literal(",");
      if (auto done = add_json(pieces, (*list)[i], scope); !done) return done;
    }
    pieces.literal("]");
    return {};
  }
  if (const model::TreeMap* map = tree.map()) {
    pieces.literal("{");
    for (std::size_t i = 0; i < map->size(); ++i) {
      std::string name;
      authoring::append_json(name, model::Value::of(std::string_view((*map)[i].first)));
      pieces.literal((i != 0 ? "," : "") + name + ":");
      if (auto done = add_json(pieces, (*map)[i].second, scope); !done) return done;
    }
    pieces.literal("}");
    return {};
  }
  pieces.literal(json_text(tree));
  return {};
}

base::Expected<std::string> file_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes;
  char chunk[64 * 1024];
  while (file.read(chunk, sizeof(chunk)) || file.gcount() > 0) {
    bytes.append(chunk, static_cast<std::size_t>(file.gcount()));
    if (bytes.size() > kMaxBodyFileBytes) {
      return base::fail(fmt::format("the file '{}' is larger than {}; bodies are kept in memory, so send a smaller one",
                                    path, base::format_size(kMaxBodyFileBytes)));
    }
  }
  if (!file.is_open() || file.bad()) {
    return base::fail(fmt::format("cannot read the file '{}'; check that it exists and may be read", path));
  }
  return bytes;
}

Done add_form(Pieces& pieces, const model::TreeMap& fields, authoring::Scope& scope) {
  bool first = true;
  for (const auto& [name, value] : fields) {
    for (const std::string& text : repeated_texts(value)) {
      std::string head(first ? "" : "&");
      protocol::append_form_encoded(head, name);
      pieces.literal(head + "=");
      first = false;
      if (has_hole(text)) {
        auto made = compiled(text, scope, Escape::kQuery, Literals::kEscaped);
        if (!made) return std::unexpected(made.error());
        pieces.hole(std::move(*made));
      } else {
        std::string encoded;
        protocol::append_form_encoded(encoded, text);
        pieces.literal(encoded);
      }
    }
  }
  return {};
}

// What stands in the head of a part, which takes no values; empty if it is not given.
base::Expected<std::string> constant(const model::Tree& part, std::string_view key, authoring::Scope& scope) {
  const model::Tree* const tree = part.find(key);
  const std::string* const text = tree == nullptr ? nullptr : tree->text();
  if (text == nullptr) return std::string();
  if (!has_hole(*text)) return *text;
  auto made = compiled(*text, scope, Escape::kHeader);
  if (!made) return std::unexpected(made.error());
  if (!made->constant()) {
    return base::fail(
        fmt::format("`{}` of a part of `multipart` is written out and takes no values, found '{}'; they may stand in "
                    "its `text`",
                    key, base::one_line(*text)));
  }
  std::string rendered;
  if (auto done = made->render(authoring::Evaluation{}, rendered); !done) return std::unexpected(done.error());
  return rendered;
}

struct Part {
  std::string name;
  std::string type;
  std::string filename;
  Pieces bytes;
};

base::Expected<Part> made_part(const std::string& name, const model::Tree& value, authoring::Scope& scope) {
  const model::Tree* file = value.find("file");
  const model::Tree* inside = value.find("text");
  auto type = constant(value, "type", scope);
  if (!type) return std::unexpected(type.error());
  auto filename = constant(value, "filename", scope);
  if (!filename) return std::unexpected(filename.error());
  Part part{.name = name, .type = std::move(*type), .filename = std::move(*filename), .bytes = {}};
  if (file != nullptr && file->text() != nullptr) {
    auto bytes = file_bytes(authoring::resolve_path(file->where, *file->text()));
    if (!bytes) return std::unexpected(bytes.error());
    part.bytes.literal(*bytes);
    if (part.filename.empty()) part.filename = file->text()->substr(file->text()->find_last_of('/') + 1);
  }
  if (file != nullptr) return part;
  const Done done = add_text(part.bytes, text_of(inside != nullptr ? *inside : value), scope, Escape::kNone);
  if (!done) return std::unexpected(done.error());
  return part;
}

base::Expected<std::vector<Part>> made_parts(const model::TreeMap& fields, authoring::Scope& scope) {
  std::vector<Part> parts;
  for (const auto& [name, value] : fields) {
    const std::size_t count = value.list() != nullptr ? value.list()->size() : 1;
    for (std::size_t i = 0; i < count; ++i) {
      auto part = made_part(name, value.list() != nullptr ? (*value.list())[i] : value, scope);
      if (!part) return std::unexpected(part.error());
      parts.push_back(std::move(*part));
    }
  }
  return parts;
}

// The same for a whole run, so that constant requests stay constant. What is sent cannot know it: values come from
// outside, and one that held it would end its part.
std::string boundary_for(const std::vector<Part>& parts, std::uint64_t seed) {
  constexpr std::uint64_t kPurpose = 0x6d756c7469706172;  // apart from whatever else is drawn from the seed
  base::Random random(base::mix(seed ^ kPurpose));
  for (;;) {
    const std::uint64_t high = random.next();
    const std::string boundary = fmt::format("muster-{:016x}{:016x}", high, random.next());
    if (std::ranges::none_of(parts, [&](const Part& part) { return part.bytes.has_literal(boundary); })) {
      return boundary;
    }
  }
}

Done add_multipart(HttpBody& body, const model::TreeMap& fields, authoring::Scope& scope, std::uint64_t seed) {
  auto parts = made_parts(fields, scope);
  if (!parts) return std::unexpected(parts.error());
  const std::string boundary = boundary_for(*parts, seed);
  body.content_type = protocol::multipart_content_type(boundary);
  for (Part& part : *parts) {
    std::string head;
    protocol::append_part_head(head, boundary,
                               {.name = part.name, .bytes = {}, .filename = part.filename, .content_type = part.type});
    body.pieces.literal(head);
    body.pieces.append(std::move(part.bytes));
    std::string tail;
    protocol::append_part_tail(tail);
    body.pieces.literal(tail);
  }
  std::string end;
  protocol::append_multipart_end(end, boundary);
  body.pieces.literal(end);
  return {};
}

}  // namespace

base::Expected<HttpBody> http_body(const model::Step& step, authoring::Scope& scope, std::uint64_t seed) {
  HttpBody made;
  std::string_view given;
  for (std::string_view name : {"body", "file", "json", "form", "multipart"}) {
    if (step.field(name) == nullptr) continue;
    if (!given.empty())
      return base::fail(fmt::format("a request has one body: `{}` and `{}` exclude each other", given, name));
    given = name;
  }
  if (given.empty()) return made;
  made.present = true;
  const model::Tree& tree = *step.field(given);
  Done done;
  if (given == "body") {
    done = add_text(made.pieces, text_of(tree), scope, Escape::kNone);
  } else if (given == "file") {
    auto bytes = file_bytes(text_of(tree));
    if (!bytes) return std::unexpected(bytes.error());
    made.pieces.literal(*bytes);
  } else if (given == "json") {
    made.content_type = "application/json";
    done = add_json(made.pieces, tree, scope);
  } else if (tree.map() == nullptr) {
    return base::fail(fmt::format("`{}` takes a map of names to values", given));
  } else if (given == "form") {
    made.content_type = protocol::kFormContentType;
    done = add_form(made.pieces, *tree.map(), scope);
  } else {
    done = add_multipart(made, *tree.map(), scope, seed);
  }
  if (!done) return std::unexpected(done.error());
  return made;
}

std::vector<std::string> repeated_texts(const model::Tree& value) {
  std::vector<std::string> texts;
  if (const model::TreeList* list = value.list()) {
    for (const model::Tree& each : *list) texts.push_back(text_of(each));
  } else {
    texts.push_back(value.null() ? std::string() : text_of(value));
  }
  return texts;
}

std::string base64(std::string_view bytes) {
  std::string out((bytes.size() + 2) / 3 * 4 + 1, '\0');
  const int size =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                      reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  out.resize(static_cast<std::size_t>(size));
  return out;
}

std::string concatenation(std::string_view text) {
  std::string joined = "''";
  const auto pieces = authoring::split_holes(text);
  if (!pieces) return joined;  // the loader has refused it
  for (const authoring::TextPiece& piece : *pieces) {
    if (piece.hole) {
      joined += fmt::format(" + text({})", piece.text);
      continue;
    }
    joined += " + '";
    for (const char c : piece.text) {
      if (c == '\'' || c == '\\') joined += '\\';
      joined += c;
    }
    joined += '\'';
  }
  return joined;
}

}  // namespace muster::engine
