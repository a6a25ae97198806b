// SPDX-License-Identifier: Apache-2.0
#include "trainwire/sim/pair_connections.h"

#include <utility>

namespace tw::sim {

std::size_t PairConnections::PairHash::operator()(const Pair& pair) const {
  std::uint64_t hash = static_cast<std::uint64_t>(pair.from) << 32U ^
                       static_cast<std::uint64_t>(static_cast<unsigned>(pair.to));
  hash ^= (pair.job << 8U ^ static_cast<std::size_t>(pair.lane) << 2U ^
           static_cast<std::size_t>(pair.kind)) *
          0x9e3779b97f4a7c15U;
  hash *= 0xff51afd7ed558ccdU;
  return hash ^ hash >> 29U;
}

Connected& PairConnections::counted(std::size_t job, const play::Message& message) {
  const auto [from, to] = std::pair(message.transfer.from, message.transfer.to);
  Connected& found = connections_[{
      .job = job, .from = from, .to = to, .kind = message.kind, .lane = message.lane}];
  if (found.bytes != nullptr) return found;
  found.bytes = &jobs_[job].bytes[{from, to}];
  if (message.kind == play::Kind::Gradient) found.gradients = &jobs_[job].gradients[{from, to}];
  return found;
}

const Connected& PairConnections::of(std::size_t job, const play::Message& message, Duration now) {
  Connected& found = counted(job, message);
  if (found.number < 0) {
    connect(found, job, message);
    for (; found.read > 0; --found.read) medium_.reads(found.number, now);
  }
  if (tells_steps_[job] && message.kind == play::Kind::Gradient) note_step(found, message);
  return found;
}

void PairConnections::connect(Connected& made, std::size_t job, const play::Message& message) {
  const auto [from, to] = std::pair(message.transfer.from, message.transfer.to);
  medium::Sending sending = sendings_[job];
  if (message.kind == play::Kind::Side) sending = {.priority = sendings_[job].priority};
  const auto other = connections_.find(
      {.job = job, .from = to, .to = from, .kind = message.kind, .lane = message.lane});
  if (other != connections_.end() && other->second.number >= 0) {
    sending.answers = other->second.number;
  }
  sending.is_read_in_turn =
      message.kind == play::Kind::Gradient && !play::reads_anytime(jobs_[job].training, to);
  made.number = medium_.connect(host_of(job, from), host_of(job, to), sending);
}

void PairConnections::read(std::size_t job, const play::Message& message, Duration now) {
  Connected& found = counted(job, message);
  if (found.number < 0) {
    ++found.read;
  } else {
    medium_.reads(found.number, now);
  }
}

/// A step has as many bytes as the one before it.
void PairConnections::note_step(Connected& connection, const play::Message& message) {
  if (message.step != connection.step) {
    medium_.begin_step(connection.number, connection.step_bytes);
    connection.step = message.step;
    connection.step_bytes = 0;
  }
  connection.step_bytes += message.bytes();
}

}  // namespace tw::sim
