// SPDX-License-Identifier: Apache-2.0
#include "trainwire/spread/sim_spread.h"

#include "trainwire/base/error.h"
#include "trainwire/cluster/pool.h"
#include "trainwire/record/json.h"
#include "trainwire/sim/describe.h"
#include "trainwire/spread/sim_play.h"
#include "trainwire/terminal/interrupt.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <utility>

namespace tw::spread {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

sweep::Attempt attempt_from(const ordered_json& answer) {
  if (answer.contains("failed")) return {.failure = answer.at("failed").get<std::string>()};
  return {.run = record::run_from(answer.at("run"))};
}

}  // namespace

SpreadPoints::SpreadPoints(const cluster::Spreading& spreading,
                           const command::ExperimentFile& experiment, const sweep::Request& request,
                           sim::Level level)
    : spreading_(spreading), experiment_(experiment), request_(request), level_(level) {}

sweep::Engine SpreadPoints::engine(std::function<void(const std::string&)> tell) {
  tell_ = std::move(tell);
  return {.command = "sim",
          .name = std::string(sim::name_of(level_)),
          .attempt = [this](std::size_t i, const std::string&) -> sweep::Attempt {
            if (const auto found = found_.find(i); found != found_.end()) return found->second;
            if (interrupted_) return {.interrupted = true};
            return {.failure = failure_};
          },
          .spread = [this](const std::vector<std::size_t>& points) { spread(points); },
          .keeps_folders = false};
}

void SpreadPoints::spread(const std::vector<std::size_t>& points) {
  std::vector<json> items;
  for (const std::size_t i : points) items.emplace_back(request_.points[i].settings);
  const terminal::InterruptGuard guard;
  const auto answered = [&](std::size_t n, const ordered_json& answer) {
    found_[points[n]] = attempt_from(answer);
  };
  const cluster::PoolEnd end =
      cluster::spread(spreading_.request("simulations",
                                         {{"path", experiment_.path},
                                          {"content", experiment_.content.value_or("")},
                                          {"overrides", experiment_.overrides},
                                          {"level", sim::name_of(level_)}},
                                         tell_, [&] { return guard.interrupted(); }),
                      items, answered);
  interrupted_ = end.interrupted;
  failure_ = end.failure.value_or("");
  const bool nothing = end.given_up == points.size() && !end.interrupted;
  if (nothing) throw Error(fmt::format("no point was simulated: {}", failure_));
}

int run_simulations(os::FileDescriptor control) {
  return cluster::run_worker(std::move(control), [](const json& task) -> cluster::Work {
    const command::ExperimentFile file{
        .path = task.at("path").get<std::string>(),
        .overrides = task.at("overrides").get<std::vector<std::string>>(),
        .content = task.at("content").get<std::string>()};
    const sim::Level level = task.at("level").get<std::string>() == sim::name_of(sim::Level::Packet)
                                 ? sim::Level::Packet
                                 : sim::Level::Flow;
    return [file, level](const json& settings) -> ordered_json {
      command::ExperimentFile point = file;
      for (const json& each : settings) point.overrides.push_back(each.get<std::string>());
      point.overrides.emplace_back("sweep={}");
      try {
        const spec::Experiment experiment = to_simulate(point);
        // Expectations may ask for anything.
        const auto telling =
            experiment.expectations.empty() ? sim::Telling::Summary : sim::Telling::Whole;
        const Played made = played(
            experiment, level, [](Duration) { return true; }, {}, telling);
        return {{"run", record::to_json(made.run)}};
      } catch (const Error& error) {
        return {{"failed", error.what()}};
      }
    };
  });
}

}  // namespace tw::spread
