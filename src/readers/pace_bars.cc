// SPDX-License-Identifier: Apache-2.0
#include "trainwire/readers/pace_bars.h"

#include "trainwire/base/words.h"
#include "trainwire/readers/pace_words.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tw::readers {
namespace {

constexpr std::size_t kMostSteps = 4'000'000;
constexpr std::size_t kMostBars = 1024;
constexpr std::size_t kLongestLabel = 64;
constexpr double kLongest_s = 1e6;
/// Bars that jump further than this are another epoch's.
constexpr std::int64_t kLongestJump = 100'000;
/// A difference of times counts from so many times its resolution on.
constexpr double kExact = 20;
/// Bars of one process do not go back so often.
constexpr std::size_t kMixed = 2;

/// What other bars are of.
bool is_of_other_bars(std::string_view before) {
  constexpr std::array<std::string_view, 15> kWords{
      "alidat", "anity",  "valuat", "Test",    "redict", "oading", "shards",   "okeniz",
      "Fetchi", "Filter", "enerat", "rocessi", "apturi", "aving",  "xperience"};
  return is_of_other_work(before) ||
         std::any_of(kWords.begin(), kWords.end(), [&](std::string_view word) {
           return before.find(word) != std::string_view::npos;
         });
}

enum class Pace { None, PerStep, PerSecond };

/// "s/it", "step/s, loss=1.2": bars have the unit that their program calls a step.
Pace pace_of(std::string_view unit) {
  for (const std::string_view step : {"it", "step", "steps", "batch", "iter"}) {
    if (unit.starts_with("s/") && unit.substr(2).starts_with(step)) return Pace::PerStep;
    if (unit.starts_with(step) && unit.substr(step.size()).starts_with("/s"))
      return Pace::PerSecond;
  }
  return Pace::None;
}

/// Seconds, of "2.00it/s, loss=1.2" or "1.5s/step".
std::optional<double> each_s(std::string_view pace) {
  const auto value = real(pace);
  const std::size_t unit = pace.find_first_not_of(" 0123456789.");
  const auto kind = unit == std::string_view::npos ? Pace::None : pace_of(pace.substr(unit));
  if (!value || *value <= 0 || kind == Pace::None) return {};
  return kind == Pace::PerStep ? *value : 1 / *value;
}

struct Fraction {
  std::int64_t number;
  std::int64_t all;
  std::size_t begin;
};

/// What a bar is called: letters alone, for epochs, steps and losses in it change.
std::string label_of(std::string_view before) {
  std::string label;
  before.remove_prefix(before.rfind('}') + 1);  // npos + 1 is 0: what was printed behind a bar
  for (const char c : before) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (is_letter && label.size() < kLongestLabel) label += c;
  }
  return label;
}

/// The last "10/300" of a text.
std::optional<Fraction> fraction_in(std::string_view text) {
  const std::size_t slash = text.rfind('/');
  if (slash == std::string_view::npos) return {};
  std::size_t digits = slash;
  while (digits > 0 && text[digits - 1] >= '0' && text[digits - 1] <= '9') --digits;
  const auto number = Words(text.substr(digits)).whole();
  const auto all = Words(text.substr(slash + 1)).whole();
  if (digits == slash || !number || !all || *all < 0) return {};
  return Fraction{*number, *all, digits};
}

}  // namespace

PaceBars::Bar* PaceBars::bar_of(const std::string& label, std::int64_t all) {
  const std::pair key(label, all);
  if (bars_.size() >= kMostBars && !bars_.contains(key)) return nullptr;
  return &bars_[key];
}

void PaceBars::add(Bar& bar, std::int64_t number, std::int64_t count, double seconds) {
  if (seconds <= 0 || seconds > kLongest_s) return;
  for (std::int64_t i = 0; i < count && bar.steps.size() < kMostSteps; ++i) {
    bar.steps.push_back(
        {.number = number + i, .duration_ns = std::llround(seconds * 1e9), .is_shared = i > 0});
  }
}

/// What `steps` took: whole seconds say too little of a short time; the bar's own average says more, as far as they allow it, for it has slow
/// first steps in it for long. What all steps were given stays with what passed.
double PaceBars::share(Bar& bar, const Place& to, double steps) {
  const double passed = to.elapsed_s - bar.elapsed_s;
  if (passed >= kExact * to.resolution_s) return passed;
  const double told = to.each_s * steps;
  double low = passed - to.resolution_s;
  double high = passed + to.resolution_s;
  if (told >= to.resolution_s) {
    const double drift = std::clamp(bar.drift_s, -to.resolution_s, to.resolution_s);
    low -= std::min(0.0, drift);
    high -= std::max(0.0, drift);
  }
  const double given = std::clamp(told, low, high);
  bar.drift_s += given - passed;
  return given;
}

void PaceBars::moved(const Place& to) {
  Bar* const bar = bar_of(to.label, to.all);
  if (bar == nullptr) return;
  bar->each_s = to.each_s;
  const bool is_later = bar->number && to.elapsed_s >= bar->elapsed_s;
  const bool goes_on =
      is_later && to.number > *bar->number && to.number - *bar->number < kLongestJump;
  if (is_later && to.number < *bar->number) ++bar->backs;
  if (!is_later) bar->drift_s = 0;
  if (goes_on) {
    const std::int64_t steps = to.number - *bar->number;
    const double each = share(*bar, to, static_cast<double>(steps)) / static_cast<double>(steps);
    add(*bar, *bar->number, steps, each);
  }
  // What passes while a bar is drawn again at the same number is of the next step.
  if (is_later && to.number == *bar->number) return;
  bar->number = to.number;
  bar->elapsed_s = to.elapsed_s;
}

/// "Epoch 0:  10%|# | 10/100 [00:05<00:45, 2.00it/s, loss=1.2]".
bool PaceBars::tqdm(std::string_view text) {
  const std::size_t open = text.rfind(" [", text.rfind('<'));
  if (open == std::string_view::npos || text.find('<', open) == std::string_view::npos)
    return false;
  const auto done = fraction_in(text.substr(0, open));
  const auto elapsed = elapsed_s(text.substr(open + 2));
  const std::size_t comma = text.find(", ", open);
  if (!done || !elapsed || comma == std::string_view::npos) return false;
  const auto each = each_s(text.substr(comma + 2));
  if (!each || is_of_other_bars(text.substr(0, done->begin))) return false;
  are_averages_ = true;
  moved({label_of(text.substr(0, done->begin)), done->all, done->number, *elapsed, *each, 1});
  return true;
}

/// "Epoch 26: : 632it [08:13,  1.28it/s, loss=0.111]", where nobody knows how many there will be. Most such bars count files or
/// samples: only one that names an epoch, a loss or training counts.
bool PaceBars::endless(std::string_view text) {
  constexpr std::array<std::string_view, 3> kTrains{"poch", "loss", "rain"};
  const bool trains = std::any_of(kTrains.begin(), kTrains.end(), [&](std::string_view word) {
    return text.find(word) != std::string_view::npos;
  });
  if (!trains) return false;
  const std::size_t open = text.rfind("it [");
  if (open == std::string_view::npos || text.find('<', open) != std::string_view::npos)
    return false;
  std::size_t digits = open;
  while (digits > 0 && text[digits - 1] >= '0' && text[digits - 1] <= '9') --digits;
  const auto number = Words(text.substr(digits)).whole();
  const auto elapsed = elapsed_s(text.substr(open + 4));
  const std::size_t comma = text.find(", ", open);
  if (digits == open || !number || !elapsed || comma == std::string_view::npos) return false;
  const auto each = each_s(text.substr(comma + 2));
  if (!each || is_of_other_bars(text.substr(0, digits))) return false;
  are_averages_ = true;
  moved({label_of(text.substr(0, digits)), 0, *number, *elapsed, *each, 1});
  return true;
}

/// "100/100 [==============] - 25s 250ms/step - loss: 2.0", as Keras draws it at the end of an epoch, behind what it took back.
bool PaceBars::keras(std::string_view text) {
  const std::size_t end = text.rfind("/step");
  if (end == std::string_view::npos) return false;
  const std::size_t begin = text.find_last_of(" \b", end) + 1;
  const auto each = real(text.substr(begin, end - begin));
  const auto unit = unit_behind(text.substr(begin, end - begin));
  const std::size_t drawn = text.find_last_of("[\xe2", begin);
  if (begin == 0 || !each || !unit || *each <= 0 || drawn == std::string_view::npos) return false;
  const auto done = fraction_in(text.substr(0, drawn));
  if (!done || done->number != done->all || done->number > kLongestJump) return false;
  Bar* const bar = bar_of("", done->all);
  if (bar == nullptr) return false;
  are_averages_ = true;
  bar->each_s = *each * *unit;
  add(*bar, static_cast<std::int64_t>(bar->steps.size()), done->number, bar->each_s);
  return true;
}

/// "Epoch 1/1  ---- 120/120 0:00:03 • 0:00:00 39.9it/s loss: 0.3", as Lightning draws it with rich.
bool PaceBars::rich(std::string_view text) {
  constexpr std::string_view kDot = "\xe2\x80\xa2";
  const std::size_t dot = text.find(kDot);
  const std::size_t rate = text.find("it/s", dot);
  if (dot == std::string_view::npos || rate == std::string_view::npos) return false;
  std::size_t begin = rate;
  while (begin > 0 &&
         ((text[begin - 1] >= '0' && text[begin - 1] <= '9') || text[begin - 1] == '.'))
    --begin;
  const auto value = real(text.substr(begin, rate - begin));
  const auto done = fraction_in(text.substr(0, dot));
  if (!value || *value <= 0 || !done || is_of_other_bars(text.substr(0, done->begin))) return false;
  are_averages_ = true;
  std::string_view before = text.substr(0, dot);
  before = before.substr(0, before.find_last_not_of(' ') + 1);
  const auto elapsed = elapsed_s(before.substr(before.rfind(' ') + 1));
  // Where it does not tell the time its own pace is all there is.
  moved({label_of(text.substr(0, done->begin)), done->all, done->number, elapsed.value_or(0),
         1 / *value, elapsed ? 1 : 1e9});
  return true;
}

/// "step:2/1770 train_time:290ms step_avg:145.30ms" of modded-nanogpt, "current_steps": 10 ... "elapsed_time": "0:00:30" of
/// LLaMA-Factory, 'global_step/max_steps': '10/873' ... 'train_speed(iter/s)': 0.08 of ms-swift: all since the beginning.
bool PaceBars::since_start(std::string_view text) {
  const auto behind = [&](std::string_view word) {
    const std::size_t at = text.find(word);
    return at == std::string_view::npos ? std::string_view() : text.substr(at + word.size());
  };
  if (const std::string_view time = behind(" train_time:"); !time.empty()) {
    const auto number = number_of_step(text);
    const auto value = real(time);
    if (!number || !value || unit_behind(time) != 1e-3) return false;
    const double elapsed = 1e-3 * *value;
    moved({"", 0, *number, elapsed,
           elapsed / static_cast<double>(std::max<std::int64_t>(1, *number)), 1e-3 / kExact});
    return true;
  }
  if (const std::string_view count = behind("\"current_steps\": "); !count.empty()) {
    const auto number = Words(count).whole();
    const auto elapsed = elapsed_s(behind("\"elapsed_time\": \""));
    if (!number || *number <= 0 || !elapsed) return false;
    are_averages_ = true;
    moved({"", 1, *number, *elapsed, *elapsed / static_cast<double>(*number), 1});
    return true;
  }
  auto done = fraction_in(behind("global_step/max_steps': '").substr(0, 24));
  if (const auto number = Words(behind("'global_step': ")).whole(); number && !done)
    done = Fraction{.number = *number, .all = 0, .begin = 0};
  const auto speed = real(behind("'train_speed(iter/s)': "));
  const auto slowness = real(behind("'train_speed(s/it)': "));
  if (!done || done->number <= 0 || (speed.value_or(0) <= 0 && slowness.value_or(0) <= 0))
    return false;
  are_averages_ = true;
  const double each = slowness ? *slowness : 1 / *speed;
  const double elapsed = each * static_cast<double>(done->number);
  // Six decimals are told.
  const double resolution = elapsed * 1e-6 / (slowness ? *slowness : *speed);
  moved({"", done->all, done->number, elapsed, each, resolution});
  return true;
}

/// "ups=0.4, .., num_updates=2800, .., wall=1236" of fairseq, the same as JSON too: seconds since the start, whole ones. Updates a second have
/// two decimals, and on TPUs are intervals of the log a second.
bool PaceBars::fairseq(std::string_view text) {
  std::size_t wall = text.find(" wall=");
  if (wall == std::string_view::npos) wall = text.find("\"wall\": ");
  const std::size_t updates = text.find("num_updates");
  if (wall == std::string_view::npos || updates == std::string_view::npos) return false;
  const auto number = real(text.substr(updates + std::string_view("num_updates\"").size() - 1));
  const auto elapsed = real(text.substr(text.find_first_of("=:", wall)));
  if (!number || *number < 1 || *number > 1e12 || !elapsed || *elapsed <= 0) return false;
  std::size_t ups = text.find("ups");
  const auto rate = ups == std::string_view::npos ? std::nullopt : real(text.substr(ups + 3));
  are_averages_ = true;
  moved({"", 2, std::llround(*number), *elapsed, rate && *rate > 0 ? 1 / *rate : *elapsed / *number,
         1});
  return true;
}

bool PaceBars::line(std::string_view text) {
  return tqdm(text) || endless(text) || rich(text) || keras(text) || fairseq(text) ||
         since_start(text);
}

const PaceBars::Bar* PaceBars::fullest() const {
  const Bar* most = nullptr;
  const auto weight = [](const Bar& bar) {
    return std::pair(bar.steps.size(), bar.number.value_or(0));
  };
  // Of two that tell as much the one with a name: a drawn bar knows when it began.
  for (const auto& [all, bar] : bars_) {
    if (most == nullptr || weight(bar) >= weight(*most)) most = &bar;
  }
  return most;
}

bool PaceBars::moved() const {
  const Bar* const most = fullest();
  return most != nullptr && !most->steps.empty() && most->backs < kMixed;
}

bool PaceBars::are_mixed() const {
  const Bar* const most = fullest();
  return most != nullptr && most->backs >= kMixed;
}

std::vector<operations::Step> PaceBars::steps() const {
  const Bar* const most = fullest();
  if (most == nullptr) return {};
  if (moved()) return most->steps;
  if (most->each_s <= 0 || most->each_s >= kLongest_s) return {};
  return {{.number = most->number.value_or(0), .duration_ns = std::llround(1e9 * most->each_s)}};
}

}  // namespace tw::readers
