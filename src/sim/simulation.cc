// SPDX-License-Identifier: Apache-2.0
#include "trainwire/sim/simulation.h"

#include "trainwire/base/error.h"
#include "trainwire/medium/flow_network.h"
#include "trainwire/medium/packet_network.h"
#include "trainwire/medium/sending.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tw::sim {
namespace {

constexpr std::int64_t kLookEvery = 1024;

}  // namespace

Simulation::Simulation(const spec::Experiment& experiment, Level level, const Watching& watching)
    : watching_(watching),
      medium_(make_medium(experiment, level)),
      cross_(experiment, *medium_),
      faults_(experiment, *medium_,
              [this](const JobRank& of) { return players_[of.job]->done(of.rank); }),
      patience_(*experiment.run.timeout),
      connections_(*medium_, result_.jobs),
      groups_(*medium_, result_.jobs),
      exchanges_(result_.jobs) {
  result_.level = level;
  require_bearable_delays(medium_->network(), level);
  for (const spec::Job& job : experiment.jobs) {
    result_.jobs.push_back({.training = workload::training_of(experiment, job)});
    connections_.add_job(medium::sending_of(experiment.network, job),
                         *job.congestion_control == "mltcp" && *job.transport != "rdma");
    groups_.add_job(experiment.network, job);
  }
  for (const spec::Traffic& one : experiment.traffic) {
    can_starve_ |= *one.priority > 0 || *one.kind == spec::TrafficKind::Constant;
  }
  for (std::size_t i = 0; i < result_.jobs.size(); ++i) add_player(i);
}

std::unique_ptr<medium::Medium> Simulation::make_medium(const spec::Experiment& experiment,
                                                        Level level) {
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

void Simulation::add_player(std::size_t job) {
  SimulatedJob& into = result_.jobs[job];
  exchanges_.add_job(static_cast<std::size_t>(into.training.ranks()));
  play::Driver driver{
      .send = [this, job](const play::Message& message) { send(job, message); },
      .wake = [this, job](int rank, Duration at) { add({.at = at, .job = job, .rank = rank}); },
      .follow = [this, job](const play::Message& message,
                            std::span<const medium::Tag> behind) { send_on(job, message, behind); },
      .reads = [this, job](const play::Message& message) { connections_.read(job, message, now_); },
      .moved =
          [this, job](const play::Moved& row) {
            if (row.message.kind == play::Kind::Gradient) exchanges_.moved(job, row);
          },
      .stepped = [&into](const play::Step& step) { into.steps.push_back(step); }};
  if (!faults_.empty()) {
    driver.steps = [this, job](int rank, std::int64_t step, Duration now) {
      faults_.step_begins({job, rank}, step, now);
    };
  }
  players_.push_back(std::make_unique<play::Player>(into.training, std::move(driver)));
}

Simulated Simulation::run() && {
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
  result_.groups = medium_->group_figures();
  result_.end = now_;
  return std::move(result_);
}

void Simulation::add(Due due) {
  due.number = made_++;
  due_.push(due);
}

bool Simulation::all_done() const {
  return std::all_of(players_.begin(), players_.end(), [](const auto& p) { return p->done(); });
}

/// Throws Error with who waits for whom.
void Simulation::explain_waiting() const {
  if (faults_.empty()) {
    check(can_starve_, "nobody waits for what nobody sends");
    throw Error(
        "the jobs cannot end: traffic that goes first leaves them nothing; give it less load, or a "
        "duration");
  }
  throw Error(faults_.waiting_text(travelling_.waits()));
}

/// To the next instant at which anything happens, and all of that; false when nothing does.
bool Simulation::advance() {
  const std::optional<Duration> travels = medium_->next();
  const std::optional<Duration> crosses = cross_.next();
  const std::optional<Duration> breaks = faults_.next();
  std::optional<Duration> next = travels;
  if (!due_.empty()) next = std::min(next.value_or(due_.top().at), due_.top().at);
  if (crosses) next = std::min(next.value_or(*crosses), *crosses);
  if (breaks) next = std::min(next.value_or(*breaks), *breaks);
  if (!next || is_stuck(*next)) return false;
  require_time(*next);
  now_ = *next;
  if (travels && *travels <= now_) medium_->advance(now_);
  advance_players();
  if (breaks && *breaks <= now_) {
    for (const JobRank& rank : faults_.advance(now_)) release(rank);
  }
  if (crosses && *crosses <= now_) cross_.advance(now_);
  return true;
}

void Simulation::advance_players() {
  while (!due_.empty() && due_.top().at <= now_) {
    const Due due = due_.top();
    due_.pop();
    if (due.event == Event::Begin) players_[due.job]->begin();
    if (due.event == Event::Woke) notice_time(due.job, due.rank);
  }
}

/// Whether nothing of a job happens for as long as a run would be waited for.
bool Simulation::is_stuck(Duration next) const {
  return (!faults_.empty() || can_starve_) && due_.empty() && next - progress_ > patience_;
}

/// Throws Error where virtual time would be longer than can be told.
void Simulation::require_time(Duration next) const {
  if (next <= longest_time(result_.level)) return;
  throw Error(fmt::format(
      "the jobs have not ended after {} of virtual time; ask for less loss, faster links or fewer "
      "steps{}",
      readable(now_), result_.level == Level::Packet ? ", or simulate with --level flow" : ""));
}

bool Simulation::goes_on() {
  if (!watching_.goes_on || ++looks_ % kLookEvery != 0) return true;
  stopped_ = !watching_.goes_on(now_);
  return !stopped_;
}

}  // namespace tw::sim
