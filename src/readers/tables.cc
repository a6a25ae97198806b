// SPDX-License-Identifier: Apache-2.0
#include "trainwire/readers/tables.h"

#include "trainwire/base/error.h"
#include "trainwire/base/printable.h"
#include "trainwire/base/units.h"
#include "trainwire/base/words.h"
#include "trainwire/tables/benchmark.h"
#include "trainwire/tables/flow_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tw::readers {
namespace {

using operations::Told;

void add_curve(const tables::Curve& curve, Told& told) {
  const tables::Row* fastest = nullptr;
  for (const tables::Row& row : curve.rows) {
    told.operations.push_back({.group = "all",
                               .group_size = curve.ranks,
                               .op = curve.op,
                               .sequence = static_cast<std::int64_t>(told.operations.size()),
                               .bytes = row.bytes,
                               .start_ns = 0,
                               .end_ns = std::llround(1e9 * row.time_s),
                               .state = operations::State::Completed,
                               .clock = operations::Clock::Alone});
    const auto rate = [](const tables::Row& of) {
      return static_cast<double>(of.bytes) / of.time_s;
    };
    if (fastest == nullptr || rate(row) > rate(*fastest)) fastest = &row;
  }
  if (fastest == nullptr || curve.rows.size() < 2) return;
  if (curve.ranks == 1) {
    told.notes.push_back(
        fmt::format("{}: by one process alone, so that nothing crosses a network", curve.op));
    return;
  }
  told.notes.push_back(fmt::format(
      "{}: {} take {}; the largest rate is {} at {}", curve.op,
      readable(Bytes(curve.rows.front().bytes)), readable(from_seconds(curve.rows.front().time_s)),
      readable(BitRate(8 * static_cast<double>(fastest->bytes) / fastest->time_s)),
      readable(Bytes(fastest->bytes))));
}

}  // namespace

void read_benchmark(const std::string& text, Told& told) {
  try {
    const tables::Benchmark found = tables::parse_benchmark(text, told.path);
    told.kind = found.program;
    if (found.program == "iperf3") {
      told.notes = found.notes;
      for (tables::Curve curve : found.curves) {
        const std::size_t before = told.notes.size();
        add_curve(curve, told);
        told.notes.resize(before);  // intervals are no sizes that were chosen
      }
    } else {
      for (const tables::Curve& curve : found.curves) add_curve(curve, told);
    }
    told.records = told.operations.size();
    told.skipped = found.skipped;
    if (found.skipped > 0)
      told.reasons.push_back(fmt::format("{} rows of no size or no time", found.skipped));
    told.reasons.insert(told.reasons.end(), found.limits.begin(), found.limits.end());
    const bool is_alone = std::all_of(found.curves.begin(), found.curves.end(),
                                      [](const tables::Curve& curve) { return curve.ranks == 1; });
    if (told.kind != "iperf3" && !is_alone)
      told.notes.emplace_back("`trainwire fit` on it gives latency and bandwidth with intervals");
  } catch (const DataError& error) {
    told.reasons.emplace_back(without_place(error.what(), printable(told.path)));
  }
}

void read_flow_records(const std::string& text, Told& told) {
  try {
    const tables::FlowRecords found = tables::parse_flow_records(text, told.path);
    told.kind = found.program;
    for (const auto& [ends, sent] : found.pairs) {
      told.pairs.push_back({.from = ends.first,
                            .to = ends.second,
                            .packets = sent.packets,
                            .wire_bytes = sent.bytes,
                            .payload_bytes = sent.payload_bytes});
    }
    told.records = found.records;
    told.reasons.push_back(
        fmt::format("flow records show no steps, only who sent how much to whom; bytes are of {}",
                    found.layer));
    told.reasons.insert(told.reasons.end(), found.limits.begin(), found.limits.end());
    for (const auto& [reason, count] : found.skipped) {
      told.skipped += count;
      told.reasons.push_back(fmt::format("{} {}", count, reason));
    }
  } catch (const DataError& error) {
    told.reasons.emplace_back(without_place(error.what(), printable(told.path)));
  }
}

}  // namespace tw::readers
