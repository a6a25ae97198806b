// SPDX-License-Identifier: Apache-2.0
#include "trainwire/fleet/host_process.h"

#include "trainwire/base/error.h"
#include "trainwire/os/own_program.h"
#include "trainwire/transport/control.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <utility>

namespace tw::fleet {
namespace {

using nlohmann::json;

constexpr int kCannotRun = 127;
constexpr std::size_t kMostMessage = 1 << 20;

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> result;
  for (const std::string& word : words) result.push_back(const_cast<char*>(word.c_str()));
  result.push_back(nullptr);
  return result;
}

/// The host's own with the orders' in their places.
std::vector<std::string> environment_of(const Orders& orders, const Folders& folders) {
  std::map<std::string, std::string> values;
  const auto set = [&](const std::string& entry) {
    const std::size_t equals = entry.find('=');
    if (equals == std::string::npos) return;
    values[entry.substr(0, equals)] = moved_path(entry.substr(equals + 1), folders);
  };
  for (char** entry = environ; *entry != nullptr; ++entry) set(*entry);
  for (const std::string& entry : orders.environment) set(entry);
  values.erase("TRAINWIRE_TOKEN");  // whoever it is, he has his own
  std::vector<std::string> entries;
  for (const auto& [name, value] : values) entries.push_back(name + "=" + value);
  return entries;
}

std::vector<std::string> words_of(const Orders& orders, const Folders& folders) {
  std::vector<std::string> words;
  if (orders.own) words = os::own_program().words;
  for (const std::string& word : orders.words) words.push_back(moved_path(word, folders));
  return words;
}

}  // namespace

json to_json(const Orders& orders) {
  return {{"own", orders.own},   {"words", orders.words},   {"environment", orders.environment},
          {"file", orders.file}, {"folder", orders.folder}, {"has_control", orders.has_control}};
}

Orders orders_from(const json& document) {
  try {
    Orders orders;
    document.at("own").get_to(orders.own);
    document.at("words").get_to(orders.words);
    document.at("environment").get_to(orders.environment);
    document.at("file").get_to(orders.file);
    document.at("folder").get_to(orders.folder);
    document.at("has_control").get_to(orders.has_control);
    const bool is_name = !orders.file.empty() && orders.file.find('/') == std::string::npos;
    if (!is_name || (orders.words.empty() && !orders.own)) {
      throw DataError("orders for a process without a program or a file");
    }
    return orders;
  } catch (const json::exception& error) {
    throw DataError(fmt::format("reading orders for a process: {}", error.what()));
  }
}

std::string moved_path(const std::string& text, const Folders& folders) {
  if (folders.run.empty() || !text.starts_with(folders.run)) return text;
  const bool is_inside = text.size() == folders.run.size() || text[folders.run.size()] == '/';
  return is_inside ? folders.here + text.substr(folders.run.size()) : text;
}

void move_paths(json& document, const Folders& folders) {
  if (document.is_string()) {
    document = moved_path(document.get_ref<const std::string&>(), folders);
  } else if (document.is_structured()) {
    for (json& part : document) move_paths(part, folders);
  }
}

HostProcess::HostProcess(std::uint32_t number, const Orders& orders, const Folders& folders)
    : number_(number), folders_(folders) {
  const std::vector<std::string> words = words_of(orders, folders);
  const std::vector<std::string> variables = environment_of(orders, folders);
  const std::vector<char*> arguments = pointers(words);
  const std::vector<char*> environment = pointers(variables);
  os::FileDescriptor input = os::open_to_read("/dev/null");
  if (orders.has_control) {
    auto [ours, theirs] = transport::make_control_sockets();
    control_ = std::move(ours);
    input = std::move(theirs);
  }
  const os::FileDescriptor output =
      os::open_in_place(fmt::format("{}/{}.txt", folders.here, orders.file));
  const std::string& folder = orders.folder;
  child_ = os::Child::start([&] {
    if (::dup2(input.get(), 0) < 0 || ::dup2(output.get(), 1) < 0 || ::dup2(output.get(), 2) < 0) {
      return kCannotRun;
    }
    if (!folder.empty() && ::chdir(folder.c_str()) != 0) return kCannotRun;
    ::execvpe(arguments.front(), arguments.data(), environment.data());
    return kCannotRun;
  });
}

void HostProcess::tell(const std::string& text) {
  std::string moved = text;
  if (!folders_.run.empty() && text.find(folders_.run) != std::string::npos) {
    json document = json::parse(text, nullptr, false);
    if (!document.is_discarded()) {
      move_paths(document, folders_);
      moved = document.dump();
    }
  }
  waiting_.push_back(std::move(moved));
  flush();
}

void HostProcess::flush() {
  std::size_t sent = 0;
  for (; sent < waiting_.size() && control_.is_open(); ++sent) {
    const std::string& text = waiting_[sent];
    if (::send(control_.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
      continue;
    if (errno == EAGAIN || errno == EINTR) break;
    control_ = {};
  }
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(sent));
}

std::optional<std::string> HostProcess::hear() {
  flush();
  if (!control_.is_open()) return {};
  std::string text(kMostMessage, '\0');
  const ssize_t count = ::recv(control_.get(), text.data(), text.size(), MSG_DONTWAIT);
  if (count > 0) {
    text.resize(static_cast<std::size_t>(count));
    return text;
  }
  if (count == 0 || (errno != EAGAIN && errno != EINTR)) control_ = {};
  return {};
}

}  // namespace tw::fleet
