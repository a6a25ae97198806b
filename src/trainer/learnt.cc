// SPDX-License-Identifier: Apache-2.0
#include "trainwire/trainer/learnt.h"

#include <nlohmann/json.hpp>

#include <cmath>

namespace tw::trainer {

using nlohmann::json;

json to_json(const Learnt& learnt) {
  json looks = json::array();
  for (const Look& look : learnt.looks) {
    looks.push_back({look.steps, look.time_ns, look.loss, look.accuracy});
  }
  return {{"data", learnt.data},
          {"train_samples", learnt.train_samples},
          {"test_samples", learnt.test_samples},
          {"parameters", learnt.parameters},
          {"digest", learnt.digest},
          {"looks", looks},
          {"pushes", learnt.staleness.pushes},
          {"stale_sum", learnt.staleness.sum},
          {"stale_most", learnt.staleness.most}};
}

Learnt learnt_from(const json& d) {
  Learnt learnt;
  d.at("data").get_to(learnt.data);
  d.at("train_samples").get_to(learnt.train_samples);
  d.at("test_samples").get_to(learnt.test_samples);
  d.at("parameters").get_to(learnt.parameters);
  // A number that is none travels as null.
  for (const json& sum : d.at("digest")) {
    learnt.digest.push_back(sum.is_number() ? sum.get<double>() : NAN);
  }
  for (const json& look : d.at("looks")) {
    learnt.looks.push_back({.steps = look.at(0).get<std::int64_t>(),
                            .time_ns = look.at(1).get<std::int64_t>(),
                            .loss = look.at(2).is_number() ? look.at(2).get<double>() : NAN,
                            .accuracy = look.at(3).get<double>()});
  }
  d.at("pushes").get_to(learnt.staleness.pushes);
  d.at("stale_sum").get_to(learnt.staleness.sum);
  d.at("stale_most").get_to(learnt.staleness.most);
  return learnt;
}

}  // namespace tw::trainer
