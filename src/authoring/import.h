// Importers: what another tool recorded or describes → a job in YAML, and a list of all that could not be taken over.
// Pure functions of their input; files are read through a function that the caller gives. A new source is one file with
// one Importer and one line in built_in_importers().
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "authoring/options.h"
#include "base/error.h"

namespace muster::authoring {

// Something of the input that is not, or not exactly, in the job.
struct ImportNote {
  std::string where;    // place in the input: "command 2", "entry 17", "GET /pets"; may be empty
  std::string message;  // what, and what to do about it
};

// A flag of one importer, as the command line shows it.
struct ImportOption {
  std::string_view name;                       // "host" for --host
  std::string_view doc;                        // one sentence
  std::string_view value = {};                 // what it takes, such as HOST; empty: it is given or not
  std::string_view fallback = {};              // the default, for the documentation
  std::vector<std::string_view> choices = {};  // empty: any text
};

struct ImportInput {
  std::string text;                // what was read, or empty with `words`
  std::vector<std::string> words;  // a command line that a shell has already cut (curl only)
  std::string source;              // what the input is called, for the head of the file
  std::string to_here;  // from the folder of the job to that of the files which the input names: "../"; or empty
  std::vector<std::pair<std::string, std::string>> settings;  // options with their values, in order; flags with "true"
  // Reads a file that the input names (curl's @file); unset: such files are not looked at. Errors say only why.
  std::function<base::Expected<std::string>(const std::string& path)> read_file = {};
  // Why a file that the input names cannot be read, or nothing; unset: nobody looks.
  std::function<std::string(const std::string& path)> file_problem = {};
  // Called now and then with how much of the input is done; unset: nobody waits.
  std::function<void(std::size_t done, std::size_t total)> progress = {};
  ImportLimits limits = {};

  // The last value of an option, or `fallback`.
  std::string_view setting(std::string_view name, std::string_view fallback = {}) const;
  // All its values; one with commas counts as several.
  std::vector<std::string> list(std::string_view name) const;
};

struct Imported {
  std::string yaml;
  std::size_t steps = 0;     // requests in it
  std::size_t left_out = 0;  // requests of the input that are not in it; each has a note
  std::vector<ImportNote> notes;
  std::vector<std::string> variables;  // of the environment, which the job needs
};

struct Importer {
  std::string_view name;  // "curl"
  std::string_view doc;   // one sentence
  std::string_view example;
  std::vector<ImportOption> options;
  bool takes_words = false;  // a command line after `--` in place of a file
  // Errors mean that nothing could be made of the input.
  base::Expected<Imported> (*run)(const ImportInput& input) = nullptr;
};

const std::vector<Importer>& built_in_importers();

Importer curl_importer();
Importer har_importer();
Importer openapi_importer();

}  // namespace muster::authoring
