// SPDX-License-Identifier: Apache-2.0
#include "trainwire/fleet/process.h"

#include <utility>

namespace tw::fleet {
namespace {

class LocalProcess final : public Process {
 public:
  explicit LocalProcess(os::Child child) : child_(std::move(child)) {}
  const os::ProcessIdentity& identity() const override { return child_.identity(); }
  std::optional<os::Ending> poll() override { return child_.poll(); }
  std::optional<os::Ending> wait_for(std::chrono::nanoseconds time) override {
    return child_.wait_for(time);
  }
  void signal(int number) override { child_.signal(number); }
  os::Ending stop(std::chrono::nanoseconds grace) override { return child_.stop(grace); }

 private:
  os::Child child_;
};

}  // namespace

std::unique_ptr<Process> local_process(os::Child child) {
  return std::make_unique<LocalProcess>(std::move(child));
}

}  // namespace tw::fleet
