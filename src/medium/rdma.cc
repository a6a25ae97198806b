// SPDX-License-Identifier: Apache-2.0
#include "trainwire/medium/rdma.h"

#include "trainwire/base/error.h"
#include "trainwire/load/wire_share.h"

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

}  // namespace

rdma::Options rdma_options(const spec::Network& network, BitRate line) {
  return {.line = line,
          .payload_bytes = payload_of(network),
          .header_bytes = load::kEthernetHeader + headers_of(network),
          .rate = rdma::dcqcn_of_cards(line)};
}

double rdma_share(const spec::Network& network) {
  const int payload = payload_of(network);
  return static_cast<double>(payload) / (payload + headers_of(network) + load::kEthernetHeader);
}

Manner manner_of(const spec::Job& job) {
  return *job.transport == "rdma" ? Manner::Rdma : Manner::Stream;
}

}  // namespace tw::medium
