// SPDX-License-Identifier: Apache-2.0
#include "trainwire/zoo/architectures.h"
#include "trainwire/zoo/net_builder.h"

#include <fmt/format.h>

namespace tw::zoo {
namespace {

constexpr Shape kImage{299, 299, 3};
constexpr Pool kReduce{.kernel = 3, .stride = 2};

/// A chain of convolutions (each normalised) that starts at the module's input.
struct Step {
  std::string name;
  Conv conv;
};
using Branch = std::vector<Step>;

Conv wide(int filters, Kernel kernel) { return {.filters = filters, .kernel = kernel}; }
Conv reducing(int filters) {
  return {.filters = filters, .kernel = 3, .stride = 2, .padding = Padding::Valid};
}

/// The body, written once for both libraries, which share its order and differ in names.
class Inception {
 public:
  enum class Naming { Keras, Torchvision };

  Inception(NetBuilder& net, Naming naming) : net_(net), naming_(naming) {}

  /// Keras numbers its unnamed layers in order of creation: conv2d, conv2d_1...
  void conv(const std::string& name, const Conv& conv) {
    const std::string suffix = created_ == 0 ? "" : fmt::format("_{}", created_);
    const bool keras = naming_ == Naming::Keras;
    net_.conv(keras ? "conv2d" + suffix : name + ".conv", conv);
    net_.batch_norm(keras ? "batch_normalization" + suffix : name + ".bn");
    ++created_;
  }

  void stem() {
    conv("Conv2d_1a_3x3", reducing(32));
    conv("Conv2d_2a_3x3", {.filters = 32, .kernel = 3, .padding = Padding::Valid});
    conv("Conv2d_2b_3x3", wide(64, 3));
    net_.pool(kReduce);
    conv("Conv2d_3b_1x1", wide(80, 1));
    conv("Conv2d_4a_3x3", {.filters = 192, .kernel = 3, .padding = Padding::Valid});
    net_.pool(kReduce);
  }

  /// 35x35.
  void module_a(const std::string& name, int pooled) {
    join(name, {{{"branch1x1", wide(64, 1)}},
                {{"branch5x5_1", wide(48, 1)}, {"branch5x5_2", wide(64, 5)}},
                {{"branch3x3dbl_1", wide(64, 1)},
                 {"branch3x3dbl_2", wide(96, 3)},
                 {"branch3x3dbl_3", wide(96, 3)}},
                {{"branch_pool", wide(pooled, 1)}}});
  }

  /// To 17x17; the pooled input joins unchanged.
  void module_b(const std::string& name) {
    join(name,
         {{{"branch3x3", reducing(384)}},
          {{"branch3x3dbl_1", wide(64, 1)},
           {"branch3x3dbl_2", wide(96, 3)},
           {"branch3x3dbl_3", reducing(96)}}},
         net_.shape().channels);
  }

  /// 17x17, factorised 7x7 convolutions of `filters`.
  void module_c(const std::string& name, int filters) {
    join(name, {{{"branch1x1", wide(192, 1)}},
                {{"branch7x7_1", wide(filters, 1)},
                 {"branch7x7_2", wide(filters, {1, 7})},
                 {"branch7x7_3", wide(192, {7, 1})}},
                {{"branch7x7dbl_1", wide(filters, 1)},
                 {"branch7x7dbl_2", wide(filters, {7, 1})},
                 {"branch7x7dbl_3", wide(filters, {1, 7})},
                 {"branch7x7dbl_4", wide(filters, {7, 1})},
                 {"branch7x7dbl_5", wide(192, {1, 7})}},
                {{"branch_pool", wide(192, 1)}}});
  }

  /// To 8x8; the pooled input joins unchanged.
  void module_d(const std::string& name) {
    join(name,
         {{{"branch3x3_1", wide(192, 1)}, {"branch3x3_2", reducing(320)}},
          {{"branch7x7x3_1", wide(192, 1)},
           {"branch7x7x3_2", wide(192, {1, 7})},
           {"branch7x7x3_3", wide(192, {7, 1})},
           {"branch7x7x3_4", reducing(192)}}},
         net_.shape().channels);
  }

  /// 8x8; two branches fork at their ends, which doubles their 384 channels.
  void module_e(const std::string& name) {
    const Shape start = net_.shape();
    run(name, {{"branch1x1", wide(320, 1)}}, start);
    run(name, {{"branch3x3_1", wide(384, 1)}}, start);
    fork(name + ".branch3x3_2");
    run(name, {{"branch3x3dbl_1", wide(448, 1)}, {"branch3x3dbl_2", wide(384, 3)}}, start);
    fork(name + ".branch3x3dbl_3");
    run(name, {{"branch_pool", wide(192, 1)}}, start);
    net_.resume({start.height, start.width, 320 + 2 * 384 + 2 * 384 + 192});
  }

  /// The classifier that helps training, on a 17x17 map.
  void auxiliary(int classes) {
    const Shape start = net_.shape();
    net_.pool({.kernel = 5, .stride = 3});
    conv("AuxLogits.conv0", wide(128, 1));
    conv("AuxLogits.conv1", {.filters = 768, .kernel = 5, .padding = Padding::Valid});
    net_.global_pool();
    net_.dense("AuxLogits.fc", classes);
    net_.resume(start);
  }

 private:
  void run(const std::string& module, const Branch& branch, const Shape& start) {
    net_.resume(start);
    for (const Step& step : branch) conv(module + "." + step.name, step.conv);
  }

  void fork(const std::string& name) {
    const Shape start = net_.shape();
    conv(name + "a", wide(384, {1, 3}));
    net_.resume(start);
    conv(name + "b", wide(384, {3, 1}));
  }

  /// All branches side by side; `passed` channels come from a pool without parameters.
  void join(const std::string& module, const std::vector<Branch>& branches, int passed = 0) {
    const Shape start = net_.shape();
    int channels = passed;
    for (const Branch& branch : branches) {
      run(module, branch, start);
      channels += net_.shape().channels;
    }
    net_.resume({net_.shape().height, net_.shape().width, channels});
  }

  NetBuilder& net_;
  Naming naming_;
  int created_ = 0;
};

void body_to_17x17(Inception& body) {
  body.stem();
  body.module_a("Mixed_5b", 32);
  body.module_a("Mixed_5c", 64);
  body.module_a("Mixed_5d", 64);
  body.module_b("Mixed_6a");
  body.module_c("Mixed_6b", 128);
  body.module_c("Mixed_6c", 160);
  body.module_c("Mixed_6d", 160);
  body.module_c("Mixed_6e", 192);
}

void body_to_8x8(Inception& body) {
  body.module_d("Mixed_7a");
  body.module_e("Mixed_7b");
  body.module_e("Mixed_7c");
}

}  // namespace

Model inceptionv3_keras(int classes) {
  NetBuilder net(kImage, kKerasUnscaledNorm);
  Inception body(net, Inception::Naming::Keras);
  body_to_17x17(body);
  body_to_8x8(body);
  net.global_pool();
  net.dense("predictions", classes);
  return std::move(net).take(kKeras);
}

Model inceptionv3_torchvision(int classes) {
  NetBuilder net(kImage, kTorchNorm);
  Inception body(net, Inception::Naming::Torchvision);
  body_to_17x17(body);
  body.auxiliary(classes);
  body_to_8x8(body);
  net.global_pool();
  net.dense("fc", classes);
  return std::move(net).take(kTorchvision);
}

}  // namespace tw::zoo
