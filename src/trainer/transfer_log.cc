// SPDX-License-Identifier: Apache-2.0
#include "trainwire/trainer/transfer_log.h"

#include "trainwire/os/clock.h"

#include <fmt/format.h>

#include <iterator>
#include <span>
#include <utility>

namespace tw::trainer {

TransferLog::TransferLog(const std::string& path) : path_(path) {
  if (path_.empty()) return;
  file_ = os::open_in_place(path_);
  to_real_time_ = os::real_time_ns() - os::monotonic_ns();
}

void TransferLog::add(std::int64_t step, int bucket, const collective::Transfer& t, int lane,
                      const workload::Range& range) {
  if (path_.empty()) return;
  const std::int64_t now = os::monotonic_ns() + to_real_time_;
  const std::lock_guard lock(mutex_);
  fmt::format_to(std::back_inserter(pending_), "{},{},{},{},{},{},{},{},{},{}\n", step, bucket,
                 t.round, t.from, t.to, lane, range.first, range.elements, name_of(t.combine), now);
}

void TransferLog::flush() {
  if (path_.empty()) return;
  std::string text;
  {
    const std::lock_guard lock(mutex_);
    text = std::exchange(pending_, {});
  }
  os::write_all(file_, std::as_bytes(std::span(text)), path_);
}

}  // namespace tw::trainer
