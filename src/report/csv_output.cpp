#include "report/csv_output.h"

#include <utility>

#include "report/points_output.h"

namespace muster::report {

OutputKind csv_output() {
  OutputKind kind =
      file_output("csv", "every second of the run as rows for a spreadsheet, while it goes on",
                  [](std::string path) { return points_output(csv_format(), lines_to_file(std::move(path))); });
  kind.example = "csv=points.csv";
  return kind;
}

}  // namespace muster::report
