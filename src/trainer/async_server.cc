// SPDX-License-Identifier: Apache-2.0
#include "trainwire/trainer/async_server.h"

#include "trainwire/os/clock.h"
#include "trainwire/trainer/add.h"
#include "trainwire/trainer/bucket_exchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace tw::trainer {
namespace {

using transport::tcp::Moved;

constexpr std::size_t kScratch = 128 * 1024;

}  // namespace

AsyncServer::AsyncServer(const Task& task, std::span<float> payload,
                         std::span<const transport::tcp::Connection> connections, StepLog& log,
                         ExchangeOptions options)
    : task_(task),
      payload_(payload),
      connections_(connections),
      log_(log),
      options_(std::move(options)),
      clients_(connections.size()),
      counts_(connections.size()),
      scratch_(kScratch),
      patience_(options_.patience) {
  const std::vector<workload::Wire> wires = wires_of(connections);
  for (int bucket = 0; bucket < static_cast<int>(task.training.buckets.size()); ++bucket) {
    const Parts parts = step_parts(task.training, task.rank, bucket, wires);
    for (std::size_t i = 0; i < clients_.size(); ++i) {
      const Part& push = parts.parts[static_cast<std::size_t>(parts.receives[i].at(0))];
      const Part& reply = parts.parts[static_cast<std::size_t>(parts.sends[i].at(0))];
      clients_[i].buckets.push_back({.begin = push.begin,
                                     .end = push.end,
                                     .push = parts.transfer(push),
                                     .reply = parts.transfer(reply)});
    }
  }
  for (Client& client : clients_) {
    client.step = -task.training.warmup;
    client.done = client.buckets.empty() || client.step >= task.training.steps;
    if (!client.done) client.position = client.buckets[0].begin;
  }
}

void AsyncServer::run(const std::function<void(std::int64_t)>& told) {
  patience_.restart();
  std::int64_t last = -task_.training.warmup;
  while (std::any_of(clients_.begin(), clients_.end(), [](const Client& c) { return !c.done; })) {
    bool any = false;
    for (std::size_t wire = 0; wire < clients_.size(); ++wire) any |= serve(wire);
    if (!any) wait();
    if (const std::int64_t least = least_step(); least > last) {
      last = least;
      log_.flush();
      told(least);
    }
  }
}

std::int64_t AsyncServer::least_step() const {
  std::int64_t least = task_.training.steps;
  for (const Client& client : clients_) {
    if (!client.done) least = std::min(least, client.step);
  }
  return least;
}

bool AsyncServer::serve(std::size_t wire) {
  Client& client = clients_[wire];
  bool any = false;
  while (!client.done) {
    const bool moved = client.answers ? answer(client, wire) : receive(client, wire);
    const Shard& range = client.buckets[static_cast<std::size_t>(client.bucket)];
    const bool over = client.position == range.end;
    if (over) advance(client, wire);
    any |= moved;
    if (!moved && !over) break;
  }
  return any;
}

bool AsyncServer::receive(Client& client, std::size_t wire) {
  const Shard& range = client.buckets[static_cast<std::size_t>(client.bucket)];
  const auto left = static_cast<std::size_t>(range.end - client.position);
  if (left == 0) return false;
  const std::size_t carried = client.carry.size();
  std::copy(client.carry.begin(), client.carry.end(), scratch_.begin());
  const std::size_t room = std::min(left, scratch_.size());
  const Moved moved = transport::tcp::receive_some(
      connections_[wire].socket.get(), std::span(scratch_).subspan(carried, room - carried));
  if (moved.closed || moved.error != 0) {
    throw PeerLost(fmt::format("rank {} closed the connection", connections_[wire].peer));
  }
  if (client.phase_ns == 0 && moved.bytes > 0) client.phase_ns = os::monotonic_ns();
  const std::size_t all = carried + moved.bytes;
  const std::size_t whole = all / kElementBytes;
  add(payload_.data() + client.position / kElementBytes, scratch_.data(), whole);
  client.position += static_cast<std::int64_t>(whole * kElementBytes);
  client.carry.assign(scratch_.begin() + static_cast<std::ptrdiff_t>(whole * kElementBytes),
                      scratch_.begin() + static_cast<std::ptrdiff_t>(all));
  return moved.bytes > 0;
}

bool AsyncServer::answer(Client& client, std::size_t wire) {
  const Shard& range = client.buckets[static_cast<std::size_t>(client.bucket)];
  const auto left = static_cast<std::size_t>(range.end - client.position);
  if (left == 0) return false;
  const Moved moved = transport::tcp::send_some(
      connections_[wire].socket.get(),
      std::as_bytes(payload_).subspan(static_cast<std::size_t>(client.position), left));
  if (moved.error != 0) {
    throw PeerLost(fmt::format("rank {} cannot be reached: {}", connections_[wire].peer,
                               std::strerror(moved.error)));
  }
  client.position += static_cast<std::int64_t>(moved.bytes);
  counts_[wire].sent += static_cast<std::int64_t>(moved.bytes);
  return moved.bytes > 0;
}

/// From the push of a bucket to its answer, from that to the next bucket.
void AsyncServer::advance(Client& client, std::size_t wire) {
  const std::int64_t now = os::monotonic_ns();
  const Shard& range = client.buckets[static_cast<std::size_t>(client.bucket)];
  if (options_.transfers != nullptr && range.end > range.begin) {
    options_.transfers->add(client.step, client.bucket, client.answers ? range.reply : range.push,
                            connections_[wire].lane,
                            {.first = range.begin / kElementBytes,
                             .elements = (range.end - range.begin) / kElementBytes});
  }
  log_.add({.step = client.step,
            .name = client.answers ? "distribution" : "aggregation",
            .bucket = client.bucket,
            .begin_ns = client.phase_ns == 0 ? now : client.phase_ns,
            .end_ns = now,
            .bytes = range.end - range.begin,
            .queued = transport::tcp::queued_bytes(connections_[wire].socket.get())});
  if (client.bucket == 0 && !client.answers) count_push(client);
  client.phase_ns = client.answers ? 0 : now;
  client.answers = !client.answers;
  if (!client.answers && ++client.bucket == static_cast<int>(client.buckets.size())) {
    client.bucket = 0;
    client.done = ++client.step >= task_.training.steps;
  }
  client.position = client.buckets[static_cast<std::size_t>(client.bucket)].begin;
}

/// Told by the first bucket: the others of a step follow it.
void AsyncServer::count_push(Client& client) {
  const std::int64_t others = staleness_.pushes - client.pushed;
  // A worker's first push is of the first model, which all have.
  const std::int64_t stale = others - client.answered;
  staleness_.sum += stale;
  staleness_.most = std::max(staleness_.most, stale);
  ++staleness_.pushes;
  ++client.pushed;
  client.answered = others;
}

void AsyncServer::wait() {
  std::vector<pollfd> waits;
  for (std::size_t wire = 0; wire < clients_.size(); ++wire) {
    if (clients_[wire].done) continue;
    waits.push_back({.fd = connections_[wire].socket.get(),
                     .events = static_cast<short>(clients_[wire].answers ? POLLOUT : POLLIN),
                     .revents = 0});
  }
  if (!patience_.wait(waits)) {
    throw PeerLost(fmt::format("no worker sent anything for {}", readable(options_.patience)));
  }
  if (options_.tick) options_.tick(os::monotonic_ns());
}

}  // namespace tw::trainer
