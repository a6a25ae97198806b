// SPDX-License-Identifier: Apache-2.0
// SimAI: "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 1 pp: 1 ... all_gpus: 16 ...", the number of layers, and
// a row a layer: name, dependency, then three times (forward, inputs' gradients, weights' gradients) compute ns,
// communication, bytes, and the update's ns. AICB: rows "CommType.all_reduce,CommGroup.dp_group,64,8,stage,...".
#include "trainwire/base/error.h"
#include "trainwire/base/printable.h"
#include "trainwire/base/units.h"
#include "trainwire/foreign/design.h"
#include "trainwire/tables/columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace tw::foreign {
namespace {

constexpr double kMostBytes = 1e15;

void set(Design& into, const std::string& flag, std::string value) {
  into.flags.values.try_emplace(flag, std::move(value));
}

std::string size_text(double bytes) {
  return readable(Bytes(static_cast<std::int64_t>(std::min(bytes, kMostBytes))));
}

/// What the gradients' exchange takes of a step.
struct Job {
  double gradient_bytes = 0;
  double compute_ns = 0;
  double ranks = 0;
};

void add_job(const Job& job, const std::string& name, Design& into) {
  const auto bytes = static_cast<std::int64_t>(job.gradient_bytes) / 4 * 4;
  if (bytes < 4) {
    throw DataError(fmt::format(
        "reading {}: no exchange of gradients is in it; a job here needs one", printable(name)));
  }
  set(into, "--parameters", std::to_string(bytes));
  if (job.ranks >= 1) {
    set(into, "--ranks", fmt::format("{:.0f}", job.ranks));
    if (!into.flags.values.contains("--hosts"))
      set(into, "--hosts", fmt::format("{:.0f}", job.ranks));
  } else if (!into.flags.values.contains("--ranks")) {
    into.remarks.emplace_back("it does not say how many ranks exchange gradients: give --ranks");
  }
  if (job.compute_ns >= 1) {
    set(into, "--compute-time",
        fmt::format("{}ns", static_cast<long long>(std::llround(job.compute_ns))));
  }
}

/// "pp: 2" in the first line.
double named(std::string_view line, std::string_view key) {
  const auto words = tables::words_of(line);
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] == key) return tables::number_in(words[i + 1]).value_or(0);
  }
  return 0;
}

struct Row {
  std::array<double, 3> compute_ns = {};
  std::array<std::string_view, 3> what = {};
  std::array<double, 3> bytes = {};
  double update_ns = 0;
};

std::optional<Row> row_of(std::string_view line) {
  const auto words = tables::words_of(line);
  if (words.size() < 12) return {};
  Row row;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto compute = tables::number_in(words[2 + 3 * i]);
    const auto bytes = tables::number_in(words[4 + 3 * i]);
    if (!compute || !bytes || *compute < 0 || *bytes < 0 || *compute > 1e18 || *bytes > kMostBytes)
      return {};
    row.compute_ns[i] = *compute;
    row.what[i] = words[3 + 3 * i];
    row.bytes[i] = *bytes;
  }
  row.update_ns = tables::number_in(words[11]).value_or(0);
  return row;
}

}  // namespace

void add_simai(std::string_view text, const std::string& name, Design& into) {
  const std::string_view first = text.substr(0, text.find_first_of("\r\n"));
  const double tensor = std::max(1.0, named(first, "model_parallel_NPU_group:"));
  const double pipeline = std::max(1.0, named(first, "pp:"));
  const double all = named(first, "all_gpus:");
  Job job;
  double inner_bytes = 0;
  double inner_reduced = 0;
  std::size_t layers = 0;
  tables::for_lines(text.substr(std::min(first.size(), text.size())), [&](std::string_view line) {
    const auto row = row_of(line);
    if (!row) return;
    ++layers;
    for (std::size_t i = 0; i < 3; ++i) {
      job.compute_ns += row->compute_ns[i];
      const bool reduces =
          row->what[i].starts_with("ALLREDUCE") || row->what[i].starts_with("REDUCESCATTER");
      if (i == 2 && reduces) job.gradient_bytes += row->bytes[i];
      if (i < 2) inner_bytes += row->bytes[i];
      if (i < 2 && row->what[i].starts_with("ALLREDUCE")) inner_reduced += row->bytes[i];
    }
    job.compute_ns += std::max(0.0, row->update_ns);
  });
  if (layers == 0) {
    throw DataError(fmt::format(
        "reading {}: no row of twelve fields (name, dependency, 3 x compute, communication, bytes, "
        "update) is in it",
        printable(name)));
  }
  if (all > 0) job.ranks = std::max(1.0, all / (tensor * pipeline));
  if (job.gradient_bytes < 4) {
    // No exchange of weights' gradients: what tensor parallelism sums is the job.
    job.gradient_bytes = inner_reduced;
    job.ranks = tensor;
    into.remarks.push_back(fmt::format(
        "no gradients of weights are exchanged in it: the {} that its {:.0f} tensor-parallel ranks "
        "sum in a step are the job's exchange",
        size_text(inner_reduced), tensor));
  } else if (inner_bytes > 0) {
    into.remarks.push_back(
        fmt::format("{} a step of tensor-parallel traffic, inside groups of {:.0f}, were left out",
                    size_text(inner_bytes), tensor));
  }
  add_job(job, name, into);
}

void add_aicb(std::string_view text, const std::string& name, Design& into) {
  std::map<std::string, double> others;
  Job job;
  double steps = 0;
  double in_step = 0;
  double reduced = 0;
  double gathered = 0;
  tables::for_lines(text, [&](std::string_view line) {
    const auto fields = tables::fields_of(line, ',');
    if (fields.empty() || !fields[0].starts_with("CommType.")) return;
    const std::string_view what = fields[0].substr(9);
    if (what == "epoch_end") {
      ++steps;
      return;
    }
    if (fields.size() < 5 || fields[4].starts_with("init")) return;
    if (what == "computation") {
      const auto time_us = fields.size() > 8 ? tables::number_in(fields[8]) : std::nullopt;
      if (time_us && *time_us > 0 && *time_us < 1e12) job.compute_ns += 1e3 * *time_us;
      return;
    }
    const auto bytes = tables::number_in(fields[3]);
    if (!bytes || *bytes < 0 || *bytes > kMostBytes) return;
    ++in_step;
    if (!fields[1].starts_with("CommGroup.dp_")) {
      others[std::string(fields[1].substr(0, 64))] += *bytes;
      return;
    }
    job.ranks = std::max(job.ranks, tables::number_in(fields[2]).value_or(0));
    if (what == "all_reduce" || what == "reduce_scatter") reduced += *bytes;
    if (what == "all_gather") gathered += *bytes;
  });
  steps = std::max(1.0, steps);
  if (in_step == 0) {
    throw DataError(
        fmt::format("reading {}: no communication of a step is in it", printable(name)));
  }
  job.gradient_bytes = std::max(reduced, gathered) / steps;
  job.compute_ns /= steps;
  for (const auto& [group, bytes] : others) {
    if (bytes < 1) continue;
    into.remarks.push_back(
        fmt::format("{} a step in {} were left out", size_text(bytes / steps), printable(group)));
  }
  add_job(job, name, into);
}

}  // namespace tw::foreign
