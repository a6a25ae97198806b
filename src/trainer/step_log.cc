// SPDX-License-Identifier: Apache-2.0
#include "trainwire/trainer/step_log.h"

#include "trainwire/os/clock.h"

#include <fmt/format.h>

#include <iterator>
#include <span>
#include <utility>

namespace tw::trainer {

StepLog::StepLog(const std::string& path)
    : path_(path),
      file_(os::open_to_write(path)),
      to_real_time_(os::real_time_ns() - os::monotonic_ns()) {}

void StepLog::add(const Phase& phase) {
  const std::lock_guard lock(mutex_);
  fmt::format_to(std::back_inserter(pending_), "{},{},{},{},{},{},{}\n", phase.step, phase.name,
                 phase.bucket, phase.begin_ns + to_real_time_, phase.end_ns + to_real_time_,
                 phase.bytes, phase.queued);
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
