#include "resilience/extensions.h"

#include <algorithm>

namespace muster::resilience {

ExtensionAnswer Extensions::ask(const ExtensionRequest& request, base::Instant deadline, bool suspect,
                                base::Instant now) {
  const base::Instant current = this->deadline(deadline);
  if (!(request.progress >= 0 && request.progress <= 1)) return answer(ExtensionVerdict::kMalformed, {}, current, now);
  if (suspect) return answer(ExtensionVerdict::kSuspect, {}, current, now);
  if (granted_ > 0 && request.progress == progress_ && now < deadline_) {
    return answer(ExtensionVerdict::kGranted, extension(granted_ - 1), current, now);
  }
  if (granted_ >= options_.most) return answer(ExtensionVerdict::kExhausted, {}, current, now);
  if (request.progress <= progress_) return answer(ExtensionVerdict::kNoProgress, {}, current, now);
  const base::Duration added = extension(granted_);
  deadline_ = std::max(current, now) + added;
  progress_ = request.progress;
  ++granted_;
  return answer(ExtensionVerdict::kGranted, added, deadline_, now);
}

void Extensions::reset() {
  granted_ = 0;
  progress_ = 0;
}

base::Instant Extensions::deadline(base::Instant unextended) const {
  return granted_ == 0 ? unextended : std::max(unextended, deadline_);
}

base::Instant Extensions::evict_at(base::Instant unextended) const {
  return deadline(unextended) + (granted_ >= options_.most ? options_.grace : base::Duration::zero());
}

bool Extensions::in_grace(base::Instant now) const {
  return granted_ >= options_.most && now >= deadline_ && now < deadline_ + options_.grace;
}

ExtensionAnswer Extensions::answer(ExtensionVerdict verdict, base::Duration extension, base::Instant deadline,
                                   base::Instant now) const {
  const base::Duration overdue = std::max(base::Duration::zero(), now - deadline);
  return {
      .verdict = verdict,
      .extension = extension,
      .deadline = deadline,
      .left = options_.most - std::min(granted_, options_.most),
      .warning = verdict == ExtensionVerdict::kGranted && granted_ >= options_.most,
      .grace_left = std::max(base::Duration::zero(), options_.grace - overdue),
  };
}

base::Duration Extensions::extension(std::uint32_t number) const {
  const std::uint32_t halvings = std::min(number + 1, 62u);
  return std::max(options_.shortest, options_.longest / (std::int64_t{1} << halvings));
}

}  // namespace muster::resilience
