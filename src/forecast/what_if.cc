// SPDX-License-Identifier: Apache-2.0
#include "trainwire/forecast/what_if.h"

#include "trainwire/base/error.h"
#include "trainwire/base/parallel.h"
#include "trainwire/forecast/range.h"
#include "trainwire/workload/training.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

namespace tw::forecast {
namespace {

std::vector<std::string> values_in(std::string_view text) {
  std::vector<std::string> values{""};
  int depth = 0;
  char quote = 0;
  for (const char c : text) {
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if (c == ']' || c == '}') {
      --depth;
    } else if (c == ',' && depth == 0) {
      values.emplace_back();
      continue;
    }
    values.back() += c;
  }
  return values;
}

/// Combination number i: the last question's values change fastest.
std::vector<std::pair<std::string, std::string>> combination(std::span<const Question> questions,
                                                             std::size_t number) {
  std::vector<std::pair<std::string, std::string>> settings(questions.size());
  for (std::size_t q = questions.size(); q-- > 0;) {
    const std::vector<std::string>& values = questions[q].values;
    settings[q] = {questions[q].key, values[number % values.size()]};
    number /= values.size();
  }
  return settings;
}

/// The key as it is said of each element of a list: "job.ranks" of "job.0.ranks".
std::string of_each(const std::string& key) {
  std::string text;
  std::size_t begin = 0;
  while (begin <= key.size()) {
    const std::size_t end = std::min(key.find('.', begin), key.size());
    const std::string part = key.substr(begin, end - begin);
    const bool is_number = !part.empty() && part.find_first_not_of("0123456789") == part.npos;
    if (!is_number) text += (text.empty() ? "" : ".") + part;
    begin = end + 1;
  }
  return text;
}

/// Of two elements each may have its own; of one and of each it is another matter.
bool mean_the_same(const std::string& a, const std::string& b) {
  const std::string each = of_each(a);
  return each == of_each(b) && (a == each || b == each);
}

/// Ranks that are asked for, where nothing is said of their hosts.
std::optional<int> ranks_alone(const WhatIf& what) {
  const auto is = [&](std::string_view key) {
    return std::find_if(what.settings.begin(), what.settings.end(),
                        [&](const auto& setting) { return of_each(setting.first) == key; });
  };
  const auto ranks = is("job.ranks");
  if (ranks == what.settings.end()) return {};
  for (const char* key : {"network.hosts", "job.hosts", "job.placement"}) {
    if (is(key) != what.settings.end()) return {};
  }
  int count = 0;
  const std::string& text = ranks->second;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (problem != std::errc() || end != text.data() + text.size() || count < 1) return {};
  return count;
}

/// The hosts that another number of ranks needs.
void follow(WhatIf& what, const spec::Experiment& base) {
  const std::optional<int> ranks = ranks_alone(what);
  if (!ranks || base.jobs.size() != 1 || *ranks == *base.jobs.front().ranks) return;
  try {
    const std::string hosts = settings_for_ranks(base, *ranks).front();
    if (hosts != fmt::format("network.hosts={}", *base.network.hosts)) what.with = {hosts};
  } catch (const SpecError&) {
    what.remark = "on the hosts that the file names";
  }
}

/// Whether all jobs are given how long they compute, and do it as in the other experiment.
bool compute_as_given(const spec::Experiment& base, const spec::Experiment& experiment) {
  if (base.jobs.size() != experiment.jobs.size()) return false;
  for (std::size_t i = 0; i < base.jobs.size(); ++i) {
    const spec::Job& job = experiment.jobs[i];
    if (!job.compute_time->has_value()) return false;
    const auto then = workload::training_of(experiment, job).compute;
    if (then != workload::training_of(base, base.jobs[i]).compute) return false;
  }
  return true;
}

/// Which settings say what is computed, where its time is given and they have nothing more to say.
void tell_what_is_idle(WhatIf& what, const spec::Experiment& base,
                       const spec::Experiment& experiment) {
  std::string idle;
  for (const auto& [key, value] : what.settings) {
    const std::string each = of_each(key);
    if (each == "job.batch" || each == "job.device") idle += (idle.empty() ? "" : " and ") + key;
  }
  if (idle.empty() || !what.remark.empty() || !compute_as_given(base, experiment)) return;
  what.remark = idle + (idle.find(" and ") == std::string::npos ? " changes" : " change") +
                " nothing: job.compute_time is given";
}

void answer(WhatIf& what, const spec::Experiment& base, const Variants& variants,
            const Asking& asking, double constants) {
  std::vector<std::string> sets = what.with;
  for (const auto& [key, value] : what.settings) sets.push_back(fmt::format("{}={}", key, value));
  try {
    const spec::Experiment experiment = variants(sets);
    if (const std::string beyond = beyond_range(experiment); !beyond.empty() && !asking.anywhere) {
      throw SpecError(beyond + "; --force answers all the same");
    }
    what.steps = step_times(experiment, asking);
    tell_what_is_idle(what, base, experiment);
    for (const StepTime& step : what.steps) {
      what.intervals.push_back(interval_of(experiment, step, constants));
    }
  } catch (const Error& error) {
    what.steps.clear();
    what.problem = without_set(error.what());
  }
}

}  // namespace

std::string without_set(std::string_view problem) {
  constexpr std::string_view kSet = "--set ";
  return std::string(problem.starts_with(kSet) ? problem.substr(kSet.size()) : problem);
}

Question parse_question(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0 || equals + 1 == text.size()) {
    throw SpecError(fmt::format(
        "--what-if {}: a key and its values are needed, as in network.rate=10Gbit,25Gbit", text));
  }
  Question question{.key = std::string(text.substr(0, equals)),
                    .values = values_in(text.substr(equals + 1))};
  if (std::any_of(question.values.begin(), question.values.end(),
                  [](const std::string& value) { return value.empty(); })) {
    throw SpecError(fmt::format("--what-if {}: a value is empty", text));
  }
  return question;
}

void require_consistent(std::span<const Question> questions) {
  std::set<std::string> keys;
  double count = 1;
  for (const Question& question : questions) {
    if (!keys.insert(question.key).second) {
      throw SpecError(
          fmt::format("--what-if {0} is there twice; write all values in one: {0}={1},...",
                      question.key, question.values.front()));
    }
    for (const std::string& key : keys) {
      if (key == question.key || !mean_the_same(key, question.key)) continue;
      throw SpecError(fmt::format("--what-if {} and {} set the same; leave one of them out", key,
                                  question.key));
    }
    count *= static_cast<double>(question.values.size());
  }
  if (count > static_cast<double>(kMostWhatIfs)) {
    throw SpecError(fmt::format("{:.3g} combinations are too many; {} can be asked for at a time",
                                count, grouped(static_cast<std::int64_t>(kMostWhatIfs))));
  }
}

std::vector<WhatIf> what_ifs(const spec::Experiment& base, std::span<const Question> questions,
                             const Variants& variants, const Asking& asking, double constants) {
  require_consistent(questions);
  std::size_t count = questions.empty() ? 0 : 1;
  for (const Question& question : questions) count *= question.values.size();
  std::vector<WhatIf> found(count);
  in_parallel(count, [&](std::size_t i) {
    found[i].settings = combination(questions, i);
    follow(found[i], base);
    answer(found[i], base, variants, asking, constants);
  });
  return found;
}

}  // namespace tw::forecast
