// SPDX-License-Identifier: Apache-2.0
#include "trainwire/play/player.h"

#include "trainwire/play/rank.h"

#include <cstddef>
#include <deque>
#include <optional>
#include <utility>

namespace tw::play {

bool reads_anytime(const workload::Training& training, int rank) {
  return training.row().draws_peers || training.forward_overlap ||
         (training.asynchronous() && training.is_server(rank));
}
namespace {

/// As trainer sends them: a step's number, and a word's stand-in.
constexpr std::int64_t kRequestBytes = 8;
constexpr std::int64_t kSideBytes = 64;

}  // namespace

std::int64_t Message::bytes() const {
  if (kind == Kind::Request) return kRequestBytes;
  if (kind == Kind::Side) return kSideBytes;
  return workload::kElementBytes * range.elements;
}

struct Player::State {
  State(const workload::Training& of, Driver by) : training(of), driver(std::move(by)) {
    std::optional<workload::Exchanges> exchanges;
    if (!training.row().draws_peers) exchanges = exchanges_of(training);
    for (int rank = 0; rank < training.ranks(); ++rank) {
      ranks.emplace_back(training, exchanges ? &*exchanges : nullptr, driver, rank, turns);
    }
  }
  Rank& at(int rank) { return ranks[static_cast<std::size_t>(rank)]; }

  const workload::Training& training;
  Driver driver;
  Turns turns;
  std::deque<Rank> ranks;  // a deque: ranks stay where they are
  std::size_t first_not_done = 0;
};

Player::Player(const workload::Training& training, Driver driver)
    : state_(std::make_unique<State>(training, std::move(driver))) {}

Player::~Player() = default;

void Player::begin() {
  for (Rank& rank : state_->ranks) rank.begin(state_->training.start);
}

void Player::left(const Message& message, Duration now) {
  state_->at(message.transfer.from).left(message, now);
}

void Player::came(const Message& message, Duration now) {
  state_->at(message.transfer.to).came(message, now);
}

void Player::began(const Message& message, std::uint64_t as, Duration now) {
  state_->at(message.transfer.to).began(message, as, now);
}

void Player::woke(int rank, Duration now) { state_->at(rank).woke(now); }

bool Player::done(int rank) const { return state_->at(rank).done(); }

bool Player::done() const {
  // Who is done stays so: nobody is asked twice.
  std::size_t& first = state_->first_not_done;
  while (first < state_->ranks.size() && state_->ranks[first].done()) ++first;
  return first == state_->ranks.size();
}

}  // namespace tw::play
