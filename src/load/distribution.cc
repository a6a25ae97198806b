// SPDX-License-Identifier: Apache-2.0
#include "trainwire/load/distribution.h"

#include "trainwire/base/error.h"
#include "trainwire/base/nearest.h"
#include "trainwire/load/builtin.h"
#include "trainwire/load/read_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <optional>

namespace tw::load {
namespace {

constexpr std::string_view kBlanks = " \t\r,";
/// A table of sizes is small; a file that is not is something else.
constexpr std::size_t kMostBytes = 4'000'000;
constexpr double kLargest = 1e15;
/// Shares are often sums of rounded ones.
constexpr double kTolerance = 1e-9;

/// Cuts the next word off `line`.
std::string_view next_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(kBlanks));
  line.remove_prefix(word.size());
  return word;
}

std::optional<double> number(std::string_view word) {
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(value)) return {};
  return value;
}

/// Reads the rows one by one and knows where it is.
class TableReader {
 public:
  TableReader(std::string_view text, std::string_view name) : text_(text), name_(name) {}

  std::vector<SizeDistribution::Row> rows() {
    while (!text_.empty()) {
      const std::size_t end = text_.find('\n');
      const std::string_view line = text_.substr(0, end);
      text_.remove_prefix(end == text_.npos ? text_.size() : end + 1);
      ++line_;
      read(line.substr(0, line.find('#')));
    }
    end();
    return std::move(rows_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw DataError(fmt::format("{}:{}: {}", name_, line_, what));
  }

  void read(std::string_view line) {
    const std::string_view bytes = next_word(line);
    if (bytes.empty()) return;
    const std::string_view share = next_word(line);
    if (share.empty() || !next_word(line).empty()) {
      fail("a row has two numbers: a size in bytes and the share of flows that are no larger");
    }
    add(value(bytes, "size in bytes"), value(share, "share"));
  }

  double value(std::string_view word, std::string_view what) const {
    const auto found = number(word);
    if (!found)
      fail(fmt::format("\"{}\" is no {}; write a plain number", word.substr(0, 40), what));
    return *found;
  }

  void add(double bytes, double share) {
    if (bytes < 0 || bytes > kLargest) fail(fmt::format("{} bytes is no size of a flow", bytes));
    if (share < 0) fail(fmt::format("the share {} is below 0", share));
    if (share > 1 + kTolerance) {
      fail(fmt::format("the share {} is above 1; shares are fractions (divide percents by 100)",
                       share));
    }
    if (!rows_.empty() && bytes < rows_.back().bytes) {
      fail(fmt::format("the size falls from {} to {}; sort the rows by size", rows_.back().bytes,
                       bytes));
    }
    if (!rows_.empty() && share < rows_.back().share) {
      fail(fmt::format("the share falls from {} to {}; the second column adds up all smaller flows",
                       rows_.back().share, share));
    }
    rows_.push_back({.bytes = bytes, .share = std::min(share, 1.0)});
  }

  void end() {
    if (rows_.size() < 2)
      fail(fmt::format("{} rows; a distribution needs two at least", rows_.size()));
    if (rows_.back().share < 1 - kTolerance) {
      fail(fmt::format("the last share is {}, not 1; add the size that no flow exceeds",
                       rows_.back().share));
    }
    rows_.back().share = 1;
    if (rows_.back().bytes <= 0) fail("all flows are empty; sizes are in bytes");
  }

  std::string_view text_;
  std::string_view name_;
  int line_ = 0;
  std::vector<SizeDistribution::Row> rows_ = {};
};

}  // namespace

SizeDistribution SizeDistribution::parse(std::string_view text, std::string_view name) {
  return SizeDistribution(TableReader(text, name).rows());
}

double SizeDistribution::mean() const {
  double sum = rows_.front().bytes * rows_.front().share;
  for (std::size_t i = 1; i < rows_.size(); ++i) {
    sum += (rows_[i].share - rows_[i - 1].share) * (rows_[i].bytes + rows_[i - 1].bytes) / 2;
  }
  return sum;
}

double SizeDistribution::quantile(double share) const {
  check(share >= 0 && share <= 1, "a share lies between 0 and 1");
  const auto above = std::lower_bound(rows_.begin(), rows_.end(), share,
                                      [](const Row& row, double s) { return row.share < s; });
  if (above == rows_.begin()) return above->bytes;
  const Row& below = *(above - 1);
  const double part = (share - below.share) / (above->share - below.share);
  return below.bytes + part * (above->bytes - below.bytes);
}

double SizeDistribution::draw(Random& random) const {
  return std::max(1.0, quantile(random.uniform()));
}

SizeDistribution SizeDistribution::scaled(double factor) const {
  check(factor > 0, "sizes are multiplied by more than 0");
  SizeDistribution result = *this;
  for (Row& row : result.rows_) row.bytes *= factor;
  return result;
}

std::vector<std::string_view> distribution_names() {
  std::vector<std::string_view> names;
  for (const BuiltIn& one : built_in_distributions()) names.push_back(one.name);
  return names;
}

SizeDistribution distribution_named(const std::string& name_text_or_path) {
  for (const BuiltIn& one : built_in_distributions()) {
    if (one.name == name_text_or_path) return SizeDistribution::parse(one.text, one.name);
  }
  if (name_text_or_path.find('\n') != std::string::npos) {
    return SizeDistribution::parse(name_text_or_path, "distribution");
  }
  std::error_code ignored;
  if (!std::filesystem::exists(name_text_or_path, ignored)) {
    const std::vector<std::string_view> names = distribution_names();
    const auto near = nearest(name_text_or_path, names);
    throw SystemError(fmt::format("distribution {}: there is no such file; {}", name_text_or_path,
                                  near ? fmt::format("did you mean \"{}\"?", *near)
                                       : fmt::format("built in are {}", fmt::join(names, ", "))));
  }
  return SizeDistribution::parse(read_text(name_text_or_path, kMostBytes), name_text_or_path);
}

}  // namespace tw::load
