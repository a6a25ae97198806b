// SPDX-License-Identifier: Apache-2.0
// Packets of a running job: captured on the devices that its connections go over, and only those of its connections.
//
// Limits: a connection that is made while it is watched is known, and so captured, a tenth of a second later. A file ends when
// it is as large as it may be.

#pragma once

#include "trainwire/attach/sockets.h"
#include "trainwire/base/units.h"
#include "trainwire/capture/live.h"
#include "trainwire/gather/ports.h"
#include "trainwire/packet/address_table.h"
#include "trainwire/summarise/capture.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tw::attach {

/// Whose packets are kept. Asked by the capture's thread, told by another.
class Members {
 public:
  void add(const std::vector<Connection>& connections);
  bool has(const packet::Record& record);

 private:
  std::mutex mutex_;
  packet::AddressTable addresses_;
  std::set<std::pair<std::uint32_t, std::uint16_t>> ends_;  ///< address and port, on this side
};

/// One network namespace and the devices in it.
struct CapturePlace {
  int process;  ///< that lives in it
  std::set<std::string> devices;
};

class Packets {
 public:
  /// Files host0.pcap, host1.pcap, ... in `folder`, none larger than `most`. Throws SystemError, as without CAP_NET_RAW.
  Packets(const std::vector<CapturePlace>& places, const std::string& folder, Bytes most);

  void add(const std::vector<Connection>& connections) { members_->add(connections); }
  /// "captured on eth0": what came of it, and what is missing. Once.
  struct Outcome {
    std::vector<std::string> files = {};  ///< that hold packets
    std::string text = {};
    std::vector<std::string> troubles = {};  ///< sentences
  };
  Outcome stop();

 private:
  std::shared_ptr<Members> members_;
  std::vector<std::string> devices_;
  capture::LiveCapture capture_;
};

/// What the packets mean; where ranks share an address, processes tell them apart. REQUIRES: !files.empty().
summarise::CaptureResult analysed(const std::vector<std::string>& files,
                                  const gather::PortOwners& owners);

}  // namespace tw::attach
