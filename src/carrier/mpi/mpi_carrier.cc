// SPDX-License-Identifier: Apache-2.0
// Carries by MPI's point-to-point messages (Open MPI, TCP only).
//
//   trainwire-mpi launch CONTACTS   becomes mpirun, which starts one of these for each rank:
//   trainwire-mpi carry CONTACTS    enters its rank's host and carries
//
// mpirun runs on the first rank's host, and starts all carriers there. Each reaches it (PMIx) before
// it enters its rank's network: what a launcher and its processes say to each other is not on the
// emulated wire, what MPI's processes say to each other is. A message's tag is the wire's lane.
//
// MPI has nothing to wait on but asking again; what it would read comes over this process's TCP
// connections, so these are waited on, and MPI is asked when one of them has something.
//
// Limits: what MPI could write again is not waited for: it is asked at least once a millisecond,
// which adds up to that to a message that waited for room.

#include "trainwire/base/error.h"
#include "trainwire/carrier/backend.h"
#include "trainwire/carrier/tcp_counts.h"
#include "trainwire/os/errno_error.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <mpi.h>
#include <pmix.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace tw::carrier {
namespace {

using nlohmann::json;

constexpr std::size_t kMessage = 256 * 1024;
/// Receives that are offered at a time on each wire.
constexpr std::size_t kOffered = 4;
/// How long the carrier sleeps between two looks while nothing moves: while it has something to send,
/// and else.
constexpr std::int64_t kSendingNs = 200'000;
constexpr std::int64_t kIdleNs = 1'000'000;
/// Connections come with the first message to somebody.
constexpr std::chrono::milliseconds kLookForConnections{20};

int request_count(const MPI_Status& status) {
  int count = 0;
  MPI_Get_count(&status, MPI_BYTE, &count);
  return count;
}

/// A message under way.
struct Slot {
  std::vector<std::byte> bytes = std::vector<std::byte>(kMessage);
  MPI_Request request = MPI_REQUEST_NULL;
  std::size_t begin = 0;  ///< what has been handed over
  std::size_t end = 0;
  bool complete = false;
};

/// One wire; only the carrying thread uses it.
class MpiWire {
 public:
  explicit MpiWire(LocalWire local) : wire_(local.wire), stream_(std::move(local.stream)) {
    for (Slot& slot : receives_) offer(slot);
  }

  /// Whether anything moved.
  bool move() { return send() | receive(); }
  bool is_sending() const { return sending_.request != MPI_REQUEST_NULL; }
  int descriptor() const { return stream_.get(); }
  bool hears() const { return !gone_ && !is_sending(); }

  /// Takes back what was offered.
  void withdraw() {
    for (Slot& slot : receives_) {
      if (slot.request == MPI_REQUEST_NULL) continue;
      MPI_Cancel(&slot.request);
      MPI_Wait(&slot.request, MPI_STATUS_IGNORE);
    }
    if (is_sending()) MPI_Wait(&sending_.request, MPI_STATUS_IGNORE);
  }

 private:
  void offer(Slot& slot) {
    slot.complete = false;
    MPI_Irecv(slot.bytes.data(), static_cast<int>(slot.bytes.size()), MPI_BYTE, wire_.rank,
              wire_.lane, MPI_COMM_WORLD, &slot.request);
  }

  bool send() {
    if (is_sending()) {
      int done = 0;
      MPI_Test(&sending_.request, &done, MPI_STATUS_IGNORE);
      if (done == 0) return false;
    }
    if (gone_) return false;
    const ssize_t count =
        ::recv(stream_.get(), sending_.bytes.data(), sending_.bytes.size(), MSG_DONTWAIT);
    if (count == 0) gone_ = true;
    if (count <= 0) return false;
    MPI_Isend(sending_.bytes.data(), static_cast<int>(count), MPI_BYTE, wire_.rank, wire_.lane,
              MPI_COMM_WORLD, &sending_.request);
    return true;
  }

  bool receive() {
    Slot& slot = receives_[receiving_];
    if (!slot.complete) {
      int done = 0;
      MPI_Status status;
      MPI_Test(&slot.request, &done, &status);
      if (done == 0) return false;
      slot.complete = true;
      slot.begin = 0;
      slot.end = static_cast<std::size_t>(request_count(status));
    }
    const ssize_t count = ::send(stream_.get(), slot.bytes.data() + slot.begin,
                                 slot.end - slot.begin, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count < 0) return false;
    slot.begin += static_cast<std::size_t>(count);
    if (slot.begin == slot.end) {
      offer(slot);
      receiving_ = (receiving_ + 1) % receives_.size();
    }
    return true;
  }

  Wire wire_;
  os::FileDescriptor stream_;
  Slot sending_;
  std::array<Slot, kOffered> receives_;
  std::size_t receiving_ = 0;
  bool gone_ = false;  ///< the rank has ended its side
};

class MpiBackend : public Backend {
 public:
  explicit MpiBackend(const Assignment& assignment) {
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
    int rank = -1;
    int ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (provided < MPI_THREAD_SERIALIZED) throw Error("this MPI was built without threads");
    if (rank != assignment.rank || ranks != assignment.ranks) {
      throw Error(fmt::format("MPI says rank {} of {}, the run rank {} of {}", rank, ranks,
                              assignment.rank, assignment.ranks));
    }
  }

  ~MpiBackend() override {
    stops_ = true;
    if (thread_.joinable()) thread_.join();
  }

  json contact() override { return nullptr; }
  /// MPI connects when the first message is sent; this one is for everybody.
  void connect(const std::vector<Contact>&) override { MPI_Barrier(MPI_COMM_WORLD); }

  void carry(std::vector<LocalWire> wires) override {
    thread_ = std::thread([this, wires = std::move(wires)]() mutable { work(std::move(wires)); });
  }

  void stop() override {
    stops_ = true;
    thread_.join();
    MPI_Finalize();
    // Whoever ends without a word has failed in mpirun's eyes: it would end all others.
    PMIx_Finalize(nullptr, 0);
  }

 private:
  void work(std::vector<LocalWire> locals) {
    std::vector<MpiWire> wires;
    wires.reserve(locals.size());
    for (LocalWire& local : locals) wires.emplace_back(std::move(local));
    while (!stops_) {
      bool moved = false;
      for (MpiWire& wire : wires) moved |= wire.move();
      if (!moved) nap(wires);
    }
    for (MpiWire& wire : wires) wire.withdraw();
  }

  /// Until the rank has something to send, MPI something to read, or it is time to look anyway.
  void nap(const std::vector<MpiWire>& wires) {
    std::vector<pollfd> waits;
    std::int64_t nap_ns = kIdleNs;
    for (const MpiWire& wire : wires) {
      if (wire.is_sending()) nap_ns = kSendingNs;
      if (wire.hears()) waits.push_back({.fd = wire.descriptor(), .events = POLLIN, .revents = 0});
    }
    for (const int socket : connections()) {
      waits.push_back({.fd = socket, .events = POLLIN, .revents = 0});
    }
    const timespec time{.tv_sec = 0, .tv_nsec = nap_ns};
    ::ppoll(waits.data(), waits.size(), &time, nullptr);
  }

  const std::vector<int>& connections() {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_look_) return connections_;
    next_look_ = now + kLookForConnections;
    connections_ = own_connections();
    return connections_;
  }

  std::vector<int> connections_;
  std::chrono::steady_clock::time_point next_look_;
  std::thread thread_;
  std::atomic<bool> stops_ = false;
};

void set_unless_given(const char* name, const std::string& value) {
  ::setenv(name, value.c_str(), 0);
}

/// Between emulated hosts memory could be shared, which would keep the bytes off the network.
void choose_network(const std::string& address) {
  set_unless_given("OMPI_MCA_pml", "ob1");
  set_unless_given("OMPI_MCA_btl", "tcp,self");
  set_unless_given("OMPI_MCA_btl_tcp_if_include", address.starts_with("127.") ? "lo" : "eth0");
  // Each look would give the processor away, and this program waits by itself.
  set_unless_given("OMPI_MCA_mpi_yield_when_idle", "0");
}

int launch(const char* program, const char* contacts) {
  const std::string ranks = std::to_string(contacts_from(json::parse(contacts)).size());
  set_unless_given("OMPI_ALLOW_RUN_AS_ROOT", "1");
  set_unless_given("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
  set_unless_given("PATH", "/usr/local/bin:/usr/bin:/bin");
  ::execl(TW_MPIRUN, TW_MPIRUN, "--quiet", "--oversubscribe", "--bind-to", "none", "--mca", "plm",
          "isolated", "-np", ranks.c_str(), program, "carry", contacts, nullptr);
  std::fprintf(stderr, "%s: %s\n", TW_MPIRUN, std::strerror(errno));
  return 127;
}

/// Reaches the launcher while this process is where that is; MPI finds the connection made.
void meet_launcher() {
  pmix_proc_t self = {};
  const pmix_status_t status = PMIx_Init(&self, nullptr, 0);
  if (status == PMIX_SUCCESS) return;
  throw Error(fmt::format("reaching mpirun: {}", PMIx_Error_string(status)));
}

/// Into the network of the rank to carry for, whose process number it told. Threads that are there
/// already stay where they are.
void enter_network(int pid) {
  const std::string theirs = fmt::format("/proc/{}/ns/net", pid);
  std::error_code none;
  if (std::filesystem::equivalent(theirs, "/proc/self/ns/net", none)) return;
  const os::FileDescriptor network = os::open_to_read(theirs);
  if (::setns(network.get(), CLONE_NEWNET) != 0) {
    throw os::errno_error("entering the rank's network", errno);
  }
}

int carry(const char* contacts) {
  const char* const rank = std::getenv("OMPI_COMM_WORLD_RANK");
  if (rank == nullptr) {
    std::fputs("mpirun starts this program\n", stderr);
    return 2;
  }
  const Contact contact =
      contacts_from(json::parse(contacts)).at(static_cast<std::size_t>(std::atoi(rank)));
  meet_launcher();
  enter_network(contact.carrier.at(0).get<int>());
  choose_network(contact.address);
  return run_carrier(contact.carrier.at(1).get<std::string>(), [](const Assignment& assignment) {
    return std::make_unique<MpiBackend>(assignment);
  });
}

}  // namespace
}  // namespace tw::carrier

int main(int argc, char** argv) {
  const std::string_view what = argc == 3 ? argv[1] : "";
  try {
    if (what == "launch") return tw::carrier::launch(argv[0], argv[2]);
    if (what == "carry") return tw::carrier::carry(argv[2]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  std::fputs("trainwire starts this program for a job whose transport is \"mpi\"\n", stderr);
  return 2;
}
