// SPDX-License-Identifier: Apache-2.0
#include "trainwire/traffic/tally.h"

#include "trainwire/os/clock.h"

#include <fmt/format.h>

#include <span>

namespace tw::traffic {
namespace {

constexpr std::size_t kWriteAt = 1 << 16;
void increase(std::atomic<std::int64_t>& value) { value.fetch_add(1, std::memory_order_relaxed); }

}  // namespace

FlowLog::FlowLog(const std::string& path)
    : path_(path),
      file_(os::open_to_write(path)),
      real_minus_monotonic_ns_(os::real_time_ns() - os::monotonic_ns()),
      text_("flow,start_ns,lateness_ns,bytes,end_ns,acknowledged_bytes\n") {}

void FlowLog::add(const PlayedFlow& flow) {
  const std::lock_guard lock(mutex_);
  fmt::format_to(std::back_inserter(text_), "{},{},{},{},", flow.number,
                 flow.start_ns + real_minus_monotonic_ns_, flow.start_ns - flow.due_ns, flow.bytes);
  if (flow.end_ns) {
    fmt::format_to(std::back_inserter(text_), "{}", *flow.end_ns + real_minus_monotonic_ns_);
  }
  fmt::format_to(std::back_inserter(text_), ",{}\n", flow.acknowledged);
  if (text_.size() >= kWriteAt) write();
}

void FlowLog::write() {
  os::write_all(file_, std::as_bytes(std::span(text_)), path_);
  text_.clear();
}

void FlowLog::close() {
  const std::lock_guard lock(mutex_);
  write();
  file_.close(path_);
}

void Tally::start(Duration lateness, std::int64_t bytes) {
  lateness_.add(lateness);
  offered += bytes;
  increase(started);
}

void Tally::finish(std::int64_t bytes, Duration time) {
  times_.finish(bytes, time);
  finished_bytes += bytes;
  increase(finished);
}

void Tally::censor(std::int64_t bytes) {
  times_.censor(bytes);
  ++unfinished;
}

void add_up(const Tally& tally, Outcome& outcome, load::TimeHistogram& lateness,
            load::CompletionTimes& times) {
  outcome.started += tally.started;
  outcome.finished += tally.finished;
  outcome.unfinished += tally.unfinished;
  outcome.unstarted += tally.unstarted;
  outcome.connections += tally.connections;
  outcome.sent += Bytes(tally.sent);
  outcome.framing += Bytes(tally.framing);
  outcome.acknowledged += Bytes(tally.acknowledged);
  if (tally.datagrams_sent) outcome.datagrams_sent = *tally.datagrams_sent;
  if (tally.datagrams_received) outcome.datagrams_received = *tally.datagrams_received;
  lateness.add(tally.lateness_);
  times.add(tally.times_);
}

}  // namespace tw::traffic
