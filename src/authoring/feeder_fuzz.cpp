// Any text as a data file: the first byte picks the format. Whatever loads is a full table whose texts can be read.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "authoring/feeder.h"

namespace muster {

namespace {

void walk(const authoring::Feeder& feeder) {
  if (feeder.rows() == 0 || feeder.columns().empty()) std::abort();
  std::size_t bytes = 0;
  for (std::size_t row = 0; row < feeder.rows(); ++row) {
    for (std::size_t column = 0; column < feeder.columns().size(); ++column) {
      const model::Value& cell = feeder.cell(row, column);
      if (!cell.textual()) continue;
      for (const char c : cell.text()) bytes += static_cast<unsigned char>(c);
    }
  }
  for (const std::string& column : feeder.columns()) {
    if (!feeder.column(column)) std::abort();
  }
  volatile std::size_t sink = bytes;
  static_cast<void>(sink);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto feeder = data[0] % 3 == 0   ? authoring::Feeder::from_json(text, "fuzz")
                      : data[0] % 3 == 1 ? authoring::Feeder::from_csv(text, "fuzz", ',')
                                         : authoring::Feeder::from_csv(text, "fuzz", static_cast<char>(data[0]));
  if (feeder) walk(*feeder);
  if (!feeder && feeder.error().message.empty()) std::abort();
  return 0;
}

}  // namespace muster
