// SPDX-License-Identifier: Apache-2.0
#include "trainwire/play/play.h"

#include "trainwire/base/error.h"

#include <queue>
#include <tuple>

namespace tw::play {
namespace {

enum class Event { Left, Came, Woke };

struct Due {
  Duration at = {};
  std::int64_t number = 0;  ///< of equal times the first made comes first
  Event event = Event::Woke;
  int rank = 0;
  Message message = {};

  bool operator>(const Due& other) const {
    return std::tuple(at, number) > std::tuple(other.at, other.number);
  }
};

class Stage {
 public:
  Stage(const workload::Training& training, const Journeys& journeys)
      : journeys_(journeys),
        now_(training.start),
        player_(training,
                {.send = [this](const Message& message) { send(message); },
                 .wake = [this](int rank, Duration at) { add(at, Event::Woke, rank, {}); },
                 .moved = [this](const Moved& row) { played_.moved.push_back(row); },
                 .stepped = [this](const Step& row) { played_.steps.push_back(row); }}) {}

  Played run() && {
    player_.begin();
    for (; !due_.empty(); ++played_.events) {
      const Due next = due_.top();
      due_.pop();
      now_ = next.at;
      happen(next);
    }
    check(player_.done(), "nobody waits for what nobody sends");
    played_.end = now_;
    return std::move(played_);
  }

 private:
  void add(Duration at, Event event, int rank, const Message& message) {
    due_.push({.at = at, .number = made_++, .event = event, .rank = rank, .message = message});
  }

  void send(const Message& message) {
    const Journey journey = journeys_(message);
    add(now_ + journey.leaving, Event::Left, message.transfer.from, message);
    add(now_ + journey.leaving + journey.travelling, Event::Came, message.transfer.to, message);
  }

  void happen(const Due& due) {
    if (due.event == Event::Left) player_.left(due.message, now_);
    if (due.event == Event::Came) player_.came(due.message, now_);
    if (due.event == Event::Woke) player_.woke(due.rank, now_);
  }

  const Journeys& journeys_;
  Duration now_;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  std::int64_t made_ = 0;
  Played played_;
  Player player_;
};

}  // namespace

Played play(const workload::Training& training, const Journeys& journeys) {
  return Stage(training, journeys).run();
}

}  // namespace tw::play
