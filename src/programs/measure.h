// SPDX-License-Identifier: Apache-2.0
// Somebody's programs on an emulated network, amid the experiment's cross traffic, on processors or
// on one GPU that they share: conducted, analysed and recorded.

#pragma once

#include "trainwire/lab/conduct.h"
#include "trainwire/lab/measure.h"
#include "trainwire/lab/place.h"
#include "trainwire/record/run_folder.h"
#include "trainwire/spec/experiment.h"
#include "trainwire/summarise/capture.h"

#include <functional>
#include <string>
#include <vector>

namespace tw::programs {

struct ProgramOptions {
  std::vector<std::string> command = {};  ///< of jobs that have none; see jobs.h
  lab::Launcher launcher = lab::Launcher::Each;
  std::vector<std::string> environment = {};  ///< "NAME=value", of this process
  bool shares_gpu = false;
  lab::RunPlace place = {};  ///< an emulated network; ranks log no transfers
};

/// Everything in it may be empty.
struct Onlooker {
  std::function<void(const std::string&)> tell = {};  ///< what is being done, a few words
  std::function<bool()> stop = {};                    ///< asked often
  std::function<void(const std::string&)> line = {};  ///< that a job's first rank has printed
  std::function<void(record::Run&)> judge = {};  ///< may add to a whole record before it is kept
};

struct MeasuredPrograms : lab::Measured {
  summarise::CaptureResult captured = {};
};

/// What will be built and started, without its folder and engine. Throws SpecError when nothing says
/// what to run.
lab::ConductRequest request_of(const spec::Experiment& experiment, const ProgramOptions& options);

/// Throws SystemError, with what to do, where ranks cannot share a GPU.
void require_gpu(const ProgramOptions& options);

/// Runs them, fills and finishes the folder. A rank that fails is part of the answer. `request` is
/// request_of() the same. To be called before this process has threads. Throws Error when it cannot
/// be run at all.
MeasuredPrograms measure(const spec::Experiment& experiment, const ProgramOptions& options,
                         lab::ConductRequest request, record::RunFolder& folder,
                         const Onlooker& onlooker = {});

}  // namespace tw::programs
