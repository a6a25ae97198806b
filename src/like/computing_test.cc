// SPDX-License-Identifier: Apache-2.0
#include "trainwire/like/computing.h"

#include "trainwire/like/test_records.h"
#include "trainwire/result/test_folder.h"

#include <gmock/gmock.h>

namespace tw::like {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

Fitted fitted_to(const std::string& experiment, const std::string& table) {
  const result::TestFolder folder;
  folder.file("steps.csv", table);
  Fitted fitted;
  fitted.experiment = parsed(experiment);
  fit_computing(fitted, 0, computed_in(folder / "")["job0"]);
  return fitted;
}

TEST(Phases, computing_is_a_step_less_its_waiting_and_warm_up_does_not_count) {
  const result::TestFolder folder;
  folder.file("steps.csv", steps_table({50, 70}, 2));
  auto computed = computed_in(folder / "");
  ASSERT_EQ(computed["job0"].size(), 2U);
  ASSERT_EQ(computed["job0"][1].size(), 2U);
  EXPECT_EQ(computed["job0"][1][0].step, 0);
  EXPECT_DOUBLE_EQ(computed["job0"][1][0].s, 0.070);
}

TEST(Phases, ranks_that_log_no_waiting_tell_nothing) {
  const result::TestFolder folder;
  folder.file("steps.csv", "rank,step,phase,start_ns,end_ns,job,bucket,moved_bytes,queued_bytes\n" +
                               row(0, 0, "step", 1000, 1300));
  EXPECT_THAT(computed_in(folder / ""), IsEmpty());
  EXPECT_THAT(computed_in(folder / "nothing"), IsEmpty());
}

// 53 ms where 50 were asked for: the optimiser takes the rest.
TEST(Computing, takes_as_long_as_it_took) {
  const Fitted fitted = fitted_to(ring_text(), steps_table({53, 53, 53, 53}, 6));
  const spec::Job& job = fitted.experiment.jobs.front();
  EXPECT_EQ(**job.compute_time, std::chrono::milliseconds(53));
  EXPECT_FALSE(job.straggler->has_value());
  EXPECT_EQ(*job.compute_jitter, 0);
  EXPECT_THAT(fitted.constants,
              Contains(AllOf(Field(&Constant::name, "compute of job0"),
                             Field(&Constant::low, testing::DoubleNear(0.053, 1e-9)),
                             Field(&Constant::unit, "s"))));
  EXPECT_THAT(fitted.cannot, IsEmpty());
}

// 80 over 53.
TEST(Computing, a_host_that_takes_longer_is_a_straggler) {
  const Fitted fitted = fitted_to(ring_text(), steps_table({53, 53, 80, 53}, 6));
  const spec::Job& job = fitted.experiment.jobs.front();
  EXPECT_EQ(**job.compute_time, std::chrono::milliseconds(53));
  EXPECT_EQ(**job.straggler, "host2");
  EXPECT_NEAR(*job.straggler_factor, 80.0 / 53, 1e-6);
}

TEST(Computing, a_straggler_that_was_asked_for_is_one_as_far_as_it_was) {
  const std::string text = ring_text() + "straggler = \"host1\"\nstraggler_factor = 2\n";
  // 2 * 50, and 4 ms on every host.
  const Fitted fitted = fitted_to(text, steps_table({54, 104, 54, 54}, 6));
  const spec::Job& job = fitted.experiment.jobs.front();
  EXPECT_EQ(**job.compute_time, std::chrono::milliseconds(54));
  EXPECT_EQ(**job.straggler, "host1");
  EXPECT_NEAR(*job.straggler_factor, 104.0 / 54, 1e-6);
}

TEST(Computing, a_second_straggler_is_told_in_words) {
  const Fitted fitted = fitted_to(ring_text() + "ranks = 4\n", steps_table({53, 80, 70, 53}, 6));
  EXPECT_EQ(**fitted.experiment.jobs.front().straggler, "host1");
  EXPECT_THAT(fitted.cannot, ElementsAre(HasSubstr("host2 computes 1.1")));
}

TEST(Computing, that_is_not_logged_is_as_it_was_asked_for) {
  Fitted fitted;
  fitted.experiment = parsed(ring_text());
  fit_computing(fitted, 0, {});
  EXPECT_EQ(fitted.experiment, parsed(ring_text()));
  EXPECT_THAT(fitted.cannot, ElementsAre(HasSubstr("it is taken as asked")));
}

TEST(Computing, that_was_left_out_is_told) {
  const Fitted fitted =
      fitted_to("[network]\nhosts = 2\n[[job]]\nparameters = \"1MB\"\ncompute = \"none\"\n",
                steps_table({2, 2}, 6));
  EXPECT_EQ(**fitted.experiment.jobs.front().compute_time, std::chrono::milliseconds(2));
  EXPECT_THAT(fitted.cannot, ElementsAre(HasSubstr("does not compute")));
}

}  // namespace
}  // namespace tw::like
