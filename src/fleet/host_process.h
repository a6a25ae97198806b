// SPDX-License-Identifier: Apache-2.0
// A process that a host has started for its run: where its files lie, and its channel to the run.

#pragma once

#include "trainwire/os/child.h"
#include "trainwire/os/file_descriptor.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tw::fleet {

/// What a run orders.
struct Orders {
  bool own = false;  ///< this very program: `words` are its arguments
  std::vector<std::string> words = {};
  std::vector<std::string> environment = {};  ///< "NAME=value", in place of the host's own
  std::string file = {};                      ///< of its output, without ".txt"
  std::string folder = {};                    ///< that it works in, where the host has it
  bool has_control = false;                   ///< its standard input is a channel to the run
};
nlohmann::json to_json(const Orders& orders);
/// Throws DataError.
Orders orders_from(const nlohmann::json& document);

/// The run's folder is another one here: what lies in it there lies in `here` here.
struct Folders {
  std::string run;
  std::string here;
};
/// Every text in the document that begins with the run's folder begins with the host's.
void move_paths(nlohmann::json& document, const Folders& folders);
std::string moved_path(const std::string& text, const Folders& folders);

class HostProcess {
 public:
  /// Throws SystemError.
  HostProcess(std::uint32_t number, const Orders& orders, const Folders& folders);

  std::uint32_t number() const { return number_; }
  /// Of the channel; -1 when it has none, or is closed.
  int descriptor() const { return control_.get(); }
  /// A message from the run.
  void tell(const std::string& text);
  /// The next message for the run, as text.
  std::optional<std::string> hear();
  std::optional<os::Ending> poll() { return child_.poll(); }
  void signal(int number) { child_.signal(number); }

 private:
  void flush();

  std::uint32_t number_;
  const Folders& folders_;
  os::FileDescriptor control_;
  std::vector<std::string> waiting_;  ///< that its socket had no room for
  os::Child child_;
};

}  // namespace tw::fleet
