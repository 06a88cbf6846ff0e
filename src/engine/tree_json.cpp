#include "engine/tree_json.h"

#include "authoring/text_template.h"

namespace muster::engine {
namespace {

void append(std::string& out, const model::Tree& tree) {
  using model::Value;
  if (const bool* boolean = tree.boolean()) {
    authoring::append_json(out, Value::of(*boolean));
  } else if (const std::int64_t* integer = tree.integer()) {
    authoring::append_json(out, Value::of(*integer));
  } else if (!tree.digits.empty()) {
    out += tree.digits;
  } else if (const double* number = tree.number()) {
    authoring::append_json(out, Value::of(*number));
  } else if (const std::string* text = tree.text()) {
    authoring::append_json(out, Value::of(std::string_view(*text)));
  } else if (const model::TreeList* list = tree.list()) {
    out += '[';
    for (std::size_t i = 0; i < list->size(); ++i) {
      if (i != 0) out += ',';
      append(out, (*list)[i]);
    }
    out += ']';
  } else if (const model::TreeMap* map = tree.map()) {
    out += '{';
    for (std::size_t i = 0; i < map->size(); ++i) {
      if (i != 0) out += ',';
      authoring::append_json(out, Value::of(std::string_view((*map)[i].first)));
      out += ':';
      append(out, (*map)[i].second);
    }
    out += '}';
  } else {
    out += "null";
  }
}

}  // namespace

std::string json_text(const model::Tree& tree) {
  std::string out;
  append(out, tree);
  return out;
}

}  // namespace muster::engine
