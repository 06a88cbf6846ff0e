// The names that an expression may mention at one point of a workflow. The walker in validate_names shows and hides
// them as it goes through the steps; this class answers whether a path means something there and, if not, why.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "authoring/loader_context.h"
#include "authoring/scope.h"
#include "model/job.h"
#include "model/step_kind.h"

namespace muster::authoring {

// Columns of each data source; nothing where the file could not be read.
using DataColumns = std::map<std::string, std::optional<std::vector<std::string>>, std::less<>>;

enum class Section : std::uint8_t { kStart, kSteps, kStop };

class NameScope : public Scope {
 public:
  NameScope(LoaderContext& context, const DataColumns& data, const model::Job& job)
      : context_(context), data_(data), job_(job) {}

  // Starts over with the names of `workflow`, all of them hidden but those that it uses from others. Null: no workflow,
  // only names that are there always.
  void enter(const model::Workflow* workflow);

  void set_section(Section section) { section_ = section; }
  // The step whose own results can be named without its name, in its checks and saves; null: none.
  void set_own(const model::StepKind* kind) { own_ = kind; }
  // The text that is being compiled, for what depends on it: a name with a default may be missing.
  void set_text(std::string_view text) { defaults_ = text.find("??") != std::string_view::npos; }

  void show_step(const std::string& name, int change) { names_[name].step_visible += change; }
  void show_value(const std::string& name, int change) { names_[name].value_visible += change; }
  // Marks what is hidden only because it is in another branch, for the message.
  void mark_branch(const std::string& name, bool elsewhere) { names_[name].other_branch = elsewhere; }

  base::Expected<Slot> resolve(const Path& path) override;

  static bool reserved(std::string_view name);

 private:
  struct Name {
    const model::Step* step = nullptr;   // whose name it is
    const model::Step* saver = nullptr;  // the first that gives it as a value
    Section section = Section::kSteps;
    int step_visible = 0;
    int value_visible = 0;
    bool other_branch = false;
    bool used = false;
  };

  base::Expected<Slot> result(const model::StepKind& kind, const Path& path, std::size_t at, std::string_view owner);
  base::Expected<Slot> environment(const Path& path);
  base::Expected<Slot> data(const Path& path);
  base::Expected<Slot> virtual_user(const Path& path);
  std::string why_hidden(std::string_view text, const Name& name) const;
  // Whether it is hidden because `reset: iteration` drops what `start` gave.
  bool dropped(const Name& name) const;
  std::string unknown(const std::string& name) const;
  // What is likely behind a name that nothing has, if it is no slip of the pen; empty otherwise.
  std::string advice(const std::string& name) const;
  const model::Workflow* owner_of(std::string_view step) const;
  void collect(const std::vector<model::Step>& steps, Section section);

  LoaderContext& context_;
  const DataColumns& data_;
  const model::Job& job_;
  std::unordered_map<std::string, Name> names_;
  const model::StepKind* own_ = nullptr;
  Section section_ = Section::kSteps;
  bool graph_ = false;
  bool scripted_ = false;  // names that nothing has are given by whoever calls the step
  bool resets_ = false;    // `reset: iteration`
  bool defaults_ = false;
};

}  // namespace muster::authoring
