#include "authoring/text_template.h"

#include <fmt/format.h>

#include "authoring/arena_text.h"
#include "authoring/holes.h"
#include "authoring/value_text.h"
#include "protocol/percent.h"

namespace muster::authoring {
namespace {

using model::Value;

constexpr std::string_view kForbiddenInHeaders("\r\n\0", 3);

bool allowed_in_header(std::string_view text) {
  return text.find_first_of(kForbiddenInHeaders) == std::string_view::npos;
}

// False where the place does not allow the value.
template <class Out>
bool append_escaped(Out& out, const Value& value, Escape escape) {
  // Values that are not text are written with characters that no place but a URL escapes.
  switch (escape) {
    case Escape::kNone:
      append_plain(out, value);
      return true;
    case Escape::kHeader:
      if (value.textual() && !allowed_in_header(value.text())) return false;
      append_plain(out, value);
      return true;
    case Escape::kJson:
      if (value.textual()) {
        append_json_escaped(out, value.text());
      } else {
        append_plain(out, value);
      }
      return true;
    case Escape::kPath:
    case Escape::kQuery:
      if (value.textual()) {
        append_percent_encoded(out, value.text(), escape == Escape::kPath);
      } else {
        struct Encoded {
          Out& out;
          void append(std::string_view text) { append_percent_encoded(out, text, false); }
        } encoded{out};
        append_plain(encoded, value);
      }
      return true;
  }
  return false;
}

std::string written_literal(std::string_view text, Escape escape, Literals literals) {
  std::string out;
  switch (literals) {
    case Literals::kAsWritten:
      out = text;
      break;
    case Literals::kEscaped:
      append_escaped(out, Value::of(text), escape);
      break;
    case Literals::kRepaired: {
      namespace percent = protocol::percent;
      percent::append_repaired(out, text, escape == Escape::kPath ? percent::kPathBytes : percent::kQueryBytes);
      break;
    }
  }
  return out;
}

std::unexpected<base::Error> no_value(std::string_view source) {
  return base::fail(fmt::format("${{{0}}} has no value; give it a default with ${{{0} ?? 'default'}}", source));
}

std::unexpected<base::Error> forbidden(std::string_view source) {
  return base::fail(fmt::format(
      "${{{}}} holds a line break or a zero byte, which a header cannot carry; use trim() or base64()", source));
}

}  // namespace

std::expected<TextTemplate, ExpressionError> TextTemplate::compile(std::string_view text, Scope& scope, Escape escape,
                                                                   Literals literals) {
  auto pieces = split_holes(text);
  if (!pieces) return std::unexpected(std::move(pieces.error()));
  TextTemplate made;
  made.escape_ = escape;
  const auto literal = [&made](std::string_view part) {
    if (made.parts_.empty() || made.parts_.back().hole) made.parts_.emplace_back();
    made.parts_.back().literal += part;
  };
  for (TextPiece& piece : *pieces) {
    if (!piece.hole) {
      if (escape == Escape::kHeader && !allowed_in_header(piece.text)) {
        const std::size_t place = piece.text.find_first_of(kForbiddenInHeaders);
        return std::unexpected(
            ExpressionError{"a header cannot carry line breaks or zero bytes", piece.offset + place});
      }
      literal(written_literal(piece.text, escape, literals));
      continue;
    }
    auto hole = Expression::compile(piece.text, scope);
    if (!hole) {
      hole.error().offset += piece.offset;
      return std::unexpected(std::move(hole.error()));
    }
    // A constant hole is literal text, except where it is all there is and so keeps its type.
    if (hole->constant() && pieces->size() > 1) {
      const Value value = hole->evaluate({});
      std::string written;
      if (!value.missing() && append_escaped(written, value, escape)) {
        literal(written);
        continue;
      }
    }
    ++made.holes_;
    made.parts_.push_back(
        {.literal = {}, .hole = std::make_unique<Expression>(std::move(*hole)), .source = std::move(piece.text)});
  }
  return made;
}

template <class Out>
base::Expected<void> TextTemplate::render_to(const Evaluation& evaluation, Out& out) const {
  for (const Part& part : parts_) {
    if (!part.hole) {
      out.append(std::string_view(part.literal));
      continue;
    }
    const Value value = part.hole->evaluate(evaluation);
    if (value.missing()) return no_value(part.source);
    if (!append_escaped(out, value, escape_)) return forbidden(part.source);
  }
  return {};
}

base::Expected<void> TextTemplate::render(const Evaluation& evaluation, std::string& out) const {
  return render_to(evaluation, out);
}

base::Expected<Value> TextTemplate::value(const Evaluation& evaluation) const {
  if (single_hole()) {
    const Value value = parts_.front().hole->evaluate(evaluation);
    if (value.missing()) return no_value(parts_.front().source);
    return value;
  }
  if (parts_.empty()) return Value::of("");
  if (holes_ == 0) return Value::of(std::string_view(parts_.front().literal));
  // The holes allocate in the same arena, so that the text can only stay in one piece by growing after each of them.
  ArenaText out(*evaluation.arena);
  if (auto rendered = render_to(evaluation, out); !rendered) return std::unexpected(std::move(rendered.error()));
  if (out.overflowed()) return base::fail("the text made from this template is too long");
  return Value::of(out.finish());
}

void TextTemplate::append_to(std::vector<TextPiece>& pieces) const {
  for (const Part& part : parts_) {
    if (part.hole != nullptr) {
      pieces.push_back({.text = part.source, .hole = true, .offset = 0});
    } else {
      append_literal(pieces, part.literal);
    }
  }
}

bool append_value(std::string& out, const Value& value, Escape escape) {
  return !value.missing() && append_escaped(out, value, escape);
}

void append_json(std::string& out, const Value& value) {
  append_as_json(out, value);
}

}  // namespace muster::authoring
