// SPDX-License-Identifier: Apache-2.0
// What artefacts ask of the engines, each question answered once: the documents that `trainwire
// plan`, `predict`, `sim`, `analyze` and `run` print with --json, found in this process.
//
// Simulated answers are the same every time. Measured ones are kept in a folder, so that a --full
// that was stopped goes on where it was.

#pragma once

#include "trainwire/command/command.h"
#include "trainwire/reproduce/artefact.h"

#include <nlohmann/json.hpp>

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tw::reproduce {

struct Question {
  Engine engine = Engine::Plan;
  std::string experiment;
  std::vector<std::string> settings;
  std::string asked_at;                     ///< file:line of the [[compute]] that asks first
  std::optional<std::string> content = {};  ///< of the experiment's file, where it is another's

  /// The same for the same question.
  std::string key() const;
};

struct Answer {
  nlohmann::ordered_json document = {};
  std::string failure = {};    ///< why there is none: it does not end, a check failed
  bool interrupted = false;    ///< by Ctrl-C, while it was measured
  bool was_kept = false;       ///< an earlier start has measured it
  bool asked_wrongly = false;  ///< the experiment or a setting is wrong
};

using Answers = std::map<std::string, Answer>;

/// Computes or simulates. REQUIRES: not of Engine::Run.
Answer answer(const Question& question, const std::function<bool()>& goes_on);

/// Runs with real packets, three times at most until all checks pass; into `folder`/NUMBER.run.
/// REQUIRES: of Engine::Run, and this process has no threads.
Answer measure(const Question& question, const std::string& folder, command::Streams streams);

struct Progress {
  std::size_t done = 0;
  std::size_t all = 0;
  double done_s = 0;     ///< what is done usually takes; measurements that were kept take nothing
  double all_s = 0;      ///< what all of it usually takes
  std::string now = {};  ///< what is measured
};

struct Conducting {
  std::string folder;  ///< where measurements are kept
  command::Streams streams;
  std::function<void(const Progress&)> tell = {};
  std::function<bool()> goes_on = {};
  /// Answers on other machines, in place of this one's processors; what it leaves out is answered
  /// here. May be empty.
  std::function<void(std::span<const Question>,
                     const std::function<void(const Question&, Answer)>&)>
      spread = {};
};

/// All of them: first those with real packets, one after the other, then the rest on all
/// processors. After an interrupted measurement there are no more answers. Throws SpecError where a
/// question was asked wrongly, naming its [[compute]].
Answers answers_to(std::span<const Question> questions, const Conducting& conducting);

/// Numbers at a path of a document; "*" stands for every item of a list. Throws DataError that says
/// where the path ends.
Values numbers_at(const nlohmann::ordered_json& document, std::string_view path);

}  // namespace tw::reproduce
