// SPDX-License-Identifier: Apache-2.0
// A run as objects of Kubernetes, as YAML: an Indexed Job with one pod a host, a headless Service by
// which pods find one another, a ConfigMap with the experiment and a Secret with the run's token. No
// operator is needed.
//
// The first pod conducts the run and prints its record; every pod is a host. Pods ask to be on
// different nodes, and for the right to capture.

#pragma once

#include <string>

namespace tw::cluster {

struct ManifestOptions {
  std::string name = "trainwire";  ///< of the objects: made into what Kubernetes allows
  std::string image;               ///< that has the program in its PATH
  std::string experiment;          ///< text of the file
  std::string token;               ///< 32 hexadecimal digits
  int hosts = 1;
  int port = 29600;
  bool shapes = false;  ///< pods' devices, as the experiment asks
};

/// Throws SpecError for an image with characters that names of images do not have.
std::string kubernetes_manifest(const ManifestOptions& options);

/// A lower-case letter, then such, digits and dashes, as names of objects must be.
std::string object_name(const std::string& text);

}  // namespace tw::cluster
