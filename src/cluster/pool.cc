// SPDX-License-Identifier: Apache-2.0
#include "trainwire/cluster/pool.h"

#include "trainwire/base/error.h"
#include "trainwire/base/printable.h"
#include "trainwire/cluster/worker.h"
#include "trainwire/ledger/folder.h"
#include "trainwire/ledger/ledger.h"
#include "trainwire/ledger/scratch.h"
#include "trainwire/os/clock.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <set>
#include <thread>
#include <utility>

namespace tw::cluster {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr auto kLook = std::chrono::milliseconds(2);
constexpr std::int64_t kTellNs = 200'000'000;
constexpr std::size_t kAhead = 4;                     ///< pieces that a worker has at a time
constexpr std::size_t kChunk = std::size_t{1} << 16;  ///< of an answer in one message
constexpr std::size_t kMostAnswer = std::size_t{256} << 20;
constexpr int kMostTries = 2;

struct Member {
  Worker worker;
  std::deque<std::size_t> has = {};  ///< pieces, in the order in which they will be answered
  std::string answer = {};           ///< of the first of them, as far as it has come
  bool ready = false;
  bool gone = false;
};

class Pool {
 public:
  Pool(const PoolRequest& request, const std::vector<json>& items, const Answered& answered,
       fleet::Fleet& fleet)
      : request_(request), items_(items), answered_(answered), fleet_(fleet), tries_(items.size()) {
    for (std::size_t i = 0; i < items.size(); ++i) waiting_.push_back(i);
  }

  PoolEnd run() {
    for (std::size_t host = 0; host < fleet_.hosts().size(); ++host) {
      start(static_cast<int>(host));
    }
    while (state_.done + end_.given_up < items_.size()) {
      if (request_.stop && request_.stop()) {
        end_.interrupted = true;
        break;
      }
      fleet_.attend();
      bool moved = false;
      for (std::size_t i = 0; i < members_.size(); ++i) moved = look(i) || moved;
      if (std::ranges::all_of(members_, [](const auto& m) { return m->gone; })) break;
      tell();
      if (!moved) std::this_thread::sleep_for(kLook);
    }
    end_.given_up = items_.size() - state_.done;
    if (!end_.failure) end_.failure = fleet_.failure();
    return end_;
  }

 private:
  void start(int host) {
    members_.push_back(std::make_unique<Member>(
        Member{.worker = Worker(fleet_, host, request_.command,
                                fmt::format("worker{}", members_.size()))}));
    members_.back()->worker.tell(request_.task);
  }

  /// Whether anything happened.
  bool look(std::size_t number) {
    Member& member = *members_[number];
    if (member.gone) return false;
    const auto ending = member.worker.ending();  // first: what it said before comes before its end
    bool moved = false;
    while (const auto message = member.worker.hear()) {
      moved = true;
      take(member, *message);
    }
    if (ending) {
      lose(member);
      return true;
    }
    while (member.ready && member.has.size() < kAhead && !waiting_.empty()) {
      const std::size_t item = waiting_.front();
      waiting_.pop_front();
      member.has.push_back(item);
      member.worker.tell({{"item", items_[item]}});
      moved = true;
    }
    return moved;
  }

  void take(Member& member, const json& message) {
    if (message.contains("processors")) {
      member.ready = true;
      if (!helped_.contains(member.worker.host())) {
        helped_.insert(member.worker.host());
        const int host = member.worker.host();
        const int more = std::clamp(message.at("processors").get<int>() - 1, 0, 1023);
        for (int i = 0; i < more && members_.size() < items_.size(); ++i) start(host);
      }
    } else if (message.contains("failed")) {
      end_.failure = fmt::format("{}: {}", name_of(member),
                                 printable(message.at("failed").get<std::string>()));
    } else if (message.contains("text") && !member.has.empty()) {
      member.answer += message.at("text").get_ref<const std::string&>();
      if (member.answer.size() > kMostAnswer) throw Error("an answer that cannot be meant");
      if (!message.at("last").get<bool>()) return;
      const std::size_t item = member.has.front();
      member.has.pop_front();
      ++state_.done;
      answered_(item, ordered_json::parse(std::exchange(member.answer, {})));
    }
  }

  void lose(Member& member) {
    member.gone = true;
    if (!end_.failure) {
      end_.failure =
          fleet_.failure().value_or(fmt::format("{}: a worker has ended", name_of(member)));
    }
    bool first = true;
    for (const std::size_t item : std::exchange(member.has, {})) {
      // Only the one that it was at may be the reason.
      if (std::exchange(first, false) && ++tries_[item] >= kMostTries) {
        ++end_.given_up;
      } else {
        waiting_.push_back(item);
      }
    }
  }

  std::string name_of(const Member& member) const {
    return fleet_.hosts()[static_cast<std::size_t>(member.worker.host())].name;
  }

  void tell() {
    const std::int64_t now = os::monotonic_ns();
    if (!request_.tell || now - told_ns_ < kTellNs) return;
    told_ns_ = now;
    state_.all = items_.size();
    state_.workers = static_cast<std::size_t>(
        std::ranges::count_if(members_, [](const auto& m) { return !m->gone; }));
    request_.tell(state_);
  }

  const PoolRequest& request_;
  const std::vector<json>& items_;
  const Answered& answered_;
  fleet::Fleet& fleet_;
  std::vector<int> tries_;
  std::deque<std::size_t> waiting_;
  std::vector<std::unique_ptr<Member>> members_;
  std::set<int> helped_;  ///< hosts that have all their workers
  PoolState state_;
  PoolEnd end_;
  std::int64_t told_ns_ = 0;
};

}  // namespace

PoolEnd spread(const PoolRequest& request, const std::vector<json>& items,
               const Answered& answered) {
  if (items.empty()) return {};
  fleet::Fleet fleet({.launch = request.launch,
                      .hosts = request.machines,
                      .tell = request.tell_start,
                      .stop = request.stop});
  if (fleet.interrupted()) return {.interrupted = true, .given_up = items.size()};
  ledger::Ledger ledger(ledger::state_folder(), "pool");
  const ledger::Scratch scratch("pool", ledger);
  fleet.begin({.folder = scratch.path(), .captures = false});
  return Pool(request, items, answered, fleet).run();
}

int run_worker(os::FileDescriptor descriptor, const std::function<Work(const json& task)>& begin) {
  const transport::Control control(std::move(descriptor));
  try {
    const Work work = begin(control.receive());
    control.send({{"processors", std::max(1U, std::thread::hardware_concurrency())}});
    for (;;) {
      const std::string text =
          work(control.receive().at("item")).dump(-1, ' ', true, json::error_handler_t::replace);
      for (std::size_t at = 0; at < text.size(); at += kChunk) {
        const bool last = at + kChunk >= text.size();
        control.send({{"text", text.substr(at, kChunk)}, {"last", last}});
      }
    }
  } catch (const std::exception& error) {
    control.send({{"failed", error.what()}});  // nobody hears it where the run has ended
    return 1;
  }
}

}  // namespace tw::cluster
