// Mutations that keep JSON what it is: values are replaced, copied, moved and taken away, keys are renamed. Plain
// mutations of bytes hardly ever get past the parser. Called by fuzz targets whose input is one byte and JSON.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "authoring/import_json.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace muster::authoring {

class JsonMutator {
 public:
  // `words` are keys and texts that mean something to the target.
  JsonMutator(std::span<const std::string_view> words, unsigned seed) : words_(words), random_(seed) {}

  void mutate(ImportJson& document) {
    std::vector<ImportJson*> all;
    collect(document, all);
    ImportJson& value = *all[below(all.size())];
    switch (below(6)) {
      case 0:
        value = any();
        return;
      case 1: {
        ImportJson copy = *all[below(all.size())];
        value = std::move(copy);
        return;
      }
      case 2: {
        ImportJson inside = value;
        value = ImportJson::object();
        value[word()] = std::move(inside);
        return;
      }
      case 3:
        return lose_one(value);
      case 4:
        return gain_one(value);
      default:
        return change(value);
    }
  }

 private:
  static void collect(ImportJson& value, std::vector<ImportJson*>& all) {
    all.push_back(&value);
    if (!value.is_structured()) return;
    for (ImportJson& each : value) collect(each, all);
  }

  std::size_t below(std::size_t bound) { return random_() % std::max<std::size_t>(bound, 1); }
  std::string word() { return std::string(words_[below(words_.size())]); }

  ImportJson any() {
    static const std::vector<ImportJson> kValues{
        nullptr,      true,         false,   0,          -1,        1,         7,          0.5,
        100,          1e300,        "",      "#",        "#/",      "/",       "a\nb",     "${x",
        "${x}",       "{{x}}",      "$",     "\x01\x7f", "a b\"",   "é\u2028", "*",        "a1b2c3d4e5f",
        "$a1b2c3d4e", "%00",        "..",    "null",     "http://", "{id}",    nested(70), "\\",
        ";=&",        "9e999",      -9.5e18, 1e-9,       "0x1",     "~1",      "~0",       "[",
        "-",          ImportJson{}, ":",     "@"};
    switch (below(6)) {
      case 0:
        return word();
      case 1:
        return ImportJson::array();
      case 2:
        return ImportJson::object();
      default:
        break;
    }
    ImportJson value = kValues[below(kValues.size())];
    // A name that is longer than any key may be.
    if (value.is_string() && below(40) == 0) return std::string(1'100, 'k');
    return value;
  }

  static ImportJson nested(std::size_t depth) {
    ImportJson value = 1;
    for (std::size_t i = 0; i < depth; ++i) value = ImportJson::array({std::move(value)});
    return value;
  }

  void lose_one(ImportJson& value) {
    if (!value.is_structured() || value.empty()) return;
    value.erase(std::next(value.begin(), static_cast<std::ptrdiff_t>(below(value.size()))));
  }

  void gain_one(ImportJson& value) {
    if (value.is_array()) {
      ImportJson more = value.empty() || below(2) == 0 ? any() : value[below(value.size())];
      value.push_back(std::move(more));
    } else if (value.is_object()) {
      value[word()] = any();
    } else {
      value = any();
    }
  }

  void change(ImportJson& value) {
    if (value.is_object() && !value.empty()) {
      const auto entry = std::next(value.begin(), static_cast<std::ptrdiff_t>(below(value.size())));
      ImportJson inside = *entry;
      value.erase(entry);
      value[word()] = std::move(inside);
    } else if (value.is_string()) {
      std::string text = value.get<std::string>();
      const ImportJson more = any();
      const std::size_t at = below(text.size() + 1);
      if (below(3) == 0) text.resize(at);
      if (more.is_string()) text.insert(std::min(at, text.size()), more.get<std::string>());
      value = text;
    } else if (value.is_number()) {
      value = value.get<double>() * 10 - 1;
    } else {
      value = any();
    }
  }

  std::span<const std::string_view> words_;
  std::minstd_rand random_;
};

inline std::size_t mutate_json(std::uint8_t* data, std::size_t size, std::size_t max_size, unsigned seed,
                               std::span<const std::string_view> words) {
  if (size < 2 || seed % 4 == 0) return LLVMFuzzerMutate(data, size, max_size);
  auto document = parse_import_json({reinterpret_cast<const char*>(data + 1), size - 1}, 200);
  if (!document) return LLVMFuzzerMutate(data, size, max_size);
  JsonMutator mutator(words, seed);
  for (unsigned i = 0; i < 1 + seed % 3; ++i) mutator.mutate(*document);
  // Texts may have been cut within a character.
  const std::string text = document->dump(-1, ' ', false, ImportJson::error_handler_t::replace);
  if (text.size() + 1 > max_size) return LLVMFuzzerMutate(data, size, max_size);
  std::ranges::copy(text, data + 1);
  return text.size() + 1;
}

}  // namespace muster::authoring
