// SPDX-License-Identifier: Apache-2.0
// gnuplot as a program that may be installed: found on PATH, started without a shell.

#pragma once

#include <optional>
#include <string>

namespace tw::figures {

/// Where gnuplot is; nothing when it is not installed.
std::optional<std::string> find_gnuplot();

struct Drawing {
  std::string gnuplot;
  std::string folder;  ///< in which it runs
  std::string script;  ///< names of files in there
  std::string pdf;     ///< without quotes in them
  std::string svg;
};

/// Draws both files. Nothing when it went well, else what gnuplot said.
std::optional<std::string> draw(const Drawing& drawing);

}  // namespace tw::figures
