// SPDX-License-Identifier: Apache-2.0
#include "trainwire/spread/sim_play.h"

#include "trainwire/account/account.h"
#include "trainwire/base/error.h"
#include "trainwire/command/expect.h"
#include "trainwire/forecast/known_error.h"
#include "trainwire/sweep/sweep.h"

namespace tw::spread {

spec::Experiment to_simulate(const command::ExperimentFile& file) {
  spec::Experiment experiment = command::load(file);
  if (experiment.jobs.empty()) throw SpecError("no jobs: there is nothing to simulate");
  experiment.run.scale.value = 1;
  experiment.run.slow_motion.value = 1;
  return experiment;
}

void Played::write(record::RunFolder& folder) const {
  sim::write_tables(simulated, run, telling, folder);
  folder.finish(run, interrupted ? sweep::kInterrupted : "");
}

Played played(const spec::Experiment& experiment, sim::Level level,
              const std::function<bool(Duration)>& goes_on, const medium::PacketNetwork::Seen& seen,
              sim::Telling telling) {
  Played made{.simulated = {}, .telling = telling};
  made.simulated = sim::simulate(experiment, level,
                                 {.goes_on =
                                      [&](Duration now) {
                                        made.interrupted = !goes_on(now);
                                        return !made.interrupted;
                                      },
                                  .seen = seen});
  made.run = sim::described(experiment, made.simulated, telling);
  // What was cut off has not sent what the schedule says.
  if (made.interrupted)
    std::erase_if(made.run.checks,
                  [](const record::Check& check) { return check.name == "schedule"; });
  if (telling != sim::Telling::Summary) {
    if (auto doubt = forecast::known_error(experiment, level)) made.run.checks.push_back(*doubt);
    if (!made.interrupted) account::add(experiment, made.run);
  }
  command::judge_all(experiment.expectations, "sim", made.run);
  return made;
}

}  // namespace tw::spread
