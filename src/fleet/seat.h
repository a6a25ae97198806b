// SPDX-License-Identifier: Apache-2.0
// Which of several processes this one is, by the variables that whoever started it has set.
//
// The first complete set counts, in this order: Open MPI, PMI (MPICH, Intel MPI), torchrun, Slurm,
// Indexed Job of Kubernetes. mpirun inside a Slurm job leaves Slurm's variables of the job in place,
// and so does torchrun: hence Slurm comes behind them.

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace tw::fleet {

struct Seat {
  int number = 0;
  std::optional<int> count = {};  ///< of all; Kubernetes does not say
  std::string by = {};            ///< the variable that says the number
  /// Where the first of them is to be met: torchrun's MASTER_ADDR and MASTER_PORT; "" when nobody
  /// says.
  std::string meeting = {};
  bool operator==(const Seat&) const = default;
};

/// The value of a variable; nothing when it is not set.
using Variables = std::function<std::optional<std::string>(std::string_view name)>;

/// Nothing when no set is complete. Throws SpecError for a number that is none.
std::optional<Seat> seat_from(const Variables& variables);

/// Of this process.
std::optional<std::string> own_variable(std::string_view name);

}  // namespace tw::fleet
