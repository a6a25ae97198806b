// SPDX-License-Identifier: Apache-2.0
// Carries over gRPC, as TensorFlow's servers speak with each other: every rank serves, of two ranks
// the higher one calls the other, and each wire is one call that streams messages both ways, over
// an HTTP/2 connection of its own. Messages are plain bytes; who calls stands in the call's
// metadata.

#include "trainwire/base/error.h"
#include "trainwire/carrier/backend.h"
#include "trainwire/carrier/pump.h"

#include <fmt/format.h>
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <atomic>
#include <charconv>
#include <condition_variable>
#include <cstdio>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

namespace tw::carrier {
namespace {

using grpc::ByteBuffer;
using nlohmann::json;

constexpr std::size_t kMessage = 256 * 1024;
constexpr const char* kMethod = "/trainwire.Worker/Exchange";
constexpr const char* kRank = "trainwire-rank";
constexpr const char* kLane = "trainwire-lane";

/// What is the same at both ends of a call: one message to send and one to receive under way.
class Stream : public Link {
 public:
  std::span<std::byte> room() override { return room_; }

  bool send(std::size_t bytes) override {
    const grpc::Slice slice(room_.data(), bytes);
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return over_ || !writing_; });
    if (over_) return false;
    writing_ = true;
    outgoing_ = ByteBuffer(&slice, 1);
    lock.unlock();
    start_write(&outgoing_);
    return true;
  }

  std::span<const std::byte> receive() override {
    ByteBuffer message;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return over_ || has_read_; });
      if (!has_read_) return {};
      has_read_ = false;
      message.Swap(&incoming_);
      if (!over_) {
        lock.unlock();
        start_read(&incoming_);
      }
    }
    std::vector<grpc::Slice> slices;
    if (!message.Dump(&slices).ok()) return {};
    message_.clear();
    for (const grpc::Slice& slice : slices) {
      const auto* const begin = reinterpret_cast<const std::byte*>(slice.begin());
      message_.insert(message_.end(), begin, begin + slice.size());
    }
    return message_;
  }

  void close() override { end(); }

 protected:
  void begin() { start_read(&incoming_); }
  void end() {
    const std::lock_guard lock(mutex_);
    over_ = true;
    changed_.notify_all();
  }
  void read_done(bool ok) {
    const std::lock_guard lock(mutex_);
    (ok ? has_read_ : over_) = true;
    changed_.notify_all();
  }
  void write_done(bool ok) {
    const std::lock_guard lock(mutex_);
    writing_ = false;
    over_ = over_ || !ok;
    changed_.notify_all();
  }
  void call_done() {
    const std::lock_guard lock(mutex_);
    over_ = done_ = true;
    changed_.notify_all();
  }
  void await_call_done() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return done_; });
  }

 private:
  virtual void start_read(ByteBuffer* into) = 0;
  virtual void start_write(const ByteBuffer* from) = 0;

  std::vector<std::byte> room_ = std::vector<std::byte>(kMessage);
  std::vector<std::byte> message_;
  ByteBuffer outgoing_;
  ByteBuffer incoming_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool writing_ = false;
  bool has_read_ = false;
  bool over_ = false;  ///< no message will follow
  bool done_ = false;  ///< gRPC has let go of the call
};

class Caller final : public Stream, private grpc::ClientBidiReactor<ByteBuffer, ByteBuffer> {
 public:
  Caller(const std::string& to, int rank, const Wire& wire) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // a connection of its own
    arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
    channel_ = grpc::CreateCustomChannel(to, grpc::InsecureChannelCredentials(), arguments);
    stub_ = std::make_unique<grpc::GenericStub>(channel_);
    context_.set_wait_for_ready(true);
    context_.AddMetadata(kRank, std::to_string(rank));
    context_.AddMetadata(kLane, std::to_string(wire.lane));
    stub_->PrepareBidiStreamingCall(&context_, kMethod, {}, this);
    AddHold();  // until nobody can begin another message
    begin();
    StartCall();
  }
  ~Caller() override {
    context_.TryCancel();
    RemoveHold();
    await_call_done();
  }

  bool connect(Duration patience) const {
    return channel_->WaitForConnected(std::chrono::system_clock::now() + patience);
  }

 private:
  void start_read(ByteBuffer* into) override { StartRead(into); }
  void start_write(const ByteBuffer* from) override { StartWrite(from); }
  void OnReadDone(bool ok) override { read_done(ok); }
  void OnWriteDone(bool ok) override { write_done(ok); }
  void OnDone(const grpc::Status&) override { call_done(); }

  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<grpc::GenericStub> stub_;
  grpc::ClientContext context_;
};

class Called final : public Stream, public grpc::ServerGenericBidiReactor {
 public:
  ~Called() override {
    if (!started_) return;
    Finish(grpc::Status::OK);
    await_call_done();
  }
  void start() {
    started_ = true;
    begin();
  }

 private:
  void start_read(ByteBuffer* into) override { StartRead(into); }
  void start_write(const ByteBuffer* from) override { StartWrite(from); }
  void OnReadDone(bool ok) override { read_done(ok); }
  void OnWriteDone(bool ok) override { write_done(ok); }
  void OnCancel() override { end(); }
  void OnDone() override { call_done(); }

  std::atomic<bool> started_ = false;
};

/// Turns away whoever is not expected.
class Refusal final : public grpc::ServerGenericBidiReactor {
 public:
  Refusal() { Finish(grpc::Status(grpc::StatusCode::PERMISSION_DENIED, "not of this run")); }
  void OnDone() override { delete this; }
};

std::optional<int> number(const grpc::CallbackServerContext& context, const char* key) {
  const auto at = context.client_metadata().find(key);
  if (at == context.client_metadata().end()) return {};
  int value = 0;
  const auto [end, error] =
      std::from_chars(at->second.data(), at->second.data() + at->second.size(), value);
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

/// Expects one call for each wire.
class Service final : public grpc::CallbackGenericService {
 public:
  Called* expect(const Wire& wire) {
    auto& called = expected_[{wire.rank, wire.lane}];
    called = std::make_unique<Called>();
    return called.get();
  }
  bool await_all(Duration patience) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience, [&] { return came_.size() == expected_.size(); });
  }
  void clear() { expected_.clear(); }

  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override {
    const std::pair who(number(*context, kRank).value_or(-1), number(*context, kLane).value_or(-1));
    const std::lock_guard lock(mutex_);
    const auto at = expected_.find(who);
    if (at == expected_.end() || came_[who]) return new Refusal;
    came_[who] = true;
    at->second->start();
    changed_.notify_all();
    return at->second.get();
  }

 private:
  std::map<std::pair<int, int>, std::unique_ptr<Called>> expected_;
  std::map<std::pair<int, int>, bool> came_;
  std::mutex mutex_;
  std::condition_variable changed_;
};

class GrpcBackend : public Backend {
 public:
  explicit GrpcBackend(const Assignment& assignment) : assignment_(assignment) {
    for (const Wire& wire : assignment.wires) {
      if (wire.rank > assignment.rank) links_[{wire.rank, wire.lane}] = service_.expect(wire);
    }
    grpc::ServerBuilder builder;
    builder.AddListeningPort(fmt::format("{}:0", assignment.address),
                             grpc::InsecureServerCredentials(), &port_);
    builder.RegisterCallbackGenericService(&service_);
    server_ = builder.BuildAndStart();
    if (!server_ || port_ == 0) {
      throw Error(fmt::format("gRPC cannot listen on {}", assignment.address));
    }
  }

  json contact() override { return port_; }

  void connect(const std::vector<Contact>& ranks) override {
    for (const Wire& wire : assignment_.wires) {
      if (wire.rank > assignment_.rank) continue;
      const Contact& contact = ranks.at(static_cast<std::size_t>(wire.rank));
      callers_.push_back(std::make_unique<Caller>(
          fmt::format("{}:{}", contact.address, contact.carrier.get<int>()), assignment_.rank,
          wire));
      links_[{wire.rank, wire.lane}] = callers_.back().get();
      if (!callers_.back()->connect(assignment_.patience)) {
        throw Error(fmt::format("rank {} could not be reached", wire.rank));
      }
    }
    if (!service_.await_all(assignment_.patience)) throw Error("not every rank called");
  }

  void carry(std::vector<LocalWire> wires) override {
    for (LocalWire& wire : wires) {
      Link& link = *links_.at({wire.wire.rank, wire.wire.lane});
      pumps_.push_back(std::make_unique<Pump>(std::move(wire.stream), link));
    }
  }

  void stop() override {
    pumps_.clear();
    callers_.clear();
    service_.clear();
    server_->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(1));
    server_.reset();
  }

 private:
  Assignment assignment_;
  Service service_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
  std::vector<std::unique_ptr<Caller>> callers_;
  std::map<std::pair<int, int>, Link*> links_;
  std::vector<std::unique_ptr<Pump>> pumps_;
};

}  // namespace
}  // namespace tw::carrier

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("trainwire starts this program for a job whose transport is \"grpc\"\n", stderr);
    return 2;
  }
  return tw::carrier::run_carrier(argv[1], [](const tw::carrier::Assignment& assignment) {
    return std::make_unique<tw::carrier::GrpcBackend>(assignment);
  });
}
