// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/error.h"
#include "trainwire/base/nearest.h"
#include "trainwire/guide/commands.h"
#include "trainwire/zoo/zoo.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <nlohmann/json.hpp>

namespace tw::guide {
namespace {

using nlohmann::ordered_json;

struct ModelsOptions {
  std::string name;
  std::optional<int> classes;
  bool json = false;
};

zoo::Model find_model(const ModelsOptions& options) {
  if (auto model = zoo::find(options.name, {.classes = options.classes})) return *std::move(model);
  const std::vector<std::string_view> known = zoo::names();
  const auto near = nearest(options.name, known);
  throw SpecError(fmt::format("there is no model \"{}\"; {}", options.name,
                              near ? fmt::format("did you mean \"{}\"?", *near)
                                   : std::string("`trainwire models` lists them")));
}

ordered_json document_of(const zoo::Model& model) {
  ordered_json layers = ordered_json::array();
  for (const zoo::Layer& layer : model.layers) {
    layers.push_back({{"name", layer.name},
                      {"trainable_parameters", layer.trainable},
                      {"non_trainable_parameters", layer.non_trainable},
                      {"forward_flops", layer.forward_flops}});
  }
  return {{"name", model.name},
          {"source", model.source},
          {"input", model.input},
          {"parameters", model.parameters()},
          {"trainable_parameters", model.trainable()},
          {"gradient_bytes", model.gradient_bytes().count()},
          {"forward_flops", model.forward_flops()},
          {"layers", std::move(layers)}};
}

std::vector<zoo::Model> chosen_models(const ModelsOptions& options) {
  if (!options.name.empty()) return {find_model(options)};
  std::vector<zoo::Model> models;
  for (const zoo::Entry& entry : zoo::entries()) models.push_back(entry.build());
  return models;
}

void print_list(std::span<const zoo::Model> models, std::ostream& out) {
  fmt::print(out, "{:<24} {:>14} {:>14} {:>10} {:>9}  {}\n", "model", "parameters", "trainable",
             "gradients", "GFLOPs", "source, input");
  for (const zoo::Model& model : models) {
    fmt::print(out, "{:<24} {:>14} {:>14} {:>10} {:>9.2f}  {}, {}\n", model.name,
               grouped(model.parameters()), grouped(model.trainable()),
               readable(model.gradient_bytes()), model.forward_flops() / 1e9, model.source,
               model.input);
  }
  fmt::print(out,
             "\nGFLOPs: forward, one sample, a multiply-add counted as two. Only trainable "
             "parameters travel.\n"
             "next: trainwire models NAME for the layers\n");
}

void print_layers(const zoo::Model& model, std::ostream& out) {
  fmt::print(out, "{}: {}, input {}\n\n{:<36} {:>14} {:>14} {:>12}\n", model.name, model.source,
             model.input, "layer", "trainable", "not trainable", "MFLOPs");
  for (const zoo::Layer& layer : model.layers) {
    fmt::print(out, "{:<36} {:>14} {:>14} {:>12.2f}\n", layer.name, grouped(layer.trainable),
               grouped(layer.non_trainable), layer.forward_flops / 1e6);
  }
  fmt::print(out, "{:<36} {:>14} {:>14} {:>12.2f}\n\n{} parameters, {} of gradients a step\n",
             "total", grouped(model.trainable()), grouped(model.non_trainable()),
             model.forward_flops() / 1e6, grouped(model.parameters()),
             readable(model.gradient_bytes()));
}

int print_models(const ModelsOptions& options, command::Streams streams) {
  const std::vector<zoo::Model> models = chosen_models(options);
  if (options.json) {
    ordered_json document{{"schema", 1}, {"command", "models"}, {"models", ordered_json::array()}};
    for (const zoo::Model& model : models) document["models"].push_back(document_of(model));
    fmt::print(streams.out, "{}\n", document.dump(2));
  } else if (options.name.empty()) {
    print_list(models, streams.out);
  } else {
    print_layers(models.front(), streams.out);
  }
  return 0;
}

}  // namespace

command::Body declare_models(command::CommandLine& app) {
  const auto options = std::make_shared<ModelsOptions>();
  const std::vector<std::string_view> names = zoo::names();
  const command::Option name =
      app.add_option("NAME", options->name, "show this model layer by layer")
          .type_name("")
          .suggests({names.begin(), names.end()});
  app.add_option("--classes", options->classes, "outputs of the classifier head")
      .type_name("N")
      .needs(name);
  app.add_flag("--json", options->json, "print one JSON document with all layers");
  return [options](command::Streams streams) { return print_models(*options, streams); };
}

}  // namespace tw::guide
