// SPDX-License-Identifier: Apache-2.0
#include "trainwire/packet/rocev2.h"

#include <array>

namespace tw::packet {
namespace {

/// Extended header bytes of the operations, by the low five bits of the opcode; -1: reserved.
constexpr std::array<int, 32> kExtendedHeader = {
    0,  0,  0,  4,  0,  4,   // SEND first, middle, last, last + immediate, only, only + immediate
    16, 0,  0,  4,  16, 20,  // RDMA WRITE, in the same order: a remote address in the first
    16,                      // RDMA READ request
    4,  0,  4,  4,           // RDMA READ response first, middle, last, only
    4,  12,                  // acknowledgement, atomic acknowledgement
    28, 28, -1,              // compare and swap, fetch and add
    4,  4,                   // SEND last and only with invalidate
    -1, -1, -1, -1, -1, -1, -1, -1};

constexpr bool is_response(unsigned operation) { return operation >= 0x0d && operation <= 0x12; }

/// Bytes that the service (the high three bits) adds to an operation's own; -1: unknown service.
int service_header(unsigned service, unsigned operation) {
  constexpr unsigned kReliable = 0, kUnreliable = 1, kDatagram = 3, kExtendedReliable = 5;
  if (service == kReliable || service == kUnreliable) return 0;
  if (service == kDatagram) return 8;
  if (service == kExtendedReliable) return is_response(operation) ? 0 : 4;
  return -1;
}

}  // namespace

std::uint32_t rocev2_message_bytes(std::uint8_t opcode, unsigned padding,
                                   std::uint32_t udp_payload) {
  constexpr int kChecksum = 4;
  const unsigned operation = opcode & 0x1f;
  const int operation_header = kExtendedHeader[operation];
  const int service = service_header(opcode >> 5, operation);
  if (operation_header < 0 || service < 0) return 0;
  const auto overhead = static_cast<std::uint32_t>(int{kBaseTransportHeader} + operation_header +
                                                   service + kChecksum) +
                        padding;
  return udp_payload > overhead ? udp_payload - overhead : 0;
}

}  // namespace tw::packet
