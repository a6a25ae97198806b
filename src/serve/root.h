// SPDX-License-Identifier: Apache-2.0
// The folder that is served, and the runs in it by their ids.
//
// An id is a run's folder relative to the root, "a/b.run"; "." when the root itself is a run.

#pragma once

#include <string>
#include <string_view>

namespace tw::serve {

class Root {
 public:
  /// Throws SystemError when there is no such folder.
  explicit Root(std::string given);

  /// As the user gave it.
  const std::string& given() const { return given_; }
  /// `name` below the root, as the user would type it.
  std::string operator/(std::string_view name) const;

  /// The folder of a run that is there. Throws Refusal: 400 for what is no id, 403 for what leads
  /// out of the root, by ".." or by a symbolic link, 404 where there is no run.
  std::string folder_of(std::string_view id) const;

 private:
  std::string given_;
  std::string canonical_;
};

}  // namespace tw::serve
