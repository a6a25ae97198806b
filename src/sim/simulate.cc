// SPDX-License-Identifier: Apache-2.0
#include "trainwire/sim/simulate.h"

#include "trainwire/base/error.h"
#include "trainwire/collective/count.h"
#include "trainwire/medium/flow_network.h"
#include "trainwire/medium/packet_network.h"
#include "trainwire/medium/rdma.h"
#include "trainwire/sim/closed_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace tw::sim {
namespace {

constexpr std::int64_t kLookEvery = 1024;
/// A second or two: then every message is simulated.
constexpr double kFewMessages = 3e5;
/// Some hours.
constexpr double kMostMessages = 5e9;

enum class Event { Begin, Woke };

struct Due {
  Duration at = {};
  std::int64_t number = 0;  ///< of equal times the first made comes first
  Event event = Event::Woke;
  std::size_t job = 0;
  int rank = 0;

  bool operator>(const Due& other) const {
    return std::tie(at, number) > std::tie(other.at, other.number);
  }
};

class Simulation {
 public:
  Simulation(const spec::Experiment& experiment, Level level, const Watching& watching)
      : watching_(watching),
        medium_(make_medium(experiment, level)),
        cross_(experiment, *medium_),
        faults_(experiment, *medium_,
                [this](const JobRank& of) { return players_[of.job]->done(of.rank); }),
        patience_(*experiment.run.timeout) {
    result_.level = level;
    for (const spec::Job& job : experiment.jobs) {
      result_.jobs.push_back({.training = workload::training_of(experiment, job)});
      manners_.push_back(medium::manner_of(job));
    }
    for (std::size_t i = 0; i < result_.jobs.size(); ++i) add_player(i);
  }

  Simulated run() && {
    for (std::size_t i = 0; i < players_.size(); ++i) {
      add({.at = result_.jobs[i].training.start, .event = Event::Begin, .job = i});
    }
    // Cross traffic and faults end with the jobs, and timers that would go off later are nobody's.
    while (!all_done() && advance() && goes_on()) {
    }
    if (!stopped_ && !all_done()) explain_waiting();
    result_.traffic = cross_.end(now_);
    result_.faults = faults_.played();
    for (int port = 0; port < medium_->network().ports(); ++port) {
      result_.ports.push_back(medium_->figures(port));
    }
    result_.end = now_;
    return std::move(result_);
  }

 private:
  /// A message on its way.
  struct Travelling {
    std::size_t job = 0;
    play::Message message = {};
  };
  /// Of a job: two ranks, a kind of connection, and its number among those.
  struct Pair {
    std::size_t job = 0;
    int from = 0;
    int to = 0;
    play::Kind kind = play::Kind::Gradient;
    int lane = 0;
    bool operator==(const Pair&) const = default;
  };
  struct PairHash {
    std::size_t operator()(const Pair& pair) const {
      std::uint64_t hash = static_cast<std::uint64_t>(pair.from) << 32U ^
                           static_cast<std::uint64_t>(static_cast<unsigned>(pair.to));
      hash ^= (pair.job << 8U ^ static_cast<std::size_t>(pair.lane) << 2U ^
               static_cast<std::size_t>(pair.kind)) *
              0x9e3779b97f4a7c15U;
      hash *= 0xff51afd7ed558ccdU;
      return hash ^ hash >> 29U;
    }
  };
  /// A connection, and what has been sent over it and others of its two ranks.
  struct Connected {
    int number = -1;
    std::int64_t* bytes = nullptr;
    std::int64_t* gradients = nullptr;  ///< of a connection for such
  };
  /// The exchange that a rank was seen in last.
  struct Seen {
    std::int64_t step = 0;
    Exchange* exchange = nullptr;
  };

  std::unique_ptr<medium::Medium> make_medium(const spec::Experiment& experiment, Level level) {
    medium::Told told{.left = [this](medium::Tag tag, Duration now) { left(tag, now); },
                      .came = [this](medium::Tag tag, Duration now) { came(tag, now); },
                      .began = [this](medium::Tag tag, Duration now) { began(tag, now); }};
    if (level == Level::Flow) {
      return std::make_unique<medium::FlowNetwork>(
          experiment.network, std::move(told),
          medium::FlowOptions{.seed = *experiment.run.seed, .tcp = !watching_.at_once});
    }
    return std::make_unique<medium::PacketNetwork>(experiment.network, *experiment.run.seed,
                                                   std::move(told), watching_.seen);
  }

  void add_player(std::size_t job) {
    SimulatedJob& into = result_.jobs[job];
    seen_.emplace_back(static_cast<std::size_t>(into.training.ranks()));
    players_.push_back(std::make_unique<play::Player>(
        into.training,
        play::Driver{
            .send = [this, job](const play::Message& message) { send(job, message); },
            .wake = [this, job](int rank,
                                Duration at) { add({.at = at, .job = job, .rank = rank}); },
            .follow = [this, job](
                          const play::Message& message,
                          std::span<const medium::Tag> behind) { send_on(job, message, behind); },
            .moved = [this, job](const play::Moved& row) { take(job, row); },
            .stepped = [&into](const play::Step& step) { into.steps.push_back(step); },
            .steps =
                faults_.empty()
                    ? std::function<void(int, std::int64_t, Duration)>()
                    : [this, job](int rank, std::int64_t step,
                                  Duration now) { faults_.step_begins({job, rank}, step, now); }}));
  }

  void take(std::size_t job, const play::Moved& row) {
    if (row.message.kind != play::Kind::Gradient) return;
    Exchange& exchange = exchange_of(job, row.rank, row.message.step, row.at);
    exchange.end = std::max(exchange.end, row.at);
  }

  /// Begun now if it was not.
  Exchange& exchange_of(std::size_t job, int rank, std::int64_t step, Duration now) {
    Seen& seen = seen_[job][static_cast<std::size_t>(rank)];
    if (seen.exchange == nullptr || seen.step != step) {
      seen.step = step;
      seen.exchange = &result_.jobs[job]
                           .exchanges.try_emplace({rank, step}, Exchange{.begin = now, .end = now})
                           .first->second;
    }
    return *seen.exchange;
  }

  bool all_done() const {
    return std::all_of(players_.begin(), players_.end(), [](const auto& p) { return p->done(); });
  }

  /// Throws Error with who waits for whom.
  void explain_waiting() const {
    check(!faults_.empty(), "nobody waits for what nobody sends");
    const std::set<std::size_t> free(free_.begin(), free_.end());
    std::vector<Wait> waits;
    for (std::size_t tag = 0; tag < travelling_.size(); ++tag) {
      if (free.contains(tag)) continue;
      const Travelling& one = travelling_[tag];
      waits.push_back({.job = one.job,
                       .rank = one.message.transfer.to,
                       .of = one.message.transfer.from,
                       .step = one.message.step});
    }
    throw Error(faults_.waiting_text(waits));
  }

  int host_of(std::size_t job, int rank) const {
    return result_.jobs[job].training.arrangement.layout.host(rank);
  }

  void add(Due due) {
    due.number = made_++;
    due_.push(std::move(due));
  }

  void send(std::size_t job, const play::Message& message) {
    if (is_held(job, message.transfer.from)) {
      return hold({.what = What::Send, .job = job, .message = message});
    }
    const Connected& over = connection(job, message);
    const medium::Tag tag = note(job, message, over);
    medium_->send(over.number, message.bytes(), tag, now_);
  }

  void send_on(std::size_t job, const play::Message& message, std::span<const medium::Tag> behind) {
    std::vector<medium::Tag> coming;
    if (!faults_.empty()) coming.assign(behind.begin(), behind.end());
    if (is_held(job, message.transfer.from)) {
      return hold({.what = What::Send, .job = job, .message = message, .behind = coming});
    }
    if (!held_came_.empty()) {
      std::erase_if(coming, [this](medium::Tag tag) { return held_came_.contains(tag); });
      behind = coming;
    }
    const Connected& over = connection(job, message);
    const medium::Tag tag = note(job, message, over);
    medium_->send_on(over.number, message.bytes(), tag, behind, now_);
  }

  /// Of a message that is sent now.
  medium::Tag note(std::size_t job, const play::Message& message, const Connected& over) {
    ++result_.messages;
    *over.bytes += message.bytes();
    if (message.kind == play::Kind::Gradient) {
      *over.gradients += message.bytes();
      exchange_of(job, message.transfer.from, message.step, now_);
      if (!cross_.empty()) pair_of(job, message).begin(message.bytes(), now_);
    }
    const std::size_t tag = take_place();
    travelling_[tag] = {.job = job, .message = message};
    return tag;
  }

  PairSending& pair_of(std::size_t job, const play::Message& message) {
    return result_.pairs[{host_of(job, message.transfer.from), host_of(job, message.transfer.to)}];
  }

  const Connected& connection(std::size_t job, const play::Message& message) {
    const auto [from, to] = std::pair(message.transfer.from, message.transfer.to);
    Connected& found = connections_[{
        .job = job, .from = from, .to = to, .kind = message.kind, .lane = message.lane}];
    if (found.number >= 0) return found;
    found.number = medium_->connect(
        host_of(job, from), host_of(job, to),
        {.manner = message.kind == play::Kind::Side ? medium::Manner::Stream : manners_[job]});
    found.bytes = &result_.jobs[job].bytes[{from, to}];
    if (message.kind == play::Kind::Gradient) {
      found.gradients = &result_.jobs[job].gradients[{from, to}];
    }
    return found;
  }

  std::size_t take_place() {
    if (free_.empty()) {
      free_.push_back(travelling_.size());
      travelling_.emplace_back();
    }
    const std::size_t place = free_.back();
    free_.pop_back();
    return place;
  }

  enum class What { Send, Came, Left, Woke, Began };
  /// What a rank that is stopped does not notice, or would have sent.
  struct Held {
    What what = What::Woke;
    std::size_t job = 0;
    play::Message message = {};
    int rank = 0;  ///< woke
    medium::Tag tag = 0;
    std::vector<medium::Tag> behind = {};

    int of_rank() const {
      if (what == What::Woke) return rank;
      return what == What::Send || what == What::Left ? message.transfer.from : message.transfer.to;
    }
  };

  bool is_held(std::size_t job, int rank) const {
    return !faults_.empty() && faults_.is_stopped({job, rank});
  }

  void hold(Held event) {
    if (event.what == What::Came) held_came_.insert(event.tag);
    held_[{event.job, event.of_rank()}].push_back(std::move(event));
  }

  /// A rank goes on. What has come, comes first: nothing follows what is there already.
  void release(const JobRank& rank) {
    const auto found = held_.find(rank);
    if (found == held_.end()) return;
    std::vector<Held> events = std::move(found->second);
    held_.erase(found);
    std::stable_sort(events.begin(), events.end(),
                     [](const Held& a, const Held& b) { return a.what < b.what; });
    std::set<medium::Tag> come;
    for (const Held& event : events) {
      if (event.what == What::Came) come.insert(event.tag);
      if (event.what == What::Began && come.contains(event.tag)) continue;
      happen(event);
    }
  }

  /// Held anew where a rank is stopped again.
  void happen(const Held& event) {
    switch (event.what) {
      case What::Send:
        return event.behind.empty() ? send(event.job, event.message)
                                    : send_on(event.job, event.message, event.behind);
      case What::Came:
        held_came_.erase(event.tag);
        return notice_came(event.tag);
      case What::Left:
        return notice_left({.job = event.job, .message = event.message});
      case What::Woke:
        return notice_time(event.job, event.rank);
      case What::Began:
        return notice_begin(event.tag);
    }
  }

  void notice_left(const Travelling& about) {
    if (is_held(about.job, about.message.transfer.from)) {
      return hold({.what = What::Left, .job = about.job, .message = about.message});
    }
    progress_ = now_;
    players_[about.job]->left(about.message, now_);
  }

  void notice_begin(medium::Tag tag) {
    const Travelling about = travelling_[tag];
    if (is_held(about.job, about.message.transfer.to)) {
      return hold({.what = What::Began, .job = about.job, .message = about.message, .tag = tag});
    }
    players_[about.job]->began(about.message, tag, now_);
  }

  void notice_came(medium::Tag tag) {
    const Travelling about = travelling_[tag];
    if (is_held(about.job, about.message.transfer.to)) {
      return hold({.what = What::Came, .job = about.job, .message = about.message, .tag = tag});
    }
    progress_ = now_;
    free_.push_back(tag);
    players_[about.job]->came(about.message, now_);
  }

  void notice_time(std::size_t job, int rank) {
    if (is_held(job, rank)) return hold({.what = What::Woke, .job = job, .rank = rank});
    progress_ = now_;
    players_[job]->woke(rank, now_);
  }

  void left(medium::Tag tag, Duration now) {
    now_ = now;
    if ((tag & kCrossTag) != 0) return cross_.left(tag, now);
    const Travelling about = travelling_[tag];
    if (!cross_.empty() && about.message.kind == play::Kind::Gradient) {
      pair_of(about.job, about.message).end(now);
    }
    notice_left(about);
  }

  void began(medium::Tag tag, Duration now) {
    now_ = now;
    notice_begin(tag);
  }

  void came(medium::Tag tag, Duration now) {
    now_ = now;
    if ((tag & kCrossTag) != 0) return cross_.came(tag, now);
    notice_came(tag);
  }

  /// To the next instant at which anything happens, and all of that; false when nothing does.
  bool advance() {
    const std::optional<Duration> travels = medium_->next();
    const std::optional<Duration> crosses = cross_.next();
    std::optional<Duration> next = travels;
    if (!due_.empty()) next = std::min(next.value_or(due_.top().at), due_.top().at);
    if (crosses) next = std::min(next.value_or(*crosses), *crosses);
    const std::optional<Duration> breaks = faults_.next();
    if (breaks) next = std::min(next.value_or(*breaks), *breaks);
    if (!next || is_stuck(*next)) return false;
    now_ = *next;
    if (travels && *travels <= now_) medium_->advance(now_);
    while (!due_.empty() && due_.top().at <= now_) {
      const Due due = due_.top();
      due_.pop();
      if (due.event == Event::Begin) players_[due.job]->begin();
      if (due.event == Event::Woke) notice_time(due.job, due.rank);
    }
    if (breaks && *breaks <= now_) {
      for (const JobRank& rank : faults_.advance(now_)) release(rank);
    }
    if (crosses && *crosses <= now_) cross_.advance(now_);
    return true;
  }

  /// Whether nothing of a job happens for as long as a run would be waited for.
  bool is_stuck(Duration next) const {
    return !faults_.empty() && due_.empty() && next - progress_ > patience_;
  }

  bool goes_on() {
    if (!watching_.goes_on || ++looks_ % kLookEvery != 0) return true;
    stopped_ = !watching_.goes_on(now_);
    return !stopped_;
  }

  const Watching& watching_;
  std::unique_ptr<medium::Medium> medium_;
  CrossTraffic cross_;
  Faults faults_;
  Duration patience_;
  Duration progress_ = {};  ///< when a rank last noticed anything
  std::map<JobRank, std::vector<Held>> held_;
  std::set<medium::Tag> held_came_;
  std::unordered_map<Pair, Connected, PairHash> connections_;
  std::vector<std::vector<Seen>> seen_;  ///< by job and rank
  std::vector<medium::Manner> manners_;  ///< by job
  std::vector<std::unique_ptr<play::Player>> players_;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  std::vector<Travelling> travelling_;  ///< by tag
  std::vector<std::size_t> free_;
  Simulated result_;
  Duration now_ = {};
  std::int64_t made_ = 0;
  std::int64_t looks_ = 0;
  bool stopped_ = false;
};

}  // namespace

namespace {

/// Of all steps, first models left out.
double messages_of(const workload::Training& training) {
  const collective::Schedule schedule = step_schedule(training);
  double messages = 0;
  for (const workload::Bucket& bucket : training.buckets) {
    messages += static_cast<double>(
        collective::count(schedule, training.arrangement.layout, bucket.elements).transfers);
  }
  return messages * static_cast<double>(training.steps + training.warmup);
}

double messages_of(const spec::Experiment& experiment) {
  double messages = 0;
  for (const spec::Job& job : experiment.jobs) {
    messages += messages_of(workload::training_of(experiment, job));
  }
  return messages;
}

/// Throws SpecError where messages are too many to be simulated one by one.
void require_an_end(const spec::Experiment& experiment, const std::string& reason) {
  for (const spec::Job& job : experiment.jobs) {
    const double messages = messages_of(workload::training_of(experiment, job));
    if (messages <= kMostMessages) continue;
    throw SpecError(fmt::format(
        "job {}: {:.0f} messages would be simulated one by one, because {}; take fewer ranks or "
        "steps, or what is answered in closed form: a ring with broadcast = false, no two hops of "
        "which share a link",
        *job.name, messages, reason));
  }
}

}  // namespace

std::vector<play::Step> all_steps(const SimulatedJob& job) {
  std::vector<play::Step> steps = job.steps;
  for (const regular::RingStep& step : job.rounds) {
    for (std::size_t i = 0; i < step.times->begin.size(); ++i) {
      steps.push_back({.rank = static_cast<int>(i),
                       .step = step.step,
                       .begin = step.times->begin[i] + step.shift,
                       .end = step.times->end[i] + step.shift});
    }
  }
  return steps;
}

Simulated simulate_explicitly(const spec::Experiment& experiment, Level level,
                              const Watching& watching) {
  return Simulation(experiment, level, watching).run();
}

Simulated simulate(const spec::Experiment& experiment, Level level, const Watching& watching) {
  if (level != Level::Flow || messages_of(experiment) <= kFewMessages) {
    return simulate_explicitly(experiment, level, watching);
  }
  ClosedForm closed = in_closed_form(experiment);
  if (closed.found) return std::move(*closed.found);
  require_an_end(experiment, closed.reason);
  Simulated made = simulate_explicitly(experiment, level, watching);
  made.reason = std::move(closed.reason);
  return made;
}

}  // namespace tw::sim
