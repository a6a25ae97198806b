// SPDX-License-Identifier: Apache-2.0
// A value together with where it came from, so that `show` can mark every default as such.

#pragma once

#include <string_view>

namespace tw::spec {

enum class Origin {
  Default,   ///< nobody said anything: the documented default
  File,      ///< written in the experiment file
  Override,  ///< --set on the command line
  Preset,    ///< brought by the job's framework
  Derived,   ///< computed from other settings
};

std::string_view name(Origin origin);

template <typename T>
struct Setting {
  T value = {};
  Origin origin = Origin::Default;

  const T& operator*() const { return value; }
  const T* operator->() const { return &value; }
  bool operator==(const Setting&) const = default;
};

}  // namespace tw::spec
