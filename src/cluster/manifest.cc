// SPDX-License-Identifier: Apache-2.0
#include "trainwire/cluster/manifest.h"

#include "trainwire/base/error.h"
#include "trainwire/base/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <string_view>

namespace tw::cluster {
namespace {

constexpr std::size_t kMostName = 50;  // a pod's name adds its number and five letters, of 63

std::string indented(const std::string& text, int blanks) {
  std::string result;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    result += line.empty() ? "\n" : fmt::format("{:{}}{}\n", "", blanks, line);
  }
  return result;
}

constexpr const char* kObjects = R"(apiVersion: v1
kind: Secret
metadata:
  name: "{name}"
stringData:
  token: "{token}"
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: "{name}"
data:
  experiment.toml: |
{experiment}---
apiVersion: v1
kind: Service
metadata:
  name: "{name}"
spec:
  clusterIP: None
  publishNotReadyAddresses: true
  selector:
    job-name: "{name}"
---
apiVersion: batch/v1
kind: Job
metadata:
  name: "{name}"
spec:
  completionMode: Indexed
  completions: {hosts}
  parallelism: {hosts}
  backoffLimit: 0
  template:
    metadata:
      labels:
        app: "{name}"
    spec:
      subdomain: "{name}"
      restartPolicy: Never
      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            - labelSelector:
                matchLabels:
                  app: "{name}"
              topologyKey: kubernetes.io/hostname
      containers:
        - name: host
          image: "{image}"
          command: ["/bin/sh", "-c"]
          args:
            - |
              if [ "$JOB_COMPLETION_INDEX" = 0 ]; then
                trainwire run /experiment/experiment.toml --launch wait --port {port}{shape} -o /tmp/job.run --json &
                run=$!
              fi
              trainwire host --join {name}-0.{name}:{port} || exit $?
              [ -z "$run" ] || wait "$run"
          env:
            - name: TRAINWIRE_TOKEN
              valueFrom:
                secretKeyRef:
                  name: "{name}"
                  key: token
          securityContext:
            capabilities:
              add: [{rights}]
          volumeMounts:
            - name: experiment
              mountPath: /experiment
      volumes:
        - name: experiment
          configMap:
            name: "{name}"
)";

}  // namespace

std::string object_name(const std::string& text) {
  std::string name;
  for (const char c : text) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    const bool is_capital = c >= 'A' && c <= 'Z';
    if (is_letter) name += c;
    if (is_capital) name += static_cast<char>(c - 'A' + 'a');
    if (!is_letter && !is_capital && !name.empty() && name.back() != '-') name += '-';
  }
  // A Service's begins with a letter.
  if (!name.empty() && name.front() >= '0' && name.front() <= '9') name.insert(0, "job-");
  name.resize(std::min(name.size(), kMostName));
  while (name.ends_with('-')) name.pop_back();
  return name.empty() ? "trainwire" : name;
}

std::string kubernetes_manifest(const ManifestOptions& options) {
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/:@-";
  if (options.image.empty() || options.image.find_first_not_of(kAllowed) != std::string::npos) {
    throw SpecError(
        fmt::format("--image: \"{}\" is no image; write REGISTRY/NAME:TAG, of letters, digits and "
                    "._/:@- alone",
                    printable(options.image)));
  }
  return fmt::format(
      kObjects, fmt::arg("name", object_name(options.name)), fmt::arg("token", options.token),
      fmt::arg("experiment", indented(options.experiment, 4)), fmt::arg("hosts", options.hosts),
      fmt::arg("image", options.image), fmt::arg("port", options.port),
      fmt::arg("shape", options.shapes ? " --shape" : ""),
      fmt::arg("rights", options.shapes ? "\"NET_RAW\", \"NET_ADMIN\"" : "\"NET_RAW\""));
}

}  // namespace tw::cluster
