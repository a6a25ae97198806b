// SPDX-License-Identifier: Apache-2.0
#include "trainwire/reproduce/spread.h"

#include "trainwire/base/error.h"
#include "trainwire/command/hosts_file.h"

#include <nlohmann/json.hpp>

#include <utility>
#include <vector>

namespace tw::reproduce {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

json to_json(const Question& question) {
  return {{"engine", name_of(question.engine)},
          {"experiment", question.experiment},
          {"content", command::read_whole(question.experiment)},
          {"settings", question.settings}};
}

Question question_from(const json& item) {
  return {.engine = engine_named(item.at("engine").get<std::string>()).value(),
          .experiment = item.at("experiment").get<std::string>(),
          .settings = item.at("settings").get<std::vector<std::string>>(),
          .asked_at = {},
          .content = item.at("content").get<std::string>()};
}

}  // namespace

void answer_on_machines(const cluster::Spreading& spreading, std::span<const Question> questions,
                        const std::function<void(const Question&, Answer)>& take,
                        const std::function<bool()>& goes_on) {
  std::vector<json> items;
  for (const Question& question : questions) items.push_back(to_json(question));
  cluster::PoolRequest request =
      spreading.request("answers", json::object(), {}, [&] { return goes_on && !goes_on(); });
  cluster::spread(request, items, [&](std::size_t i, ordered_json answer) {
    if (answer.at("wrongly").get<bool>()) return;  // this machine may have what that one lacks
    take(questions[i], {.document = std::move(answer["document"]),
                        .failure = answer.at("failure").get<std::string>()});
  });
}

int run_answers(os::FileDescriptor control) {
  return cluster::run_worker(std::move(control), [](const json&) -> cluster::Work {
    return [](const json& item) -> ordered_json {
      Answer found = answer(question_from(item), {});
      return {{"document", std::move(found.document)},
              {"failure", found.failure},
              {"wrongly", found.asked_wrongly}};
    };
  });
}

}  // namespace tw::reproduce
