// SPDX-License-Identifier: Apache-2.0
#include "trainwire/carrier/programs.h"

#include "trainwire/base/error.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <system_error>

namespace tw::carrier {
namespace {

constexpr std::array kTransports{
    Transport{.name = "gloo", .library = "Gloo", .package = "libgloo-dev"},
    Transport{
        .name = "mpi", .library = "Open MPI", .package = "libopenmpi-dev", .starts_together = true},
    Transport{.name = "grpc", .library = "gRPC", .package = "libgrpc++-dev"},
};

const Transport* find(std::string_view name) {
  const auto* const at =
      std::ranges::find_if(kTransports, [&](const Transport& t) { return t.name == name; });
  return at == kTransports.end() ? nullptr : at;
}

}  // namespace

std::span<const Transport> transports() { return kTransports; }

bool is_carried(std::string_view transport) { return find(transport) != nullptr; }

const Transport& transport_named(std::string_view name) {
  const Transport* const found = find(name);
  check(found != nullptr, "the transport is carried");
  return *found;
}

std::string program_of(std::string_view transport, const std::filesystem::path& beside) {
  check(is_carried(transport), "the transport is carried");
  const std::string path = (beside.parent_path() / fmt::format("trainwire-{}", transport)).string();
  return ::access(path.c_str(), X_OK) == 0 ? path : std::string();
}

std::string program_of(std::string_view transport) {
  std::error_code none;
  return program_of(transport, std::filesystem::read_symlink("/proc/self/exe", none));
}

}  // namespace tw::carrier
