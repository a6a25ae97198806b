// SPDX-License-Identifier: Apache-2.0
#include "trainwire/medium/rdma.h"

#include "trainwire/base/error.h"
#include "trainwire/load/wire_share.h"

#include <optional>

namespace tw::medium {
namespace {

constexpr int kBaseHeader = 12 + 4;  ///< with the checksum behind the payload
constexpr int kWriteHeader = 16;
constexpr int kLeastPayload = 256;
constexpr int kMostPayload = 4096;

int headers_of(const spec::Network& network) {
  return load::ip_header(*network.ip_version) + load::kUdpHeader + kBaseHeader;
}

/// Cards take 256 bytes, or a double of that up to 4,096.
int payload_of(const spec::Network& network) {
  const int room = *network.mtu - headers_of(network) - kWriteHeader;
  check(room >= kLeastPayload, "the smallest mtu has room for RDMA's smallest packets");
  int payload = kLeastPayload;
  while (payload < kMostPayload && 2 * payload <= room) payload *= 2;
  return payload;
}

std::optional<rdma::DcqcnOptions> control_of(spec::RdmaControl control, BitRate line) {
  if (control == spec::RdmaControl::None) return {};
  return control == spec::RdmaControl::DcqcnPaper ? rdma::dcqcn_of_paper(line)
                                                  : rdma::dcqcn_of_cards(line);
}

}  // namespace

rdma::Options rdma_options(const spec::Network& network, const Sending& sending, BitRate line) {
  return {.line = line,
          .payload_bytes = payload_of(network),
          .header_bytes = load::kEthernetHeader + headers_of(network),
          .repair = sending.rdma_repair == spec::RdmaRepair::GoBack ? rdma::Repair::GoBackN
                                                                    : rdma::Repair::Selective,
          .rate = control_of(sending.rdma_control, line),
          .priority = sending.priority};
}

double rdma_share(const spec::Network& network) {
  const int payload = payload_of(network);
  return static_cast<double>(payload) / (payload + headers_of(network) + load::kEthernetHeader);
}

Manner manner_of(const spec::Job& job) {
  return *job.transport == "rdma" ? Manner::Rdma : Manner::Stream;
}

}  // namespace tw::medium
