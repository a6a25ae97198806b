// SPDX-License-Identifier: Apache-2.0
#include "trainwire/diagnose/classify.h"

#include <map>

namespace tw::diagnose {
namespace {

constexpr std::uint64_t kTinyPayload = 1000;
constexpr std::uint64_t kAcknowledgingShare = 50;  ///< of what comes the other way, as a divisor

flow::FlowKey reverse(const flow::FlowKey& key) {
  return {key.destination, key.source, key.destination_port, key.source_port, key.protocol};
}

}  // namespace

std::vector<FlowClass> classify(const gather::Captured& traffic,
                                const std::vector<std::size_t>& gradient) {
  std::map<flow::FlowKey, std::uint64_t> bytes;
  for (const flow::Flow& flow : traffic.flows) bytes[flow.key] += flow.stream_bytes();
  std::vector<FlowClass> classes;
  for (const flow::Flow& flow : traffic.flows) {
    if (flow.cross) {
      classes.push_back(FlowClass::Cross);
      continue;
    }
    const std::uint64_t own = flow.stream_bytes();
    const auto back = bytes.find(reverse(flow.key));
    const std::uint64_t other = back == bytes.end() ? 0 : back->second;
    if (other >= kTinyPayload && own < other / kAcknowledgingShare) {
      classes.push_back(FlowClass::Acknowledgement);
    } else {
      classes.push_back(own < kTinyPayload ? FlowClass::Tiny : FlowClass::Control);
    }
  }
  for (const std::size_t i : gradient) classes[i] = FlowClass::Gradient;
  return classes;
}

}  // namespace tw::diagnose
