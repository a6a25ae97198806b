// SPDX-License-Identifier: Apache-2.0
#include "trainwire/reproduce/answers.h"

#include "trainwire/base/error.h"
#include "trainwire/base/parallel.h"
#include "trainwire/command/expect.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <mutex>

namespace tw::reproduce {
namespace {

/// Seconds that it usually takes, two at a time where it is computed.
double usual_s(const Question& question) {
  switch (question.engine) {
    case Engine::Run:
      return 8;
    case Engine::Packet:
    case Engine::Analyze:
      return 0.6;
    case Engine::Flow:
    case Engine::Predict:
      return 0.02;
    default:
      return 0.001;
  }
}

/// Each once, long ones first, so that no processor waits for the last.
std::vector<Question> sorted(std::span<const Question> questions) {
  std::map<std::string, Question> once;
  for (const Question& question : questions) once.emplace(question.key(), question);
  std::vector<Question> all;
  for (auto& [key, question] : once) all.push_back(std::move(question));
  std::stable_sort(all.begin(), all.end(),
                   [](const Question& a, const Question& b) { return usual_s(a) > usual_s(b); });
  return all;
}

void require_asked_rightly(const Question& question, const Answer& found) {
  if (!found.asked_wrongly) return;
  throw SpecError(fmt::format("{}: compute: {}", question.asked_at, found.failure));
}

void collect(const nlohmann::ordered_json& node, std::string_view path, std::string_view whole,
             Values& into) {
  const std::size_t star = path.find('*');
  if (star == path.npos) {
    const command::Lookup found = command::look_up(node, path);
    if (!found.number) {
      throw DataError(fmt::format("no number at \"{}\": {}", whole, found.problem));
    }
    into.push_back(*found.number);
    return;
  }
  const nlohmann::ordered_json* list = &node;
  std::string_view head = path.substr(0, star == 0 ? 0 : star - 1);
  while (!head.empty()) {
    const std::size_t end = std::min(head.find('.'), head.size());
    const std::string key(head.substr(0, end));
    const bool is_index = !key.empty() && key.find_first_not_of("0123456789") == key.npos;
    if (list->is_array() && is_index && key.size() < 9 && std::stoul(key) < list->size()) {
      list = &(*list)[std::stoul(key)];
    } else if (list->is_object() && list->contains(key)) {
      list = &(*list)[key];
    } else {
      throw DataError(fmt::format("no list at \"{}\": there is no \"{}\"", whole, key));
    }
    head.remove_prefix(std::min(end + 1, head.size()));
  }
  if (!list->is_array()) throw DataError(fmt::format("no list at \"{}\"", whole));
  const std::string_view rest = star + 1 < path.size() ? path.substr(star + 2) : std::string_view();
  for (const auto& item : *list) collect(item, rest, whole, into);
}

}  // namespace

std::string Question::key() const {
  std::string key = fmt::format("{}\n{}", name_of(engine), experiment);
  for (const std::string& setting : settings) key += "\n" + setting;
  return key;
}

Values numbers_at(const nlohmann::ordered_json& document, std::string_view path) {
  Values found;
  collect(document, path, path, found);
  return found;
}

Answers answers_to(std::span<const Question> questions, const Conducting& conducting) {
  const std::vector<Question> all = sorted(questions);
  Answers answers;
  const auto is_measured = [](const Question& each) { return each.engine == Engine::Run; };
  Progress progress{.all = all.size()};
  for (const Question& question : all) progress.all_s += usual_s(question);
  const auto tell = [&] {
    if (conducting.tell) conducting.tell(progress);
  };
  const auto has_answered = [&](const Question& question, const Answer& found) {
    ++progress.done;
    if (found.was_kept) {
      progress.all_s -= usual_s(question);
    } else {
      progress.done_s += usual_s(question);
    }
  };
  for (const Question& question : all) {
    if (!is_measured(question)) continue;
    progress.now = question.experiment;
    tell();
    Answer found = measure(question, conducting.folder, conducting.streams);
    require_asked_rightly(question, found);
    const bool ends = found.interrupted;
    has_answered(question, found);
    answers.emplace(question.key(), std::move(found));
    if (ends) return answers;
  }
  progress.now.clear();
  if (progress.done > 0) tell();
  std::vector<Question> computed;
  std::ranges::remove_copy_if(all, std::back_inserter(computed), is_measured);
  std::mutex mutex;
  const auto take = [&](const Question& question, Answer found) {
    const std::lock_guard lock(mutex);
    has_answered(question, found);
    answers.emplace(question.key(), std::move(found));
    tell();
  };
  if (conducting.spread) {
    std::vector<Question> spread;  // captures are here
    std::ranges::copy_if(computed, std::back_inserter(spread),
                         [](const Question& each) { return each.engine != Engine::Analyze; });
    conducting.spread(spread, take);
  }
  std::erase_if(computed, [&](const Question& each) { return answers.contains(each.key()); });
  in_parallel(computed.size(), [&](std::size_t i) {
    if (conducting.goes_on && !conducting.goes_on()) return;
    take(computed[i], answer(computed[i], conducting.goes_on));
  });
  for (const Question& question : all) {
    if (const auto found = answers.find(question.key()); found != answers.end()) {
      require_asked_rightly(question, found->second);
    }
  }
  return answers;
}

}  // namespace tw::reproduce
