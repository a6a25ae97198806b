// SPDX-License-Identifier: Apache-2.0
#include "trainwire/tables/benchmark.h"

#include "trainwire/base/colours.h"
#include "trainwire/base/error.h"
#include "trainwire/base/printable.h"
#include "trainwire/nccl/perf_table.h"
#include "trainwire/tables/columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

namespace tw::tables {
namespace {

Benchmark of_nccl_tests(std::string_view text, std::string_view name) {
  Benchmark made{.program = "nccl_tests"};
  const nccl::PerfFile file = nccl::parse_perf(text, name);
  for (const nccl::PerfTable& table : file.tables) {
    Curve curve{.op = table.operation ? std::string(nccl::name_of(*table.operation)) : "unknown",
                .ranks = table.ranks};
    for (const nccl::PerfRow& row : table.rows) {
      const double time_s = 1e-6 * row.timed().time_us;
      if (can_be_meant(row.bytes, time_s)) curve.rows.push_back({row.bytes, time_s});
    }
    made.curves.push_back(std::move(curve));
  }
  return made;
}

/// Without their header.
bool has_perf_rows(std::string_view text) {
  try {
    return !nccl::parse_perf(text, "").tables.empty();
  } catch (const DataError&) {
    return false;
  }
}

/// What a tag at the beginning is long; 0 where none is.
std::size_t tag_length(std::string_view text) {
  constexpr std::size_t kLongest = 256;
  const bool is_tag =
      text.size() > 2 && text[0] == '<' && (text[1] == '/' || (text[1] >= 'a' && text[1] <= 'z'));
  const std::size_t end = is_tag ? text.substr(0, kLongest).find('>') : std::string_view::npos;
  return end == std::string_view::npos ? 0 : end + 1;
}

/// Without the tags and entities of a page, as archives of mails are.
std::string_view plain(std::string_view text, std::string& kept) {
  const auto has = [&](std::string_view part) { return text.find(part) != std::string_view::npos; };
  if (!has("&nbsp;") && !has("<br>") && !has("&gt;")) return text;
  constexpr std::array<std::pair<std::string_view, char>, 4> kEntities{
      {{"&nbsp;", ' '}, {"&gt;", '>'}, {"&lt;", '<'}, {"&amp;", '&'}}};
  kept.clear();
  while (!text.empty()) {
    if (const std::size_t length = tag_length(text)) {
      text.remove_prefix(length);
      continue;
    }
    const auto entity = std::find_if(kEntities.begin(), kEntities.end(), [&](const auto& each) {
      return text.starts_with(each.first);
    });
    kept += entity == kEntities.end() ? text.front() : entity->second;
    text.remove_prefix(entity == kEntities.end() ? 1 : entity->first.size());
  }
  return kept;
}

}  // namespace

std::size_t Benchmark::rows() const {
  std::size_t sum = 0;
  for (const Curve& curve : curves) sum += curve.rows.size();
  return sum;
}

std::string_view program_of(std::string_view text) {
  const auto has = [&](std::string_view part) { return text.find(part) != std::string_view::npos; };
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && text[first] == '{') {
    if (has("\"intervals\"") && has("\"iperf ")) return "iperf3";
    if (has("\"event\"") && has("\"interval\"") && has("\"bits_per_second\"")) return "iperf3";
    return has("\"out_of_place\"") || has("\"algBw\"") ? "nccl_tests" : "";
  }
  if (has("# OSU ") || (has("OSU MPI") && has(" Test v") && has("\nSize  "))) return "osu";
  if (has("# Benchmarking: ") && has("#repetitions")) return "oneccl";
  const bool has_imb = has("Benchmarking") || has("t_avg[usec]") || has("t[usec]");
  if (has_imb && has("#bytes") && has("#repetitions")) return "imb";
  if (has("| ") && has("busbw") && has("algbw") && has("GBps")) return "all_reduce_bench";
  if (has("data_size(Bytes)") && has("alg_bandwidth(GB/s)")) return "hccl_test";
  if (has("count(elems)") && has("algbw(GB/s)")) return "nccom_test";
  if (has("Collective:") && has("Time, us")) return "ucc_perftest";
  if (has("---- Performance of ") && has("Throughput (")) return "deepspeed_bench";
  if (has("p50 (us)") && has("p99 (us)")) return "gloo_benchmark";
  const bool has_iperf = has("bits/sec") && has("sec ") &&
                         ((has("[ ID]") && has(" Interval")) || has_iperf_intervals(text));
  if (has_iperf || text.starts_with("iperf3: error - ")) return "iperf3";
  const bool is_perf =
      (has("algbw") && has("busbw") && has("redop")) || has("# nThread ") ||
      ((has(" float ") || has(" half ") || has("bfloat16 ")) && has_perf_rows(text));
  return is_perf ? "nccl_tests" : "";
}

Benchmark parse_benchmark(std::string_view shown, std::string_view name) {
  std::string kept;
  std::string kept_bare;
  const std::string_view text = without_colours(plain(shown, kept), kept_bare);
  const std::string_view program = program_of(text);
  Benchmark made;
  if (program == "osu") made = parse_osu(text);
  if (program == "imb" || program == "oneccl") made = parse_imb(text);
  if (program == "oneccl") made.program = "oneccl";
  if (program == "all_reduce_bench") made = parse_all_reduce_bench(text);
  if (program == "hccl_test") made = parse_hccl_test(text);
  if (program == "nccom_test") made = parse_nccom_test(text);
  if (program == "ucc_perftest") made = parse_ucc_perftest(text);
  if (program == "deepspeed_bench") made = parse_deepspeed_bench(text);
  if (program == "gloo_benchmark") made = parse_gloo(text);
  if (program == "iperf3") made = parse_iperf(text);
  if (program == "nccl_tests") made = of_nccl_tests(text, name);
  std::erase_if(made.curves, [](const Curve& curve) { return curve.rows.empty(); });
  if (!made.curves.empty()) return made;
  if (!made.error.empty()) {
    throw DataError(
        fmt::format("reading {}: {} measured nothing: {}", printable(name), program, made.error));
  }
  throw DataError(fmt::format(
      "reading {}: {}", printable(name),
      program.empty() ? "no table of a benchmark that is read: docs/imports.md has which"
                      : "the table has no row; did the benchmark come to its end?"));
}

}  // namespace tw::tables
