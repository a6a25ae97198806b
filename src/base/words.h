// SPDX-License-Identifier: Apache-2.0
// A line of text taken from the left, word by word.

#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tw {

class Words {
 public:
  explicit Words(std::string_view text) : rest_(text) {}

  std::string_view rest() const { return rest_; }
  void skip_blanks() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\t')) rest_.remove_prefix(1);
  }
  /// Takes `text` where it stands next, behind blanks.
  bool take(std::string_view text) {
    skip_blanks();
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  /// Goes behind the next `text`; stays where there is none.
  bool go_behind(std::string_view text) {
    const std::size_t at = rest_.find(text);
    if (at == std::string_view::npos) return false;
    rest_.remove_prefix(at + text.size());
    return true;
  }
  /// Up to the next blank.
  std::string_view word() {
    skip_blanks();
    const std::string_view found = rest_.substr(0, rest_.find_first_of(" \t\r\n"));
    rest_.remove_prefix(found.size());
    return found;
  }
  std::optional<std::int64_t> whole(int base = 10) {
    skip_blanks();
    std::int64_t number = 0;
    const auto [end, error] =
        std::from_chars(rest_.data(), rest_.data() + rest_.size(), number, base);
    if (error != std::errc()) return {};
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return number;
  }
  /// A whole number from 0 to 9,999,999: ranks, channels.
  std::optional<int> small() {
    const std::string_view before = rest_;
    const auto number = whole();
    if (number && *number >= 0 && *number < 10'000'000) return static_cast<int>(*number);
    rest_ = before;
    return {};
  }

 private:
  std::string_view rest_;
};

/// The number behind `name` in `text`: number_behind("rank 3 nranks 8", " nranks ") is 8.
inline std::optional<std::int64_t> number_behind(std::string_view text, std::string_view name,
                                                 int base = 10) {
  Words words(text);
  return words.go_behind(name) ? words.whole(base) : std::nullopt;
}

/// What is wrong, of "reading X: what is wrong" where X is `name`: whoever shows it says the name.
inline std::string_view without_place(std::string_view what, std::string_view name) {
  for (const std::string_view begin : {"reading the step log ", "reading "}) {
    std::string_view rest = what;
    if (!rest.starts_with(begin)) continue;
    rest.remove_prefix(begin.size());
    if (!rest.starts_with(name)) continue;
    rest.remove_prefix(name.size());
    if (rest.starts_with(": ")) return rest.substr(2);
  }
  return what;
}

}  // namespace tw
