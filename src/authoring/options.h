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
  std::size_t label_bytes = 200;    // of a check's name that is made of its condition; `label` gives another
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

// Limits of importers (import.h). What is over one is told in a note or an error, never cut silently.
struct ImportLimits {
  std::size_t input_bytes = 256u << 20;      // of the file; recordings hold every response, and take about 4 times that
  std::size_t depth = 100;                   // of nesting in JSON and YAML that is read
  std::size_t yaml_bytes = 3u << 20;         // of texts in the file that is made; the loader reads 4 MiB
  std::size_t nodes = 150'000;               // values in it; the loader reads 200,000
  std::size_t workflows = 1'000;             // in it; the loader reads as many
  std::size_t steps = 5'000;                 // requests in it; a longer session is better cut by --host and --only
  std::size_t body_bytes = 512u << 10;       // of one body that is written into the file; larger ones belong in files
  std::size_t words = 20'000;                // of one curl command
  std::size_t globs = 100;                   // URLs that one curl pattern such as [1-100] is spelt out to
  std::size_t notes = 500;                   // listed; more are counted
  std::size_t sample_depth = 12;             // of values made from an OpenAPI schema; deeper levels are left out
  std::size_t sample_nodes = 2'000;          // of one such value
  std::size_t references = 64;               // that follow one another before a $ref counts as a circle
  std::size_t correlated_bytes = 64u << 20;  // of responses that are searched for values which later requests repeat
  std::size_t correlated_values = 200'000;   // values that are remembered from them
};

}  // namespace muster::authoring
