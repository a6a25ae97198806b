// SPDX-License-Identifier: Apache-2.0
#include "trainwire/regular/servers.h"

#include "trainwire/fluid/sharing.h"
#include "trainwire/regular/bucket_times.h"
#include "trainwire/regular/due_times.h"
#include "trainwire/regular/server_ways.h"
#include "trainwire/regular/step_log.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace tw::regular {
namespace {

using workload::Training;

constexpr std::size_t kMostClasses = 128;
constexpr const char* kTooMany = "workers begin their exchanges at too many different times";
constexpr const char* kNoRoom = "links between workers and servers may be full";

/// Workers with ports of the same rates.
struct Make {
  double out = 0;
  double in = 0;
  int workers = 0;
};

/// Workers that have begun an exchange at the same time.
struct Class {
  int make = 0;
  int workers = 0;
  int unfinished = 0;               ///< servers to which it still sends
  std::map<int, int> by_kind = {};  ///< how many there are
};

/// What a class sends to a server, or a server to all workers of a make; bytes are of one worker.
struct Bundle {
  bool is_pull = false;
  int group = 0;  ///< class, or make
  int server = 0;
  int weight = 0;  ///< workers
  std::size_t bucket = 0;
  double left = 0;
  double rate = 0;
  Duration since = {};
  int share = -1;
};

struct Server {
  Duration since = {};  ///< when it began the exchange
  Duration first = Duration::max();
  Duration latest = {};  ///< when all that has left is there
  int come = 0;          ///< workers of which something has left
  int unfinished = 0;    ///< makes to which it still sends
};

class Serving {
 public:
  Serving(const Training& training, const Physics& physics)
      : training_(training),
        physics_(physics),
        ways_(training, physics),
        servers_(at(ways_.servers())),
        log_(training),
        bucket_(at(ways_.workers())) {
    for (int worker = 0; worker < ways_.workers(); ++worker) {
      clocks_.emplace_back(training, worker);
      make_of_.push_back(make_of(worker));
    }
    for (std::size_t b = 0; b < training.buckets.size(); ++b) {
      if (training.buckets[b].elements > 0) last_bucket_ = b;
    }
  }

  /// Empty, or why there is no answer.
  std::string run() {
    if (makes_.size() > kMostClasses) return "workers' links have too many different rates";
    sharing_.emplace(capacities());
    for (std::size_t i = 0; i < kMostClasses; ++i) free_classes_.push_back(static_cast<int>(i));
    begin();
    while (!starts_.empty() || !due_.empty() || !distributions_.empty()) {
      now_ = next();
      if (starts_.size() > kMostClasses) return kTooMany;
      while (happens()) {
      }
      if (!start_classes()) return kTooMany;
      if (!share()) return kNoRoom;
    }
    return {};
  }

  JobAnswer job() && {
    JobAnswer made{.times = std::move(log_).times()};
    const std::int64_t steps = training_.warmup + training_.steps;
    made.sent_bytes.resize(at(training_.ranks()));
    for (const workload::Bucket& bucket : training_.buckets) {
      if (bucket.elements == 0) continue;
      made.messages += 2 * steps * ways_.workers() * ways_.servers();
      for (int worker = 0; worker < ways_.workers(); ++worker) {
        made.sent_bytes[at(worker)] += steps * workload::kElementBytes * bucket.elements;
      }
      for (int server = 0; server < ways_.servers(); ++server) {
        made.sent_bytes[at(ways_.workers() + server)] +=
            steps * ways_.workers() * shard_bytes(bucket, server);
      }
    }
    return made;
  }

  void add_port_bytes(std::vector<double>& ports) const;

 private:
  static std::size_t at(int number) { return static_cast<std::size_t>(number); }

  int make_of(int worker) {
    const Make made{.out = ways_.worker_out(worker), .in = ways_.worker_in(worker)};
    auto found = std::find_if(makes_.begin(), makes_.end(), [&](const Make& make) {
      return make.out == made.out && make.in == made.in;
    });
    if (found == makes_.end()) found = makes_.insert(found, made);
    ++found->workers;
    return static_cast<int>(found - makes_.begin());
  }

  // Ports as the solver has them: servers' in and out, makes' in, classes' out.
  int server_in(int server) const { return server; }
  int server_out(int server) const { return ways_.servers() + server; }
  int make_in(int make) const { return 2 * ways_.servers() + make; }
  int class_out(int number) const {
    return 2 * ways_.servers() + static_cast<int>(makes_.size()) + number;
  }
  std::vector<double> capacities() const {
    std::vector<double> all;
    for (int server = 0; server < ways_.servers(); ++server) all.push_back(ways_.server_in(server));
    for (int server = 0; server < ways_.servers(); ++server)
      all.push_back(ways_.server_out(server));
    for (const Make& make : makes_) all.push_back(make.workers * make.in);
    all.resize(all.size() + kMostClasses);
    return all;
  }

  std::int64_t shard_bytes(const workload::Bucket& bucket, int server) const {
    return workload::kElementBytes *
           collective::chunk_elements(bucket.elements, ways_.servers(), server);
  }

  void begin() {
    for (Server& server : servers_) server.since = training_.start;
    for (int worker = 0; worker < ways_.workers(); ++worker) {
      clocks_[at(worker)].begin_step(training_.start.count());
      go_on(worker, training_.start);
    }
  }

  /// To the worker's next exchange, if there is one.
  void go_on(int worker, Duration from) {
    std::size_t& bucket = bucket_[at(worker)];
    while (!log_.is_over(worker)) {
      from = std::max(from, computed(training_, clocks_[at(worker)], bucket));
      if (bucket == training_.buckets.size()) {
        log_.end(worker, from);
        clocks_[at(worker)].begin_step(from.count());
        bucket = 0;
      } else if (training_.buckets[bucket].elements == 0) {
        ++bucket;
      } else {
        starts_[from].push_back(worker);
        return;
      }
    }
  }

  Duration next() const {
    Duration next = Duration::max();
    if (!starts_.empty()) next = starts_.begin()->first;
    if (!due_.empty()) next = std::min(next, due_.next_time());
    if (!distributions_.empty()) next = std::min(next, distributions_.begin()->first);
    return next;
  }

  /// The next thing that ends or is distributed now, if any is.
  bool happens() {
    if (!due_.empty() && due_.next_time() == now_) {
      const int number = static_cast<int>(due_.next());
      due_.pop();
      sharing_->remove(bundles_[at(number)].share);
      free_.push_back(number);
      const Bundle bundle = std::exchange(bundles_[at(number)], {});
      bundle.is_pull ? end_pull(bundle) : end_push(bundle);
      return true;
    }
    if (distributions_.empty() || distributions_.begin()->first != now_) return false;
    const int server = distributions_.begin()->second;
    distributions_.erase(distributions_.begin());
    distribute(server);
    return true;
  }

  /// False where there are too many.
  bool start_classes() {
    if (starts_.empty() || starts_.begin()->first != now_) return true;
    const std::vector<int> workers = std::move(starts_.begin()->second);
    starts_.erase(starts_.begin());
    // Nobody begins the next exchange before all servers have begun to distribute this one.
    exchanged_ = bucket_[at(workers.front())];
    std::map<int, Class> made;  // by make
    for (const int worker : workers) {
      Class& into = made[make_of_[at(worker)]];
      ++into.workers;
      ++into.by_kind[ways_.kind_of_worker(worker)];
      log_.note(worker, now_, now_);
    }
    if (made.size() > free_classes_.size()) return false;
    for (auto& [make, one] : made) start(make, std::move(one));
    return true;
  }

  void start(int make, Class one) {
    const int number = free_classes_.back();
    free_classes_.pop_back();
    one.make = make;
    one.unfinished = ways_.servers();
    const double out = makes_[at(make)].out;
    sharing_->set_capacity(class_out(number), one.workers * out);
    for (int server = 0; server < ways_.servers(); ++server) {
      add({.group = number, .server = server, .weight = one.workers},
          {class_out(number), server_in(server)});
    }
    classes_[number] = std::move(one);
  }

  void add(Bundle bundle, const std::vector<int>& ports) {
    if (free_.empty()) {
      free_.push_back(static_cast<int>(bundles_.size()));
      bundles_.emplace_back();
    }
    const int number = free_.back();
    free_.pop_back();
    bundle.bucket = exchanged_;
    bundle.left = static_cast<double>(shard_bytes(training_.buckets[exchanged_], bundle.server));
    bundle.since = now_;
    bundle.share = sharing_->add(ports, bundle.weight);
    of_share_.resize(std::max(of_share_.size(), at(bundle.share) + 1));
    of_share_[at(bundle.share)] = number;
    bundles_[at(number)] = bundle;
  }

  void end_push(const Bundle& bundle) {
    Class& from = classes_.at(bundle.group);
    Server& server = servers_[at(bundle.server)];
    for (const auto& [kind, workers] : from.by_kind) {
      const Duration there = now_ + ways_.to_server(kind, bundle.server);
      server.first = std::min(server.first, there);
      server.latest = std::max(server.latest, there);
      server.come += workers;
    }
    if (--from.unfinished == 0) {
      classes_.erase(bundle.group);
      free_classes_.push_back(bundle.group);
    }
    if (server.come < ways_.workers()) return;
    log_.note(ways_.workers() + bundle.server, std::max(server.first, server.since), server.latest);
    distributions_.emplace(std::max(server.latest, server.since), bundle.server);
  }

  void distribute(int number) {
    Server& server = servers_[at(number)];
    server = {.since = now_, .unfinished = static_cast<int>(makes_.size())};
    for (int make = 0; make < static_cast<int>(makes_.size()); ++make) {
      add({.is_pull = true, .group = make, .server = number, .weight = makes_[at(make)].workers},
          {server_out(number), make_in(make)});
    }
  }

  void end_pull(const Bundle& bundle) {
    Server& server = servers_[at(bundle.server)];
    const int rank = ways_.workers() + bundle.server;
    log_.note(rank, now_, now_);
    if (--server.unfinished == 0) {
      server.since = now_;
      if (bundle.bucket == last_bucket_) log_.end(rank, now_);
    }
    std::map<int, Duration>& left = left_[bundle.group];
    Duration& last = left[ways_.kind_of_server(bundle.server)];
    last = std::max(last, now_);
    if (++pulled_[bundle.group] < ways_.servers()) return;
    pulled_.erase(bundle.group);
    end_exchange(bundle.group, std::exchange(left, {}));
  }

  /// Of all workers of a make, by when the last server of each kind has sent all.
  void end_exchange(int make, const std::map<int, Duration>& left) {
    for (int worker = 0; worker < ways_.workers(); ++worker) {
      if (make_of_[at(worker)] != make) continue;
      Duration end = {};
      for (const auto& [kind, at_time] : left) {
        end = std::max(end, at_time + ways_.to_worker(kind, worker));
      }
      log_.note(worker, end, end);
      ++bucket_[at(worker)];
      go_on(worker, end);
    }
  }

  /// False where a port between workers and servers has too much.
  bool share() {
    const std::span<const int> changed = sharing_->solve();
    for (const int share : changed) {
      const int number = of_share_[at(share)];
      Bundle& bundle = bundles_[at(number)];
      bundle.left -= std::min(bundle.left, bundle.rate * seconds(now_ - bundle.since));
      bundle.since = now_;
      bundle.rate = sharing_->rate(share) / bundle.weight;
      due_.set(static_cast<std::uint32_t>(number),
               now_ + physics_.leaving(bundle.left, bundle.rate));
    }
    return changed.empty() || has_room();
  }

  bool has_room() {
    std::vector<double> to_server(at(ways_.worker_kinds() * ways_.servers()));
    std::vector<double> to_make(makes_.size() * at(ways_.server_kinds()));
    for (const Bundle& bundle : bundles_) {
      if (bundle.share < 0) continue;
      if (bundle.is_pull) {
        to_make[at(bundle.group * ways_.server_kinds() + ways_.kind_of_server(bundle.server))] +=
            bundle.rate;
        continue;
      }
      for (const auto& [kind, workers] : classes_.at(bundle.group).by_kind) {
        to_server[at(kind * ways_.servers() + bundle.server)] += workers * bundle.rate;
      }
    }
    return ways_.has_room(
        {.pushed = [&](int kind,
                       int server) { return to_server[at(kind * ways_.servers() + server)]; },
         .pulled =
             [&](int kind, int worker) {
               return to_make[at(make_of_[at(worker)] * ways_.server_kinds() + kind)];
             }});
  }

  const Training& training_;
  const Physics& physics_;
  ServerWays ways_;
  std::vector<Make> makes_ = {};
  std::vector<int> make_of_ = {};  ///< by worker
  std::vector<Server> servers_;
  StepLog log_;
  std::vector<std::size_t> bucket_;  ///< by worker: that is exchanged, or next
  std::vector<workload::ComputeClock> clocks_ = {};
  std::size_t last_bucket_ = 0;  ///< that is not empty
  std::size_t exchanged_ = 0;    ///< bucket that was begun last
  std::optional<fluid::Sharing> sharing_ = {};
  std::map<int, Class> classes_ = {};
  std::vector<int> free_classes_ = {};
  std::vector<Bundle> bundles_ = {};
  std::vector<int> free_ = {};
  std::vector<int> of_share_ = {};
  DueTimes due_ = {};                                      ///< when bundles have left
  std::map<Duration, std::vector<int>> starts_ = {};       ///< of workers' exchanges
  std::set<std::pair<Duration, int>> distributions_ = {};  ///< of servers
  std::map<int, std::map<int, Duration>> left_ = {};       ///< by make and kind of server
  std::map<int, int> pulled_ = {};                         ///< servers that have sent all, by make
  Duration now_ = {};
};

void Serving::add_port_bytes(std::vector<double>& ports) const {
  const auto steps = static_cast<double>(training_.warmup + training_.steps);
  std::vector<double> shards(servers_.size());
  double all = 0;
  for (const workload::Bucket& bucket : training_.buckets) {
    for (int server = 0; server < ways_.servers(); ++server) {
      shards[at(server)] += steps * static_cast<double>(shard_bytes(bucket, server));
    }
  }
  std::vector<double> by_kind(at(ways_.server_kinds()));
  for (int server = 0; server < ways_.servers(); ++server) {
    by_kind[at(ways_.kind_of_server(server))] += shards[at(server)];
    all += shards[at(server)];
  }
  std::vector<int> workers(at(ways_.worker_kinds()));
  for (int worker = 0; worker < ways_.workers(); ++worker) {
    ++workers[at(ways_.kind_of_worker(worker))];
  }
  ways_.add_bytes(
      {.pushed = [&](int kind, int server) { return workers[at(kind)] * shards[at(server)]; },
       .pulled = [&](int kind, int) { return by_kind[at(kind)]; }},
      ports);
  const auto sent = [&](int rank) {
    return rank < ways_.workers() ? all : ways_.workers() * shards[at(rank - ways_.workers())];
  };
  ways_.add_sent(sent, ports);
}

}  // namespace

bool has_servers_in_step(const Training& training) {
  return training.row().make == collective::ps && !training.asynchronous();
}

Outcome answer_for_servers(const Training& training, const Physics& physics) {
  const collective::Layout& layout = training.arrangement.layout;
  std::set<int> hosts(layout.host_of.begin(), layout.host_of.end());
  const int servers = training.ranks() - training.workers();
  if (static_cast<int>(hosts.size()) < training.ranks()) return {.reason = "ranks share hosts"};
  if (training.elements() == 0) return {.reason = "nothing is exchanged"};
  for (const workload::Bucket& bucket : training.buckets) {
    if (bucket.elements > 0 && bucket.elements < servers) {
      return {.reason = "buckets have fewer elements than there are servers"};
    }
  }
  Serving serving(training, physics);
  if (std::string reason = serving.run(); !reason.empty()) return {.reason = std::move(reason)};
  Outcome made{.answered = true};
  made.answer.because = "workers that begin together have equal shares of their servers' links";
  made.answer.port_bytes.resize(static_cast<std::size_t>(physics.ports));
  serving.add_port_bytes(made.answer.port_bytes);
  made.answer.jobs.push_back(std::move(serving).job());
  made.answer.end = made.answer.jobs.front().times.end;
  return made;
}

}  // namespace tw::regular
