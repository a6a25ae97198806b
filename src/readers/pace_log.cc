// SPDX-License-Identifier: Apache-2.0
#include "trainwire/readers/pace_log.h"

#include "trainwire/base/colours.h"
#include "trainwire/base/units.h"
#include "trainwire/base/words.h"
#include "trainwire/imports/stamp.h"
#include "trainwire/readers/pace_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace tw::readers {
namespace {

constexpr std::size_t kMostSteps = 4'000'000;
constexpr double kLongest_s = 1e6;
constexpr double kHalfRate_per_s = 0.0005;  ///< Hugging Face rounds to three decimals
constexpr double kPoor = 0.01;              ///< rounding by more is told
/// Steps that take so many times what passed between the stamps of their lines are none.
constexpr double kImpossible = 1.5;
/// Times since the start of an epoch: so many lines at least, which grow evenly, and from 0 at step 0.
constexpr std::size_t kClockLines = 5;
constexpr double kClockSpread = 1.5;
constexpr double kClockOffset = 0.15;
constexpr double kStamped_s = 10;  ///< of less, stamps in whole seconds say too little

/// Whether what follows is of many steps: "Average step time: ".
bool tells_mean(std::string_view before) {
  constexpr std::array<std::string_view, 5> kMeans{"verage ", "ean ", "edian ", "avg ", "Avg "};
  return std::any_of(kMeans.begin(), kMeans.end(),
                     [&](std::string_view word) { return before.ends_with(word); });
}

double pace_between(const operations::Step& from, const operations::Step& to) {
  return static_cast<double>(to.duration_ns - from.duration_ns) /
         static_cast<double>(to.number - from.number);
}

/// Whether what lines tell is what a clock showed: it grows with the steps' numbers, which no step's own time does.
bool is_clock(const std::vector<operations::Step>& steps) {
  if (steps.size() < kClockLines) return false;
  double least = 0;
  double most = 0;
  for (std::size_t i = 1; i < steps.size(); ++i) {
    if (steps[i].number <= steps[i - 1].number) return false;
    const double pace = pace_between(steps[i - 1], steps[i]);
    least = i == 1 ? pace : std::min(least, pace);
    most = std::max(most, pace);
  }
  const double mean = pace_between(steps.front(), steps.back());
  const double since_0 =
      static_cast<double>(steps.back().duration_ns) / static_cast<double>(steps.back().number);
  return least > 0 && most <= kClockSpread * least &&
         std::abs(since_0 - mean) <= kClockOffset * mean;
}

/// Half of the last decimal of the number at the beginning.
double half_unit(std::string_view text) {
  const std::size_t begin = text.find_first_of("0123456789.");
  text = text.substr(std::min(begin, text.size()));
  text = text.substr(0, text.find_first_not_of("0123456789."));
  const std::size_t point = text.find('.');
  const std::size_t decimals = point == text.npos ? 0 : text.size() - point - 1;
  return 0.5 * std::pow(10.0, -static_cast<double>(decimals));
}

/// Steps a second of "TrainOutput(global_step=200, .., metrics={'train_runtime': 225.8005, ..": it is not rounded.
std::optional<double> exact_rate(std::string_view text) {
  Words words(text);
  if (!words.go_behind("global_step=")) return {};
  const auto steps = words.whole();
  constexpr std::string_view kTime = "train_runtime";
  const std::size_t at = text.find(kTime);
  const auto time = at == text.npos ? std::nullopt : real(text.substr(at + kTime.size()));
  if (!steps || *steps <= 0 || !time || *time <= 0) return {};
  const double rate = static_cast<double>(*steps) / *time;
  return rate > 1 / kLongest_s ? std::optional(rate) : std::nullopt;
}

/// A way to tell what a step took, and how many seconds its unit has.
struct Telling {
  std::string_view words;
  double unit_s;
  std::string_view beside = "";  ///< must be in the line too
  std::string_view never = "";   ///< must not be in it
};
constexpr std::array<Telling, 24> kTellings{{
    {"train_time=", 1, "optim_step_time="},  // ESPnet, whose iter_time is what loading takes
    {"elapsed time per iteration (ms)", 1e-3},
    {"elapsed_time_per_iteration_ms", 1e-3},
    {"elapsed time per iteration (s)", 1},
    {"iteration time (ms)", 1e-3},
    {"iter time (s)", 1},
    {"iter_time", 1, "", "forward_time="},  // ESPnet's, of a line that was cut off
    {"step_time", 1},
    {"step time (s)", 1},
    {"step_time_ms", 1e-3},
    {"Step Time : ", 1},        // Megatron Bridge
    {"Step time: ", 1},         // benchmarks of Colossal-AI
    {"Total step time: ", 1},   // NeMo RL
    {"timing_s/step:", 1},      // verl
    {"timing_s/step\": ", 1},   // its file of JSON lines
    {"iter time: ", 1e-3},      // LitGPT
    {"per step time: ", 1e-3},  // MindSpore
    {"per_step_time: ", 1e-3},  // MindFormers
    {"batch_cost: ", 1},        // Paddle
    {"ms/batch ", 1e-3},        // PyTorch's language model, Transformer-XL
    {"Batch (t): ", 1},         // OpenCLIP
    {"step time: ", 1},         // SuperBench
    {"Iteration time: ", 1},    // RSL-RL
    {"time_this_iter_s: ", 1},  // RLlib
}};

/// Other ways, in lines that also tell the step's number.
struct Form {
  std::string_view words;
  double unit_s;            ///< 0: it stands behind the number, "251.3ms" or "0.41 s"
  std::string_view beside;  ///< must be in the line too
};
constexpr std::array<Form, 13> kForms{{
    {"train_step_timing in s", 1, ""},  // NeMo
    {" seconds", 1, "completed step"},  // MaxText
    {" time", 1, "data_time"},          // MMEngine, Detectron2
    {"\tTime", 1, "Epoch: ["},          // PyTorch's ImageNet example
    {" Time: ", 0, "Train: "},          // timm
    {"  time: ", 1, "  data: "},        // torchvision, and what copies its logger: DETR, DeiT, MAE
    {"\ttime ", 1, "Train: ["},         // Swin
    {"dt: ", 0, "step"},                // build-nanogpt, nanochat
    {"iter_dt ", 0, "iter"},            // minGPT
    {"(", 0, "tok/s)"},                 // llm.c of 2024
    {" time", 0, ""},                   // nanoGPT, and most that people write themselves
    {"time=", 0, ""},
    {"| ", 0, "step"},  // llm.c
}};

/// Ways whose number stands before.
constexpr std::array<Telling, 3> kUnits{{
    {" sec/batch", 1},  // examples of TensorFlow 1
    {" sec/step", 1},   // TF-Slim
    {" ms/it", 1e-3},   // DLRM
}};

/// Steps a second, and where that stands.
constexpr std::array<std::string_view, 5> kRates{
    "\"ups\": \"",                   // fairseq
    " ups=",                         // fairseq before 2020
    "throughput/batches_per_sec: ",  // Composer
    "global_step/sec: ",             // TensorFlow's estimators
    "| steps/sec: "                  // of its models
};

/// Where the number of a rate begins that a unit follows: Caffe's "Iteration 200 (102.2 iter/s, 1.9s/200 iter)", Paddle's
/// "step: 8720, .., speed: 5.79 steps/s".
std::optional<std::string_view> rate_with_unit(std::string_view text) {
  for (const auto& [before, unit] : {std::pair<std::string_view, std::string_view>{" (", " iter/s"},
                                     {"speed: ", " steps/s"},
                                     {"speed: ", " step/s"}}) {
    const std::size_t end = text.find(unit);
    if (end == std::string_view::npos) continue;
    const std::size_t last = text.substr(0, end).find_last_not_of("0123456789.");
    if (last == std::string_view::npos || !text.substr(0, last + 1).ends_with(before)) continue;
    return text.substr(last + 1);
  }
  return {};
}

/// Of "python tf_cnn_benchmarks.py --batch_size=64 --num_gpus=4": what a process has in a step, for images a second are of all of its
/// devices.
std::optional<std::int64_t> batch_of_command(std::string_view text) {
  if (text.find("tf_cnn_benchmarks.py ") == text.npos) return {};
  const auto behind = [&](std::string_view name) {
    Words words(text);
    const bool is_there =
        words.go_behind(name) && (words.take("=") || words.rest().starts_with(' '));
    return is_there ? words.small() : std::nullopt;
  };
  const auto batch = behind(" --batch_size");
  const int devices = behind(" --num_gpus").value_or(1);
  if (!batch || *batch <= 0 || devices <= 0 || devices > 1024) return {};
  return std::int64_t{*batch} * devices;
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
    if (at == std::string_view::npos || text.find(telling.beside) == std::string_view::npos)
      continue;
    if (!telling.never.empty() && text.find(telling.never) != std::string_view::npos) continue;
    const std::string_view value = text.substr(at + telling.words.size());
    const auto time = real(value);
    if (!time) {
      is_none = is_none || is_no_number(value);
      continue;
    }
    const double seconds = *time * unit_behind(value).value_or(telling.unit_s);
    if (seconds <= 0 || seconds > kLongest_s) {
      is_none = true;
      break;
    }
    std::string_view before = text.substr(0, at);
    if (tells_mean(before)) {
      whole_per_s_ = 1 / seconds;
      is_whole_exact_ = true;
      return true;
    }
    if (telling.words.starts_with("iter time: ")) {
      before = before.substr(0, before.find(" step "));
      ++(value.find("step)") == std::string_view::npos ? parts_ : ends_);
    }
    const auto number = number_of_step(before);
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
    if (at != std::string_view::npos && add_rate(text, text.substr(at + word.size()))) return true;
  }
  const auto value = rate_with_unit(text);
  return value && number_of_step(text) && add_rate(text, *value);
}

/// `value` begins with the steps a second.
bool PaceLog::add_rate(std::string_view text, std::string_view value) {
  const auto rate = real(value);
  if (!rate || *rate <= 0 || 1 / *rate > kLongest_s || rates_.size() >= kMostSteps) return false;
  const auto number = number_of_step(text);
  rounded_ = std::max(rounded_, half_unit(value) / *rate);
  const auto count = static_cast<std::int64_t>(rates_.size());
  rates_.push_back({.number = number ? *number : batch_number_.value_or(count),
                    .duration_ns = std::llround(1e9 / *rate)});
  return true;
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
      if (time && unit && add_numbered(*number, *time * *unit)) return true;
    }
  }
  for (const Telling& unit : kUnits) {
    const std::size_t at = text.find(unit.words);
    const auto time = at == std::string_view::npos ? std::nullopt : real_before(text.substr(0, at));
    if (time && add_numbered(*number, *time * unit.unit_s)) return true;
  }
  return false;
}

/// False when it can be no time of a step.
bool PaceLog::add_numbered(std::int64_t number, double seconds) {
  if (seconds <= 0 || seconds > kLongest_s) return false;
  if (is_told(number)) {
    skips_.add("lines tell an iteration again, as other ranks print it");
  } else {
    add(number, seconds);
    ++numbered_;
  }
  return true;
}

/// MXNet's "Node[0] Epoch[0] Batch [100]  Speed: 21875.54 samples/sec", and the arguments, "Namespace(batch_size=64, ..".
bool PaceLog::worker_speed(std::string_view text) {
  Words arguments(text);
  if (arguments.go_behind("Namespace(")) {
    Words among(text);
    if (!among.go_behind("(batch_size=") && !among.go_behind(" batch_size=")) return false;
    const auto batch = among.whole();
    if (batch && *batch > 0 && *batch < 1'000'000'000) worker_batch_ = batch;
    return false;
  }
  Words words(text);
  if (!words.go_behind("Epoch[") || !words.go_behind("Batch [")) return false;
  const auto number = words.whole();
  const auto rate = words.go_behind("Speed:") ? real(words.rest()) : std::nullopt;
  if (!number || !rate || *rate <= 0 || text.find(" samples/sec") == text.npos) return false;
  Words node(text);
  const auto worker = node.go_behind("Node[") ? node.whole() : std::optional<std::int64_t>(0);
  if (!worker_) worker_ = worker;
  are_workers_ = true;
  if (worker != worker_) {
    skips_.add("lines tell an iteration again, as other ranks print it");
  } else if (paces_.size() < kMostSteps) {
    paces_.push_back({*number, *rate});
  }
  return true;
}

/// "global_step=10, RunningAvgSamplesPerSec=20.1, CurrSamplesPerSec=22.4", before 2022 "0/20, SamplesPerSec=20.1"; and
/// "train_batch_size ............. 64".
bool PaceLog::samples(std::string_view text) {
  if (worker_speed(text)) return true;
  if (const auto batch = batch_of_command(text)) {
    batch_ = batch;
    return true;
  }
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

/// Steps a second count where no line tells what a step took.
void PaceLog::finish_rates(operations::Told& told) {
  if (rates_.empty()) return;
  if (steps_.empty()) {
    steps_ = std::move(rates_);
    if (rounded_ > kPoor)
      told.reasons.push_back(
          fmt::format("steps a second are rounded, by up to {:.2g} %", 100 * rounded_));
    return;
  }
  told.skipped += rates_.size();
  told.reasons.push_back(
      fmt::format("{} lines tell steps a second, and others what the steps took", rates_.size()));
}

void PaceLog::finish_samples(operations::Told& told) {
  if (paces_.empty()) return;
  if (!steps_.empty()) {
    told.skipped += paces_.size();
    told.reasons.push_back(std::to_string(paces_.size()) +
                           " lines tell samples a second of steps whose times other lines tell");
    return;
  }
  if (batch()) {
    for (const Pace& pace : paces_) {
      add(pace.number, static_cast<double>(*batch()) / pace.samples_per_s);
    }
    return;
  }
  told.skipped += paces_.size();
  told.reasons.push_back(
      std::to_string(paces_.size()) +
      " lines tell samples a second, and no line the batch (train_batch_size) that "
      "makes steps of them: give the log from its start");
}

/// "Epoch: [1][3200/5005] Time: 5388.8": the steps between two lines share what passed.
void PaceLog::finish_clock(operations::Told& told) {
  if (steps_.size() != numbered_ || !is_clock(steps_)) return;
  for (std::size_t i = steps_.size() - 1; i > 0; --i)
    steps_[i].duration_ns = std::llround(pace_between(steps_[i - 1], steps_[i]));
  steps_.erase(steps_.begin());
  numbered_ = steps_.size();
  stamped_ = {};
  told.reasons.emplace_back(
      "its times grow with the steps, as those since the start do: what passed between two lines "
      "is shared by the steps between them");
}

/// "[Rank 0] time (ms) | fwd: 120.50 | bwd: 250.30 | bwd_inner: 200.20 | bwd_allreduce: 50.10 | step: 30.20", before 2023 "forward",
/// "backward"; of a pipeline it has other parts.
bool PaceLog::phases(std::string_view text) {
  if (text.find("time (ms) | f") == std::string_view::npos) return false;
  double sum_ms = 0;
  for (const auto& [word, old] :
       {std::pair{"| fwd: ", "| forward: "}, std::pair{"| bwd: ", "| backward: "},
        std::pair{"| step: ", "| step: "}}) {
    std::size_t at = text.find(word);
    std::size_t size = std::string_view(word).size();
    if (at == std::string_view::npos) {
      at = text.find(old);
      size = std::string_view(old).size();
    }
    const auto value = at == std::string_view::npos ? std::nullopt : real(text.substr(at + size));
    if (!value) return false;
    sum_ms += *value;
  }
  if (sum_ms <= 0 || sum_ms > 1e3 * kLongest_s || phases_.size() >= kMostSteps) return false;
  phases_.push_back(1e-3 * sum_ms);
  return true;
}

/// "'train_steps_per_second': 2.5", "  train_steps_per_second   =        2.5", "\"train_steps_per_second\": 2.5".
bool PaceLog::whole(std::string_view text) {
  constexpr std::string_view kWord = "train_steps_per_second";
  const std::size_t at = text.find(kWord);
  if (at == std::string_view::npos) return false;
  const auto rate = real(text.substr(at + kWord.size()));
  if (rate && *rate > 1 / kLongest_s && !is_whole_exact_) whole_per_s_ = *rate;
  if (const auto exact = exact_rate(text)) {
    whole_per_s_ = *exact;
    is_whole_exact_ = true;
  }
  return rate.has_value();
}

bool PaceLog::in_table(std::string_view text) {
  if (!table_.line(text)) return false;
  if (const auto step = table_.step()) add(step->first, step->second);
  return true;
}

/// Bars that only come behind the mean of the whole training are of what follows it.
bool PaceLog::bar(std::string_view text) {
  return (bars_.any() || whole_per_s_ <= 0) && bars_.line(text);
}

bool PaceLog::line(std::string_view shown) {
  std::string kept;
  const std::string_view text = without_colours(shown, kept);
  const std::size_t before = steps_.size();
  const bool is_told = in_table(text) || timed(text) || bar(text) || rated(text) || samples(text) ||
                       phases(text) || whole(text) || numbered(text);
  if (steps_.size() > before) check(text);
  return is_told;
}

/// Adds up what passed since the line before, where this one tells of a later step.
void PaceLog::check(std::string_view text) {
  constexpr std::int64_t kLongestStride = 1000;
  const auto time = imports::find_stamp(text.substr(0, 256));
  if (!time) return;
  const operations::Step& step = steps_.back();
  const std::int64_t count = step.number - stamped_.number;
  if (stamped_.time_ns > 0 && count > 0 && count <= kLongestStride && *time >= stamped_.time_ns) {
    stamped_.told_s += 1e-9 * static_cast<double>(count) * static_cast<double>(step.duration_ns);
    stamped_.passed_s += 1e-9 * static_cast<double>(*time - stamped_.time_ns);
    stamped_.steps += count;
  }
  stamped_.number = step.number;
  stamped_.time_ns = *time;
}

/// Means where nothing tells single steps: bars, DeepSpeed's phases, the whole training.
void PaceLog::finish_means(operations::Told& told) {
  // A bar that stands still tells its latest pace, which the mean of the whole training does not need.
  const bool is_whole_better = !bars_.moved() && whole_per_s_ > 0 &&
                               (is_whole_exact_ || kHalfRate_per_s < kPoor * whole_per_s_);
  std::vector<operations::Step> of_bars;
  if (!is_whole_better) of_bars = bars_.steps();
  const bool are_few = steps_.size() == numbered_ && of_bars.size() > 10 * steps_.size();
  if (!of_bars.empty() && (steps_.empty() || are_few)) {
    steps_ = std::move(of_bars);
    if (bars_.are_mixed()) {
      told.reasons.emplace_back(
          "bars of several processes are drawn in turn: what the last says of its pace is used");
    } else if (bars_.are_averages() && !bars_.moved()) {
      told.reasons.emplace_back("one bar or line tells an average: single steps are not visible");
    } else if (bars_.are_averages()) {
      told.reasons.emplace_back(
          "what bars or lines tell is shared by the steps between them: single slow steps are not "
          "visible");
    }
  }
  if (!steps_.empty()) return;
  for (const double seconds : phases_) add(static_cast<std::int64_t>(steps_.size()), seconds);
  if (!phases_.empty()) {
    told.reasons.emplace_back(
        "what DeepSpeed's forward, backward and step take together: what lies between, as the "
        "loading of data, is not in it");
    return;
  }
  if (whole_per_s_ <= 0) return;
  add(0, 1 / whole_per_s_);
  told.reasons.emplace_back(
      "one line tells the mean of the whole training: single steps are not visible");
  if (is_whole_exact_ || kHalfRate_per_s < kPoor * whole_per_s_) return;
  const double most_s = whole_per_s_ > kHalfRate_per_s ? 1 / (whole_per_s_ - kHalfRate_per_s) : 0;
  told.reasons.push_back(
      fmt::format("its steps a second are rounded to three decimals: a step took {} {}",
                  readable(from_seconds(1 / (whole_per_s_ + kHalfRate_per_s))),
                  most_s > 0 ? "to " + readable(from_seconds(most_s)) : "or more"));
}

void PaceLog::finish(operations::Told& told) {
  finish_clock(told);
  finish_rates(told);
  finish_samples(told);
  finish_means(told);
  if (stamped_.passed_s > kStamped_s && stamped_.told_s > kImpossible * stamped_.passed_s) {
    told.reasons.push_back(fmt::format(
        "the time stamps of these lines allow {} a step on the average, less than the lines tell",
        readable(from_seconds(stamped_.passed_s / static_cast<double>(stamped_.steps)))));
  }
  if (parts_ > 0 && ends_ > 0)
    told.reasons.emplace_back("its iterations are parts of steps, in which gradients add up");
  told_ = steps_.size();
  told.steps = std::move(steps_);
  told.records = told.steps.size();
  skips_.write_to(told);
}

}  // namespace tw::readers
