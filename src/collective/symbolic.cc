// SPDX-License-Identifier: Apache-2.0
#include "trainwire/collective/symbolic.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tw::collective {
namespace {

constexpr std::size_t kMostFaults = 20;
constexpr int kMostWeight = 255;

void scale(Copy& copy, int doublings) {
  const int shift = std::min(doublings, 8);
  for (std::uint8_t& w : copy.weight) {
    w = static_cast<std::uint8_t>(std::min(kMostWeight, w << shift));
  }
  copy.halvings += doublings;
}

void add(Copy& own, Copy incoming) {
  scale(own, std::max(0, incoming.halvings - own.halvings));
  scale(incoming, std::max(0, own.halvings - incoming.halvings));
  for (std::size_t w = 0; w < own.weight.size(); ++w) {
    own.weight[w] =
        static_cast<std::uint8_t>(std::min(kMostWeight, own.weight[w] + incoming.weight[w]));
  }
}

}  // namespace

void Findings::add(const std::string& text) {
  if (texts_.size() < kMostFaults) texts_.push_back(prefix_ + text);
}

std::string text_of(const Transfer& t) {
  const std::string chunks = t.width == 1
                                 ? fmt::format("chunk {}", t.chunk)
                                 : fmt::format("chunks {} to {}", t.chunk, t.chunk + t.width - 1);
  return fmt::format("round {}: {} from rank {} to rank {}", t.round, chunks, t.from, t.to);
}

Machine::Machine(const Schedule& schedule, Findings& findings)
    : schedule_(schedule), findings_(findings) {
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    Copy start{.weight = std::vector<std::uint8_t>(static_cast<std::size_t>(schedule.workers))};
    start.served = rank >= schedule.workers;
    if (!start.served) start.weight[static_cast<std::size_t>(rank)] = 1;
    copies_.insert(copies_.end(), static_cast<std::size_t>(schedule.chunks), start);
  }
  used_.resize(copies_.size());
}

void Machine::run(std::span<const Transfer> transfers) {
  while (!transfers.empty()) {
    const auto next = std::find_if(transfers.begin(), transfers.end(), [&](const Transfer& t) {
      return t.round != transfers.front().round;
    });
    const auto length = static_cast<std::size_t>(next - transfers.begin());
    run_round(transfers.first(length));
    transfers = transfers.subspan(length);
  }
}

std::size_t Machine::index(int rank, int chunk) const {
  return static_cast<std::size_t>(rank) * static_cast<std::size_t>(schedule_.chunks) +
         static_cast<std::size_t>(chunk);
}

void Machine::run_round(std::span<const Transfer> round) {
  check_uses(round);
  std::vector<std::vector<Copy>> in_flight;
  for (const Transfer& t : round) in_flight.push_back(sent_copies(t));
  for (std::size_t i = 0; i < round.size(); ++i) receive(round[i], std::move(in_flight[i]));
}

void Machine::check_uses(std::span<const Transfer> round) {
  for (const Transfer& t : round) {
    for (int k = 0; k < t.width; ++k) {
      Use& use = used_[index(t.from, t.chunk + k)];
      if (use.round_read != t.round) use.reads = 0;
      use.round_read = t.round;
      ++use.reads;
    }
  }
  for (const Transfer& t : round) {
    Transfer back = t;
    std::swap(back.from, back.to);
    const bool is_exchanged = std::binary_search(round.begin(), round.end(), back);
    for (int k = 0; k < t.width; ++k) check_write(t, is_exchanged, used_[index(t.to, t.chunk + k)]);
  }
}

void Machine::check_write(const Transfer& t, bool is_exchanged, Use& use) {
  const bool both_sum = t.combine == Combine::Sum && use.written_by == Combine::Sum;
  if (use.round_written == t.round && !both_sum) {
    findings_.add(fmt::format("{}: the copy is written twice in this round", text_of(t)));
  }
  const bool may_read = t.combine == Combine::Average || (is_exchanged && use.reads == 1);
  if (use.round_read == t.round && !may_read) {
    findings_.add(fmt::format("{}: the copy is read in this round", text_of(t)));
  }
  use.round_written = t.round;
  use.written_by = t.combine;
}

std::vector<Copy> Machine::sent_copies(const Transfer& t) {
  const auto first = copies_.begin() + static_cast<std::ptrdiff_t>(index(t.from, t.chunk));
  std::vector<Copy> sent(first, first + t.width);
  std::int64_t waited = 0;
  for (const Copy& copy : sent) waited = std::max(waited, copy.chain);
  for (Copy& copy : sent) copy.chain = waited + 1;
  longest_chain_ = std::max(longest_chain_, waited + 1);
  return sent;
}

void Machine::receive(const Transfer& t, std::vector<Copy> sent) {
  for (int k = 0; k < t.width; ++k) {
    Copy& own = copies_[index(t.to, t.chunk + k)];
    Copy& incoming = sent[static_cast<std::size_t>(k)];
    if (t.combine == Combine::Replace) {
      own = std::move(incoming);
      continue;
    }
    own.served = own.served && t.to >= schedule_.workers;
    own.chain = std::max(own.chain, incoming.chain);
    add(own, std::move(incoming));
    if (t.combine == Combine::Average) ++own.halvings;
  }
}

}  // namespace tw::collective
