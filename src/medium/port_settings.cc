// SPDX-License-Identifier: Apache-2.0
#include "trainwire/medium/port_settings.h"

#include "trainwire/base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tw::medium {
namespace {

/// A port that has a depth of its own from which it marks keeps that.
netsim::Marking marking_of(const spec::Network& asked, double from) {
  const auto until = static_cast<double>(asked.ecn_until->value_or(Bytes{}).count());
  return {.from = from,
          .all = std::max(from, until),
          .most = *asked.ecn_most,
          .newest = *asked.ecn_average};
}

void set_marking(const spec::Network& asked, netsim::PortSettings& settings) {
  settings.lossless_marking = marking_of(asked, settings.lossless_marking->from);
  if (!settings.marking) return;  // a host's own
  settings.marking = settings.lossless_marking;
  settings.marking->drops = *asked.ecn_action == spec::EarlyAction::Drop;
}

}  // namespace

std::vector<netsim::PortSettings> port_settings(const spec::Network& asked,
                                                const network::Network& network) {
  std::vector<netsim::PortSettings> all;
  for (int port = 0; port < network.ports(); ++port) {
    if (network.request(port).rate.bits_per_second() <= 0) {
      throw SpecError(
          fmt::format("network: {} has no rate; write one above 0", network.link_name(port / 2)));
    }
    netsim::PortSettings settings = netsim::settings_of(network, port);
    settings.loses_trains = *asked.loss_unit == spec::LossUnit::Train;
    if (network.request(port).ecn) set_marking(asked, settings);
    if (!*asked.pfc) settings.pause.reset();
    all.push_back(std::move(settings));
  }
  return all;
}

}  // namespace tw::medium
