// SPDX-License-Identifier: Apache-2.0
#include "trainwire/trainer/step_log.h"

#include "trainwire/base/error.h"
#include "trainwire/os/clock.h"
#include "trainwire/record/phase.h"

#include <optional>
#include <span>
#include <utility>

namespace tw::trainer {

StepLog::StepLog(const std::string& path)
    : path_(path),
      file_(os::open_in_place(path)),
      to_real_time_(os::real_time_ns() - os::monotonic_ns()) {}

void StepLog::add(const Phase& phase) {
  const std::optional<record::Phase> known = record::phase_named(phase.name);
  check(known.has_value(), "a phase has a name that readers know");
  const std::lock_guard lock(mutex_);
  record::append_phase_line(pending_, {.step = phase.step,
                                       .phase = *known,
                                       .bucket = phase.bucket,
                                       .start_ns = phase.begin_ns + to_real_time_,
                                       .end_ns = phase.end_ns + to_real_time_,
                                       .bytes = phase.bytes,
                                       .queued = phase.queued});
}

void StepLog::add(workload::Phase part, const workload::Training& training, Phase phase) {
  const bool computes = training.compute.backward.count() > 0;
  if (part == workload::Phase::Forward && training.compute.forward.count() > 0) {
    phase.name = "forward";
  }
  if (part == workload::Phase::Backward && computes) phase.name = "backward";
  if (part == workload::Phase::Wait) phase.name = "wait";
  if (part == workload::Phase::Update && computes) phase.name = "optimiser";
  if (!phase.name.empty()) add(phase);
}

void StepLog::flush() {
  std::string text;
  {
    const std::lock_guard lock(mutex_);
    text = std::exchange(pending_, {});
  }
  os::write_all(file_, std::as_bytes(std::span(text)), path_);
}

}  // namespace tw::trainer
