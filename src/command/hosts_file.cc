// SPDX-License-Identifier: Apache-2.0
#include "trainwire/command/hosts_file.h"

#include "trainwire/base/error.h"
#include "trainwire/base/name.h"
#include "trainwire/os/errno_error.h"
#include "trainwire/os/file_descriptor.h"
#include "trainwire/packet/address.h"
#include "trainwire/result/csv.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <span>

namespace tw::command {
namespace {

constexpr std::string_view kExpected =
    "expected CSV lines like 10.0.0.1,worker0 or TOML lines like \"10.0.0.1\" = \"worker0\"";

std::optional<std::string> address_in(std::string_view text) {
  try {
    return packet::parse_address(text).text();
  } catch (const DataError&) {
    return {};
  }
}

class NameList {
 public:
  explicit NameList(const std::string& path) : path_(path) {}

  void add(const std::string& address, std::string_view name, const std::string& place) {
    if (name.empty()) fail(place, fmt::format("{} has no name", address));
    if (const std::string problem = name_problem(name); !problem.empty()) {
      throw DataError(
          fmt::format("reading {}: {}: \"{}\" is no name: {}", path_, place, name, problem));
    }
    for (const auto& [known, unused] : names_) {
      if (known == address) fail(place, fmt::format("{} is named twice", address));
    }
    names_.emplace_back(address, name);
  }
  [[noreturn]] void fail(const std::string& place, std::string_view what) const {
    throw DataError(fmt::format("reading {}: {}: {}; {}", path_, place, what, kExpected));
  }
  HostNameList done() && {
    if (names_.empty())
      throw DataError(fmt::format("reading {}: it names no host; {}", path_, kExpected));
    return std::move(names_);
  }

 private:
  const std::string& path_;
  HostNameList names_;
};

std::optional<std::size_t> column_of(const std::vector<std::string>& header,
                                     std::span<const std::string_view> names) {
  for (std::size_t i = 0; i < header.size(); ++i) {
    if (std::find(names.begin(), names.end(), header[i]) != names.end()) return i;
  }
  return {};
}

HostNameList parse_csv_hosts(std::string_view text, const std::string& path) {
  static constexpr std::array<std::string_view, 2> kAddress{"address", "ip"};
  static constexpr std::array<std::string_view, 2> kName{"name", "host"};
  NameList names(path);
  const auto rows = result::parse_csv(text, path);
  std::optional<std::size_t> address;
  std::optional<std::size_t> name;
  if (!rows.empty()) {
    address = column_of(rows.front(), kAddress);
    name = column_of(rows.front(), kName);
  }
  const bool has_header = address && name;
  for (std::size_t i = has_header ? 1 : 0; i < rows.size(); ++i) {
    const auto& row = rows[i];
    const std::string place = fmt::format("row {}", i + 1);
    if (row.size() <= std::max(address.value_or(0), name.value_or(1)))
      names.fail(place, "a name is missing");
    const auto found = address_in(row[has_header ? *address : 0]);
    if (!found)
      names.fail(place, fmt::format("\"{}\" is no address", row[has_header ? *address : 0]));
    names.add(*found, row[has_header ? *name : 1], place);
  }
  return std::move(names).done();
}

void add_toml(NameList& names, const toml::table& table);

/// One key: an address with its name, a name with its addresses, or a table of these.
void add_toml(NameList& names, std::string_view key, const toml::node& value) {
  const std::string place = fmt::format("line {}", value.source().begin.line);
  if (const toml::table* table = value.as_table()) return add_toml(names, *table);
  if (const toml::array* list = value.as_array()) {
    for (const toml::node& element : *list) add_toml(names, key, element);
    return;
  }
  const auto text = value.value<std::string>();
  if (!text) names.fail(place, fmt::format("{} is no text", key));
  if (const auto address = address_in(key)) return names.add(*address, *text, place);
  if (const auto address = address_in(*text)) return names.add(*address, key, place);
  names.fail(place, fmt::format("neither \"{}\" nor \"{}\" is an address", key, *text));
}

void add_toml(NameList& names, const toml::table& table) {
  for (const auto& [key, value] : table) add_toml(names, key.str(), value);
}

HostNameList parse_toml_hosts(std::string_view text, const std::string& path) {
  NameList names(path);
  try {
    add_toml(names, toml::parse(text));
  } catch (const toml::parse_error& error) {
    names.fail(fmt::format("line {}", error.source().begin.line), error.description());
  }
  return std::move(names).done();
}

}  // namespace

HostNameList parse_hosts(std::string_view text, const std::string& path) {
  // CSV has no "=" in its addresses, TOML has one on each line that matters.
  return text.find('=') == text.npos ? parse_csv_hosts(text, path) : parse_toml_hosts(text, path);
}

HostNameList read_hosts(const std::string& path) { return parse_hosts(read_whole(path), path); }

std::string read_whole(const std::string& path) {
  const os::FileDescriptor file = os::open_to_read(path);
  std::string text;
  std::vector<std::byte> piece(1 << 16);
  while (true) {
    const std::ptrdiff_t count = os::read_some(file, piece);
    if (count < 0) throw os::errno_error(fmt::format("reading {}", path), errno);
    if (count == 0) return text;
    text.append(reinterpret_cast<const char*>(piece.data()), static_cast<std::size_t>(count));
  }
}

}  // namespace tw::command
