// SPDX-License-Identifier: Apache-2.0
#include "trainwire/guide/expect_text.h"

#include "trainwire/base/printable.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace tw::guide {
namespace {

using nccl::Limit;
using nlohmann::ordered_json;

std::string limit_text(Limit limit, const nccl::Cluster& cluster) {
  switch (limit) {
    case Limit::Latency:
      return "latency";
    case Limit::Nic:
      return cluster.nics.count > 1 ? "NICs" : "NIC";
    case Limit::NvLink:
      return "NVLink";
    case Limit::Pcie:
      return "PCIe";
    case Limit::Streams:
      return "TCP streams";
    case Limit::Protocol:
      return "protocol";
  }
  return {};
}

std::int64_t count_of(const ExpectRequest& request, std::int64_t bytes) {
  const std::int64_t elements = bytes / nccl::type_bytes(request.type).value_or(1);
  return nccl::in_parts(request.operation) ? elements / request.cluster.ranks : elements;
}

std::string way_text(const nccl::Expected& row) { return row.way ? name_of(*row.way) : "-"; }

/// As nccl-tests writes times: four digits, no decimals from ten thousand on.
std::string time_text(double us) {
  const int decimals = us < 100 ? 2 : us < 10000 ? 1 : 0;
  return fmt::format("{:.{}f}", us, decimals);
}

std::string columns_text(const ExpectRequest& request, std::int64_t bytes) {
  return fmt::format("{:>12} {:>12} {:>8} {:>6}", bytes, count_of(request, bytes), request.type,
                     nccl::redop_of(request.operation));
}

/// What the sentence says of why: "bound by the NICs (2 x 200 Gbit/s a host, 50 GB/s)".
std::string bound_text(const nccl::Cluster& cluster, Limit limit) {
  const std::string name = limit_text(limit, cluster);
  if (limit == Limit::Nic) {
    return fmt::format("the {} ({} x {} a host: {:.4g} GB/s)", name, cluster.nics.count,
                       readable(cluster.nics.rate),
                       cluster.nics.count * cluster.nics.rate.bits_per_second() / 8e9);
  }
  if (limit == Limit::Streams) {
    return fmt::format("what TCP connections carry ({} of {} on each NIC)", cluster.streams,
                       readable(cluster.stream));
  }
  return name;
}

std::string first_sentence(const ExpectRequest& request) {
  const nccl::Ceiling top = nccl::ceiling(request.cluster, request.operation);
  std::string text = fmt::format(
      "Up to {:.1f} GB/s bus bandwidth, bound by {}; half of it from {} on.", top.busbw_gbs,
      bound_text(request.cluster, top.limit), exact(Bytes(top.half_from)));
  const double wire =
      request.cluster.nics_of_host() * request.cluster.nics.rate.bits_per_second() / 8e9;
  if (request.cluster.hosts() == 2 && top.busbw_gbs > wire) {
    text +=
        "\nThat is more than the NICs carry: on two hosts NCCL sums inside hosts first, and bus "
        "bandwidth is counted as if it did not. NCCL_ALGO=RING shows the NICs.";
  }
  return text;
}

std::string head(const ExpectRequest& request) {
  return fmt::format("{} on {}\n", nccl::name_of(request.operation), describe(request.cluster));
}

ordered_json way_json(const nccl::Expected& row) {
  return row.way ? ordered_json(name_of(*row.way)) : ordered_json(nullptr);
}

ordered_json row_json(const ExpectRequest& request, const nccl::Expected& row) {
  return {{"bytes", row.bytes},
          {"count", count_of(request, row.bytes)},
          {"type", request.type},
          {"redop", nccl::redop_of(request.operation)},
          {"time_s", 1e-6 * row.time_us},
          {"algbw_bps", 8e9 * row.algbw_gbs},
          {"busbw_bps", 8e9 * row.busbw_gbs},
          {"way", way_json(row)},
          {"limit", name_of(row.limit)}};
}

ordered_json estimate_json(const stats::Estimate& value) {
  return {
      {"value", value.value},
      {"ci_low", value.low},
      {"ci_high", std::isfinite(value.high) ? ordered_json(value.high) : ordered_json(nullptr)}};
}

ordered_json line_json(const nccl::Comparison& found) {
  if (!found.line) return nullptr;
  ordered_json line{{"alpha_s", estimate_json(found.line->alpha_s)},
                    {"beta_s_per_byte", estimate_json(found.line->beta_s_per_byte)},
                    {"bandwidth_bps", nullptr},
                    {"knee_bytes", nullptr},
                    {"confidence", found.line->alpha_s.confidence},
                    {"residual_deviation", found.line->residual_deviation}};
  if (found.line->bandwidth_bps) line["bandwidth_bps"] = estimate_json(*found.line->bandwidth_bps);
  if (found.knee_bytes) line["knee_bytes"] = estimate_json(*found.knee_bytes);
  return line;
}

std::string line_text(const nccl::Comparison& found) {
  if (!found.line) return fmt::format("No line through the times: {}\n", found.no_line);
  const stats::AlphaBetaFit& line = *found.line;
  std::string text =
      fmt::format("t = alpha + bytes / bandwidth: alpha {:.1f} us ({:.1f} .. {:.1f})",
                  1e6 * line.alpha_s.value, 1e6 * line.alpha_s.low, 1e6 * line.alpha_s.high);
  if (line.bandwidth_bps) {
    text += fmt::format(", algorithm bandwidth {:.2f} GB/s ({:.2f} .. {})",
                        line.bandwidth_bps->value / 8e9, line.bandwidth_bps->low / 8e9,
                        std::isfinite(line.bandwidth_bps->high)
                            ? fmt::format("{:.2f}", line.bandwidth_bps->high / 8e9)
                            : "unbounded");
  }
  if (found.knee_bytes) {
    text += fmt::format("; knee at {} ({} .. {})",
                        readable(Bytes(std::llround(found.knee_bytes->value))),
                        readable(Bytes(std::llround(found.knee_bytes->low))),
                        readable(Bytes(std::llround(std::min(found.knee_bytes->high, 9e18)))));
  }
  return text +
         fmt::format("; 95 % intervals, residuals {:.2g} %\n", 100 * line.residual_deviation);
}

ordered_json base_document(const ExpectRequest& request) {
  const nccl::Cluster& cluster = request.cluster;
  const nccl::Ceiling top = nccl::ceiling(cluster, request.operation);
  return {{"schema", 1},
          {"command", "expect"},
          {"operation", nccl::name_of(request.operation)},
          {"ranks", cluster.ranks},
          {"per_host", cluster.per_host},
          {"nics", cluster.nics.count},
          {"nic_bps", cluster.nics.rate.bits_per_second()},
          {"transport", cluster.transport == nccl::Transport::Ib ? "ib" : "socket"},
          {"gpu", cluster.gpu.name},
          {"nccl_version", nccl::kVersion},
          {"ceiling",
           {{"busbw_bps", 8e9 * top.busbw_gbs},
            {"limit", name_of(top.limit)},
            {"way", top.way ? ordered_json(name_of(*top.way)) : ordered_json(nullptr)},
            {"half_from_bytes", top.half_from}}},
          {"text", first_sentence(request)}};
}

}  // namespace

std::string expect_text(const ExpectRequest& request, const std::vector<nccl::Expected>& rows) {
  std::string text = first_sentence(request) + "\n" + head(request);
  text += fmt::format("{:>12} {:>12} {:>8} {:>6} {:>10} {:>8} {:>8}  {:<16} {}\n", "size", "count",
                      "type", "redop", "time", "algbw", "busbw", "NCCL's choice", "limit");
  text += fmt::format("{:>12} {:>12} {:>8} {:>6} {:>10} {:>8} {:>8}\n", "(B)", "(elements)", "", "",
                      "(us)", "(GB/s)", "(GB/s)");
  for (const nccl::Expected& row : rows) {
    text += fmt::format("{} {:>10} {:>8.2f} {:>8.2f}  {:<16} {}\n",
                        columns_text(request, row.bytes), time_text(row.time_us), row.algbw_gbs,
                        row.busbw_gbs, way_text(row), limit_text(row.limit, request.cluster));
  }
  return text + fmt::format(
                    "NCCL {} would choose: {}\nnext: add --against FILE for what nccl-tests "
                    "measured\n",
                    nccl::kVersion, nccl::ways_text(rows));
}

ordered_json expect_document(const ExpectRequest& request,
                             const std::vector<nccl::Expected>& rows) {
  ordered_json document = base_document(request);
  document["rows"] = ordered_json::array();
  for (const nccl::Expected& row : rows) document["rows"].push_back(row_json(request, row));
  return document;
}

std::string against_text(const ExpectRequest& request, const nccl::Comparison& found) {
  std::string text = found.sentence + "\n" + head(request);
  text += fmt::format("{:>12} {:>10} {:>8} {:>8} {:>10} {:>8} {:>6}  {:<16} {}\n", "size", "time",
                      "algbw", "busbw", "expected", "busbw", "", "NCCL's choice", "limit");
  text += fmt::format("{:>12} {:>10} {:>8} {:>8} {:>10} {:>8}\n", "(B)", "(us)", "(GB/s)", "(GB/s)",
                      "(us)", "(GB/s)");
  const double factor = nccl::bus_factor(request.operation, request.cluster.ranks);
  for (const nccl::Compared& row : found.rows) {
    const double time = row.measured.timed().time_us;
    const double algbw = static_cast<double>(row.measured.bytes) / (1e3 * time);
    text += fmt::format("{:>12} {:>10} {:>8.2f} {:>8.2f} {:>10} {:>8.2f} {:>4.0f} %  {:<16} {}\n",
                        row.measured.bytes, time_text(time), algbw, algbw * factor,
                        time_text(row.expected.time_us), row.expected.busbw_gbs, 100 * row.share,
                        way_text(row.expected), limit_text(row.expected.limit, request.cluster));
  }
  text += line_text(found);
  for (const std::string& note : found.notes) text += fmt::format("note: {}\n", printable(note));
  return text;
}

ordered_json against_document(const ExpectRequest& request, const nccl::Comparison& found) {
  ordered_json document = base_document(request);
  document["against"] = {{"text", found.sentence},
                         {"measured_busbw_bps", 8e9 * found.measured_busbw},
                         {"expected_busbw_bps", 8e9 * found.expected_busbw},
                         {"share", found.measured_busbw / found.expected_busbw},
                         {"explanations", found.explanations},
                         {"line", line_json(found)},
                         {"notes", found.notes}};
  document["rows"] = ordered_json::array();
  const double factor = nccl::bus_factor(request.operation, request.cluster.ranks);
  for (const nccl::Compared& row : found.rows) {
    ordered_json one = row_json(request, row.expected);
    const double bps =
        8 * static_cast<double>(row.measured.bytes) / (1e-6 * row.measured.timed().time_us);
    one["measured"] = {{"time_s", 1e-6 * row.measured.timed().time_us},
                       {"algbw_bps", bps},
                       {"busbw_bps", factor * bps},
                       {"share", row.share},
                       {"in_place", !row.measured.out_of_place.has_value()}};
    document["rows"].push_back(std::move(one));
  }
  return document;
}

}  // namespace tw::guide
