// SPDX-License-Identifier: Apache-2.0
// "# OSU MPI Allreduce Latency Test v7.5", "# Size       Avg Latency(us)", rows of a size and a time; bandwidth tests have
// "# Size      Bandwidth (MB/s)".
#include "trainwire/tables/columns.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace tw::tables {
namespace {

/// "Allreduce" of "# OSU MPI-CUDA Allreduce Latency Test v7.5", "Latency" of "# OSU MPI Latency Test".
std::string op_of_title(std::string_view line) {
  for (const std::string_view word : words_of(line)) {
    if (word == "#" || word == "OSU" || word.starts_with("MPI") || word == "Non-blocking" ||
        word == "NCCL" || word == "Multi" || word == "Personalized") {
      continue;
    }
    if (const std::string op = op_named(word); !op.empty()) return op;
  }
  return {};
}

/// "Size", "Overall(us)", "Pure Comm.(us)" of "# Size    Overall(us)     Pure Comm.(us)": between columns are two blanks at least.
std::vector<std::string_view> columns_of(std::string_view line) {
  std::vector<std::string_view> columns;
  line.remove_prefix(std::min(line.find_first_not_of("# "), line.size()));
  while (!line.empty()) {
    const std::size_t end = std::min(line.find("  "), line.size());
    columns.push_back(line.substr(0, end));
    line.remove_prefix(end);
    line.remove_prefix(std::min(line.find_first_not_of(" \t\r"), line.size()));
  }
  return columns;
}

/// What a table's rows mean.
struct Meaning {
  std::string op = {};
  std::size_t value_at = 1;
  bool is_rate = false;
  double times =
      1;  ///< messages under way at once, of which the rate is the sum: pairs, or both directions
};

Meaning meaning_of_title(std::string_view title) {
  Meaning made{.op = op_of_title(title)};
  if (title.find("Bi-Directional") != std::string_view::npos) {
    made.op = "sendrecv";
    made.times = 2;
  }
  return made;
}

/// Of non-blocking collectives the column without computing.
void take_columns(const std::vector<std::string_view>& columns, Meaning& into) {
  into.value_at = 1;
  if (columns.empty()) return;
  for (std::size_t i = 1; i < columns.size(); ++i) {
    if (columns[i].starts_with("Pure Comm")) into.value_at = i;
  }
  // Mails join their blanks: "# Size Bandwidth (MB/s)" is one column then.
  into.is_rate = columns[columns.size() > 1 ? 1 : 0].find("MB/s") != std::string_view::npos;
}

/// "[ pairs: 4 ] [ window size: 64 ]": the rates are sums of so many.
void take_pairs(std::string_view line, Meaning& into) {
  const std::size_t at = line.find("[ pairs: ");
  if (at == std::string_view::npos) return;
  const auto rest = words_of(line.substr(at + 9));
  const auto pairs = rest.empty() ? std::nullopt : count_in(rest.front());
  if (pairs && *pairs > 0 && *pairs < 10'000'000) into.times = static_cast<double>(*pairs);
}

/// Where the numbers begin that `line` ends with, each between blanks but for the first: "4   3.20" of
/// "# Size   Avg Latency(us)4   3.20". The line's length where it ends with none.
std::size_t numbers_at_end(std::string_view line) {
  std::size_t begin = line.size();
  while (begin > 0) {
    const std::size_t end = line.find_last_not_of(" \t\r", begin - 1);
    if (end == std::string_view::npos) return begin;
    const std::size_t before = line.find_last_not_of("0123456789.", end);
    const std::size_t first = before == std::string_view::npos ? 0 : before + 1;
    if (!number_in(line.substr(first, end + 1 - first))) return begin;
    begin = first;
    if (first > 0 && line[first - 1] != ' ' && line[first - 1] != '\t') return begin;
  }
  return begin;
}

/// Where "OSU MPI Latency Test" stands: people's texts lose the '#' before it.
std::size_t title_in(std::string_view line) {
  const std::size_t hash = line.find("# OSU ");
  if (hash != std::string_view::npos) return hash;
  const std::size_t title = line.find("OSU MPI");
  return line.find(" Test v", title) == std::string_view::npos ? std::string_view::npos : title;
}

double seconds_of(const Meaning& meaning, std::int64_t size, double value) {
  if (!meaning.is_rate) return 1e-6 * value;
  return value > 0 ? meaning.times * static_cast<double>(size) / (1e6 * value) : 0;
}

class Reading {
 public:
  Benchmark made{.program = "osu"};

  void take(std::string_view line) {
    if (const std::size_t title = title_in(line); title != std::string_view::npos) {
      meaning_ = meaning_of_title(line.substr(title));
      made.curves.push_back({.op = meaning_.op});
      return;
    }
    line.remove_prefix(std::min(line.find_first_not_of(" \t>"), line.size()));
    const bool is_header = line.starts_with('#') || line.starts_with("Size ");
    is_header ? take_header(line) : take_row(words_of(line));
  }

  void add_limits() {
    if (failed_ > 0)
      made.limits.push_back(std::to_string(failed_) + " rows failed OSU's own validation");
    if (!is_per_rank_) return;
    made.limits.emplace_back(
        "OSU does not print how many ranks there were: sizes are what a rank gives, and bus "
        "bandwidth is not known");
  }

 private:
  /// Where several programs write to one terminal, the first row may be glued to the header.
  void take_header(std::string_view line) {
    if (line.find("Size") == std::string_view::npos) return take_pairs(line, meaning_);
    const std::size_t row = numbers_at_end(line);
    take_columns(columns_of(line.substr(0, row)), meaning_);
    take_pairs(line, meaning_);
    auto words = words_of(line.substr(row));
    // Of a stamp's numbers before the row's: the size is the whole number before the first that is none.
    const auto value = std::find_if(words.begin(), words.end(), [](std::string_view word) {
      return word.find('.') != std::string_view::npos;
    });
    if (value - words.begin() > 1 && value != words.end()) words.erase(words.begin(), value - 1);
    take_row(words);
  }

  void take_row(const std::vector<std::string_view>& words) {
    if (words.empty() || meaning_.op.empty() || made.rows() >= kMostRows) return;
    if (!number_in(words[0])) return;
    const auto size = count_in(words[0]);
    const auto value =
        words.size() > meaning_.value_at ? number_in(words[meaning_.value_at]) : std::nullopt;
    const double time_s = size && value ? seconds_of(meaning_, *size, *value) : 0;
    // All values of a table have as many decimals: one with fewer was cut off.
    const std::size_t decimals = value ? decimals_of(words[meaning_.value_at]) : 0;
    if (made.curves.back().rows.empty()) most_decimals_ = decimals;
    if (!size || !can_be_meant(*size, time_s) || decimals < most_decimals_) {
      ++made.skipped;
      return;
    }
    if (words.back() == "Fail") ++failed_;
    is_per_rank_ = is_per_rank_ || !size_of(meaning_.op, *size, 0);
    made.curves.back().rows.push_back({*size, time_s});
  }

  Meaning meaning_ = {};
  bool is_per_rank_ = false;
  std::size_t failed_ = 0;
  std::size_t most_decimals_ = 0;
};

}  // namespace

Benchmark parse_osu(std::string_view text) {
  Reading reading;
  for_lines(text, [&](std::string_view line) { reading.take(line); });
  reading.add_limits();
  return std::move(reading.made);
}

}  // namespace tw::tables
