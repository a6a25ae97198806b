// SPDX-License-Identifier: Apache-2.0
#include "trainwire/traffic/generator.h"

#include "trainwire/base/error.h"
#include "trainwire/load/read_text.h"
#include "trainwire/os/clock.h"
#include "trainwire/traffic/datagrams.h"
#include "trainwire/traffic/feed.h"
#include "trainwire/traffic/frame.h"
#include "trainwire/traffic/player.h"
#include "trainwire/traffic/sockets.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <thread>

namespace tw::traffic {
namespace {

using spec::TrafficKind;

constexpr unsigned kMostThreads = 4;
constexpr std::size_t kMostLines = 4096;
constexpr std::size_t kSpareDescriptors = 64;
/// For threads to come up before the first flow is due.
constexpr Duration kWarning = std::chrono::milliseconds(1);
constexpr int kTokenPatienceMs = 10'000;

std::size_t threads_of(const SourceTask& task) {
  const unsigned processors = std::clamp(std::thread::hardware_concurrency() / 2, 1u, kMostThreads);
  const auto threads =
      task.threads > 0 ? static_cast<std::size_t>(task.threads) : std::size_t{processors};
  if (task.kind == TrafficKind::Constant) return 1;
  if (task.kind == TrafficKind::Long) {
    return std::min(threads, static_cast<std::size_t>(task.flows));
  }
  return threads;
}

void check_task(const SourceTask& task) {
  if (task.kind == TrafficKind::Long && task.flows < 1)
    throw SpecError("long flows are at least one");
  if (task.kind == TrafficKind::Constant && !(task.rate.bits_per_second() > 0)) {
    throw SpecError("constant traffic needs a rate above 0, such as 100Mbit");
  }
  if (task.mtu < 576 || task.mtu > 65535) throw SpecError("an MTU is 576 to 65535 bytes");
  if (task.duration && *task.duration <= Duration()) {
    throw SpecError("traffic lasts longer than 0, such as 10s");
  }
}

/// The listed flows that are to be played; the load's own duration fills in for the task's.
std::vector<load::Flow> listed_flows(SourceTask& task) {
  if (task.kind != TrafficKind::File) return {};
  load::Load load{.flows = std::move(task.list)};
  if (!task.load_file.empty())
    load = load::parse_load(load::read_text(task.load_file), task.load_file);
  if (!task.duration) task.duration = load.duration;
  if (task.only_to) {
    std::erase_if(load.flows,
                  [&](const load::Flow& flow) { return flow.destination != *task.only_to; });
  }
  return std::move(load.flows);
}

void check_destinations(const std::vector<load::Flow>& flows, const std::vector<Destination>& to) {
  for (const load::Flow& flow : flows) {
    const bool known = std::any_of(to.begin(), to.end(), [&](const Destination& d) {
      return d.name.empty() || d.name == flow.destination;
    });
    if (!known) {
      throw SpecError(
          fmt::format("the load has flows to \"{}\": say where that is", flow.destination));
    }
  }
}

BitRate mean_rate(const std::vector<load::Flow>& flows, std::optional<Duration> duration) {
  Bytes total;
  for (const load::Flow& flow : flows) total += flow.size;
  const Duration span = duration ? *duration : (flows.empty() ? Duration() : flows.back().start);
  return span > Duration() ? total / span : BitRate();
}

/// Makes sure that a sink that takes our token listens there.
void make_sure(const SourceTask& task, const transport::tcp::Endpoint& to) {
  const os::FileDescriptor line = open_line(to, task.address, task.congestion_control);
  wait_connected(line, to);
  if (ask_sink(line, 0, task.token, kTokenPatienceMs)) return;
  throw Error(fmt::format(
      "{} port {} does not take the token: is it another run's sink, or no sink at all?",
      to.address, to.port));
}

}  // namespace

load::Demand demand_of(const SourceTask& task) {
  load::Demand demand{.kind = task.kind,
                      .rate = task.rate,
                      .duration = task.duration,
                      .distribution = load::distribution_named(task.distribution),
                      .burst_width = task.burst_width,
                      .burst_height = task.burst_height,
                      .period = task.period,
                      .flows = task.flows,
                      .seed = task.seed,
                      .stream = task.stream};
  if (!(task.size_scale > 0)) throw SpecError("sizes are scaled by more than 0");
  if (task.size_scale != 1) demand.distribution = demand.distribution.scaled(task.size_scale);
  return demand;
}

class Generator::Impl {
 public:
  Impl(SourceTask task, std::vector<Destination> destinations)
      : list_(listed_flows(task)),
        orders_{.task = std::move(task), .destinations = std::move(destinations)} {
    check(!orders_.destinations.empty(), "traffic goes somewhere");
    check_task(orders_.task);
    if (orders_.task.kind != TrafficKind::File && orders_.destinations.size() > 1) {
      throw SpecError("only the flows of a load file have several destinations; name one");
    }
    check_destinations(list_, orders_.destinations);
    listed_rate_ = mean_rate(list_, orders_.task.duration);
    if (!orders_.task.log.empty()) {
      log_.emplace(orders_.task.log);
      orders_.log = &*log_;
    }
    make_players();
  }

  ~Impl() { stop(); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void connect() {
    const std::size_t room = raise_descriptor_limit();
    const std::size_t free =
        room > 2 * kSpareDescriptors ? room - kSpareDescriptors : kSpareDescriptors;
    orders_.most_lines = std::min(kMostLines, free / std::max<std::size_t>(1, players_.size()));
    for (const Destination& to : orders_.destinations) {
      make_sure(orders_.task, to.endpoint);
      framing_ += Bytes(kFrameBytes);
    }
    for (const auto& player : players_) player->connect();
    if (datagrams_) datagrams_->connect();
  }

  void start(bool drain) {
    check(threads_.empty(), "a load is played once");
    orders_.drain = drain;
    begin_ns_ = os::monotonic_ns() + std::max(kWarning, orders_.task.start).count();
    playing_ = players_.size() + (datagrams_ ? 1 : 0);
    for (const auto& player : players_) run([this, &p = *player] { p.play(begin_ns_); });
    if (datagrams_) run([this] { datagrams_->play(begin_ns_); });
  }

  void stop() { stop_.raise(); }
  bool is_over() const { return over_.is_raised(); }
  int over_descriptor() const { return over_.descriptor(); }

  Glance glance() const {
    Glance sum;
    each_tally([&](const Tally& tally) {
      sum.started += tally.started.load(std::memory_order_relaxed);
      sum.finished += tally.finished.load(std::memory_order_relaxed);
      sum.sent += Bytes(tally.sent.load(std::memory_order_relaxed));
    });
    return sum;
  }

  Outcome finish() {
    threads_.clear();
    if (log_ && !log_closed_) {
      log_closed_ = true;
      log_->close();
    }
    if (const auto failure = stop_.failure()) throw Error(*failure);
    return outcome();
  }

  Outcome outcome() const {
    check(is_over(), "what became of a load is known when it is over");
    Outcome outcome{.requested = requested(), .framing = framing_};
    load::TimeHistogram lateness;
    load::CompletionTimes times;
    double offered = 0;
    double in_time = 0;
    each_tally([&](const Tally& tally) {
      add_up(tally, outcome, lateness, times);
      offered += static_cast<double>(tally.offered);
      in_time += static_cast<double>(tally.acknowledged_in_time.value_or(0));
    });
    set_times(outcome, lateness, times);
    if (outcome.elapsed_s > 0) {
      outcome.offered = BitRate(8 * offered / outcome.elapsed_s);
      outcome.achieved = BitRate(8 * in_time / outcome.elapsed_s);
    }
    return outcome;
  }

 private:
  void make_players() {
    if (orders_.task.kind == TrafficKind::Constant) {
      datagrams_.emplace(orders_, stop_);
      return;
    }
    const std::size_t threads = threads_of(orders_.task);
    for (std::size_t i = 0; i < threads; ++i) {
      const Share share{.index = i, .of = threads};
      players_.push_back(std::make_unique<Player>(orders_, stop_, share));
      if (orders_.task.kind == TrafficKind::Long) continue;
      if (orders_.task.kind == TrafficKind::File) {
        players_.back()->feed(Feed(list_, share));
      } else {
        players_.back()->feed(Feed(demand_of(orders_.task), share));
      }
    }
  }

  void run(std::function<void()> body) {
    threads_.emplace_back([this, body = std::move(body)] {
      body();
      if (--playing_ == 0) over_.raise();
    });
  }

  template <typename Use>
  void each_tally(Use use) const {
    for (const auto& player : players_) use(player->tally());
    if (datagrams_) use(datagrams_->tally());
  }

  std::optional<BitRate> requested() const {
    const BitRate rate = orders_.task.kind == TrafficKind::File ? listed_rate_ : orders_.task.rate;
    if (!(rate.bits_per_second() > 0)) return {};
    return rate;
  }

  void set_times(Outcome& outcome, const load::TimeHistogram& lateness,
                 const load::CompletionTimes& times) const {
    std::int64_t end = begin_ns_;
    std::int64_t last = begin_ns_;
    const auto look = [&](const auto& player) {
      end = std::max(end, player.end_ns());
      last = std::max(last, player.last_ns());
    };
    for (const auto& player : players_) look(*player);
    if (datagrams_) look(*datagrams_);
    outcome.elapsed_s = 1e-9 * static_cast<double>(end - begin_ns_);
    outcome.drain_s =
        orders_.drain ? 1e-9 * static_cast<double>(std::max<std::int64_t>(last - end, 0)) : 0;
    outcome.lateness_p50_s = lateness.quantile(0.5);
    outcome.lateness_p99_s = lateness.quantile(0.99);
    outcome.completion = times.classes();
  }

  StopSignal stop_ = {};
  StopSignal over_ = {};
  std::vector<load::Flow> list_;
  PlayOrders orders_;
  BitRate listed_rate_ = {};
  std::optional<FlowLog> log_ = {};
  bool log_closed_ = false;
  Bytes framing_ = {};  ///< of what was asked before the start
  std::vector<std::unique_ptr<Player>> players_ = {};
  std::optional<DatagramPlayer> datagrams_ = {};
  std::int64_t begin_ns_ = 0;
  std::atomic<std::size_t> playing_ = 0;
  std::vector<std::jthread> threads_ = {};
};

Generator::Generator(SourceTask task, std::vector<Destination> destinations)
    : impl_(std::make_unique<Impl>(std::move(task), std::move(destinations))) {}
Generator::~Generator() = default;
void Generator::connect() { impl_->connect(); }
void Generator::start(bool drain) { impl_->start(drain); }
bool Generator::is_over() const { return impl_->is_over(); }
Glance Generator::glance() const { return impl_->glance(); }
void Generator::stop() { impl_->stop(); }
Outcome Generator::finish() { return impl_->finish(); }
Outcome Generator::outcome() const { return impl_->outcome(); }
int Generator::over_descriptor() const { return impl_->over_descriptor(); }

}  // namespace tw::traffic
