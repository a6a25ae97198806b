// SPDX-License-Identifier: Apache-2.0
#include "trainwire/fleet/seat.h"

#include "trainwire/base/error.h"
#include "trainwire/base/printable.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdlib>

namespace tw::fleet {
namespace {

struct Family {
  const char* number;
  const char* count;  ///< null: there is none
};
constexpr std::array kFamilies{Family{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                               Family{"PMI_RANK", "PMI_SIZE"}, Family{"RANK", "WORLD_SIZE"},
                               Family{"SLURM_PROCID", "SLURM_NTASKS"},
                               Family{"JOB_COMPLETION_INDEX", nullptr}};

int number_of(const char* name, const std::string& text, int least) {
  int number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size() && number >= least) return number;
  throw SpecError(
      fmt::format("the variable {} is \"{}\", which is no number of {} or more; unset it, "
                  "or say --number",
                  name, printable(text), least));
}

}  // namespace

std::optional<Seat> seat_from(const Variables& variables) {
  for (const Family& family : kFamilies) {
    const auto number = variables(family.number);
    const auto count = family.count != nullptr ? variables(family.count) : std::nullopt;
    if (!number || (family.count != nullptr && !count)) continue;
    Seat seat{.number = number_of(family.number, *number, 0), .by = family.number};
    if (count) {
      seat.count = number_of(family.count, *count, 1);
      if (seat.number >= *seat.count) {
        throw SpecError(fmt::format("{} is {}, but {} is {}; unset them, or say --number",
                                    family.number, seat.number, family.count, *seat.count));
      }
    }
    const auto address = variables("MASTER_ADDR");
    const auto port = variables("MASTER_PORT");
    if (address && port) seat.meeting = fmt::format("{}:{}", *address, *port);
    return seat;
  }
  return {};
}

std::optional<std::string> own_variable(std::string_view name) {
  const char* const value = std::getenv(std::string(name).c_str());
  return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
}

}  // namespace tw::fleet
