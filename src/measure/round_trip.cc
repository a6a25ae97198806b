// SPDX-License-Identifier: Apache-2.0
#include "trainwire/measure/round_trip.h"

#include "trainwire/base/error.h"
#include "trainwire/os/clock.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>

namespace tw::measure {
namespace {

/// Times of one probe; 0 where it has not got to.
struct Trip {
  std::int64_t sent_ns = 0;
  std::int64_t arrived_ns = 0;
  std::int64_t returned_ns = 0;
  std::int64_t back_ns = 0;
};

/// The number of the trip that a probe belongs to; nothing for other datagrams.
std::optional<std::uint32_t> trip_number(const ProbeArrival& arrival, std::size_t trips) {
  std::uint32_t number = 0;
  if (arrival.payload.size() != sizeof number) return std::nullopt;
  std::memcpy(&number, arrival.payload.data(), sizeof number);
  return number < trips ? std::optional(number) : std::nullopt;
}

class Prober {
 public:
  Prober(const PathEnd& from, const PathEnd& to, const RoundTripOptions& options)
      : near_(from), far_(to), options_(options), trips_(static_cast<std::size_t>(options.count)) {
    join(near_, far_);
    wake_path(near_, far_);
    wake_path(far_, near_);
  }

  std::vector<Trip> run() {
    const std::int64_t start = os::real_time_ns();
    const std::int64_t end =
        start + (options_.spacing * options_.count + options_.patience).count();
    const std::array<ProbeSocket*, 2> both = {&near_, &far_};
    while (back_ < trips_.size() && os::real_time_ns() < end) {
      const std::int64_t due = start + next_ * options_.spacing.count();
      const bool all_sent = next_ == options_.count;
      if (!all_sent && os::real_time_ns() >= due) send_next();
      wait_for(both, nullptr, Duration((all_sent ? end : due) - os::real_time_ns()));
      far_.receive([this](const ProbeArrival& arrival) { answer(arrival); });
      near_.receive([this](const ProbeArrival& arrival) { note_return(arrival); });
    }
    return std::move(trips_);
  }

 private:
  void send_next() {
    const auto number = static_cast<std::uint32_t>(next_++);
    trips_[number].sent_ns = os::real_time_ns();
    near_.send(std::as_bytes(std::span(&number, 1)));
  }
  void answer(const ProbeArrival& arrival) {
    const auto number = trip_number(arrival, trips_.size());
    if (!number) return;
    trips_[*number].arrived_ns = arrival.time_ns;
    trips_[*number].returned_ns = os::real_time_ns();
    far_.send(arrival.payload);
  }
  void note_return(const ProbeArrival& arrival) {
    const auto number = trip_number(arrival, trips_.size());
    if (!number || trips_[*number].back_ns != 0) return;
    trips_[*number].back_ns = arrival.time_ns;
    ++back_;
  }

  ProbeSocket near_;
  ProbeSocket far_;
  RoundTripOptions options_;
  std::vector<Trip> trips_;
  int next_ = 0;
  std::size_t back_ = 0;
};

Duration median_of(std::vector<Duration> values) {
  std::sort(values.begin(), values.end());
  return nearest_rank(values, 0.5);
}

}  // namespace

Duration nearest_rank(const std::vector<Duration>& sorted, double q) {
  check(q > 0 && q <= 1, "a quantile lies between 0 and 1");
  if (sorted.empty()) return {};
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(sorted.size())));
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

MeasuredRoundTrip measure_round_trip(const PathEnd& from, const PathEnd& to,
                                     const RoundTripOptions& options) {
  check(options.count > 0 && options.spacing > Duration(0), "some probes are sent, one by one");
  MeasuredRoundTrip result{.sent = options.count};
  std::vector<Duration> there;
  std::vector<Duration> back;
  for (const Trip& trip : Prober(from, to, options).run()) {
    if (trip.back_ns == 0) continue;
    there.emplace_back(trip.arrived_ns - trip.sent_ns);
    back.emplace_back(trip.back_ns - trip.returned_ns);
    result.samples.push_back(there.back() + back.back());
  }
  std::sort(result.samples.begin(), result.samples.end());
  result.median = nearest_rank(result.samples, 0.5);
  result.p99 = nearest_rank(result.samples, 0.99);
  result.median_there = median_of(std::move(there));
  result.median_back = median_of(std::move(back));
  result.lost = options.count - static_cast<int>(result.samples.size());
  return result;
}

}  // namespace tw::measure
