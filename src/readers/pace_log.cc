// SPDX-License-Identifier: Apache-2.0
#include "trainwire/readers/pace_log.h"

#include "trainwire/readers/colours.h"
#include "trainwire/readers/words.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

namespace tw::readers {
namespace {

constexpr std::size_t kMostSteps = 4'000'000;
constexpr double kLongest_s = 1e6;
/// Bars that jump further than this are another epoch's.
constexpr std::int64_t kLongestJump = 100'000;

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

std::optional<double> real(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" :=\""), text.size()));
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !std::isfinite(number) || number < 0) return {};
  return number * times_behind(text.substr(static_cast<std::size_t>(end - text.data())));
}

/// "nan", "inf", "-5", or cut off behind the colon: where a number should be.
bool is_no_number(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" :=");
  if (begin == 0) return false;
  if (begin == std::string_view::npos) return !text.empty();
  return text[begin] == '-' || text.substr(begin).starts_with("nan") ||
         text.substr(begin).starts_with("NaN") || text.substr(begin).starts_with("inf");
}

/// A way to tell what a step took, and how many seconds its unit has.
struct Telling {
  std::string_view words;
  double unit_s;
};
constexpr std::array<Telling, 9> kTellings{{
    {"elapsed time per iteration (ms)", 1e-3},
    {"elapsed_time_per_iteration_ms", 1e-3},
    {"elapsed time per iteration (s)", 1},
    {"iteration time (ms)", 1e-3},
    {"iter time (s)", 1},
    {"iter_time", 1},
    {"step_time", 1},
    {"step time (s)", 1},
    {"step_time_ms", 1e-3},
}};

/// Other ways, in lines that also tell the step's number.
struct Form {
  std::string_view words;
  double unit_s;            ///< 0: it stands behind the number, "251.3ms" or "0.41 s"
  std::string_view beside;  ///< must be in the line too
};
constexpr std::array<Form, 8> kForms{{
    {"train_step_timing in s", 1, ""},  // NeMo
    {" seconds", 1, "completed step"},  // MaxText
    {" time", 1, "data_time"},          // MMEngine, Detectron2
    {"\tTime", 1, "Epoch: ["},          // PyTorch's ImageNet example
    {" Time: ", 0, "Train: "},          // timm
    {" time", 0, ""},                   // nanoGPT, and most that people write themselves
    {"time=", 0, ""},
    {"| ", 0, "step"},  // llm.c
}};

/// Steps a second, and where that stands.
constexpr std::array<std::string_view, 4> kRates{
    "\"ups\": \"",                   // fairseq
    " ups=",                         // fairseq before 2020
    "throughput/batches_per_sec: ",  // Composer
    "global_step/sec: "              // TensorFlow's estimators
};

/// Of a number's own unit, as far as it is one of time.
std::optional<double> unit_behind(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" :="), text.size()));
  text.remove_prefix(std::min(text.find_first_not_of("0123456789."), text.size()));
  if (text.starts_with(' ')) text.remove_prefix(1);
  const std::string_view unit =
      text.substr(0, text.find_first_not_of("abcdefghijklmnopqrstuvwxyz/"));
  if (unit == "ms") return 1e-3;
  if (unit == "s" || unit == "sec" || unit == "secs" || unit == "seconds") return 1;
  return {};
}

/// What a line that is not of a step of training speaks of.
bool is_of_other_work(std::string_view text) {
  constexpr std::array<std::string_view, 6> kWords{"eval",       "Eval",   "valid",
                                                   "checkpoint", "saving", "Saving"};
  return std::any_of(kWords.begin(), kWords.end(), [&](std::string_view word) {
    return text.find(word) != std::string_view::npos;
  });
}

/// "iteration 100/ 5000", "iteration=  100/ 5000", "global_step=10", "step 7", "steps: 10".
std::optional<std::int64_t> number_of_step(std::string_view text) {
  for (const std::string_view word :
       {"iteration ", "iteration=", "global_step=", "global_step: ", "steps: ", "step ",
        "step=", "step: ", "iter ", "iter: ", "num_updates\": \"",
        "num_updates=", "[batch=", "\"step\": ", "\"iteration\": "}) {
    Words words(text);
    while (words.go_behind(word)) {
      if (const auto number = words.whole(); number && *number >= 0) return number;
    }
  }
  return {};
}

/// "[1][  50/7330]", "[  50/1251 (  4%)]": of the epoch.
std::optional<std::int64_t> number_in_brackets(std::string_view text) {
  const std::size_t second = text.find("][");
  const std::size_t at = second == std::string_view::npos ? text.find(" [") : second;
  if (at == std::string_view::npos) return {};
  Words words(text.substr(at + 2));
  const auto number = words.whole();
  return number && *number >= 0 && words.rest().starts_with('/') ? number : std::nullopt;
}

/// "Iter #3: 334.1 img/sec per GPU" of Horovod's benchmarks, "30	images/sec: 345.6 +/- 0.1" of TensorFlow's.
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

/// "00:12", "1:02:03" in seconds.
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

}  // namespace

void PaceLog::add(std::int64_t number, double seconds) {
  if (steps_.size() >= kMostSteps || seconds <= 0 || seconds > kLongest_s) return;
  steps_.push_back({.number = number, .duration_ns = std::llround(seconds * 1e9)});
}

/// Ranks print the same iteration at about the same time; a job that goes on from a checkpoint jumps further back.
bool PaceLog::is_told(std::int64_t number) const {
  const std::size_t last = std::min<std::size_t>(2, steps_.size());
  return std::any_of(steps_.end() - static_cast<std::ptrdiff_t>(last), steps_.end(),
                     [&](const operations::Step& step) { return step.number == number; });
}

bool PaceLog::timed(std::string_view text) {
  bool is_none = false;
  for (const Telling& telling : kTellings) {
    const std::size_t at = text.find(telling.words);
    if (at == std::string_view::npos) continue;
    const std::string_view value = text.substr(at + telling.words.size());
    const auto time = real(value);
    if (!time) {
      is_none = is_none || is_no_number(value);
      continue;
    }
    const double seconds = *time * telling.unit_s;
    if (seconds <= 0 || seconds > kLongest_s) {
      is_none = true;
      break;
    }
    const auto number = number_of_step(text.substr(0, at));
    if (number && telling.words.starts_with("elapsed") && is_told(*number)) {
      skips_.add("lines tell an iteration again, as other ranks print it");
    } else {
      add(number.value_or(static_cast<std::int64_t>(steps_.size())), seconds);
    }
    return true;
  }
  if (is_none) skips_.add("lines whose time of a step is none");
  return is_none;
}

/// Composer tells the number in a line before.
bool PaceLog::rated(std::string_view text) {
  if (const std::size_t at = text.find("[batch="); at != std::string_view::npos)
    batch_number_ = Words(text.substr(at + 7)).whole();
  for (const std::string_view word : kRates) {
    const std::size_t at = text.find(word);
    if (at == std::string_view::npos) continue;
    const auto rate = real(text.substr(at + word.size()));
    if (!rate || *rate <= 0) continue;
    const auto number = number_of_step(text);
    add(number ? *number : batch_number_.value_or(static_cast<std::int64_t>(steps_.size())),
        1 / *rate);
    return true;
  }
  return false;
}

bool PaceLog::numbered(std::string_view text) {
  auto number = number_of_step(text);
  if (!number) number = number_in_brackets(text);
  if (!number || is_of_other_work(text)) return false;
  for (const Form& form : kForms) {
    if (text.find(form.beside) == std::string_view::npos) continue;
    for (std::size_t at = text.find(form.words); at != std::string_view::npos;
         at = text.find(form.words, at + 1)) {
      const std::string_view value = text.substr(at + form.words.size());
      const auto time = real(value);
      const auto unit = form.unit_s > 0 ? std::optional(form.unit_s) : unit_behind(value);
      if (!time || !unit || *time * *unit <= 0 || *time * *unit > kLongest_s) continue;
      if (is_told(*number)) {
        skips_.add("lines tell an iteration again, as other ranks print it");
      } else {
        add(*number, *time * *unit);
        ++numbered_;
      }
      return true;
    }
  }
  return false;
}

/// "Epoch 0:  10%|# | 10/100 [00:05<00:45, 2.00it/s, loss=1.2]".
bool PaceLog::progress(std::string_view text) {
  const std::size_t open = text.rfind(" [", text.rfind('<'));
  if (open == std::string_view::npos || text.find('<', open) == std::string_view::npos)
    return false;
  std::string_view before = text.substr(0, open);
  const std::size_t slash = before.rfind('/');
  if (slash == std::string_view::npos) return false;
  std::size_t digits = slash;
  while (digits > 0 && before[digits - 1] >= '0' && before[digits - 1] <= '9') --digits;
  const auto number = Words(before.substr(digits)).whole();
  const auto elapsed = elapsed_s(text.substr(open + 2));
  const std::size_t comma = text.find(", ", open);
  if (digits == slash || !number || !elapsed || comma == std::string_view::npos) return false;
  const std::string_view pace = text.substr(comma + 2);
  const auto value = real(pace);
  const std::size_t unit = pace.find_first_not_of(" 0123456789.");
  const bool per_step = unit != std::string_view::npos && pace.substr(unit).starts_with("s/it");
  const bool per_second = unit != std::string_view::npos && pace.substr(unit).starts_with("it/s");
  if (!value || *value <= 0 || (!per_step && !per_second)) return false;
  has_bars_ = true;
  bar_each_s_ = per_step ? *value : 1 / *value;
  const bool goes_on = bar_number_ && *number > *bar_number_ &&
                       *number - *bar_number_ < kLongestJump && *elapsed >= bar_elapsed_s_;
  if (goes_on) {
    const std::int64_t steps = *number - *bar_number_;
    const double passed = *elapsed - bar_elapsed_s_;
    // Whole seconds say too little of a short time; the bar's own average says more.
    const double each = passed >= 20 ? passed / static_cast<double>(steps) : bar_each_s_;
    for (std::int64_t i = 0; i < steps; ++i) add(*bar_number_ + i, each);
  }
  bar_number_ = *number;
  bar_elapsed_s_ = *elapsed;
  return true;
}

/// "100/100 [==============] - 25s 250ms/step - loss: 2.0", as Keras draws it at the end of an epoch, behind what it took back.
bool PaceLog::keras_bar(std::string_view text) {
  const std::size_t end = text.rfind("/step");
  if (end == std::string_view::npos) return false;
  const std::size_t begin = text.find_last_of(" \b", end) + 1;
  const auto each = real(text.substr(begin, end - begin));
  const auto unit = unit_behind(text.substr(begin, end - begin));
  const std::size_t bar = text.find_last_of("[\xe2", begin);
  if (begin == 0 || !each || !unit || *each <= 0 || bar == std::string_view::npos) return false;
  const std::size_t slash = text.rfind('/', bar);
  if (slash == std::string_view::npos) return false;
  std::size_t digits = slash;
  while (digits > 0 && text[digits - 1] >= '0' && text[digits - 1] <= '9') --digits;
  const auto done = Words(text.substr(digits)).whole();
  const auto all = Words(text.substr(slash + 1)).whole();
  if (!done || done != all || *done > kLongestJump) return false;
  has_bars_ = true;
  bar_each_s_ = *each * *unit;
  for (std::int64_t i = 0; i < *done; ++i)
    add(static_cast<std::int64_t>(steps_.size()), bar_each_s_);
  return true;
}

/// "Epoch 1/1  ---- 120/120 0:00:03 • 0:00:00 39.9it/s loss: 0.3", as Lightning draws it with rich.
bool PaceLog::rich_bar(std::string_view text) {
  constexpr std::string_view kDot = "\xe2\x80\xa2";
  const std::size_t dot = text.find(kDot);
  const std::size_t rate = text.find("it/s", dot);
  if (dot == std::string_view::npos || rate == std::string_view::npos) return false;
  std::size_t begin = rate;
  while (begin > 0 &&
         ((text[begin - 1] >= '0' && text[begin - 1] <= '9') || text[begin - 1] == '.'))
    --begin;
  const auto value = real(text.substr(begin, rate - begin));
  const std::size_t slash = text.rfind('/', dot);
  if (!value || *value <= 0 || slash == std::string_view::npos) return false;
  std::size_t digits = slash;
  while (digits > 0 && text[digits - 1] >= '0' && text[digits - 1] <= '9') --digits;
  const auto number = Words(text.substr(digits)).whole();
  if (digits == slash || !number) return false;
  has_bars_ = true;
  bar_each_s_ = 1 / *value;
  if (bar_number_ && *number > *bar_number_ && *number - *bar_number_ < kLongestJump) {
    for (std::int64_t i = *bar_number_; i < *number; ++i) add(i, bar_each_s_);
  }
  bar_number_ = *number;
  return true;
}

/// "global_step=10, RunningAvgSamplesPerSec=20.1, CurrSamplesPerSec=22.4", before 2022 "0/20, SamplesPerSec=20.1"; and
/// "train_batch_size ............. 64".
bool PaceLog::samples(std::string_view text) {
  for (const std::string_view words : {"train_batch_size ", "Batch size: "}) {
    const std::size_t at = text.find(words);
    if (at == std::string_view::npos) continue;
    std::string_view value = text.substr(at + words.size());
    value.remove_prefix(std::min(value.find_first_not_of(" .:="), value.size()));
    const auto batch = Words(value).whole();
    if (!batch || *batch <= 0 || *batch > 1'000'000'000) return false;
    batch_ = batch;
    return true;
  }
  if (const auto images = images_of(text); images && images->second > 0) {
    if (paces_.size() < kMostSteps) paces_.push_back({images->first, images->second});
    return true;
  }
  // Of the two rates the current one is of the last steps alone.
  for (const std::string_view word : {"CurrSamplesPerSec=", " SamplesPerSec="}) {
    const std::size_t at = text.find(word);
    if (at == std::string_view::npos) continue;
    const auto rate = real(text.substr(at + word.size()));
    if (!rate || *rate <= 0 || paces_.size() >= kMostSteps) return false;
    const std::string_view before = text.substr(0, at);
    auto number = number_of_step(before);
    if (!number) {
      const std::size_t slash = before.rfind('/');
      if (slash != std::string_view::npos) number = Words(before.substr(slash + 1)).whole();
    }
    paces_.push_back({number.value_or(static_cast<std::int64_t>(paces_.size())), *rate});
    return true;
  }
  return false;
}

void PaceLog::finish_samples(operations::Told& told) {
  if (paces_.empty()) return;
  if (!steps_.empty()) {
    told.skipped += paces_.size();
    told.reasons.push_back(std::to_string(paces_.size()) +
                           " lines tell samples a second of steps whose times other lines tell");
    return;
  }
  if (batch_) {
    for (const Pace& pace : paces_) {
      add(pace.number, static_cast<double>(*batch_) / pace.samples_per_s);
    }
    return;
  }
  told.skipped += paces_.size();
  told.reasons.push_back(
      std::to_string(paces_.size()) +
      " lines tell samples a second, and no line the batch (train_batch_size) that "
      "makes steps of them: give the log from its start");
}

bool PaceLog::line(std::string_view shown) {
  std::string kept;
  const std::string_view text = without_colours(shown, kept);
  return timed(text) || rated(text) || samples(text) || progress(text) || rich_bar(text) ||
         keras_bar(text) || numbered(text);
}

void PaceLog::finish(operations::Told& told) {
  if (steps_.empty() && has_bars_ && bar_each_s_ > 0) add(bar_number_.value_or(0), bar_each_s_);
  finish_samples(told);
  told.steps = std::move(steps_);
  told.records = told.steps.size();
  skips_.write_to(told);
  if (has_bars_) {
    told.reasons.emplace_back("progress bars tell averages: single slow steps are not visible");
  }
}

}  // namespace tw::readers
