// SPDX-License-Identifier: Apache-2.0
// The keys of an experiment file as a document, made from the same lists that read them.

#pragma once

#include <string>
#include <vector>

namespace tw::spec {

struct KeyText {
  std::string key;
  std::string type;
  std::string otherwise;  ///< the default, as it would be written, or in words
  std::string help;
};

struct SectionText {
  std::string header;  ///< "[network]", "[[job]]"; empty at the top level
  std::vector<KeyText> keys;
};

/// Every section that has keys of its own, in the order of show.
std::vector<SectionText> reference();

/// The same as Markdown tables, as docs/experiment-file.md holds them.
std::string reference_markdown();

}  // namespace tw::spec
