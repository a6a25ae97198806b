// SPDX-License-Identifier: Apache-2.0
#include "trainwire/testbed/choose.h"

#include "trainwire/base/error.h"
#include "trainwire/testbed/cluster.h"

#include <fmt/format.h>

#include <algorithm>

namespace tw::testbed {
namespace {

using spec::Engine;

bool is_possible(const network::NetPlan& plan, Engine engine) {
  try {
    require_possible(plan, engine);
    return true;
  } catch (const SpecError&) {
    return false;
  }
}

/// The reasons of all that were tried, and what to do about it.
SystemError none_works(Engine asked, const network::NetPlan& plan,
                       const std::vector<Engine>& engines,
                       const std::function<const Feature&(Engine)>& feature) {
  std::string reasons;
  for (const Engine engine : engines) {
    reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", name_of(engine),
                           feature(engine).reason);
  }
  const bool has_others = preferred_engines(Engine::Auto, plan).size() > engines.size();
  return SystemError(
      fmt::format("choosing an engine for the network: {}; {}", reasons,
                  asked != Engine::Auto && has_others
                      ? "set network.engine = \"auto\", or see trainwire doctor for how to get it"
                      : "trainwire doctor says what this machine can do and how to get the rest"));
}

Engine choose(Engine asked, const network::NetPlan& plan,
              const std::function<const Feature&(Engine)>& feature) {
  const std::vector<Engine> engines = preferred_engines(asked, plan);
  for (const Engine engine : engines) {
    if (feature(engine).works) return engine;
  }
  throw none_works(asked, plan, engines, feature);
}

}  // namespace

std::string_view name_of(Engine engine) {
  switch (engine) {
    case Engine::Auto:
      return "auto";
    case Engine::Netem:
      return "netem";
    case Engine::Nfqueue:
      return "nfqueue";
    case Engine::Tap:
      return "tap";
  }
  return "";
}

std::vector<Engine> preferred_engines(Engine asked, const network::NetPlan& plan) {
  if (asked != Engine::Auto) {
    require_possible(plan, asked);
    return {asked};
  }
  const bool packet_by_packet = plan.lossy() || plan.shallow_queues;
  std::vector<Engine> engines = packet_by_packet
                                    ? std::vector{Engine::Tap, Engine::Nfqueue, Engine::Netem}
                                    : std::vector{Engine::Netem, Engine::Nfqueue, Engine::Tap};
  std::erase_if(engines, [&](Engine engine) { return !is_possible(plan, engine); });
  return engines;
}

Engine choose_engine(Engine asked, const network::NetPlan& plan, const Features& features) {
  return choose(asked, plan, [&](Engine engine) -> const Feature& { return features.of(engine); });
}

Engine choose_engine(Engine asked, const network::NetPlan& plan) {
  EngineFeatures features;
  return choose(asked, plan, [&](Engine engine) -> const Feature& { return features.of(engine); });
}

}  // namespace tw::testbed
