// SPDX-License-Identifier: Apache-2.0
// A small drawing of lines, marks and words, written as SVG or as PDF. Units are points, y grows
// downwards.

#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tw::reproduce {

enum class Anchor { Start, Middle, End };
/// A ring has room for a diamond in it: what is published, where ours may be the same.
enum class Mark { Circle, Diamond, Ring };

struct Line {
  std::vector<std::pair<double, double>> points;
  std::string colour = "#888888";  ///< #rrggbb
  double width = 1;
  bool dashed = false;
};

struct Spot {
  double x;
  double y;
  Mark mark;
  std::string colour;
  bool filled;
};

struct Words {
  double x;
  double y;  ///< of the base line
  std::string text;
  double size = 11;
  Anchor anchor = Anchor::Start;
  std::string colour = "#333333";
};

struct Drawing {
  double width;
  double height;
  std::vector<Line> lines = {};
  std::vector<Spot> spots = {};
  std::vector<Words> words = {};
};

std::string svg_of(const Drawing& drawing);

/// One page, Helvetica; letters beyond Latin-1 become "?". Words that do not start at x are placed by
/// a mean width of letters.
std::string pdf_of(const Drawing& drawing);

/// For HTML and SVG.
std::string escaped(const std::string& text);

}  // namespace tw::reproduce
