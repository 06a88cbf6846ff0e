// Gives every name that a workflow's expressions mention a slot, and remembers what has to fill it: a response's
// capture, a feeder's column, a constant. Used while a program is compiled and dropped afterwards.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "authoring/scope.h"
#include "engine/program.h"

namespace muster::engine {

class ProgramScope final : public authoring::Scope {
 public:
  ProgramScope(const model::Job& job, const model::Workflow& workflow, const ReceivedContext& received,
               Program& program)
      : job_(job), workflow_(workflow), received_(received), program_(program) {}

  base::Expected<authoring::Slot> resolve(const authoring::Path& path) override;

  // The slot of a name that `save` or `set` gives a value to; made if it is new.
  std::uint32_t variable(const std::string& name);

  // Makes the results of call `call` (of step `name`) visible under that name.
  void add_step(const std::string& name, std::uint32_t call, const model::StepKind& kind);

  // While set, bare result names (`status`, `json.x`) mean this call's own response.
  void set_own_response(std::optional<std::uint32_t> call) { own_ = call; }

  // While set, names that nothing else has are arguments: whoever calls the step gives them. Every name that can be
  // given is added.
  void set_arguments(std::vector<std::pair<std::string, std::uint32_t>>* arguments) { arguments_ = arguments; }
  // While set, the feeders that are read are added.
  void set_rows(std::vector<std::uint32_t>* rows) { rows_ = rows; }
  const std::map<std::string, std::uint32_t, std::less<>>& variables() const { return variables_; }

  // Gives slots to what the workflow's script may read by name: the data that its text mentions, and what it uses from
  // other workflows.
  base::Expected<void> add_script_values(std::string_view script_text);

  // What is resolved from now on is read in `list`. What `start` fills stays with the VU.
  void enter(VuList list) { list_ = list; }

 private:
  struct StepEntry {
    std::uint32_t call;
    const model::StepKind* kind;
    bool in_start;
  };

  std::uint32_t new_slot();
  void add_argument(const std::string& name, std::uint32_t slot);
  std::uint32_t text_constant(std::string text);
  std::uint32_t json_constant(const std::string& json);
  std::optional<authoring::Slot> own_result(const authoring::Path& path);
  authoring::Slot capture(const StepEntry& entry, std::size_t result, const authoring::Path& path, std::size_t used);
  base::Expected<authoring::Slot> step_result(const StepEntry& entry, const authoring::Path& path);
  base::Expected<std::shared_ptr<const authoring::Feeder>> feeder_of(const model::DataSource& source);
  base::Expected<authoring::Slot> data_column(const authoring::Path& path);
  base::Expected<authoring::Slot> environment(const authoring::Path& path);
  std::optional<authoring::Slot> used_key(const authoring::Path& path);
  std::optional<authoring::Slot> intrinsic(const authoring::Path& path);
  // Notes that the present list reads it, too.
  FeederUse& feeder_use(const std::string& name, std::shared_ptr<const authoring::Feeder> feeder, model::Pick pick);

  const model::Job& job_;
  const model::Workflow& workflow_;
  const ReceivedContext& received_;
  Program& program_;
  std::map<std::string, std::uint32_t, std::less<>> variables_;
  std::map<std::string, StepEntry, std::less<>> steps_;
  std::map<std::string, std::uint32_t> constants_;
  std::map<std::uint32_t, StepEntry> calls_;
  std::optional<std::uint32_t> own_;
  std::vector<std::pair<std::string, std::uint32_t>>* arguments_ = nullptr;
  std::vector<std::uint32_t>* rows_ = nullptr;
  VuList list_ = VuList::kLoop;
};

}  // namespace muster::engine
