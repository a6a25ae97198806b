// SPDX-License-Identifier: Apache-2.0
#include "trainwire/readers/pace_words.h"

#include "trainwire/base/words.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

namespace tw::readers {
namespace {

// What a letter right behind a number multiplies it by: some trainers print 25.3K for 25,300.
double times_behind(std::string_view text) {
  if (text.empty()) return 1;
  if (text.size() > 1 && (text[1] == '/' || std::isalnum(static_cast<unsigned char>(text[1])) != 0))
    return 1;
  switch (text.front()) {
    case 'K':
      return 1e3;
    case 'M':
      return 1e6;
    case 'B':
      return 1e9;
    default:
      return 1;
  }
}

}  // namespace

std::optional<double> real(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" :=\"'"), text.size()));
  // Since NumPy 2 its numbers print what they are: np.float64(46.5).
  for (const std::string_view type : {"np.float64(", "np.float32(", "tensor("}) {
    if (text.starts_with(type)) text.remove_prefix(type.size());
  }
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !std::isfinite(number) || number < 0) return {};
  return number * times_behind(text.substr(static_cast<std::size_t>(end - text.data())));
}

bool is_no_number(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" :=");
  if (begin == 0) return false;
  if (begin == std::string_view::npos) return !text.empty();
  return text[begin] == '-' || text.substr(begin).starts_with("nan") ||
         text.substr(begin).starts_with("NaN") || text.substr(begin).starts_with("inf");
}

std::optional<double> unit_behind(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" :="), text.size()));
  text.remove_prefix(std::min(text.find_first_not_of("0123456789."), text.size()));
  if (text.starts_with(' ')) text.remove_prefix(1);
  std::string_view unit = text.substr(0, text.find_first_not_of("abcdefghijklmnopqrstuvwxyz/"));
  for (const std::string_view each : {"/step", "/it", "/iter", "/batch"}) {
    if (!unit.ends_with(each)) continue;
    unit.remove_suffix(each.size());
    break;
  }
  if (unit == "ms") return 1e-3;
  if (unit == "s" || unit == "sec" || unit == "secs" || unit == "seconds") return 1;
  return {};
}

std::optional<double> real_before(std::string_view text) {
  while (text.ends_with(' ')) text.remove_suffix(1);
  std::size_t begin = text.size();
  while (begin > 0 &&
         ((text[begin - 1] >= '0' && text[begin - 1] <= '9') || text[begin - 1] == '.')) {
    --begin;
  }
  return real(text.substr(begin));
}

bool is_of_other_work(std::string_view text) {
  constexpr std::array<std::string_view, 11> kWords{"eval",       "Eval",   "valid",  "Valid",
                                                    "checkpoint", "saving", "Saving", "(val)",
                                                    "(test)",     "Test:",  "Val:"};
  return std::any_of(kWords.begin(), kWords.end(), [&](std::string_view word) {
    return text.find(word) != std::string_view::npos;
  });
}

std::optional<std::int64_t> number_of_step(std::string_view text) {
  for (const std::string_view word : {"iteration ",      "iteration=",  "global_step=",
                                      "global_step: ",   "steps: ",     "step ",
                                      "step=",           "step:",       "training it ",
                                      "iter ",           "iter: ",      "num_updates\": \"",
                                      "num_updates=",    "[batch=",     "\"step\": ",
                                      "\"iteration\": ", "Step ",       "Step: ",
                                      "Iteration ",      "Iteration: ", "Iter "}) {
    Words words(text);
    while (words.go_behind(word)) {
      if (const auto number = words.whole(); number && *number >= 0) return number;
    }
  }
  return {};
}

std::optional<std::int64_t> number_in_brackets(std::string_view text) {
  std::optional<std::int64_t> last;
  for (std::size_t at = text.find('['); at != std::string_view::npos; at = text.find('[', at + 1)) {
    Words words(text.substr(at + 1));
    const auto number = words.whole();
    if (number && *number >= 0 && words.rest().starts_with('/')) last = number;
  }
  return last;
}

std::optional<std::pair<std::int64_t, double>> images_of(std::string_view text) {
  Words words(text);
  if (words.go_behind("Iter #")) {
    const auto number = words.whole();
    const auto rate = number && words.take(":") ? real(words.rest()) : std::nullopt;
    if (!rate || text.find(" img/sec per ") == std::string_view::npos) return {};
    return std::pair(*number, *rate);
  }
  const auto number = words.whole();
  const auto rate = number && words.take("images/sec:") ? real(words.rest()) : std::nullopt;
  return rate ? std::optional(std::pair(*number, *rate)) : std::nullopt;
}

std::optional<double> elapsed_s(std::string_view text) {
  Words words(text);
  double seconds = 0;
  for (int part = 0; part < 3; ++part) {
    const auto number = words.whole();
    if (!number || *number < 0 || *number > 100'000) return {};
    seconds = 60 * seconds + static_cast<double>(*number);
    if (!words.rest().starts_with(':')) return part > 0 ? std::optional(seconds) : std::nullopt;
    words.take(":");
  }
  return seconds;
}

}  // namespace tw::readers
