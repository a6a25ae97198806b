// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/error.h"
#include "trainwire/command/exit_code.h"
#include "trainwire/os/clock.h"
#include "trainwire/reproduce/collection.h"
#include "trainwire/reproduce/command.h"
#include "trainwire/reproduce/documents.h"
#include "trainwire/reproduce/recorded.h"
#include "trainwire/reproduce/spread.h"
#include "trainwire/reproduce/tables.h"
#include "trainwire/terminal/interrupt.h"
#include "trainwire/terminal/status.h"
#include "trainwire/testbed/features.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>

namespace tw::reproduce {
namespace {

struct ReproduceOptions {
  std::vector<std::string> names;
  std::string folder;
  std::string out;
  std::string engine;
  bool quick = false;
  bool full = false;
  bool list = false;
  bool record = false;
  bool json = false;
  bool csv = false;
  bool quiet = false;
  cluster::Spreading spreading = {};
};

Asking asking_of(const ReproduceOptions& options) {
  if (options.quick && options.full) {
    throw SpecError("--quick and --full: choose one; --quick is what happens without either");
  }
  Asking asking{.full = options.full};
  if (!options.engine.empty()) asking.only = engine_named(options.engine);
  if (asking.only == Engine::Run) asking.full = true;
  return asking;
}

/// Without the right to make networks there are no real packets: what needs them is left out.
void leave_out_what_cannot_run(Asking& asking, const std::vector<Artefact>& artefacts,
                               command::Streams streams) {
  const auto needs_networks = [&](const Artefact& artefact) {
    const std::vector<Question> questions = questions_of(artefact, asking);
    return std::any_of(questions.begin(), questions.end(),
                       [](const Question& each) { return each.engine == Engine::Run; });
  };
  if (!asking.full || std::none_of(artefacts.begin(), artefacts.end(), needs_networks)) return;
  try {
    const testbed::EngineFeatures features;
  } catch (const SystemError& error) {
    std::string ids;
    for (const Artefact& artefact : artefacts) {
      if (needs_networks(artefact)) ids += (ids.empty() ? "" : ", ") + artefact.id;
    }
    fmt::print(streams.err, "trainwire: real packets are left out, of {}: {}\n", ids, error.what());
    asking.full = false;
  }
}

/// What is shown while it lasts.
class Shown {
 public:
  Shown(const ReproduceOptions& options, command::Streams streams)
      : line_(streams.err, terminal::shown_on(streams.err, options.quiet)) {}

  void tell(const Progress& progress) {
    std::string text = fmt::format("{} of {} answers", progress.done, progress.all);
    if (const auto left = left_s(progress)) {
      text +=
          fmt::format(", about {} left", terminal::in_words(std::chrono::duration<double>(*left)));
    }
    line_.tell(progress.now.empty() ? text : text + ": " + progress.now);
  }
  void wipe() { line_.wipe(); }

 private:
  /// What usually takes so long takes as much longer here as what is done already did.
  std::optional<double> left_s(const Progress& progress) const {
    if (progress.done_s <= 0) return {};
    const double passed_s = 1e-9 * static_cast<double>(os::monotonic_ns() - began_ns_);
    return passed_s / progress.done_s * (progress.all_s - progress.done_s);
  }

  terminal::Status line_;
  std::int64_t began_ns_ = os::monotonic_ns();
};

std::vector<Outcome> outcomes_of(const std::vector<Artefact>& artefacts, const Asking& asking,
                                 const Answers& answers) {
  std::vector<Outcome> outcomes;
  for (const Artefact& artefact : artefacts) {
    outcomes.push_back(judge(artefact, asking, answers));
  }
  // Asked for one engine, those that it gives nothing of are of no interest.
  if (asking.only) {
    std::erase_if(outcomes, [](const Outcome& each) { return each.judged.empty(); });
  }
  return outcomes;
}

/// Tells what is worse than recorded; the exit code.
int compare_with_recorded(const std::vector<Outcome>& outcomes, command::Streams streams) {
  int code = command::kDone;
  for (const Outcome& outcome : outcomes) {
    const auto recorded = read_recorded(outcome.artefact);
    if (!recorded) continue;
    for (const std::string& sentence : worse(outcome, *recorded)) {
      fmt::print(streams.err, "trainwire: WORSE THAN RECORDED: {}\n", sentence);
      code = command::kExpectationFailed;
    }
  }
  return code;
}

void print(const ReproduceOptions& options, const std::vector<Outcome>& outcomes,
           command::Streams streams) {
  if (options.json) {
    fmt::print(streams.out, "{}\n", document_of(outcomes).dump(2));
  } else if (options.csv) {
    fmt::print(streams.out, "{}", csv_of(outcomes));
  } else if (!options.quiet) {
    const bool in_detail = !options.names.empty() && outcomes.size() <= 3;
    if (!in_detail) fmt::print(streams.out, "{}", table_text(outcomes));
    for (const Outcome& outcome : outcomes) {
      if (in_detail) fmt::print(streams.out, "{}", detail_text(outcome));
    }
    if (!options.out.empty()) {
      fmt::print(streams.out, "next: open {}/reproductions.html\n", options.out);
    } else if (in_detail) {
      fmt::print(streams.out, "next: trainwire reproduce -o DIR for a page with plots\n");
    } else {
      fmt::print(streams.out,
                 "next: trainwire reproduce ID for its numbers and reasons, -o DIR for a page\n");
    }
  }
  streams.out.flush();
}

int reproduce(const ReproduceOptions& options, command::Streams streams) {
  Asking asking = asking_of(options);
  const Collection collection =
      read_collection(options.folder.empty() ? default_folder() : options.folder);
  const std::vector<Artefact> artefacts = selected(collection, options.names);
  if (options.list) {
    fmt::print(streams.out, "{}", list_text(artefacts));
    return command::kDone;
  }
  leave_out_what_cannot_run(asking, artefacts, streams);
  std::vector<Question> questions;
  for (const Artefact& artefact : artefacts) {
    const std::vector<Question> some = questions_of(artefact, asking);
    questions.insert(questions.end(), some.begin(), some.end());
  }
  Shown shown(options, streams);
  std::optional<terminal::InterruptGuard> guard;
  std::atomic<bool> stopped = false;
  const auto goes_on = [&] {
    if (guard && guard->interrupted()) stopped = true;
    return !stopped;
  };
  const auto on_machines = [&](std::span<const Question> some,
                               const std::function<void(const Question&, Answer)>& take) {
    if (!guard) guard.emplace();
    answer_on_machines(options.spreading, some, take, goes_on);
  };
  Conducting conducting{
      .folder = (options.out.empty() ? "reproductions.measured" : options.out + "/measured"),
      .streams = streams,
      .tell =
          [&](const Progress& progress) {
            // Runs have a guard of their own.
            if (progress.now.empty() && !guard) guard.emplace();
            shown.tell(progress);
          },
      .goes_on = goes_on};
  if (options.spreading.asked()) conducting.spread = on_machines;
  const Answers answers = answers_to(questions, conducting);
  shown.wipe();
  if (stopped || std::any_of(answers.begin(), answers.end(),
                             [](const auto& each) { return each.second.interrupted; })) {
    fmt::print(streams.err,
               "trainwire: interrupted; what was measured is kept for the next start\n");
    return command::kInterrupted;
  }
  const std::vector<Outcome> outcomes = outcomes_of(artefacts, asking, answers);
  if (!options.out.empty()) write_documents(options.out, collection, outcomes);
  print(options, outcomes, streams);
  if (options.record) {
    for (const Outcome& outcome : outcomes) record(outcome);
    return command::kDone;
  }
  return compare_with_recorded(outcomes, streams);
}

}  // namespace

command::Body declare_reproduce(command::CommandLine& app) {
  const auto options = std::make_shared<ReproduceOptions>();
  app.add_option("ID", options->names,
                 "artefacts (S0-F10, tum/fig-10) or whole papers (tum); without any all of them")
      .type_name("");
  app.add_flag("--quick", options->quick,
               "plan, predict and sim only, under three minutes; what happens without --full");
  app.add_flag("--full", options->full,
               "real packets on emulated networks too; goes on where it was stopped");
  app.add_option("--engine", options->engine, "only what this engine gives")
      .type_name("NAME")
      .one_of({"equation", "plan", "predict", "flow", "packet", "analyze", "run"});
  app.add_option("-o,--out", options->out,
                 "write a page, and CSV, SVG, PDF and LaTeX, into this folder")
      .type_name("DIR");
  app.add_option("--folder", options->folder, "where artefacts lie; default: reproductions")
      .type_name("DIR");
  app.add_flag("--list", options->list, "only print which artefacts there are");
  app.add_flag("--record", options->record,
               "write the verdicts beside the artefacts: what later ones are held against");
  cluster::add_spreading(app, options->spreading, "questions to plan, predict and sim");
  app.add_flag("-q,--quiet", options->quiet, "print nothing but errors, and what is worse");
  app.add_flag("--csv", options->csv, "print every number as CSV");
  app.add_flag("--json", options->json, "print one JSON document");
  return [options](command::Streams streams) { return reproduce(*options, streams); };
}

}  // namespace tw::reproduce
