// SPDX-License-Identifier: Apache-2.0
#include "trainwire/readers/read.h"

#include <gmock/gmock.h>

namespace tw::readers {
namespace {

using operations::Told;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Of each step, in milliseconds.
std::vector<double> times_of(std::string_view text) {
  const Told told = read_text(text, "log");
  EXPECT_EQ(told.kind, "pace_log") << text;
  std::vector<double> times;
  for (const operations::Step& step : told.steps)
    times.push_back(1e-6 * static_cast<double>(step.duration_ns));
  return times;
}

// torchvision 0.20's references; DETR, DeiT and MAE have copies of the logger.
TEST(PaceLog, ReadsTheLoggerOfTorchvision) {
  EXPECT_THAT(
      times_of("Epoch: [0]  [   0/5005]  eta: 5:12:33  lr: 0.1  img/s: 68.3  loss: 7.01 (7.01)  "
               "time: 3.7471  data: 2.8100  max mem: 5000\n"
               "Epoch: [0]  [  10/5005]  eta: 0:52:33  lr: 0.1  img/s: 1000.3  loss: 7.01 (7.01)  "
               "time: 0.5471  data: 0.2100  max mem: 5000\n"
               "Test:  [  0/196]  eta: 0:02:02  loss: 0.9 (0.9)  acc1: 80.0 (80.0)  time: 0.6250  "
               "data: 0.4510  max mem: 5000\n"),
      ElementsAre(3747.1, 547.1));
  const Told dino = read_text(
      "Epoch: [3/100]  [  40/1251]  eta: 0:10:11  loss: 1.8 (1.8)  time: 0.4727  data: 0.0001  max "
      "mem: 5000\n",
      "log");
  ASSERT_EQ(dino.steps.size(), 1U);
  EXPECT_EQ(dino.steps[0].number, 40);
}

// Swin Transformer's main.py.
TEST(PaceLog, ReadsSwin) {
  EXPECT_THAT(
      times_of("[2022-01-01 12:00:00 swin_tiny](main.py 213): INFO Train: [0/300][0/1251]\teta "
               "1:12:33 lr 0.000001\ttime 3.4567 (3.4567)\tloss 6.9 (6.9)\tmem 11000MB\n"
               "[2022-01-01 12:00:05 swin_tiny](main.py 213): INFO Train: [0/300][10/1251]\teta "
               "0:12:33 lr 0.000001\ttime 0.4567 (0.7567)\tloss 6.9 (6.9)\tmem 11000MB\n"),
      ElementsAre(3456.7, 456.7));
}

// verl 0.4: each metric behind its name, of which one is the step's time.
TEST(PaceLog, ReadsVerl) {
  const Told told = read_text(
      "\x1b[36m(TaskRunner pid=77)\x1b[0m step:0 - val-core/gsm8k/acc/mean@1:0.508\n"
      "\x1b[36m(TaskRunner pid=77)\x1b[0m step:1 - actor/entropy:0.323 - training/global_step:1 - "
      "timing_s/gen:20.5 - timing_s/step:40.25 - timing_per_token_ms/gen:0.13 - "
      "perf/time_per_step:40.25 - perf/throughput:524.4\n"
      "\x1b[36m(TaskRunner pid=77)\x1b[0m step:2 - actor/entropy:0.323 - timing_s/gen:20.5 - "
      "timing_s/step:42.5 - perf/time_per_step:42.5\n",
      "log");
  ASSERT_EQ(told.steps.size(), 2U);
  EXPECT_EQ(told.steps[0].number, 1);
  EXPECT_EQ(told.steps[0].duration_ns, 40'250'000'000);
  EXPECT_EQ(told.steps[1].duration_ns, 42'500'000'000);
}

TEST(PaceLog, ReadsWhatOthersPrintOfAStep) {
  // build-nanogpt; nanochat has the same behind other words.
  EXPECT_THAT(
      times_of("step    10 | loss: 6.5 | lr 1.2e-05 | norm: 2.2 | dt: 338.32ms | tok/sec: 1549\n"
               "step    11 | loss: 6.4 | lr 1.2e-05 | norm: 2.2 | dt: 337.25ms | tok/sec: 1549\n"),
      ElementsAre(338.32, 337.25));
  // llm.c in its first weeks.
  EXPECT_THAT(
      times_of("step   10/37: train loss 4.325169 (acc 4.325169) (62.32 ms, 65723 tok/s)\n"),
      ElementsAre(62.32));
  // LitGPT 0.5: the time is of an iteration, of which a step has several.
  EXPECT_THAT(
      times_of(
          "Epoch 1 | iter 7 step 3 | loss train: 10.9, val: n/a | iter time: 234.50 ms\n"
          "Epoch 1 | iter 8 step 4 | loss train: 10.9, val: n/a | iter time: 250.25 ms (step)\n"),
      ElementsAre(234.5, 250.25));
  // Transformer-XL.
  EXPECT_THAT(
      times_of("| epoch   1 step      200 |    200 batches | lr 0.00025 | ms/batch 412.50 | "
               "loss  7.10 | ppl   1211.9\n"),
      ElementsAre(412.5));
  // TensorFlow 1's examples and DLRM: the number stands before its unit.
  EXPECT_THAT(times_of("step 10, loss = 4.67 (254.2 examples/sec; 0.504 sec/batch)\n"
                       "step 20, loss = 4.61 (256.0 examples/sec; 0.500 sec/batch)\n"),
              ElementsAre(504, 500));
  EXPECT_THAT(times_of("Finished training it 1024/306969 of epoch 0, 12.34 ms/it, loss 0.512\n"),
              ElementsAre(12.34));
  // MindSpore's examples; and others, whose unit is told.
  EXPECT_THAT(times_of("[train] epoch 2, step: 149, time: 347ms/step, loss: 0.60761726\n"),
              ElementsAre(347));
  EXPECT_THAT(times_of("epoch: 000 | step: 00100 | step_time: 350ms\n"), ElementsAre(350));
  EXPECT_THAT(times_of("epoch: 000 | step: 00100 | step_time: 0.35\n"), ElementsAre(350));
  // ESPnet 2: iter_time is what loading takes.
  EXPECT_THAT(times_of("1epoch:train:1-500batch: iter_time=0.123, forward_time=0.234, loss=90.1, "
                       "backward_time=0.201, optim_step_time=0.011, optim0_lr0=5.0e-06, "
                       "train_time=0.612\n"),
              ElementsAre(612));
  // Megatron Bridge and NeMo RL.
  EXPECT_THAT(times_of("Step Time : 12.5s GPU utilization: 380.2MODEL_TFLOP/s/GPU\n"),
              ElementsAre(12'500));
  EXPECT_THAT(times_of("  - Total step time: 40.25s\n"), ElementsAre(40'250));
  // PaddleNLP.
  EXPECT_THAT(times_of("global step 100, epoch: 0, batch: 99, loss: 9.1, avg_reader_cost: 0.00012 "
                       "sec, avg_batch_cost: 0.45 sec, speed: 2.2 steps/sec\n"),
              ElementsAre(450));
}

// modded-nanogpt: the clock stands still while it validates, and both lines tell it.
TEST(PaceLog, TimesSinceTheBeginningAreSubtracted) {
  EXPECT_THAT(times_of("step:0/1770 val_loss:10.8258 train_time:0ms step_avg:0.02ms\n"
                       "step:1/1770 train_time:268ms step_avg:268.00ms\n"
                       "step:2/1770 train_time:290ms step_avg:145.00ms\n"
                       "step:4/1770 train_time:334ms step_avg:83.50ms\n"
                       "step:4/1770 val_loss:9.1 train_time:334ms step_avg:83.50ms\n"
                       "step:5/1770 train_time:356ms step_avg:71.20ms\n"),
              ElementsAre(268, 22, 22, 22, 22));
  // LLaMA-Factory's trainer_log.jsonl tells whole seconds.
  EXPECT_THAT(
      times_of("{\"current_steps\": 10, \"total_steps\": 30, \"loss\": 1.2, \"elapsed_time\": "
               "\"0:00:30\", \"remaining_time\": \"0:01:00\"}\n"
               "{\"current_steps\": 12, \"total_steps\": 30, \"loss\": 1.1, \"elapsed_time\": "
               "\"0:01:00\", \"remaining_time\": \"0:01:30\"}\n"),
      ElementsAre(15'000, 15'000));
  // ms-swift 3 tells steps a second since the beginning: 10 steps in 100 s, 12 in 150 s.
  EXPECT_THAT(times_of("{'loss': 1.2, 'global_step/max_steps': '10/873', 'elapsed_time': '1m 40s', "
                       "'train_speed(iter/s)': 0.1}\n"
                       "{'loss': 1.1, 'global_step/max_steps': '12/873', 'elapsed_time': '2m 30s', "
                       "'train_speed(iter/s)': 0.08}\n"),
              ElementsAre(25'000, 25'000));
}

TEST(PaceLog, BarsCallStepsByOtherNames) {
  EXPECT_THAT(times_of("Training:  11%|# | 555/5000 [05:03<1:06:38,  1.25step/s, loss=5.68]\r"
                       "Training:  11%|# | 556/5000 [05:04<1:06:38,  1.25step/s, loss=5.68]\n"),
              ElementsAre(800));
  EXPECT_THAT(times_of(" 1%|  | 10/5000 [02:30<5:21:42,  3.50s/batch]\r 1%|  | 11/5000 "
                       "[02:33<5:21:42,  3.50s/batch]\n"),
              ElementsAre(3500));
}

TEST(PaceLog, OtherBarsAreNotTheTrainings) {
  // transformers 4.46: checkpoints are loaded under a bar, and an evaluation has its own length.
  EXPECT_THAT(
      times_of(
          "Loading checkpoint shards: 100%|####| 2/2 [00:05<00:00,  2.50s/it]\n"
          " 10%|# | 10/100 [00:12<01:48,  1.20s/it]\r 11%|# | 11/100 [00:13<01:48,  1.25s/it]\n"
          "100%|####| 2/2 [00:01<00:00,  0.50s/it]\n"
          " 12%|# | 12/100 [00:14<01:48,  1.25s/it]\n"),
      ElementsAre(1250, 1250));
  // Lightning 2.4.
  EXPECT_THAT(times_of("Sanity Checking DataLoader 0: 100%|####| 2/2 [00:00<00:00,  9.00it/s]\n"
                       "Epoch 0:  50%|##  | 50/100 [00:25<00:25,  2.00it/s, v_num=3]\n"
                       "Epoch 0:  51%|##  | 51/100 [00:25<00:25,  2.00it/s, v_num=3]\n"
                       "Validation DataLoader 0:   1%|  | 1/100 [00:00<00:01, 90.00it/s]\n"
                       "Validation DataLoader 0:   2%|  | 2/100 [00:00<00:01, 90.00it/s]\n"),
              ElementsAre(500));
  const Told told =
      read_text("Loading checkpoint shards: 100%|####| 2/2 [00:05<00:00,  2.50s/it]\n", "log");
  EXPECT_THAT(told.steps, IsEmpty());
}

// As transformers 4.46 prints it at the end, saves it as JSON, and tells it in words.
TEST(PaceLog, TheMeanOfTheWholeTrainingCountsWhereNothingElseIsTold) {
  for (const std::string_view text :
       {"{'loss': 2.1, 'epoch': 0.5}\n{'train_runtime': 120.0, 'train_samples_per_second': 80.0, "
        "'train_steps_per_second': 2.5, 'train_loss': 2.1, 'epoch': 1.0}\n",
        "{\n    \"epoch\": 1.0,\n    \"train_runtime\": 120.0,\n    \"train_steps_per_second\": "
        "2.5\n}\n",
        "***** train metrics *****\n  train_runtime            = 0:02:00.00\n"
        "  train_steps_per_second   =        2.5\n"}) {
    EXPECT_THAT(times_of(text), ElementsAre(400)) << text;
    EXPECT_THAT(read_text(text, "log").reasons, Contains(HasSubstr("the mean of the whole")));
  }
}

// As DeepSpeed 0.15 prints it with wall_clock_breakdown.
TEST(PaceLog, PhasesOfDeepSpeedAreAStepWithoutLoading) {
  const std::string text =
      "[2024-05-01 12:00:10,000] [INFO] [logging.py:96:log_dist] [Rank 0] time (ms) | "
      "fwd_microstep: 60.25 | bwd_microstep: 125.15 | bwd_inner_microstep: 100 | "
      "bwd_allreduce_microstep: 25 | step_microstep: 30.20\n"
      "[2024-05-01 12:00:10,000] [INFO] [logging.py:96:log_dist] [Rank 0] time (ms) | fwd: 120.50 "
      "| "
      "bwd: 250.30 | bwd_inner: 200.20 | bwd_allreduce: 50.10 | step: 30.20\n";
  EXPECT_THAT(times_of(text), ElementsAre(401));
  EXPECT_THAT(read_text(text, "log").reasons, ElementsAre(HasSubstr("loading of data")));
}

}  // namespace
}  // namespace tw::readers
