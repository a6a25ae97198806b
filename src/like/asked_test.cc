// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/error.h"
#include "trainwire/like/like.h"
#include "trainwire/like/test_records.h"

#include <gtest/gtest.h>

namespace tw::like {
namespace {

TEST(Asked, is_what_was_written) {
  const spec::Experiment experiment = parsed(R"toml(
name = "all kinds of keys"
[network]
hosts = 5
topology = "dumbbell"
left = 2
rate = "1.25Gbit"
delay = "150us"
loss = "0.1%"
queue = "max(2bdp, 100KiB)"
ecn = "60KiB"
socket_buffer = "1MiB"
[[network.link]]
at = "host1"
direction = "to_host"
rate = "120Mbit"
queue = "3bdp"
[[network.link]]
at = "core"
delay = "2ms"
[[job]]
framework = "horovod"
model = "resnet50"
compute_time = "12.5ms"
compute_jitter = "3%"
straggler = "host2"
straggler_factor = 1.7
hosts = ["host0", "host1", "host2"]
[[job]]
name = "second"
model = "mlp"
widths = [784, 100, 10]
strategy = "ps"
hosts = ["host3", "host4"]
start = "1s"
[[traffic]]
kind = "constant"
from = "host0"
to = "host4"
load = "30%"
[[traffic]]
kind = "long"
from = "host4"
to = "host0"
load = "200Mbit"
[[fault]]
kind = "slow"
link = "host0"
at = "1s"
for = "500ms"
rate = "10Mbit"
[run]
seed = 7
scale = 4
)toml");
  EXPECT_EQ(asked_experiment(record_of(experiment)), experiment);
}

TEST(Asked, keeps_what_the_command_line_set) {
  const std::vector<spec::Override> overrides{{.key = "network.rate", .value = "2Gbit"}};
  const spec::Experiment experiment =
      spec::parse("[network]\nrate = \"1Gbit\"\n[job]\nparameters = \"4MB\"\n", "test",
                  workload::vocabulary(), overrides);
  const spec::Experiment asked = asked_experiment(record_of(experiment));
  EXPECT_EQ(*asked.network.link.rate, BitRate(2e9));
  // What was derived is derived again, so that it follows when something else is changed.
  EXPECT_EQ(asked.jobs.at(0).ranks.origin, spec::Origin::Derived);
}

TEST(Asked, says_that_there_is_none) { EXPECT_THROW(asked_experiment(record::Run{}), DataError); }

}  // namespace
}  // namespace tw::like
