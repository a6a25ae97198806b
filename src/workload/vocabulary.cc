// SPDX-License-Identifier: Apache-2.0
#include "trainwire/workload/vocabulary.h"

#include "trainwire/collective/strategies.h"
#include "trainwire/zoo/device.h"
#include "trainwire/zoo/zoo.h"

namespace tw::workload {

spec::Vocabulary vocabulary() {
  spec::Vocabulary words{.models = zoo::names(), .strategies = {}, .devices = {}};
  for (const collective::Strategy& strategy : collective::catalogue()) {
    words.strategies.push_back(strategy.name);
    if (strategy.has_servers) words.served.push_back(strategy.name);
  }
  for (const zoo::Device& device : zoo::devices()) words.devices.push_back(device.name);
  return words;
}

}  // namespace tw::workload
