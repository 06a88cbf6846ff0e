#include "model/result.h"

namespace muster::model {

std::string_view to_text(ErrorClass error) {
  constexpr std::array<std::string_view, kErrorClasses> kNames = {
      "dns", "connect", "tls", "timeout", "reset", "protocol", "status", "check", "value", "resource", "cancelled"};
  return kNames[static_cast<std::size_t>(error)];
}

std::string_view to_text(Phase phase) {
  constexpr std::array<std::string_view, kPhases> kNames = {"dns", "connect", "tls", "wait", "receive"};
  return kNames[static_cast<std::size_t>(phase)];
}

std::string_view to_text(MetricType type) {
  constexpr std::array<std::string_view, 4> kNames = {"counter", "gauge", "rate", "trend"};
  return kNames[static_cast<std::size_t>(type)];
}

std::string_view to_text(WorkflowState state) {
  constexpr std::array<std::string_view, 8> kNames = {"pending", "running", "completed", "failed",
                                                      "skipped", "aborted", "timeout",   "lost"};
  return kNames[static_cast<std::size_t>(state)];
}

std::string_view to_text(Verdict verdict) {
  constexpr std::array<std::string_view, 4> kNames = {"passed", "failed", "interrupted", "error"};
  return kNames[static_cast<std::size_t>(verdict)];
}

}  // namespace muster::model
