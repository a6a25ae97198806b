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
  Exchange exchange = {};
};

void add_job(const Job& job, const std::string& name, Design& into) {
  const auto bytes = static_cast<std::int64_t>(job.gradient_bytes) / 4 * 4;
  if (bytes < 4) {
    throw DataError(fmt::format(
        "reading {}: no exchange of gradients is in it; a job here needs one", printable(name)));
  }
  set(into, "--parameters", std::to_string(bytes));
  if (!into.exchange) into.exchange = job.exchange;
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

/// The number of layers, which stands alone in the line behind the first; nothing where no such line does.
std::optional<std::size_t> layers_told(std::string_view text) {
  std::optional<std::size_t> told;
  bool is_over = false;
  tables::for_lines(text, [&](std::string_view line) {
    const auto words = tables::words_of(line);
    if (is_over || words.empty()) return;
    is_over = true;
    const auto count = words.size() == 1 ? tables::count_in(words[0]) : std::nullopt;
    if (count && *count > 0) told = static_cast<std::size_t>(*count);
  });
  return told;
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
  const std::string_view rows = text.substr(std::min(first.size(), text.size()));
  tables::for_lines(rows, [&](std::string_view line) {
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
  if (const auto told = layers_told(rows); told && *told != layers) {
    into.remarks.push_back(
        fmt::format("it says that it has {} layers, and {} are in it: it may be cut off, and what "
                    "follows is of "
                    "these alone",
                    *told, layers));
  }
  job.exchange = {.tensor = tensor, .gpus = all};
  if (all > 0) job.exchange.ranks = std::max(1.0, all / (tensor * pipeline));
  if (job.gradient_bytes < 4) {
    // No exchange of weights' gradients: what tensor parallelism sums is the job.
    job.gradient_bytes = inner_reduced;
    job.exchange.ranks = tensor;
    job.exchange.tensor = 1;
    into.remarks.push_back(fmt::format(
        "no gradients of weights are exchanged in it: the {} that its {:.0f} tensor-parallel ranks "
        "sum in a step are the job's exchange",
        size_text(inner_reduced), tensor));
  } else if (inner_bytes > 0) {
    into.remarks.push_back(fmt::format(
        "{} a step of tensor- and expert-parallel traffic{} were left out", size_text(inner_bytes),
        tensor > 1 ? fmt::format(", inside groups of {:.0f},", tensor) : ""));
  }
  add_job(job, name, into);
}

namespace {

/// Where columns stand; those of micro tests have no size of the group.
struct Columns {
  std::size_t group_size = 2;
  std::size_t bytes = 3;
  std::size_t stage = 4;
  std::size_t elapsed = 8;
};

Columns columns_of(std::string_view text) {
  const std::size_t begin = text.find("comm_type,");
  const std::string_view header = text.substr(std::min(begin, text.size()), 512);
  const auto names = tables::fields_of(header.substr(0, header.find_first_of("\r\n")), ',');
  Columns made;
  made.group_size = names.size();
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == "comm_group_size") made.group_size = i;
    if (names[i] == "msg_size") made.bytes = i;
    if (names[i] == "stage") made.stage = i;
    if (names[i] == "_elapsed_time") made.elapsed = i;
  }
  return made;
}

/// "" where the row ends before.
std::string_view field(const std::vector<std::string_view>& fields, std::size_t column) {
  return column < fields.size() ? fields[column] : std::string_view();
}

}  // namespace

void add_aicb(std::string_view text, const std::string& name, Design& into) {
  const Columns columns = columns_of(text);
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
    const std::string_view stage = field(fields, columns.stage);
    if (fields.size() < 4 || stage.starts_with("init") || stage == "warmup") return;
    if (what == "computation") {
      const auto time_us = tables::number_in(field(fields, columns.elapsed));
      if (time_us && *time_us > 0 && *time_us < 1e12) job.compute_ns += 1e3 * *time_us;
      return;
    }
    const auto bytes = tables::number_in(field(fields, columns.bytes));
    if (!bytes || *bytes < 0 || *bytes > kMostBytes) return;
    ++in_step;
    const double size = tables::number_in(field(fields, columns.group_size)).value_or(0);
    if (fields[1] == "CommGroup.tp_group")
      job.exchange.tensor = std::max(job.exchange.tensor, size);
    if (!fields[1].starts_with("CommGroup.dp_")) {
      others[std::string(fields[1].substr(0, 64))] += *bytes;
      return;
    }
    job.exchange.ranks = std::max(job.exchange.ranks, size);
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
