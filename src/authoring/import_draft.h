// What importers build together: targets, steps and notes of a job that is being made, and its YAML at the end. Keeps
// the file within what the loader reads. Belongs to one import.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "authoring/import.h"
#include "authoring/yaml_writer.h"

namespace muster::authoring {

// Inside texts on their way to a draft, a name between these bytes is an environment variable. They occur in no UTF-8.
constexpr char kVariableBegin = '\xFE';
constexpr char kVariableEnd = '\xFF';

// A text from outside as a text with holes that renders to it: `${` is escaped, variables become ${env.NAME}.
std::string template_text(std::string_view text);

// Bytes from outside that would be taken for those marks, as names that no variable has.
std::string escape_marks(std::string_view text);

// The byte from outside that the beginning of `text` stands for, which is then kEscapedMark bytes long.
std::optional<char> escaped_mark(std::string_view text);
constexpr std::size_t kEscapedMark = 3;

// Names of the variables inside.
std::vector<std::string> variables_in(std::string_view text);

// Names over this many bytes are left out: YAML reads keys of at most 1024 characters back.
constexpr std::size_t kLongestKey = 500;
// Headers and form fields of one request.
constexpr std::size_t kMostFields = 500;

// The map of a form, where it encodes to exactly `body`; nothing where it does not, or where names repeat.
YamlOut form_fields(std::string_view body);

// Headers of a request in the order in which they are sent; a name that comes again joins the first as a list.
class HeaderList {
 public:
  void add(std::string_view name, std::string_view value);
  // Named so that muster does not send its own.
  void none(std::string_view name);
  bool has(std::string_view name) const;
  void drop(std::string_view name);
  bool empty() const { return entries_.empty(); }
  YamlOut take();

 private:
  struct Entry {
    std::string name;
    std::vector<std::string> values;  // empty: not to be sent
  };
  std::vector<Entry> entries_;
};

class ImportDraft {
 public:
  ImportDraft(std::string_view importer, const ImportInput& input);

  void note(std::string where, std::string message);

  // Makes text fit for YAML: zero bytes and what is not UTF-8 go, with a note. Variables stay.
  std::string clean(std::string_view text, std::string_view where, std::string_view what);

  // The name for `on`, empty for the first target of all. Equal addresses with equal options are one target.
  std::string target(std::string_view address, const YamlOut& options);

  // Adds a step; false, with a note, when the file would become too large.
  bool step(YamlOut step, std::string_view where);
  // Steps that are added until end_group() belong to one transaction.
  void begin_group(std::string name);
  void end_group();
  // Steps from here on are a workflow of their own.
  void begin_workflow(std::string name);
  // A request that is not taken over.
  void leave_out(std::string where, std::string why);
  // Several of them, for one reason: the note says how many.
  void leave_out(std::size_t count, std::string note);

  void need_variable(const std::string& name, bool secret);
  // All variables in the text, those that sound like it as secrets.
  void need_variables(std::string_view text);

  std::size_t steps() const { return steps_; }
  Imported finish();

 private:
  struct Target {
    std::string name;
    std::string address;
    YamlOut options;
    std::string written;  // the options, to compare
  };
  struct Workflow {
    std::string name;
    YamlOut steps = YamlOut::of_list();
  };

  YamlOut target_value(const Target& target, bool first) const;
  std::string free_name(std::string_view address) const;

  std::string_view importer_;
  std::string source_;
  const ImportLimits& limits_;
  std::vector<Target> targets_;
  std::vector<Workflow> workflows_;
  bool in_group_ = false;
  bool workflows_full_ = false;
  std::size_t bytes_ = 0;
  std::size_t nodes_ = 0;
  std::size_t steps_ = 0;
  std::size_t left_out_ = 0;
  std::size_t dropped_notes_ = 0;
  std::vector<ImportNote> notes_;
  std::set<std::string> variables_;
  std::set<std::string> secrets_;
};

// A request as a step: `get: /path` with its fields beside it, or `http: { … }` for other methods.
YamlOut request_step(std::string_view method, std::string url, const std::string& on, YamlOut fields);

}  // namespace muster::authoring
