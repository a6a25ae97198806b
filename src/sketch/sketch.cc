// SPDX-License-Identifier: Apache-2.0
#include "trainwire/sketch/sketch.h"

#include "trainwire/keys/tree.h"
#include "trainwire/sketch/flag.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace tw::sketch {
namespace {

constexpr std::size_t kCommentColumn = 31;
/// Shown as comments where no flag sets them.
constexpr std::array<std::string_view, 13> kUsual{
    "--topology", "--hosts", "--rate",  "--delay", "--loss",  "--queue",  "--ranks",
    "--strategy", "--batch", "--steps", "--seed",  "--scale", "--timeout"};

bool is_usual(std::string_view option) {
  return std::find(kUsual.begin(), kUsual.end(), option) != kUsual.end();
}

std::string as_toml(const std::string& value) {
  const auto node = keys::read_value(value, {});
  return keys::print(node ? *node : keys::Node{.value = value});
}

class Writer {
 public:
  void line(std::string_view text, std::string_view origin = {}) {
    text_.toml += fmt::format("{}\n", text);
    text_.origins.emplace_back(origin);
  }
  /// `key = value`, and what the key means.
  void key(std::string_view section, std::string_view key, const std::string& value,
           std::string_view origin) {
    line(commented(fmt::format("{} = {}", key, value), section, key), origin);
  }
  /// The key with its default, as a comment.
  void usual_key(const Flag& flag) {
    const std::string value = usual(flag.section, flag.key);
    const std::string line_of_it = commented(
        fmt::format("# {} = {}", flag.key, value.empty() ? "..." : value), flag.section, flag.key);
    line(value.empty()
             ? fmt::format("{}; default: {}", line_of_it, usual_in_words(flag.section, flag.key))
             : line_of_it);
  }
  Text take() { return std::move(text_); }

 private:
  static std::string commented(const std::string& assignment, std::string_view section,
                               std::string_view key) {
    return fmt::format("{:<{}} # {}", assignment, kCommentColumn - 1, meaning(section, key));
  }
  Text text_;
};

enum class Keys { Given, AndUsual };

void write_section(Writer& out, const Sketch& sketch, std::string_view section,
                   Keys which = Keys::AndUsual) {
  for (const Flag& flag : flags()) {
    if (flag.section != section) continue;
    const auto given = sketch.values.find(flag.option);
    if (given != sketch.values.end()) {
      out.key(section, flag.key, as_toml(given->second),
              fmt::format("{} {}", flag.option, given->second));
    } else if (which == Keys::AndUsual && is_usual(flag.option)) {
      out.usual_key(flag);
    }
  }
}

void write_compound(Writer& out, std::string_view header, const Settings& settings,
                    const std::string& origin) {
  out.line("");
  out.line(header, origin);
  for (const auto& [key, value] : settings) {
    if (has_key(header, key)) {
      out.key(header, key, as_toml(value), origin);
    } else {
      out.line(fmt::format("{} = {}", keys::print_key(key), as_toml(value)), origin);
    }
  }
}

/// What is wrong with a job as a whole comes of all of its flags.
std::string job_flags(const Sketch& sketch) {
  std::string text;
  for (const Flag& flag : flags()) {
    const auto given = sketch.values.find(flag.option);
    if (flag.section != "[[job]]" || given == sketch.values.end()) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : " ", flag.option, given->second);
  }
  return text.empty() ? "--hosts" : text;
}

void write_job(Writer& out, const Sketch& sketch) {
  out.line("");
  out.line("[[job]]", job_flags(sketch));
  if (!sketch.values.contains("--model") && !sketch.values.contains("--parameters")) {
    out.key("[[job]]", "model", as_toml(std::string(kUsualModel)), "--model");
  }
  write_section(out, sketch, "[[job]]");
}

/// Where the ranks of a program go. A job has a payload; that of a program is its own.
void write_places(Writer& out, const Sketch& sketch) {
  if (!sketch.values.contains("--ranks")) return;
  out.line("");
  out.line("[[job]]");
  out.key("[[job]]", "parameters", "4", "");
  write_section(out, sketch, "[[job]]", Keys::Given);
}

}  // namespace

Text written(const Sketch& sketch, For purpose) {
  Writer out;
  out.line("# `trainwire plan FILE` computes this experiment, `trainwire run FILE` measures it,");
  out.line("# `trainwire show FILE` prints every key, `trainwire explain KEY` explains one.");
  write_section(out, sketch, "");
  out.line("");
  out.line("[network]");
  write_section(out, sketch, "[network]");
  for (const std::string& link : sketch.links) {
    write_compound(out, "[[network.link]]", link_of(link), "--link " + link);
  }
  if (purpose == For::Training) write_job(out, sketch);
  if (purpose == For::Program) write_places(out, sketch);
  for (const std::string& traffic : sketch.traffic) {
    write_compound(out, "[[traffic]]", traffic_of(traffic), "--traffic " + traffic);
  }
  out.line("");
  out.line("[run]");
  write_section(out, sketch, "[run]");
  return out.take();
}

std::string in_options(std::string_view message, std::string_view file, const Text& text) {
  const std::string prefix = fmt::format("{}:", file);
  std::string result;
  while (!message.empty()) {
    const std::size_t end = std::min(message.find('\n'), message.size());
    std::string line(message.substr(0, end));
    message.remove_prefix(std::min(end + 1, message.size()));
    std::size_t number = 0;
    const char* const from = line.data() + std::min(prefix.size(), line.size());
    const auto [rest, error] = std::from_chars(from, line.data() + line.size(), number);
    if (line.starts_with(prefix) && error == std::errc() && number >= 1 &&
        number <= text.origins.size() && !text.origins[number - 1].empty()) {
      line = text.origins[number - 1] + line.substr(static_cast<std::size_t>(rest - line.data()));
    }
    result += (result.empty() ? "" : "\n") + line;
  }
  return result;
}

}  // namespace tw::sketch
