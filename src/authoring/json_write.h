// Elements of a parsed document as values and as JSON text without white space. Only for sources that use simdjson.
#pragma once

#include <simdjson.h>

#include "authoring/value_text.h"
#include "model/value.h"

namespace muster::authoring {

// Numbers, truth and null; missing for all else.
inline model::Value scalar_value(const simdjson::dom::element& element) {
  using simdjson::dom::element_type;
  switch (element.type()) {
    case element_type::INT64:
      return model::Value::of(element.get_int64().value_unsafe());
    // Only numbers beyond the range of int64 are of this type.
    case element_type::UINT64:
      return model::Value::of(static_cast<double>(element.get_uint64().value_unsafe()));
    case element_type::DOUBLE:
      return model::Value::of(element.get_double().value_unsafe());
    case element_type::BOOL:
      return model::Value::of(element.get_bool().value_unsafe());
    case element_type::NULL_VALUE:
      return model::Value::null();
    default:
      return {};
  }
}

// Recursion ends at the depth that the parser was given.
template <class Out>
void append_element(Out& out, const simdjson::dom::element& element) {
  using simdjson::dom::element_type;
  bool first = true;
  switch (element.type()) {
    case element_type::ARRAY:
      out.push_back('[');
      for (const simdjson::dom::element each : element.get_array().value_unsafe()) {
        if (!first) out.push_back(',');
        first = false;
        append_element(out, each);
      }
      out.push_back(']');
      return;
    case element_type::OBJECT:
      out.push_back('{');
      for (const auto& [key, each] : element.get_object().value_unsafe()) {
        if (!first) out.push_back(',');
        first = false;
        append_as_json(out, model::Value::of(key));
        out.push_back(':');
        append_element(out, each);
      }
      out.push_back('}');
      return;
    case element_type::STRING:
      append_as_json(out, model::Value::of(element.get_string().value_unsafe()));
      return;
    default:
      append_plain(out, scalar_value(element));
  }
}

}  // namespace muster::authoring
