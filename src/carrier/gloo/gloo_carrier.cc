// SPDX-License-Identifier: Apache-2.0
// Carries over Gloo's TCP pairs, as PyTorch's CPU back end does: messages into buffers that the
// receiver has offered before (unbound buffers). Ranks learn of each other's pairs from the run, so
// no store is needed; each lane is a context of its own, hence a connection of its own.
//
// Each message begins with its length: Gloo does not tell a receiver how much has come.

#include "trainwire/base/error.h"
#include "trainwire/carrier/backend.h"
#include "trainwire/carrier/pump.h"

#include <fmt/format.h>
#include <gloo/transport/context.h>
#include <gloo/transport/device.h>
#include <gloo/transport/pair.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/transport/unbound_buffer.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace tw::carrier {
namespace {

using gloo::transport::UnboundBuffer;
using nlohmann::json;

/// Of one message, its length included.
constexpr std::size_t kMessage = 256 * 1024;
/// Messages that a receiver offers room for: what may be under way.
constexpr std::size_t kOffered = 8;
constexpr std::uint64_t kSlot = 0;
using Length = std::uint32_t;

struct Block {
  std::vector<std::byte> bytes = std::vector<std::byte>(kMessage);
  std::unique_ptr<UnboundBuffer> buffer = {};
  bool used = false;
};

class GlooLink : public Link {
 public:
  GlooLink(gloo::transport::Context& context, int peer)
      : peer_(peer), sends_(2), receives_(kOffered) {
    for (auto* const blocks : {&sends_, &receives_}) {
      for (Block& block : *blocks) {
        block.buffer = context.createUnboundBuffer(block.bytes.data(), block.bytes.size());
      }
    }
  }

  void offer_all() {
    for (Block& block : receives_) block.buffer->recv(peer_, kSlot, 0, kMessage);
  }

  std::span<std::byte> room() override {
    return std::span(sends_[sending_].bytes).subspan(sizeof(Length));
  }

  bool send(std::size_t bytes) override {
    Block& block = sends_[sending_];
    const auto length = static_cast<Length>(bytes);
    std::memcpy(block.bytes.data(), &length, sizeof length);
    try {
      block.buffer->send(peer_, kSlot, 0, bytes + sizeof length);
      block.used = true;
      sending_ = (sending_ + 1) % sends_.size();
      Block& next = sends_[sending_];
      return !std::exchange(next.used, false) || next.buffer->waitSend();
    } catch (const std::exception&) {
      return false;
    }
  }

  std::span<const std::byte> receive() override {
    try {
      if (std::exchange(taken_, true)) {
        receives_[receiving_].buffer->recv(peer_, kSlot, 0, kMessage);
        receiving_ = (receiving_ + 1) % receives_.size();
      }
      Block& block = receives_[receiving_];
      if (closed_ || !block.buffer->waitRecv()) return {};
      Length length = 0;
      std::memcpy(&length, block.bytes.data(), sizeof length);
      if (length > kMessage - sizeof length) return {};
      return std::span(std::as_const(block.bytes)).subspan(sizeof length, length);
    } catch (const std::exception&) {
      return {};
    }
  }

  void close() override {
    closed_ = true;
    for (Block& block : sends_) block.buffer->abortWaitSend();
    for (Block& block : receives_) block.buffer->abortWaitRecv();
  }

 private:
  int peer_;
  std::vector<Block> sends_;
  std::size_t sending_ = 0;
  std::vector<Block> receives_;
  std::size_t receiving_ = 0;
  bool taken_ = false;  ///< a message, which is over when the next one is asked for
  std::atomic<bool> closed_ = false;
};

class GlooBackend : public Backend {
 public:
  explicit GlooBackend(const Assignment& assignment)
      : assignment_(assignment), device_(device_of(assignment.address)) {
    for (const Wire& wire : assignment.wires) {
      auto& context = contexts_[wire.lane];
      if (!context) {
        context = device_->createContext(assignment.rank, assignment.ranks);
        // How long silence lasts is the rank's to judge.
        context->setTimeout(std::chrono::hours(24));
      }
      context->createPair(wire.rank);
    }
  }

  json contact() override {
    json pairs = json::array();
    for (const Wire& wire : assignment_.wires) {
      const auto& address = contexts_[wire.lane]->getPair(wire.rank)->address().bytes();
      pairs.push_back(
          {wire.rank, wire.lane, std::vector<std::uint8_t>(address.begin(), address.end())});
    }
    return pairs;
  }

  void connect(const std::vector<Contact>& ranks) override {
    for (const Wire& wire : assignment_.wires) {
      const json& pairs = ranks.at(static_cast<std::size_t>(wire.rank)).carrier;
      contexts_[wire.lane]->getPair(wire.rank)->connect(address_for(pairs, wire));
    }
  }

  void carry(std::vector<LocalWire> wires) override {
    for (LocalWire& wire : wires) {
      links_.push_back(std::make_unique<GlooLink>(*contexts_[wire.wire.lane], wire.wire.rank));
      links_.back()->offer_all();
      pumps_.push_back(std::make_unique<Pump>(std::move(wire.stream), *links_.back()));
    }
  }

  void stop() override {
    pumps_.clear();
    for (const Wire& wire : assignment_.wires) {
      contexts_[wire.lane]->getPair(wire.rank)->close();
    }
    links_.clear();
  }

 private:
  static std::shared_ptr<gloo::transport::Device> device_of(const std::string& address) {
    gloo::transport::tcp::attr attributes;
    attributes.hostname = address;
    return gloo::transport::tcp::CreateDevice(attributes);
  }

  /// What the other rank's carrier said of the pair with this one.
  std::vector<char> address_for(const json& pairs, const Wire& wire) const {
    for (const json& pair : pairs) {
      if (pair.at(0) != assignment_.rank || pair.at(1) != wire.lane) continue;
      const auto bytes = pair.at(2).get<std::vector<std::uint8_t>>();
      return {bytes.begin(), bytes.end()};
    }
    throw Error(fmt::format("rank {} has no pair with rank {}", wire.rank, assignment_.rank));
  }

  Assignment assignment_;
  std::shared_ptr<gloo::transport::Device> device_;
  std::map<int, std::shared_ptr<gloo::transport::Context>> contexts_;  ///< by lane
  std::vector<std::unique_ptr<GlooLink>> links_;
  std::vector<std::unique_ptr<Pump>> pumps_;
};

}  // namespace
}  // namespace tw::carrier

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("trainwire starts this program for a job whose transport is \"gloo\"\n", stderr);
    return 2;
  }
  return tw::carrier::run_carrier(argv[1], [](const tw::carrier::Assignment& assignment) {
    return std::make_unique<tw::carrier::GlooBackend>(assignment);
  });
}
