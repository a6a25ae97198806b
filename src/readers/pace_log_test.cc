// SPDX-License-Identifier: Apache-2.0
#include "trainwire/readers/read.h"

#include <gmock/gmock.h>

namespace tw::readers {
namespace {

using operations::Told;
using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

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
TEST(PaceLog, TheCommandOfTensorFlowsBenchmarksTellsTheBatch) {
  const std::string rows =
      "Step\tImg/sec\tloss\n1\timages/sec: 400.0 +/- 0.0 (jitter = 0.0)\t7.1\n"
      "10\timages/sec: 500.0 +/- 1.0 (jitter = 0.0)\t7.0\n";
  const operations::Told told = read_text(
      "python tf_cnn_benchmarks.py --num_gpus=2 --batch_size=50 --model=resnet50\n" + rows, "x");
  ASSERT_EQ(told.steps.size(), 2U);
  EXPECT_EQ(told.steps[0].duration_ns, 250'000'000);  // 100 images at 400 a second
  EXPECT_EQ(told.steps[1].duration_ns, 200'000'000);
  EXPECT_TRUE(read_text("python other.py --batch_size=50\n" + rows, "x").steps.empty());
}

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

// NumPy 2 says of its numbers what they are; verl's file logger writes JSON lines.
TEST(PaceLog, ReadsVerlsOtherNumbers) {
  EXPECT_THAT(times_of("(TaskRunner pid=7) step:1 - timing_s/gen:20.5 - timing_s/step:47.1\n"
                       "(TaskRunner pid=7) step:2 - timing_s/gen:20.5 - "
                       "timing_s/step:np.float64(56.5) - perf/time_per_step:56.5\n"),
              ElementsAre(47'100, 56'500));
  EXPECT_THAT(
      times_of("{\"step\": 1, \"data\": {\"timing_s/gen\": 20.5, \"timing_s/step\": 47.1}}\n"
               "{\"step\": 2, \"data\": {\"timing_s/gen\": 20.5, \"timing_s/step\": 46.5}}\n"),
      ElementsAre(47'100, 46'500));
}

// As Weights & Biases exports a chart, of two runs; and a logger's own table.
TEST(PaceLog, ReadsAMetricInATable) {
  EXPECT_THAT(
      times_of(
          "\"Step\",\"a - timing_s/step\",\"a - timing_s/step__MIN\",\"b - timing_s/step\"\n"
          "\"1\",\"47.1\",\"47.1\",\"\"\n\"2\",\"\",\"\",\"9\"\n\"3\",\"46.5\",\"46.5\",\"9\"\n"),
      ElementsAre(47'100, 46'500));
  EXPECT_THAT(times_of("epoch,step,train/loss,perf/step_time_ms\n0,10,0.7,250.5\n0,20,0.6,251\n"),
              ElementsAre(250.5, 251));
  EXPECT_THAT(times_of("iteration,consumed_tokens,elapsed_time_per_iteration_ms,lm_loss\n"
                       "1,4190000.0,41200.0,11.1\n2,8390000.0,20400.0,11.1\n"),
              ElementsAre(41200, 20400));
  EXPECT_THAT(read_text("epoch,step,train_loss\n0,10,0.7\n0,20,0.6\n", "metrics.csv").steps,
              IsEmpty());
}

// Of TFLearn: the unit stands behind the number.
TEST(PaceLog, WordsMayBeginWithACapital) {
  EXPECT_THAT(times_of("Training Step: 8  | total loss: 2.03040 | time: 0.275s\n"
                       "| Adam | epoch: 001 | loss: 2.03040 - acc: 0.2720 -- iter: 00512/55000\n"
                       "Training Step: 9  | total loss: 1.94953 | time: 0.186s\n"),
              ElementsAre(275, 186));
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

// OpenRLHF 0.5: what gathers experience and what trains have bars of the same length.
TEST(PaceLog, BarsOfOneLengthAreToldApartByTheirNames) {
  EXPECT_THAT(times_of("Train epoch [1/1]:   6%|#  | 1/16 [00:02<00:30,  2.00s/it, pg=0.01]\n"
                       "Reward model:   6%|#  | 1/16 [00:09<01:15,  9.00s/it]\n"
                       "Train epoch [1/1]:  12%|#  | 2/16 [00:04<00:30,  2.00s/it, pg=0.01]\n"
                       "make_experience:  12%|#  | 2/16 [00:10<01:15,  5.05s/it]\n"
                       "Train epoch [1/1]:  18%|#  | 3/16 [00:06<00:30,  2.00s/it, pg=0.01]\n"
                       "Reward model:  12%|#  | 2/16 [00:18<01:15,  9.00s/it]\n"),
              ElementsAre(2000, 2000));
}

TEST(PaceLog, BarsMayHaveNoEnd) {
  EXPECT_THAT(times_of("Epoch 3: : 10it [00:20,  0.50it/s, loss=0.111, v_num=0]\n"
                       "Validating: 1it [00:01,  1.00it/s]\nValidating: 2it [00:02,  1.00it/s]\n"
                       "Epoch 3: : 12it [00:24,  0.50it/s, loss=0.110, v_num=0]\n"),
              ElementsAre(2000, 2000));
  const Told files = read_text("10it [00:20,  0.50it/s]\n12it [00:24,  0.50it/s]\n", "log");
  EXPECT_THAT(files.steps, IsEmpty());
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

// Lines as nanoGPT, NeMo, MaxText, MMEngine, llm.c and PyTorch's ImageNet example print them.
TEST(PaceLog, ReadsATimeBesideAStepsNumber) {
  const auto expect = [](const std::string& first, const std::string& second) {
    const Told told = read_text(first + "\n" + second + "\n", "x.log");
    EXPECT_EQ(told.kind, "pace_log") << first;
    ASSERT_EQ(told.steps.size(), 2U) << first;
    EXPECT_EQ(told.steps[0].number, 10) << first;
    EXPECT_EQ(told.steps[0].duration_ns, 250'000'000) << first;
    EXPECT_EQ(told.steps[1].duration_ns, 300'000'000) << first;
  };
  expect("iter 10: loss 10.1, time 250.00ms, mfu -100.00%",
         "iter 20: loss 9.6, time 300.0ms, mfu 34.21%");
  expect("Training epoch 0, iteration 10/99 | global_step: 10 | train_step_timing in s: 0.25",
         "Training epoch 0, iteration 11/99 | global_step: 11 | train_step_timing in s: 0.3");
  expect("completed step: 10, seconds: 0.250, TFLOP/s/device: 204.1, loss: 10.7",
         "completed step: 11, seconds: 0.3, TFLOP/s/device: 204.1, loss: 10.7");
  expect("Epoch(train)  [1][  10/7330]  eta: 9:50:00  time: 0.2500  data_time: 0.0071  loss: 1.9",
         "Epoch(train)  [1][  20/7330]  eta: 9:50:00  time: 0.3000  data_time: 0.0071  loss: 1.9");
  expect("step   10/18865 | loss 11.009 (+nanz)| lr 8.57e-07 | 250.00 ms | 42.6% bf16 MFU",
         "step   11/18865 | loss 11.009 (+nanz)| lr 8.57e-07 | 300.00 ms | 42.6% bf16 MFU");
  expect("Epoch: [0][  10/5005]\tTime  0.250 ( 0.741)\tData  0.000 ( 0.282)\tLoss 7.0e+00",
         "Epoch: [0][  20/5005]\tTime  0.300 ( 0.741)\tData  0.000 ( 0.282)\tLoss 7.0e+00");
  expect(
      "[01/01 12:00:05 d2.utils.events]:  eta: 1:00:00  iter: 10  time: 0.2500  data_time: 0.0123",
      "[01/01 12:00:10 d2.utils.events]:  eta: 1:00:00  iter: 30  time: 0.3000  data_time: 0.0123");
  expect(
      "Train: 0 [  10/1251 (  1%)]  Loss: 6.9 (6.95)  Time: 0.250s, 2968.1/s  (0.451s, 2270.5/s)",
      "Train: 0 [  20/1251 (  2%)]  Loss: 6.9 (6.95)  Time: 0.300s, 2968.1/s  (0.451s, 2270.5/s)");
  expect("\x1b[36mstep\x1b[0m 10 | loss 10.1 | time \x1b[1;31m250 ms\x1b[0m",
         "\x1b[36mstep\x1b[0m 11 | loss 10.1 | time \x1b[1;31m300 ms\x1b[0m");
  expect("[default0]:step 10 | loss 10.1 | time 250 ms",
         "[default0]:step 11 | loss 10.1 | time 300 ms");
  // A time of day, another work's time, and no unit are none.
  for (const std::string line :
       {"step 3 at time 12:34:56", "step 3 eval time 2.1 s", "step 3 time 5"}) {
    EXPECT_TRUE(read_text(line + "\n", "x.log").steps.empty()) << line;
  }
}

TEST(PaceLog, ReadsJsonLinesAndKeras) {
  const Told json = read_text(
      "{\"step\": 1, \"loss\": 2.1, \"step_time\": 0.25}\n{\"step\": 2, \"loss\": 2.1, "
      "\"step_time\": "
      "0.5}\n",
      "x.jsonl");
  EXPECT_EQ(json.kind, "pace_log");
  ASSERT_EQ(json.steps.size(), 2U);
  EXPECT_EQ(json.steps[1].number, 2);
  EXPECT_EQ(json.steps[1].duration_ns, 500'000'000);
  const Told keras = read_text(
      "Epoch 1/2\n1/4 [>....] - ETA: 10s\b\b\b4/4 [=====] - 1s 250ms/step - loss: 2.0\n", "x.log");
  ASSERT_EQ(keras.steps.size(), 4U);
  EXPECT_EQ(keras.steps[3].duration_ns, 250'000'000);
}

TEST(PaceLog, ReadsStepsASecondAndImagesASecond) {
  const auto expect = [](const std::string& text) {
    const Told told = read_text(text, "x.log");
    EXPECT_EQ(told.kind, "pace_log") << text;
    ASSERT_EQ(told.steps.size(), 2U) << text;
    EXPECT_EQ(told.steps[0].number, 10) << text;
    EXPECT_EQ(told.steps[0].duration_ns, 250'000'000) << text;
    EXPECT_EQ(told.steps[1].duration_ns, 500'000'000) << text;
  };
  expect(
      "2021-01-01 12:00:05 | INFO | train_inner | {\"epoch\": 1, \"ups\": \"4\", \"num_updates\": "
      "\"10\"}\n"
      "2021-01-01 12:00:45 | INFO | train_inner | {\"epoch\": 1, \"ups\": \"2\", \"num_updates\": "
      "\"20\"}\n");
  expect(
      "[batch=10/4800]:\n\t Train throughput/batches_per_sec: 4.0\n[batch=11/4800]:\n\t Train "
      "throughput/batches_per_sec: 2.0\n");
  expect("Batch size: 32\nIter #10: 128.0 img/sec per GPU\nIter #11: 64.0 img/sec per GPU\n");
  expect("Batch size:  64 global\n10\timages/sec: 256.0 +/- 0.1\n20\timages/sec: 128.0 +/- 0.1\n");
}

TEST(PaceLog, ReadsWhatTrainersPrint) {
  const Told megatron = read_text(
      " iteration       10/     100 | consumed samples: 80 | elapsed time per iteration (ms): "
      "512.5 | lm loss: 9\n"
      " iteration       20/     100 | consumed samples: 160 | elapsed time per iteration (ms): "
      "500.0 | lm loss: 8\n",
      "log");
  EXPECT_EQ(megatron.kind, "pace_log");
  ASSERT_THAT(megatron.steps, SizeIs(2));
  EXPECT_EQ(megatron.steps[0].number, 10);
  EXPECT_EQ(megatron.steps[0].duration_ns, 512'500'000);
  const Told bar = read_text(
      "  3%|3 | 10/300 [00:12<05:50,  1.21s/it]\r  4%|4 | 12/300 [00:15<05:50,  1.25s/it]\n",
      "log");
  EXPECT_EQ(bar.kind, "pace_log");
  ASSERT_THAT(bar.steps, SizeIs(2));
  EXPECT_EQ(bar.steps[0].duration_ns, 1'250'000'000);
}

TEST(PaceLog, ReadsStepsASecondOfEstimators) {
  const Told told = read_text(
      "I1118 10:00:01.100000 140 basic_session_run_hooks.py:692] global_step/sec: 2.5\n"
      "I1118 10:00:41.100000 140 basic_session_run_hooks.py:692] global_step/sec: 2\n",
      "log");
  EXPECT_EQ(told.kind, "pace_log");
  ASSERT_THAT(told.steps, SizeIs(2));
  EXPECT_EQ(told.steps[0].duration_ns, 400'000'000);
  EXPECT_EQ(told.steps[1].duration_ns, 500'000'000);
}

TEST(PaceLog, TakesLettersBehindNumbersForThousands) {
  const Told told = read_text(
      "iteration: 1 / 20 | consumed_tokens: 1.05M | elapsed_time_per_iteration_ms: 25.3K | "
      "tokens_per_sec: 41.4K\n"
      "iteration: 2 / 20 | consumed_tokens: 2.1M | elapsed_time_per_iteration_ms: 793 | "
      "tokens_per_sec: 132K\n",
      "log");
  EXPECT_EQ(told.kind, "pace_log");
  ASSERT_THAT(told.steps, SizeIs(2));
  EXPECT_EQ(told.steps[0].duration_ns, 25'300'000'000);
  EXPECT_EQ(told.steps[1].duration_ns, 793'000'000);
}

// The last line of a log of PyTorch Lightning 2.6.6 whose bar was drawn by rich.
TEST(PaceLog, ReadsBarsThatRichDraws) {
  const Told told = read_text(
      "`Trainer.fit` stopped: `max_epochs=2` reached.\n"
      "Epoch 1/1  \xe2\x94\x81\xe2\x94\x81\xe2\x94\x81 120/120 0:00:00 \xe2\x80\xa2 0:00:00 "
      "351.08it/s loss: 0.326\n",
      "log");
  EXPECT_EQ(told.kind, "pace_log");
  ASSERT_THAT(told.steps, SizeIs(1));
  EXPECT_NEAR(1e-9 * static_cast<double>(told.steps[0].duration_ns), 1 / 351.08, 1e-8);
}

TEST(PaceLog, RatesWithTheirUnitsBehindAreOfSteps) {
  const Told caffe = read_text(
      "I0302 03:28:02.104485  8238 solver.cpp:242] Iteration 200 (100 iter/s, 2s/200 iter), loss = "
      "0.37\n"
      "I0302 03:28:04.104549  8238 solver.cpp:261]     Train net output #0: loss = 0.37\n",
      "log");
  ASSERT_THAT(caffe.steps, SizeIs(1));
  EXPECT_EQ(caffe.steps[0].duration_ns, 10'000'000);
  const Told paddle = read_text(
      "epoch: 4, progress: 1/1, step: 8720, loss: 8.08, ppl: 10.8, speed: 5.000 steps/s, file: a\n",
      "log");
  ASSERT_THAT(paddle.steps, SizeIs(1));
  EXPECT_EQ(paddle.steps[0].number, 8720);
  EXPECT_EQ(paddle.steps[0].duration_ns, 200'000'000);
}

TEST(PaceLog, MxnetsSpeedIsOfOneWorkersBatch) {
  const std::string speeds =
      "INFO:root:Node[0] Epoch[0] Batch [100]\tSpeed: 320.00 samples/sec\taccuracy=0.7\n"
      "INFO:root:Node[1] Epoch[0] Batch [100]\tSpeed: 321.00 samples/sec\taccuracy=0.7\n";
  const Told told = read_text(
      "INFO:root:start with arguments Namespace(batch_size=64, gpus=None)\n" + speeds, "log");
  ASSERT_THAT(told.steps, SizeIs(1));
  EXPECT_EQ(told.steps[0].number, 100);
  EXPECT_EQ(told.steps[0].duration_ns, 200'000'000);
  EXPECT_EQ(told.skipped, 1U);
  const Told alone = read_text(speeds, "log");
  EXPECT_THAT(alone.steps, IsEmpty());
}

TEST(PaceLog, LoopsOfReinforcementLearningTellWhatAnIterationTook) {
  const Told told = read_text(
      "                         Iteration time: 1.01s\n                       Steps per second: "
      "1581 \n                         Iteration time: 0.16s\n",
      "log");
  ASSERT_THAT(told.steps, SizeIs(2));
  EXPECT_EQ(told.steps[1].duration_ns, 160'000'000);
}

// As Megatron-DeepSpeed prints them: DeepSpeed's own line tells of the same step.
TEST(PaceLog, AStepThatTwoLinesTellOfCountsOnce) {
  const Told told = read_text(
      "[2024-03-07 15:20:02,646] [INFO] [config.py:996:print]   train_batch_size ............. "
      "768\n"
      "[2024-03-07 15:27:02,646] [INFO] [timer.py:260:stop] "
      "epoch=0/micro_step=199/global_step=199, "
      "RunningAvgSamplesPerSec=58.7, CurrSamplesPerSec=61.3, MemAllocated=6.01GB\n"
      "[2024-03-07 15:27:02][INFO][training:1609] -  iteration=     199/  317892 | "
      "consumed_samples=      152832 | elapsed_time_per_iteration_ms=14287.5 | lm loss=5.905366 "
      "|\n",
      "log");
  EXPECT_EQ(told.kind, "pace_log");
  ASSERT_THAT(told.steps, SizeIs(1));
  EXPECT_EQ(told.steps[0].number, 199);
  EXPECT_EQ(told.steps[0].duration_ns, 14'287'500'000);
  EXPECT_EQ(told.skipped, 1U);
}

// Sixteen seconds passed in two steps and the fourth is told to take 20 s: the first, of a minute, is still in that average.
TEST(PaceLog, ABarsAverageIsBoundedByTheTimeThatPassed) {
  const Told told = read_text(
      "  0%|  | 1/4000 [01:00<26:02:32, 60.00s/it]\n"
      "  0%|  | 2/4000 [01:08<13:28:05, 30.10s/it]\n"
      "  0%|  | 3/4000 [01:16<10:21:29, 20.00s/it]\n",
      "log");
  ASSERT_EQ(told.steps.size(), 2u);
  EXPECT_EQ(told.steps[0].duration_ns, 9'000'000'000);
  EXPECT_EQ(told.steps[1].duration_ns, 8'000'000'000);
}

TEST(PaceLog, AMeanThatIsRoundedAwaySaysSo) {
  // 1/0.0025 s and 1/0.0015 s.
  const Told rounded = read_text("{'train_steps_per_second': 0.002, 'epoch': 9.48}\n", "log");
  EXPECT_THAT(rounded.reasons, Contains(HasSubstr("a step took 6.667 min to 11.11 min")));
  const Told exact = read_text(
      "TrainOutput(global_step=50, training_loss=1.2, metrics={'train_runtime': 29130.84, "
      "'train_steps_per_second': 0.002})\n",
      "log");
  ASSERT_EQ(exact.steps.size(), 1u);
  EXPECT_NEAR(1e-9 * static_cast<double>(exact.steps[0].duration_ns), 29130.84 / 50, 1e-6);
}

// DeepSpeed before 2022 without its settings: samples a second are of no known batch, but its lines have stamps.
TEST(PaceLog, StampsTellWhatSamplesOfNoKnownBatchDoNot) {
  const Told told = read_text(
      "[2022-03-11 02:06:58,985] [INFO] [Rank 0] step=40, skipped=2\n"
      "[2022-03-11 02:06:58,985] [INFO] 0/40, SamplesPerSec=83.4\n"
      "[2022-03-11 02:07:13,985] [INFO] [Rank 0] step=50, skipped=2\n"
      "[2022-03-11 02:07:13,985] [INFO] 0/50, SamplesPerSec=83.7\n",
      "log");
  EXPECT_EQ(told.kind, "step_log");
  ASSERT_FALSE(told.steps.empty());
  EXPECT_EQ(told.steps.back().duration_ns, 1'500'000'000);
}

TEST(PaceLog, IterationsThatAreNoStepsAreCalledSo) {
  const Told told = read_text(
      "iter 1 step 0: loss 3.5, iter time: 94.7ms\n"
      "iter 2 step 1: loss 3.3, iter time: 244.9ms (optimizer.step)\n",
      "log");
  EXPECT_THAT(told.reasons, Contains(HasSubstr("iterations are parts of steps")));
}

// fairseq of 2019 tells one decimal: 0.1 is 0.05 to 0.15.
TEST(PaceLog, RatesThatAreRoundedAwaySaySo) {
  EXPECT_THAT(read_text("epoch 001: loss=13.6, ups=0.1, num_updates=98\n", "log").reasons,
              Contains(HasSubstr("rounded, by up to 50 %")));
  EXPECT_THAT(read_text("epoch 001: loss=13.6, ups=22.1, num_updates=98\n", "log").reasons,
              Not(Contains(HasSubstr("rounded"))));
}

TEST(PaceLog, BarsBehindTheTrainingsMeanAreOfWhatFollows) {
  EXPECT_THAT(times_of("  train_steps_per_second   =      0.064\n"
                       "100%|####| 1000/1000 [03:46<00:00,  4.42it/s]\n"),
              ElementsAre(15625));
}

// TF-Slim prints both, twice each.
TEST(PaceLog, StepsASecondAreNoStepsBesideOthers) {
  const Told told = read_text(
      "INFO:tensorflow:global step 1: loss = 79.3 (17.5 sec/step)\n"
      "INFO:tensorflow:global_step/sec: 0.0339311\n"
      "INFO:tensorflow:global step 2: loss = 72.8 (17.0 sec/step)\n",
      "log");
  ASSERT_EQ(told.steps.size(), 2u);
  EXPECT_EQ(told.steps[1].duration_ns, 17'000'000'000);
  EXPECT_THAT(told.reasons, Contains(HasSubstr("1 lines tell steps a second")));
}

// fairseq: updates a second have two decimals, or are those of the log's intervals.
TEST(PaceLog, WallTimesOfFairseqGoBeforeItsRates) {
  EXPECT_THAT(times_of("epoch 001:   200 / 16 loss=9.2, ups=0.04, num_updates=200, lr=2e-05, "
                       "train_wall=13, wall=1236\n"
                       "epoch 001:   300 / 16 loss=9.1, ups=0.04, num_updates=300, lr=2e-05, "
                       "train_wall=13, wall=1266\n"),
              AllOf(SizeIs(100), Each(300)));
  EXPECT_THAT(times_of("{\"ups\": \"2\", \"num_updates\": \"10\", \"wall\": \"12\"}\n"
                       "{\"ups\": \"2\", \"num_updates\": \"12\", \"wall\": \"13\"}\n"),
              ElementsAre(500, 500));
  // What its bar says goes before what rounding left of its rate.
  EXPECT_THAT(times_of("epoch 001:  0%| | 2/99 [00:02<3:21:57,  1.20s/it, ups=0.1, wall=33, tr\n"),
              ElementsAre(1200));
}

// Four processes draw their bars on one terminal.
TEST(PaceLog, BarsOfSeveralProcessesGoBackInTurn) {
  const Told told = read_text(
      "50/999 [02:25<9:05:31,  2.92s/it]\n48/999 [02:26<9:31:25,  3.06s/it]\n"
      "50/999 [02:28<9:14:55,  2.97s/it]\n49/999 [02:28<9:27:29,  3.04s/it]\n"
      "51/999 [02:29<9:06:06,  2.95s/it]\n",
      "log");
  ASSERT_EQ(told.steps.size(), 1u);
  EXPECT_EQ(told.steps[0].duration_ns, 2'950'000'000);
  EXPECT_THAT(told.reasons, Contains(HasSubstr("several processes")));
}

// 13 s passed in three steps, of which the average still tells 5.02, 4.79 and 4.62 s.
TEST(PaceLog, ABarsStepsTakeWhatPassedInAll) {
  EXPECT_THAT(times_of("281/873 [25:36<52:46,  5.35s/it]\n282/873 [25:40<49:29,  5.02s/it]\n"
                       "283/873 [25:44<47:06,  4.79s/it]\n284/873 [25:49<45:20,  4.62s/it]\n"),
              ElementsAre(5000, 4000, 4620));
}

TEST(PaceLog, RichTellsWhatPassedToo) {
  EXPECT_THAT(times_of("Epoch 0/1 ---- 10/120 0:00:40 \xe2\x80\xa2 0:07:00 0.25it/s loss: 0.326\n"
                       "Epoch 0/1 ---- 20/120 0:01:20 \xe2\x80\xa2 0:06:40 0.25it/s loss: 0.326\n"),
              AllOf(SizeIs(10), Each(4000)));
}

TEST(PaceLog, TheTrainingsMeanGoesBeforeABarThatStandsStill) {
  EXPECT_THAT(times_of("91%|###  | 567/620 [08:21<00:35,  1.49it/s\n"
                       "{'train_runtime': 557.5, 'train_steps_per_second': 1.25}\n"),
              ElementsAre(800));
}

// Ten iterations in five seconds, of which each is told to take 2.5.
TEST(PaceLog, TimesThatDidNotPassAreDoubted) {
  const Told told = read_text(
      "[2020/11/16 11:11:26] iter: 10, batch_cost: 2.5 s\n"
      "[2020/11/16 11:11:31] iter: 20, batch_cost: 2.5 s\n"
      "[2020/11/16 11:11:36] iter: 30, batch_cost: 2.5 s\n"
      "[2020/11/16 11:11:41] iter: 40, batch_cost: 2.5 s\n",
      "log");
  EXPECT_THAT(told.reasons, Contains(HasSubstr("allow 500 ms a step")));
}

TEST(PaceLog, ReadsBenchmarksOfColossalAi) {
  EXPECT_THAT(times_of("                    INFO     colossalai - INFO: Step time: 22.885  \n"
                       "Step:  20%|##        | 1/5 [00:22<01:31, 22.90s/it][08/30/23 07:07:54]\n"
                       "                    INFO     colossalai - INFO: Step time: 19.714  \n"),
              ElementsAre(22'885, 19'714));
}

// DeepSpeed of 2020: its lines have no word for a step.
TEST(PaceLog, StampsOfDeepSpeedsFractionsTellSteps) {
  const Told told = read_text(
      ">[INFO 2020-06-08 05:26:19] 0/2650, SamplesPerSec=13.19749106827976\n"
      "[INFO 2020-06-08 05:26:34] 0/2700, SamplesPerSec=13.198177991591365\n",
      "log");
  EXPECT_EQ(told.kind, "step_log");
  ASSERT_FALSE(told.steps.empty());
  EXPECT_EQ(told.steps.back().duration_ns, 300'000'000);
}

// ms-swift of 2024 does not tell how many steps there are; the speed counts what came before the first step.
TEST(PaceLog, ReadsMsSwift) {
  EXPECT_THAT(
      times_of("{'loss': 1.8, 'train_speed(iter/s)': 0.1, 'epoch': 0.01, 'global_step': 1}\n"
               "{'loss': 1.7, 'train_speed(iter/s)': 0.2, 'epoch': 0.05, 'global_step': 5}\n"),
      AllOf(SizeIs(4), Each(3750)));
  EXPECT_THAT(times_of("{'train_speed(iter/s)': 0.028, 'global_step/max_steps': '5/8724'}\n"
                       "Train:   0%|    | 5/8724 [02:25<69:44:50, 28.80s/it]mki_log log dir\n"),
              ElementsAre(28'800));
}

// A job that tries its network before it begins.
TEST(PaceLog, StepsBehindATableOfNcclTestsAreTold) {
  const Told told = read_text(
      "#       size         count      type   redop    root     time   algbw   busbw #wrong     "
      "time "
      "  algbw   busbw #wrong\n"
      "     2097152        524288     float     sum      -1    113.2   18.53   18.53      0    "
      "93.35  "
      " 22.46   22.46      0\n"
      " iteration       10/     100 | elapsed time per iteration (ms): 512.5 | lm loss: 9\n"
      " iteration       20/     100 | elapsed time per iteration (ms): 500.0 | lm loss: 8\n",
      "log");
  EXPECT_EQ(told.kind, "nccl_tests");
  EXPECT_THAT(told.operations, SizeIs(1));
  ASSERT_THAT(told.steps, SizeIs(2));
  EXPECT_EQ(told.steps[1].duration_ns, 500'000'000);
  EXPECT_EQ(told.records, 3U);
}

TEST(PaceLog, ReadsOpenClipAndSuperBench) {
  EXPECT_THAT(
      times_of("2023-06-29,15:45:36 | INFO | Train Epoch: 0 [  6464/109468 (3%)] Loss: 0.97 "
               "(1.0) Data (t): 0.158 Batch (t): 0.559, 36.0876/s LR: 0.000001\n"
               "2023-06-29,15:46:28 | INFO | Train Epoch: 0 [ 12864/109468 (6%)] Loss: 0.87 "
               "(1.0) Data (t): 0.113 Batch (t): 0.515, 78.8352/s LR: 0.000001\n"),
      ElementsAre(559, 515));
  EXPECT_THAT(times_of("INFO: Average train time - round: 0, model: bert, precision: float32, step "
                       "time: 636.25 ms.\n"),
              ElementsAre(636.25));
}

// iter_time is what loading took; the step's time is cut off.
TEST(PaceLog, ACutLineOfEspnetTellsNoStep) {
  EXPECT_THAT(times_of("1epoch:train:1-375batch: iter_time=0.001, forward_time=0.005, loss=1.3, "
                       "optim_step_time=1.9e-04, lr_0=0.1, train_time=0.014\n"
                       "1epoch:train:376-750batch: iter_time=0.001, forward_time=0.005, loss=1.3, "
                       "backward_tim"),
              ElementsAre(14));
}

TEST(PaceLog, ABarThatIsDrawnAgainLosesNoTime) {
  EXPECT_THAT(times_of("90%|##| 115/128 [08:40<00:59,  4.57s/it]\n90%|##| 115/128 [08:45<00:59,  "
                       "4.57s/it]\n91%|##| 116/128 [08:45<00:54,  4.57s/it]\n91%|##| 116/128 "
                       "[08:49<00:54,  4.57s/it]\n91%|##| 117/128 [08:49<00:50,  4.57s/it]\n"),
              ElementsAre(4570, 4570));
}

TEST(PaceLog, ALoneBarTellsItsAverage) {
  EXPECT_THAT(read_text("12/500 [32:55<38:39:10, 285.15s/it]\n", "log").reasons,
              ElementsAre(HasSubstr("one bar or line tells an average")));
}

// A sum at the end is no step, and hides none.
TEST(PaceLog, AMeanOfStepsIsNoStep) {
  EXPECT_THAT(times_of("281/873 [25:36<52:46,  4.00s/it]\n282/873 [25:40<49:29,  4.00s/it]\n"
                       "283/873 [25:44<47:06,  4.00s/it]\nAverage step time: 7.5 s\n"),
              ElementsAre(4000, 4000));
  EXPECT_THAT(times_of("Average step time: 7.5 s\n"), ElementsAre(7500));
}

TEST(PaceLog, TimesThatGrowWithTheStepsAreOfAClock) {
  const std::string clock =
      "Epoch: [1][100/900]\tGPU 1\tTime: 205.0\tLoss 6.0\n"
      "Epoch: [1][200/900]\tGPU 1\tTime: 405.0\tLoss 6.0\n"
      "Epoch: [1][200/900]\tGPU 0\tTime: 405.1\tLoss 6.0\n"
      "Epoch: [1][300/900]\tGPU 1\tTime: 605.0\tLoss 6.0\n"
      "Epoch: [1][400/900]\tGPU 1\tTime: 805.0\tLoss 6.0\n"
      "Epoch: [1][500/900]\tGPU 1\tTime: 1005.0\tLoss 6.0\n";
  EXPECT_THAT(times_of(clock), ElementsAre(2000, 2000, 2000, 2000));
  EXPECT_THAT(read_text(clock, "log").reasons, Contains(HasSubstr("as those since the start do")));
  EXPECT_THAT(times_of("step 11 time 0.50 s\nstep 12 time 0.51 s\nstep 13 time 0.52 s\n"
                       "step 14 time 0.53 s\nstep 15 time 0.54 s\n"),
              ElementsAre(500, 510, 520, 530, 540));
}

TEST(PaceLog, StampsTellStepsOfAnEpoch) {
  const Told told = read_text(
      "[2024-05-01 10:00:00,000] Epoch: [1/90][20/400] Data 0.1 Batch 0.8 (3.9)\n"
      "INFO:main:Epoch: [1/90][20/400] Data 0.1 Batch 0.8 (3.9)\n"
      "[2024-05-01 10:00:04,000] Epoch: [1/90][22/400] Data 0.1 Batch 0.7 (3.9)\n",
      "log");
  EXPECT_EQ(told.kind, "step_log");
  ASSERT_FALSE(told.steps.empty());
  EXPECT_EQ(told.steps.back().duration_ns, 2'000'000'000);
  EXPECT_THAT(
      times_of(
          "2024-05-01 10:00:00,000 - INFO - Epoch [1][10/90]\tlr: 0.1, time: 0.828, data_time: "
          "0.050\n2024-05-01 10:00:08,500 - INFO - Epoch [1][20/90]\tlr: 0.1, time: "
          "0.818, data_time: 0.046\n"),
      ElementsAre(828, 818));
}

}  // namespace
}  // namespace tw::readers
