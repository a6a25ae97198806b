// SPDX-License-Identifier: Apache-2.0
// What the program's exit codes say to a script.

#pragma once

namespace tw::command {

inline constexpr int kDone = 0;
inline constexpr int kExpectationFailed = 1;  ///< a stated expectation or limit does not hold
inline constexpr int kUsage = 2;              ///< command line or experiment
inline constexpr int kEnvironment = 3;        ///< machine or input
inline constexpr int kRunFailed = 4;          ///< also: a check failed, data are poor
inline constexpr int kInternal = 70;
inline constexpr int kInterrupted = 130;  ///< as a shell tells of SIGINT

}  // namespace tw::command
