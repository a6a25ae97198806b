// SPDX-License-Identifier: Apache-2.0
// How a fleet comes together: hosts are met, know the token, and have their clocks compared.
#include "trainwire/base/error.h"
#include "trainwire/base/printable.h"
#include "trainwire/fleet/introduction.h"
#include "trainwire/fleet/meeting.h"
#include "trainwire/fleet/members.h"
#include "trainwire/fleet/token.h"
#include "trainwire/ledger/folder.h"
#include "trainwire/os/clock.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>

#include <algorithm>
#include <thread>
#include <utility>

namespace tw::fleet {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr auto kBetween = milliseconds(5);
constexpr Duration kLongestReply = seconds(15);
constexpr std::size_t kMostStrangers = 64;  // besides one for every host
constexpr int kClockQuestions = 16;
constexpr std::int64_t kAliveNs = 1'000'000'000;

std::int64_t moment_after(Duration time) { return os::monotonic_ns() + time.count(); }

}  // namespace

Fleet::Fleet(FleetOptions options)
    : options_(std::move(options)),
      token_(options_.launch.kind == LaunchKind::Wait ? token_from(own_variable)
                                                      : transport::tcp::make_token()),
      ledger_(ledger::state_folder(), "launch"),
      scratch_("launch", ledger_),
      members_(static_cast<std::size_t>(options_.hosts)) {
  Listening listening = listen_everywhere(options_.launch.port);
  listener_ = std::move(listening.socket);
  port_ = listening.port;
  launch_all();
  join();
  if (!interrupted_) compare_clocks();
}

std::string Fleet::absent() const {
  std::vector<std::string> numbers;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (members_[i]) continue;
    const bool has_name = options_.launch.kind == LaunchKind::Ssh;  // a launcher for every host
    numbers.push_back(has_name ? fmt::format("{}: {}", i, launchers_[i].label) : std::to_string(i));
  }
  return fmt::format("{} of {} hosts {} not joined (number {})", numbers.size(), members_.size(),
                     numbers.size() == 1 ? "has" : "have", fmt::join(numbers, ", "));
}

void Fleet::join() {
  std::int64_t limit = moment_after(options_.longest_start);
  std::size_t joined = 0;
  bool is_first = true;
  for (;;) {
    accept();
    const auto count = static_cast<std::size_t>(
        std::ranges::count_if(members_, [](const auto& member) { return member != nullptr; }));
    if (count != joined && joined == 0) limit = moment_after(options_.longest_joining);
    if ((count != joined || is_first) && options_.tell) {
      options_.tell(fmt::format("waiting for hosts, {} of {} are there", count, members_.size()));
    }
    is_first = false;
    joined = count;
    if (joined == members_.size()) break;
    const bool tells = joined > 0 && os::monotonic_ns() - told_ns_ > kAliveNs;
    if (tells) told_ns_ = os::monotonic_ns();
    for (auto& member : members_) {
      if (!member) continue;
      if (tells) member->link.send(json{{"alive", true}});
      look_at(*member);
      if (failure_) {  // perhaps srun has ended it because of another
        throw Error(
            fmt::format("starting the hosts: {}; {}{}", absent(), *failure_, launcher_words()));
      }
    }
    if (options_.stop && options_.stop()) {
      interrupted_ = true;
      return;
    }
    std::string hint = refused_.empty() ? "" : fmt::format("; somebody was refused: {}", refused_);
    if (const auto why = launcher_trouble()) {
      throw Error(fmt::format("starting the hosts: {}{}", *why, hint));
    }
    if (os::monotonic_ns() > limit) {
      throw Error(
          fmt::format("starting the hosts: {} within {}{}{}", absent(),
                      readable(joined > 0 ? options_.longest_joining : options_.longest_start),
                      hint, launcher_words()));
    }
    std::this_thread::sleep_for(kBetween);
  }
  strangers_.clear();
  for (const auto& member : members_) joined_.push_back(member->who);
  for (std::size_t i = 0; i < joined_.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (joined_[i].address == joined_[j].address) {
        throw Error(
            fmt::format("hosts {} and {} are the same machine ({}, {}); ask for as many "
                        "machines as the experiment has hosts",
                        j, i, joined_[i].name, joined_[i].address));
      }
    }
  }
  // Names are those of files too: where two are the same, nobody keeps his.
  const bool repeats = std::ranges::any_of(joined_, [&](const JoinedHost& host) {
    return std::ranges::count(joined_, host.name, &JoinedHost::name) > 1;
  });
  for (std::size_t i = 0; i < joined_.size(); ++i) {
    if (repeats) members_[i]->who.name = fmt::format("host{}", i);
    joined_[i] = members_[i]->who;
  }
}

void Fleet::accept() {
  for (;;) {
    os::FileDescriptor socket(
        ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket.is_open()) break;
    if (strangers_.size() >= kMostStrangers + members_.size()) strangers_.erase(strangers_.begin());
    strangers_.push_back(
        {.link = Link(std::move(socket), kMostHello), .nonce = transport::tcp::make_token()});
    strangers_.back().link.send(json{{"nonce", transport::tcp::text_of(strangers_.back().nonce)}});
  }
  for (Stranger& stranger : strangers_) {
    stranger.link.pump();
    try {
      if (const auto frame = stranger.link.next()) meet(stranger, *frame);
    } catch (const std::exception& error) {
      refused_ = printable(error.what());
      stranger.link.close();
    }
  }
  std::erase_if(strangers_, [](const Stranger& s) { return !s.link.is_open(); });
}

void Fleet::meet(Stranger& stranger, const Frame& frame) {
  Link& link = stranger.link;
  const json hello = message_of(frame);
  const auto refuse = [&](const std::string& why) {
    refused_ = why;
    link.send(json{{"refused", why}});
    link.flush(seconds(1));
    link.close();
  };
  const auto answer = answer_to(hello, token_, stranger.nonce);
  if (!answer) return refuse("its token is not this run's");
  const int number = hello.at("number").get<int>();
  if (number < 0 || number >= options_.hosts) {
    return refuse(fmt::format("it is number {}, but the run has {} hosts", number, options_.hosts));
  }
  auto& place = members_[static_cast<std::size_t>(number)];
  if (place) return refuse(fmt::format("host {} is there already", number));
  auto member = std::make_unique<Member>();  // a seat is taken by who is wholly there
  member->who = introduced(hello, number);
  member->link = std::exchange(link, Link());
  member->link.set_most(kMostContent);
  member->link.send(json{{"proof", *answer}});
  member->link.pump();
  place = std::move(member);
}

void Fleet::compare_clocks() {
  for (int i = 0; i < kClockQuestions && !failure_; ++i) {
    for (auto& member : members_) {
      member->asked_ns = os::real_time_ns();
      member->link.send(json{{"clock", i}});
      const std::int64_t limit = moment_after(kLongestReply);
      const int before = member->answers;
      while (member->answers == before && !failure_ && os::monotonic_ns() < limit) {
        look_at(*member);
        if (member->answers == before) std::this_thread::sleep_for(std::chrono::microseconds(50));
      }
    }
  }
  for (std::size_t i = 0; i < members_.size(); ++i) joined_[i] = members_[i]->who;
  if (failure_) throw Error(*failure_);
}

}  // namespace tw::fleet
