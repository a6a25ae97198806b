// SPDX-License-Identifier: Apache-2.0
// A figure for a paper: tidy data, and a gnuplot script that stands alone, to be read and edited.
//
// A script draws the same twice, as PDF in the width of a column and as SVG. Names come from
// captures and files of others: in scripts they are only ever in single quotes, in which gnuplot
// (5.4) takes nothing but the quote itself for special, while in double quotes it runs what is
// between backticks; and text is not "enhanced", so that _, ^, @ and { are themselves.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tw::figures {

struct Figure {
  std::string name;  ///< of its files
  std::string csv;
  std::string script;
};

/// `text` as a string of gnuplot, quotes included: control characters become blanks, and it ends
/// with "..." when it is long.
std::string gnuplot_text(std::string_view text);
/// The same for a label of an axis's tic, in which gnuplot looks for formats of numbers.
std::string gnuplot_tic(std::string_view text);
/// `text` as a field of a figure's CSV: gnuplot has its own mind about quotes in there.
std::string csv_text(std::string_view text);

/// What a script is made of.
struct Sheet {
  std::string name;
  std::string sentence;                    ///< what it shows; a comment, of our own words only
  std::vector<std::string> settings = {};  ///< lines
  std::vector<std::string> plots = {};     ///< what `plot` is given, one element each
  double height_cm = 5.6;                  ///< with a key of one row
  std::vector<std::string> titles = {};    ///< in the key, which is above the plot; none for no key
};

std::string script_of(const Sheet& sheet);

/// Colours of Okabe and Ito as "#rrggbb", again from the first after the eighth.
std::string_view colour(std::size_t series);

/// A unit in which `largest` is a handy number. Scripts have it as a variable: "scale = 1e3".
struct ShownUnit {
  std::string_view name;
  double scale;
};
/// The line that sets the variable.
std::string scale_line(const ShownUnit& unit);
ShownUnit time_unit(double largest_s);
ShownUnit byte_unit(double largest_bytes);

/// Points of an empirical distribution function, at most `most` of them, and one before at 0.
struct CdfPoint {
  double value;
  double share;
};
/// `more` values are known to exist and to be larger than all others (they never ended).
std::vector<CdfPoint> cdf(std::vector<double> values, std::size_t more, std::size_t most = 400);

}  // namespace tw::figures
