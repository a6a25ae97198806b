// SPDX-License-Identifier: Apache-2.0
#include "trainwire/text/matrix.h"

#include "trainwire/spec/experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tw::text {
namespace {

constexpr int kMostNumbered = 7;
constexpr int kMostCells = 16;
constexpr int kNameWidth = 8;

/// Sums of blocks of neighbouring hosts; one host a block while they fit.
struct Grid {
  int side;
  int hosts;
  std::vector<double> cells;

  std::size_t index(int row, int column) const {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(side) +
           static_cast<std::size_t>(column);
  }
  double& at(int row, int column) { return cells[index(row, column)]; }
  double at(int row, int column) const { return cells[index(row, column)]; }
  /// First host of a block.
  int first(int block) const {
    return static_cast<int>(static_cast<std::int64_t>(block) * hosts / side);
  }
};

Grid make_grid(std::span<const predict::PairBytes> pairs, int hosts) {
  const int side = std::min(hosts, kMostCells);
  Grid grid{.side = side,
            .hosts = hosts,
            .cells = std::vector<double>(static_cast<std::size_t>(side * side))};
  std::vector<int> block_of(static_cast<std::size_t>(hosts));
  for (int block = 0; block < side; ++block) {
    const int end = block + 1 < side ? grid.first(block + 1) : hosts;
    for (int host = grid.first(block); host < end; ++host)
      block_of[static_cast<std::size_t>(host)] = block;
  }
  for (const predict::PairBytes& pair : pairs) {
    grid.at(block_of[static_cast<std::size_t>(pair.from)],
            block_of[static_cast<std::size_t>(pair.to)]) += static_cast<double>(pair.bytes.count());
  }
  return grid;
}

std::string_view shade(double value, double most) {
  static constexpr std::array<std::string_view, 5> kShades{"·", "░", "▒", "▓", "█"};
  if (value <= 0 || most <= 0) return kShades[0];
  return kShades[static_cast<std::size_t>(std::min(4.0, 1 + 4 * value / most))];
}

std::string row_name(const Grid& grid, int row) {
  const std::string name = spec::host_name(grid.first(row));
  return grid.hosts > grid.side ? name + "+" : name;
}

/// Shade twice, then the bytes: "▓▓ 153.3 MB".
std::string numbered_cell(double value, double most) {
  if (value <= 0) return fmt::format("{:>11}", "·");
  const std::string bytes = readable(Bytes(static_cast<std::int64_t>(value)));
  return fmt::format("{0}{0} {1:>8}", shade(value, most), bytes);
}

}  // namespace

std::vector<std::string> draw_matrix(std::span<const predict::PairBytes> pairs, int hosts) {
  if (hosts < 1) return {};
  const Grid grid = make_grid(pairs, hosts);
  const double most = *std::max_element(grid.cells.begin(), grid.cells.end());
  const bool numbered = hosts <= kMostNumbered;
  std::vector<std::string> lines;
  std::string header = fmt::format("{:>{}}", "from \\ to", kNameWidth + 2);
  for (int column = 0; column < grid.side; ++column) {
    // Five-digit host numbers need the room of two cells.
    if (numbered) {
      header += fmt::format(" {:>11}", spec::host_name(column));
    } else if (hosts <= 10000) {
      header += fmt::format("{:>5}", grid.first(column));
    } else if (column % 2 == 0) {
      header += fmt::format("  {:<8}", grid.first(column));
    }
  }
  lines.push_back(std::move(header));
  for (int row = 0; row < grid.side; ++row) {
    std::string line = fmt::format("{:>{}}", row_name(grid, row), kNameWidth + 2);
    for (int column = 0; column < grid.side; ++column) {
      const double value = grid.at(row, column);
      line += numbered ? " " + numbered_cell(value, most)
                       : fmt::format("  {0}{0}{0}", shade(value, most));
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace tw::text
