// Every limit of the authoring room: what a user's file, an expression or a data file may cost.
#pragma once

#include <cstddef>

namespace muster::authoring {

// Limits of the YAML front end, per file unless said otherwise. They keep a hostile or mistaken file from costing more
// than a moment; raise them for generated files.
struct YamlLimits {
  std::size_t file_bytes = 4u << 20;  // of one file; larger data belongs in `data:` files
  std::size_t nodes = 200'000;      // scalars, lists and maps, aliases counted in full: this is what stops alias bombs
  std::size_t texts = 16u << 20;    // bytes of all scalars together, aliases counted in full
  std::size_t depth = 64;           // of nesting; deep recursion costs stack
  std::size_t includes = 64;        // files in all
  std::size_t include_depth = 8;    // an include within an include …
  std::size_t workflows = 1'000;    // of a job, includes counted
  std::size_t graph_steps = 1'000;  // of a workflow ordered by `after`; what each step may see costs n² bits
  std::size_t problems = 20;        // reported at once; more would scroll the first one away
  std::size_t excerpt_columns = 120;  // of a source line that a message shows
};

// Limits of expressions and ${…} texts. The first three hold while compiling, the others while evaluating; an
// expression that passes one of the latter yields a missing value.
struct ExpressionLimits {
  std::size_t text_bytes = 8u << 10;  // of one expression; what is longer belongs in several steps of `set`
  std::size_t depth = 64;             // of nesting; each level costs some hundred bytes of stack when evaluated
  std::size_t arguments = 32;         // of one function call
  std::size_t result_bytes =
      16u << 20;  // of a text that an expression makes: stops replace() and json() from exploding
  std::size_t pattern_bytes = 2u << 10;   // of a regular expression
  std::size_t pattern_memory = 4u << 20;  // that RE2 may use for one pattern; more makes large alternations faster
};
constexpr ExpressionLimits kExpressionLimits{};

// Limits of JSON that is read while running (responses, saved values).
struct JsonLimits {
  std::size_t text_bytes = 64u << 20;  // of one document; the parser keeps about 6 times the largest one it saw
  std::size_t depth = 256;             // of nesting; writing a value back as text costs stack for each level
};
constexpr JsonLimits kJsonLimits{};

// Limits of data files. Rows are held in memory: 16 bytes a cell beside the file's text.
struct FeederLimits {
  std::size_t file_bytes = 1u << 30;
  std::size_t columns = 1'000;
  std::size_t rows = 50'000'000;
  std::size_t cells = 200'000'000;     // rows × columns; 3.2 GB
  std::size_t line_bytes = 16u << 20;  // of one line of a file with one JSON object a line
};
constexpr FeederLimits kFeederLimits{};

}  // namespace muster::authoring
