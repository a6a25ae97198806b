// SPDX-License-Identifier: Apache-2.0
#include "trainwire/trainer/pair_averager.h"

#include "trainwire/base/error.h"
#include "trainwire/os/clock.h"
#include "trainwire/trainer/add.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace tw::trainer {
namespace {

using transport::tcp::Moved;

constexpr std::size_t kBlock = 256 * 1024;
constexpr int kLookMs = 20;

int pulling_lane(int rank, int peer) { return rank < peer ? 0 : 1; }

/// Throws when nothing comes, or can be sent, within the patience.
void wait_for(int socket, short events, Duration patience, int peer,
              const std::function<void()>& look) {
  pollfd wait{.fd = socket, .events = events, .revents = 0};
  transport::tcp::Patience left(patience);
  while (left.wait(std::span(&wait, 1))) {
    if (wait.revents != 0) return;
    if (look) look();
  }
  throw PeerLost(fmt::format("nothing came from rank {} for {}", peer, readable(patience)),
                 PeerLost::How::Silent);
}

}  // namespace

PairAverager::PairAverager(const Task& task, std::span<float> payload,
                           std::span<const transport::tcp::Connection> connections, StepLog& log,
                           TransferLog& transfers, std::function<void()> look)
    : task_(task),
      payload_(payload),
      connections_(connections),
      log_(log),
      transfers_(transfers),
      look_(std::move(look)),
      sent_(connections.size()),
      requests_(connections.size()),
      scratch_(kBlock) {
  for (std::size_t wire = 0; wire < connections.size(); ++wire) {
    const auto& c = connections[wire];
    if (c.lane != pulling_lane(task.rank, c.peer)) clients_.push_back({.wire = wire});
  }
  thread_ = std::thread([this] { answer_all(); });
}

PairAverager::~PairAverager() { stop(); }

void PairAverager::stop() {
  ends_ = true;
  if (thread_.joinable()) thread_.join();
}

void PairAverager::change(const std::function<void()>& how) {
  const std::lock_guard lock(model_);
  how();
}

std::size_t PairAverager::wire_for(int peer) const {
  for (std::size_t wire = 0; wire < connections_.size(); ++wire) {
    const auto& c = connections_[wire];
    if (c.peer == peer && c.lane == pulling_lane(task_.rank, peer)) return wire;
  }
  check(false, "there is a connection to every rank");
  return 0;
}

void PairAverager::pull(std::int64_t step) {
  if (task_.training.arrangement.layout.ranks() < 2) return;
  const collective::Schedule schedule = step_schedule(task_.training, step);
  int peer = -1;
  for (const collective::Transfer& t : transfers_of(schedule, task_.rank)) {
    if (t.to == task_.rank) peer = t.from;
  }
  check(peer >= 0, "every rank pulls in every step");
  const std::size_t wire = wire_for(peer);
  const int socket = connections_[wire].socket.get();
  const std::int64_t begin = os::monotonic_ns();
  std::array<std::byte, kRequestBytes> request = {};
  std::memcpy(request.data(), &step, sizeof step);
  for (std::size_t sent = 0; sent < request.size();) {
    const Moved moved = transport::tcp::send_some(socket, std::span(request).subspan(sent));
    if (moved.error != 0) {
      throw PeerLost(
          fmt::format("rank {} cannot be reached: {}", peer, std::strerror(moved.error)));
    }
    sent += moved.bytes;
    if (moved.blocked) wait_for(socket, POLLOUT, task_.patience, peer, look_);
  }
  ++requests_[wire];
  receive_payload(wire);
  log_transfer(step, peer, task_.rank, wire);
  log_.add({.step = step,
            .name = "exchange",
            .begin_ns = begin,
            .end_ns = os::monotonic_ns(),
            .bytes = static_cast<std::int64_t>(payload_.size_bytes())});
}

std::vector<float> PairAverager::model() {
  const std::lock_guard lock(model_);
  return {payload_.begin(), payload_.end()};
}

void PairAverager::receive_payload(std::size_t wire) {
  const int socket = connections_[wire].socket.get();
  std::size_t done = 0;     // elements
  std::size_t carried = 0;  // bytes of the next one, at the scratch's begin
  while (done < payload_.size()) {
    const std::size_t room =
        std::min(scratch_.size(), (payload_.size() - done) * sizeof(float)) - carried;
    const Moved moved =
        transport::tcp::receive_some(socket, std::span(scratch_).subspan(carried, room));
    if (moved.closed || moved.error != 0) {
      throw PeerLost(fmt::format("rank {} closed the connection", connections_[wire].peer));
    }
    if (moved.blocked) {
      wait_for(socket, POLLIN, task_.patience, connections_[wire].peer, look_);
    }
    const std::size_t all = carried + moved.bytes;
    const std::size_t whole = all / sizeof(float);
    {
      const std::lock_guard lock(model_);
      average(payload_.data() + done, scratch_.data(), whole);
    }
    done += whole;
    carried = all - whole * sizeof(float);
    std::memmove(scratch_.data(), scratch_.data() + whole * sizeof(float), carried);
  }
}

void PairAverager::answer_all() {
  std::vector<pollfd> waits(clients_.size());
  while (!ends_) {
    bool any = false;
    for (Client& client : clients_) any |= !client.gone && answer(client);
    if (any) continue;
    for (std::size_t i = 0; i < clients_.size(); ++i) {
      const Client& client = clients_[i];
      waits[i] = {.fd = client.gone ? -1 : connections_[client.wire].socket.get(),
                  .events = static_cast<short>(client.left > 0 ? POLLOUT : POLLIN),
                  .revents = 0};
    }
    ::poll(waits.data(), waits.size(), kLookMs);
  }
}

/// Whether something moved. A peer that is gone is the conductor's business.
bool PairAverager::answer(Client& client) {
  const int socket = connections_[client.wire].socket.get();
  if (client.left == 0) {
    const auto request = std::as_writable_bytes(std::span(&client.step, 1));
    static_assert(sizeof client.step == kRequestBytes);
    const Moved moved = transport::tcp::receive_some(socket, request.subspan(client.request));
    client.gone = moved.closed || moved.error != 0;
    client.request += moved.bytes;
    if (client.request == kRequestBytes) {
      client.request = 0;
      client.left = static_cast<std::int64_t>(payload_.size_bytes());
    }
    return moved.bytes > 0;
  }
  const auto bytes = std::as_bytes(payload_);
  const auto left = static_cast<std::size_t>(client.left);
  Moved moved;
  {
    const std::lock_guard lock(model_);
    moved = transport::tcp::send_some(socket,
                                      bytes.subspan(bytes.size() - left, std::min(left, kBlock)));
  }
  client.gone = moved.error != 0;
  client.left -= static_cast<std::int64_t>(moved.bytes);
  sent_[client.wire] += static_cast<std::int64_t>(moved.bytes);
  if (client.left == 0 && moved.bytes > 0) {
    log_transfer(client.step, task_.rank, connections_[client.wire].peer, client.wire);
  }
  return moved.bytes > 0;
}

void PairAverager::log_transfer(std::int64_t step, int from, int to, std::size_t wire) {
  if (payload_.empty()) return;
  const collective::Transfer transfer{.round = 0,
                                      .from = from,
                                      .to = to,
                                      .chunk = 0,
                                      .width = 1,
                                      .combine = collective::Combine::Average};
  transfers_.add(step, workload::kWholePayload, transfer, connections_[wire].lane,
                 {.first = 0, .elements = static_cast<std::int64_t>(payload_.size())});
}

std::vector<WireCount> PairAverager::counts() const {
  std::vector<WireCount> counts(connections_.size());
  for (std::size_t wire = 0; wire < counts.size(); ++wire) {
    counts[wire] = {.sent = sent_[wire].load(),
                    .framing = static_cast<std::int64_t>(kRequestBytes) * requests_[wire]};
  }
  return counts;
}

}  // namespace tw::trainer
