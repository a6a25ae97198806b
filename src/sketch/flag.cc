// SPDX-License-Identifier: Apache-2.0
#include "trainwire/sketch/flag.h"

#include "trainwire/base/error.h"
#include "trainwire/spec/reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

namespace tw::sketch {
namespace {

const spec::KeyText* find(std::string_view section, std::string_view key) {
  static const std::vector<spec::SectionText> sections = spec::reference();
  for (const spec::SectionText& candidate : sections) {
    if (candidate.header != section) continue;
    for (const spec::KeyText& text : candidate.keys) {
      if (text.key == key) return &text;
    }
  }
  return nullptr;
}

const spec::KeyText& text_of(std::string_view section, std::string_view key) {
  const spec::KeyText* text = find(section, key);
  check(text != nullptr, "flags stand for keys that exist");
  return *text;
}

}  // namespace

std::span<const Flag> flags() {
  static constexpr std::array kFlags{
      Flag{"--name", "", "name", "TEXT"},
      Flag{"--topology", "[network]", "topology", "NAME"},
      Flag{"--hosts", "[network]", "hosts", "N"},
      Flag{"--rate", "[network]", "rate", "RATE"},
      Flag{"--delay", "[network]", "delay", "TIME"},
      Flag{"--jitter", "[network]", "jitter", "TIME"},
      Flag{"--loss", "[network]", "loss", "SHARE"},
      Flag{"--queue", "[network]", "queue", "SIZE"},
      Flag{"--left", "[network]", "left", "N"},
      Flag{"--leaves", "[network]", "leaves", "N"},
      Flag{"--spines", "[network]", "spines", "N"},
      Flag{"--core-rate", "[network]", "core_rate", "RATE"},
      Flag{"--core-delay", "[network]", "core_delay", "TIME"},
      Flag{"--congestion-control", "[network]", "congestion_control", "NAME"},
      Flag{"--engine", "[network]", "engine", "NAME"},
      Flag{"--framework", "[[job]]", "framework", "NAME"},
      Flag{"--model", "[[job]]", "model", "NAME"},
      Flag{"--parameters", "[[job]]", "parameters", "SIZE"},
      Flag{"--ranks", "[[job]]", "ranks", "N"},
      Flag{"--strategy", "[[job]]", "strategy", "NAME"},
      Flag{"--servers", "[[job]]", "servers", "N"},
      Flag{"--bucket", "[[job]]", "bucket", "SIZE"},
      Flag{"--batch", "[[job]]", "batch", "N"},
      Flag{"--steps", "[[job]]", "steps", "N"},
      Flag{"--compute-time", "[[job]]", "compute_time", "TIME"},
      Flag{"--seed", "[run]", "seed", "N"},
      Flag{"--scale", "[run]", "scale", "X"},
      Flag{"--slow-motion", "[run]", "slow_motion", "X"},
      Flag{"--timeout", "[run]", "timeout", "TIME"},
  };
  return kFlags;
}

bool has_key(std::string_view section, std::string_view key) {
  return find(section, key) != nullptr;
}

std::string meaning(std::string_view section, std::string_view key) {
  const spec::KeyText& text = text_of(section, key);
  std::string meaning = text.help;
  if (text.type.starts_with('"')) meaning += ": " + text.type;
  return meaning;
}

std::string usual(std::string_view section, std::string_view key) {
  const std::string& otherwise = text_of(section, key).otherwise;
  const bool is_written = otherwise.starts_with('`') && otherwise.ends_with('`');
  return is_written ? otherwise.substr(1, otherwise.size() - 2) : "";
}

std::string usual_in_words(std::string_view section, std::string_view key) {
  const std::string written = usual(section, key);
  return written.empty() ? text_of(section, key).otherwise : written;
}

std::vector<std::string> words_of(std::string_view section, std::string_view key) {
  // The reference has them as "star", "dumbbell".
  std::string_view type = text_of(section, key).type;
  std::vector<std::string> words;
  while (type.starts_with('"')) {
    const std::size_t end = type.find('"', 1);
    words.emplace_back(type.substr(1, end - 1));
    type.remove_prefix(std::min(type.size(), end + 1));
    if (type.starts_with(", ")) type.remove_prefix(2);
  }
  return words;
}

}  // namespace tw::sketch
