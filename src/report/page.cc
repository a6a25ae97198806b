// SPDX-License-Identifier: Apache-2.0
#include "trainwire/report/page.h"

#include "trainwire/base/error.h"
#include "trainwire/report/template.h"

#include <fmt/format.h>

namespace tw::report {

std::string script_json(const nlohmann::ordered_json& document) {
  using nlohmann::ordered_json;
  const std::string plain = document.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  std::string text;
  text.reserve(plain.size() + plain.size() / 64);
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const char c = plain[i];
    const std::string_view rest = std::string_view(plain).substr(i, 3);
    if (c == '<' || c == '>' || c == '&') {
      text += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else if (rest == "\xe2\x80\xa8" || rest == "\xe2\x80\xa9") {
      text += rest.back() == '\xa8' ? "\\u2028" : "\\u2029";
      i += 2;
    } else {
      text += c;
    }
  }
  return text;
}

std::string filled(std::string_view page, const nlohmann::ordered_json& document) {
  const std::size_t at = page.find(kDataMark);
  check(at != page.npos, "a template has a place for its data");
  check(page.find(kDataMark, at + 1) == page.npos, "a template has one place for its data");
  std::string text(page.substr(0, at));
  text += script_json(document);
  text += page.substr(at + kDataMark.size());
  return text;
}

}  // namespace tw::report
