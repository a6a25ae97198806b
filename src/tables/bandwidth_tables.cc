// SPDX-License-Identifier: Apache-2.0
// Tables of bandwidths of five programs:
//
//   all_reduce_bench.py of ml-engineering: "The average bandwidth of all_reduce over 32 ranks (..):", "| payload |    busbw   |    algbw   |",
//     "|   32KiB |   0.65GBps |   0.33GBps |", where older ones write KB for KiB
//   hccl_test: "data_size(Bytes):| aveg_time(us):| alg_bandwidth(GB/s):| check_result:", "8192 | 77.48 | 0.10573 | success"
//   DeepSpeed's communication benchmarks: "---- Performance of all_reduce on 8 devices ----", "Size (Bytes)  Description  Duration
//     Throughput (Gbps)  BusBW (Gbps)", "31.67 GB  8501054668x4  3176.620 ms  171.272  149.863": elements times bytes of one
//   nccom-test of AWS Neuron: "nccom-test -r 32 allg", "size(B)  count(elems)  type  time:avg(us)  algbw(GB/s)  busbw(GB/s)", where GB are GiB
//   ucc_perftest: "Collective:             Alltoall", "Count        Size                Time, us", "65536      262144       76.46       72.62"
#include "trainwire/operations/operation.h"
#include "trainwire/tables/columns.h"

#include <array>
#include <utility>

namespace tw::tables {
namespace {

/// A number and what stands behind it: "32KiB", "0.65GBps".
struct Measure {
  double number = 0;
  std::string_view unit = {};
};

std::optional<Measure> measure_in(std::string_view word) {
  const std::size_t digits = std::min(word.find_first_not_of("0123456789."), word.size());
  const auto number = number_in(word.substr(0, digits));
  if (!number) return {};
  return Measure{*number, word.substr(digits)};
}

/// Powers of two, whichever way they are written.
std::optional<std::int64_t> payload_in(std::string_view word) {
  const auto size = measure_in(word);
  if (!size) return {};
  constexpr std::array<std::pair<std::string_view, double>, 9> kUnits{{{"B", 1},
                                                                       {"KiB", 0x1p10},
                                                                       {"MiB", 0x1p20},
                                                                       {"GiB", 0x1p30},
                                                                       {"TiB", 0x1p40},
                                                                       {"KB", 0x1p10},
                                                                       {"MB", 0x1p20},
                                                                       {"GB", 0x1p30},
                                                                       {"TB", 0x1p40}}};
  for (const auto& [unit, bytes] : kUnits) {
    if (size->unit == unit && size->number < 1e6)
      return static_cast<std::int64_t>(size->number * bytes);
  }
  return {};
}

int ranks_in(std::string_view word) {
  const auto count = count_in(word);
  return count && *count < 10'000'000 ? static_cast<int>(*count) : 0;
}

/// The word behind `name` and a blank, or "".
std::string_view behind(std::string_view line, std::string_view name) {
  const std::size_t at = line.find(name);
  if (at == std::string_view::npos) return {};
  const auto words = words_of(line.substr(at + name.size()));
  return words.empty() ? std::string_view() : words.front();
}

void add(Benchmark& into, std::optional<std::int64_t> bytes, double time_s) {
  if (into.curves.empty() || into.rows() >= kMostRows) return;
  if (!bytes || !can_be_meant(*bytes, time_s)) {
    ++into.skipped;
    return;
  }
  into.curves.back().rows.push_back({*bytes, time_s});
}

/// "8501054668x4": bytes.
std::optional<std::int64_t> product_in(std::string_view word) {
  const std::size_t times = word.find('x');
  if (times == std::string_view::npos) return {};
  const auto elements = count_in(word.substr(0, times));
  const auto bytes = count_in(word.substr(times + 1));
  return elements && bytes ? operations::product(*elements, *bytes) : std::nullopt;
}

double seconds_of(std::string_view unit) {
  if (unit == "s") return 1;
  return unit == "ms" ? 1e-3 : 1e-6;  // with --raw microseconds have no unit
}

/// What all but all-reduce and broadcasts call the size is not the same for all of these programs.
void add_limit(Benchmark& into) {
  for (const Curve& curve : into.curves) {
    if (curve.op == "all_reduce" || curve.op == "broadcast" || curve.op == "send") continue;
    into.limits.emplace_back("sizes are what the program calls so, a rank's part or all of it");
    return;
  }
}

}  // namespace

Benchmark parse_all_reduce_bench(std::string_view text) {
  Benchmark made{.program = "all_reduce_bench"};
  std::string op = "all_reduce";
  int ranks = 0;
  std::size_t rate_at = 0;
  for_lines(text, [&](std::string_view line) {
    if (const auto name = behind(line, "bandwidth of "); !name.empty()) {
      if (const std::string found = op_named(name); !found.empty()) op = found;
      const auto words = words_of(line.substr(std::min(line.find(" over "), line.size())));
      const bool is_told = words.size() > 2 && words[2].starts_with("ranks");
      ranks = is_told ? ranks_in(words[1]) : 0;
    }
    if (line.find('|') == std::string_view::npos) return;
    const auto fields = fields_of(line, '|');
    if (line.find("busbw") != std::string_view::npos) {
      rate_at = 0;
      for (std::size_t i = 0; i < fields.size(); ++i) {
        if (fields[i] == "algbw") rate_at = i;
      }
      made.curves.push_back({.op = op, .ranks = ranks});
      return;
    }
    if (rate_at == 0 || fields.size() <= rate_at || !measure_in(fields[1])) return;
    const auto bytes = payload_in(fields[1]);
    const auto rate = measure_in(fields[rate_at]);
    const bool is_rate = rate && rate->unit == "GBps" && rate->number > 0;
    add(made, bytes, is_rate && bytes ? static_cast<double>(*bytes) / (1e9 * rate->number) : 0);
  });
  made.limits.emplace_back(
      "its times are made of bandwidths with two decimals: those of small sizes are rough");
  add_limit(made);
  return made;
}

Benchmark parse_hccl_test(std::string_view text) {
  Benchmark made{.program = "hccl_test"};
  std::string op = "unknown";
  std::size_t failed = 0;
  for_lines(text, [&](std::string_view line) {
    if (line.find("data_size(Bytes)") != std::string_view::npos) {
      made.curves.push_back({.op = op});
      return;
    }
    const auto fields = fields_of(line, '|');
    if (fields.size() < 4) {
      for (const std::string_view word : words_of(line)) {
        const std::string_view name = word.substr(word.rfind('/') + 1);
        if (!name.ends_with("_test")) continue;
        if (const std::string found = op_named(name); !found.empty()) op = found;
      }
      return;
    }
    const auto bytes = count_in(fields[0]);
    if (!bytes) return;
    add(made, bytes, 1e-6 * number_in(fields[1]).value_or(0));
    if (fields[3].starts_with("fail")) ++failed;
  });
  if (failed > 0)
    made.limits.push_back(std::to_string(failed) + " rows failed hccl_test's own check");
  add_limit(made);
  return made;
}

Benchmark parse_deepspeed_bench(std::string_view text) {
  Benchmark made{.program = "deepspeed_bench"};
  for_lines(text, [&](std::string_view line) {
    if (const auto name = behind(line, "---- Performance of "); !name.empty()) {
      const std::string op = op_named(name);
      made.curves.push_back(
          {.op = op.empty() ? "send" : op, .ranks = ranks_in(behind(line, " on "))});
      return;
    }
    const auto words = words_of(line);
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
      const auto bytes = product_in(words[i]);
      const auto time = bytes ? number_in(words[i + 1]) : std::nullopt;
      if (!time) continue;
      const std::string_view unit = i + 2 < words.size() ? words[i + 2] : std::string_view();
      add(made, bytes, *time * seconds_of(unit));
      return;
    }
  });
  add_limit(made);
  return made;
}

namespace {

/// "allr" of "nccom-test -r 2 --minbytes 1kb allr": its operations have short names too.
std::string op_of_nccom(std::string_view line) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kShort{
      {{"allr", "all_reduce"},
       {"allg", "all_gather"},
       {"redsct", "reduce_scatter"},
       {"permute", "send"}}};
  for (const std::string_view word : words_of(line.substr(line.find("nccom-test") + 10))) {
    for (const auto& [name, op] : kShort) {
      if (word == name) return std::string(op);
    }
    if (const std::string op = op_named(word); !op.empty()) return op;
  }
  return "unknown";
}

}  // namespace

Benchmark parse_ucc_perftest(std::string_view text) {
  Benchmark made{.program = "ucc_perftest"};
  std::string op = "unknown";
  for_lines(text, [&](std::string_view line) {
    if (const auto name = behind(line, "Collective:"); !name.empty()) {
      const std::string found = op_named(name);
      op = found.empty() ? "unknown" : found;
    }
    const auto words = words_of(line);
    if (line.find("Time, us") != std::string_view::npos) made.curves.push_back({.op = op});
    const bool is_row = words.size() > 2 && count_in(words[0]) && count_in(words[1]);
    if (is_row) add(made, count_in(words[1]), 1e-6 * number_in(words[2]).value_or(0));
  });
  add_limit(made);
  return made;
}

Benchmark parse_nccom_test(std::string_view text) {
  Benchmark made{.program = "nccom_test"};
  Curve next{.op = "unknown"};
  std::size_t time_at = 0;
  for_lines(text, [&](std::string_view line) {
    const auto words = words_of(line);
    if (words.empty()) return;
    if (words[0] == "size(B)") {
      time_at = 0;
      for (std::size_t i = 1; i < words.size(); ++i) {
        if (words[i].starts_with("time") && words[i].ends_with("(us)") && time_at == 0) time_at = i;
      }
      made.curves.push_back(next);
      return;
    }
    if (line.find("nccom-test ") != std::string_view::npos) {
      const std::string_view ranks = behind(line, " -r ");
      next = {.op = op_of_nccom(line),
              .ranks = ranks_in(ranks.empty() ? behind(line, "--nworkers ") : ranks)};
      return;
    }
    const auto bytes = count_in(words[0]);
    if (!bytes || time_at == 0) return;
    const auto time_us = words.size() > time_at ? number_in(words[time_at]) : std::nullopt;
    add(made, bytes, 1e-6 * time_us.value_or(0));
  });
  return made;
}

}  // namespace tw::tables
