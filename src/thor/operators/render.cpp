#include "thor/operators/render.hpp"

#include "thor/operators/image_task.hpp"
#include "thor/operators/keys.hpp"

namespace thor::config {
namespace {

void declare_layer(auto& s, auto of_layer) {
  declare_field(s, of_layer(&RenderLayerKeys::field), "temperature");
  declare_optional_field(s, "brightness", of_layer(&RenderLayerKeys::brightness),
                         "field whose ratio to its mean multiplies the colours; by default 1");
  s.map("transfer", of_layer(&RenderLayerKeys::transfer), transfer_section(), {.meaning = "colour and opacity"});
}

const Section<RenderLayerKeys>& layer_section() {
  static const Section<RenderLayerKeys> section = [] {
    Section<RenderLayerKeys> s("A further field, whose light and opacity are added.");
    declare_layer(s, [](auto member) { return member; });
    return s;
  }();
  return section;
}

}  // namespace

const Section<RenderOperator>& RenderOperator::section() {
  static const Section<RenderOperator> section = [] {
    Section<RenderOperator> s("");
    declare_name(s, "view");
    declare_camera(s);
    declare_layer(s, [](auto member) {
      return [member](RenderOperator & o) -> auto& { return o.layer.*member; };
    });
    s.list("layers", &RenderOperator::layers, layer_section(),
           {.meaning = "up to 3 further fields, added to the picture", .fallback = "[]"});
    declare_samples(s);
    s.number("stop", &RenderOperator::stop, {.low = 0, .high = 0.5},
             {.meaning = "transmission below which a ray ends", .fallback = "0.001"});
    s.number("exposure", &RenderOperator::exposure, {.low = 0, .high = 1e6, .low_open = true},
             {.meaning = "factor on the brightness of the picture", .fallback = "1"});
    s.check([](Reader& reader, const RenderOperator& o) {
      if (o.layers.size() > most_layers - 1) reader.report("layers", "at most 3 more are possible");
    });
    return s;
  }();
  return section;
}

std::vector<RenderLayerKeys> RenderOperator::all_layers() const {
  std::vector<RenderLayerKeys> all{layer};
  all.insert(all.end(), layers.begin(), layers.end());
  return all;
}

std::vector<std::string> RenderOperator::means() const {
  std::vector<std::string> products;
  for (const RenderLayerKeys& keys : all_layers()) {
    if (!keys.brightness.empty()) products.push_back(keys.brightness);
  }
  return products;
}

ImageTask RenderOperator::plan(FieldSource& fields) const {
  ImageTask task;
  Render render{};
  render.stop = float(stop);
  for (const RenderLayerKeys& keys : all_layers()) {
    RenderLayer& to = render.layer[render.layers++];
    to.table = int(task.tables.size());
    const std::vector<float> table =
        build_table(keys.transfer, fields.outline().longest() / fields.outline().length, exposure);
    task.tables.insert(task.tables.end(), table.begin(), table.end());
    if (!keys.brightness.empty()) to.brightness = fields.over_mean(keys.brightness).quantity;
    to.place = fields.place(keys.field, keys.transfer.scale, keys.transfer.low, keys.transfer.high).quantity;
  }
  task.job.set(render);
  task.samples = int(samples);
  task.attributes = {{"field", layer.field}};
  task.is_picture = true;
  // Light from behind passes through what is in front of it.
  task.in_order = true;
  task.join = [](Pixel& front, const Pixel& behind) {
    const double through = 1 - front[3];
    for (std::size_t c = 0; c < 3; ++c) front[c] += through * behind[c];
    front[3] = 1 - through * (1 - behind[3]);
  };
  return task;
}

}  // namespace thor::config
