// SPDX-License-Identifier: Apache-2.0
// Kinds of values that settings have: how each is read from TOML, written back, and measured.
//
// A Kind<T> is the only place that knows the spelling of a T. Readers refuse with a sentence that
// ends in a right example. Ranges keep every accepted value exact through writing and reading
// again: sizes up to 1 PiB, rates from 1 bit/s to 1 Pbit/s, times up to 100 days.

#pragma once

#include "trainwire/keys/tree.h"
#include "trainwire/spec/experiment.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tw::spec {

/// A value, or why there is none.
template <typename T>
struct Reading {
  std::optional<T> value = {};
  std::string problem = {};
};

template <typename T>
struct Kind {
  std::string type;         ///< for the documentation: "rate"
  std::string_view suffix;  ///< of the key where the value is a plain number: "_bps"
  std::function<Reading<T>(const keys::Node&)> read;
  std::function<keys::Node(const T&)> write;
  /// The value as a plain number in the unit of `suffix`; as written where empty.
  std::function<keys::Node(const T&)> measure = {};
};

Kind<bool> flag();
/// Not empty.
Kind<std::string> text();
/// May be empty.
Kind<std::string> title();
/// One of `names`, which must outlive the kind; `noun` says what they name.
Kind<std::string> word(std::string_view noun, std::span<const std::string_view> names);
/// Lower-case letters, digits and "_", 1 to 15 of them: what the kernel calls a congestion control.
Kind<std::string> kernel_name();
/// Such a name, of any kernel's, but none that is nearly a known one's.
Kind<std::string> congestion_control();
/// Not empty, nor any of the texts.
Kind<std::vector<std::string>> texts(std::string_view example = "[\"host0\", \"host1\"]");

/// Within [low, high]. `why` is the reason for `low` where it is worth telling.
Kind<int> whole(int low, int high, std::string_view why = {});
Kind<std::int64_t> long_whole(std::int64_t low, std::int64_t high);
/// From 0 to 2^63-1, which is as far as TOML goes.
Kind<std::uint64_t> seed();
Kind<std::vector<int>> wholes(int low, int high);

/// Finite and within [low, high].
Kind<double> number(double low, double high);
/// "5%" or 0.05, within [0, 1].
Kind<double> fraction();
/// "0.1%" or 0.001, within [0, 1): losing everything is no experiment.
Kind<double> probability();

/// Text with a unit, or a whole number of bytes.
Kind<Bytes> size(Bytes least = Bytes(0));
/// Above zero.
Kind<BitRate> rate();
/// Zero may go without a unit.
Kind<Duration> time(Duration least = {});

/// "1bdp", "2.5bdp", a size, or "max(1bdp, 256KiB)".
Kind<Queue> queue();
/// A fraction, or a rate (which may be zero).
Kind<Load> load();
/// true, false or "auto".
Kind<Verify> verify();
Kind<OnFailure> on_failure();

Kind<Topology> topology();
Kind<Engine> engine();
Kind<Compute> compute();
Kind<Gradient> gradient();
Kind<TrafficKind> traffic_kind();
Kind<FaultKind> fault_kind();
Kind<LossUnit> loss_unit();
Kind<EarlyAction> early_action();
Kind<Paths> paths();
Kind<RdmaRepair> rdma_repair();
Kind<RdmaControl> rdma_control();
Kind<Aggregation> aggregation();
Kind<Distribution> distribution();
/// "both" is no direction in particular.
Kind<std::optional<Direction>> direction();

/// The same, where absence is a value of its own.
template <typename T>
Kind<std::optional<T>> maybe(Kind<T> kind) {
  Kind<std::optional<T>> result{.type = kind.type, .suffix = kind.suffix, .read = {}, .write = {}};
  result.read = [read = kind.read](const keys::Node& node) {
    Reading<T> reading = read(node);
    return Reading<std::optional<T>>{
        .value = reading.value ? std::optional(std::optional<T>(*std::move(reading.value)))
                               : std::nullopt,
        .problem = std::move(reading.problem)};
  };
  result.write = [write = kind.write](const std::optional<T>& value) {
    return value ? write(*value) : keys::Node{};
  };
  if (kind.measure) {
    result.measure = [measure = kind.measure](const std::optional<T>& value) {
      return value ? measure(*value) : keys::Node{};
    };
  }
  return result;
}

}  // namespace tw::spec
