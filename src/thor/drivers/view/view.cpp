#include "thor/drivers/view/view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "thor/core/constants.hpp"
#include "thor/core/interrupt.hpp"
#include "thor/operators/colour_maps.hpp"
#include "thor/operators/keys.hpp"
#include "thor/operators/list.hpp"

namespace thor {
namespace {

using ViewJson = nlohmann::ordered_json;
constexpr double kpc_of_view = 1e3 * constants::pc;

ViewJson in_kpc(const std::array<double, 3>& v) { return {v[0] / kpc_of_view, v[1] / kpc_of_view, v[2] / kpc_of_view}; }

/// As a camera far away would see what one nearby sees.
void see_from_afar(config::Camera& camera, const GasOutline& gas) {
  if (!camera.centre) camera.centre = gas.centre;
  if (camera.type != CameraType::orthographic) {
    double distance = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      camera.direction[k] = camera.position[k] - (*camera.centre)[k];
      distance += camera.direction[k] * camera.direction[k];
    }
    const bool flat = camera.type == CameraType::perspective;
    camera.width = 2 * std::sqrt(distance) * (flat ? std::tan(0.5 * camera.field_of_view) : 1);
    camera.type = CameraType::orthographic;
  }
  camera.path.reset();
  if (!(camera.width > 0)) camera.width = gas.longest();
}

/// Begins with the picture of an operator, if the view can show it, through its camera.
void take_from(const config::Operator& op, const config::Raytrace& config, ViewStart& start) {
  if (const auto* render = op.get_if<config::RenderOperator>()) {
    start.field = render->layer.field, start.transfer = render->layer.transfer;
    start.weight = render->layer.brightness.empty() ? "none" : render->layer.brightness;
    start.map = start.transfer.map.empty() ? "file" : start.transfer.map;
    start.exposure = render->exposure;
  } else if (const auto* slice = op.get_if<config::SliceOperator>()) {
    start.kind = op->type(), start.field = slice->field;
  } else if (const auto* projection = op.get_if<config::ProjectionOperator>()) {
    start.kind = op->type(), start.field = projection->field;
    start.weight = projection->weight.empty() ? "none" : projection->weight;
  }
  start.camera = config.camera(*op->camera());
}

std::vector<std::string> names_of_maps() { return config::listed(colour_map_names()); }

}  // namespace

ViewStart start_of_view(const config::Raytrace& config, RayScene& scene, const std::string& field) {
  ViewStart start;
  start.name =
      std::filesystem::path(config.dataset.path.empty() ? config.path : config.dataset.path).filename().string();
  start.transfer.opacity = 30;
  start.camera.direction = {0.6, -1, 0.6}, start.camera.up = {0, 0, 1};
  start.camera.width = 1.5 * scene.outline().longest();
  if (!config.cameras.empty()) start.camera = config.cameras.front();
  // A rendering is what one would turn; without one, any other picture.
  const auto is_render = [](const config::Operator& op) { return op.get_if<config::RenderOperator>() != nullptr; };
  const auto has_camera = [](const config::Operator& op) { return op->camera() != nullptr; };
  auto found = std::ranges::find_if(config.operators, is_render);
  if (found == config.operators.end()) found = std::ranges::find_if(config.operators, has_camera);
  if (found != config.operators.end()) take_from(*found, config, start);
  see_from_afar(start.camera, scene.outline());
  const std::vector<std::string> there = scene.names();
  if (!field.empty() && field != start.field) {
    scene.use(field);  // an error says which there are
    start.field = field, start.transfer.low = start.transfer.high = 0;
    if (start.map == "file") start.map = "auto";
  }
  if (start.field.empty()) start.field = std::ranges::count(there, "density") > 0 ? "density" : there.front();
  return start;
}

io::web::Response view_info(ViewScene& view, const ViewStart& start, ViewQuery& query) {
  const std::string field = query.text("field", "");
  query.end();
  const RayScene& scene = view.scene();
  const GasOutline& gas = scene.outline();
  ViewJson json;
  json["name"] = start.name;
  json["device"] = view.device();
  json["size"] = in_kpc(gas.size), json["centre"] = in_kpc(gas.centre);
  if (gas.is_lattice()) json["cells"] = gas.grid.count;
  json["periodic"] = gas.periodic;
  json["redshift"] = gas.has_cells ? gas.redshift : 0;
  json["hubble"] = gas.has_cells ? gas.hubble * 1e3 * kpc_of_view / constants::km : 0;  // km/s/Mpc
  const std::vector<std::string> names = scene.names();
  for (const std::string& name : names) json["fields"].push_back({{"name", name}, {"units", scene.units_of(name)}});
  for (const std::string& name : names_of_maps()) {
    ViewJson colours = ViewJson::array();
    for (int i = 0; i < 33; ++i) {
      const auto colour = colour_in_map(name, i / 32.);
      colours.push_back({std::lround(255 * colour[0]), std::lround(255 * colour[1]), std::lround(255 * colour[2])});
    }
    json["maps"][name] = colours;
  }
  json["lines"] = ViewJson::array();
  const std::string& list = view.config().line_list;
  for (const Line& line : list.empty() ? lines() : read_lines(list)) {
    std::string ion = line.first().ion;
    std::erase(ion, ' ');
    const bool there = std::ranges::count(names, ion + "_density") > 0;
    const bool of_model = view.config().dataset.path.empty() && line.name == view.config().line;
    if (there || of_model) json["lines"].push_back(line.name);
  }
  const config::Transfer& t = start.transfer;
  json["start"] = {{"kind", start.kind},
                   {"field", start.field},
                   {"weight", start.weight},
                   {"map", start.map},
                   {"opacity", t.opacity > 0 ? t.opacity : 10},
                   {"exposure", start.exposure},
                   {"direction", start.camera.direction},
                   {"up", start.camera.up},
                   {"centre", in_kpc(*start.camera.centre)},
                   {"width", start.camera.width / kpc_of_view}};
  if (start.map == "file") json["maps"]["file"] = ViewJson::array();
  if (t.high > t.low) {
    json["start"]["low"] = t.low, json["start"]["high"] = t.high;
    json["start"]["scale"] = t.scale == config::FieldScale::log ? "log" : "linear";
  }
  if (!field.empty()) {
    const ValueRange& range = view.range_of(field);
    json["field"] = {{"name", field}, {"least", range.least}, {"largest", range.largest}};
    json["field"]["units"] = view.scene().use(field).units;
  }
  // Names in a file may be of any bytes.
  return {200, "application/json", json.dump(-1, ' ', false, ViewJson::error_handler_t::replace) + "\n"};
}

config::Camera view_camera(const ViewScene& view, const ViewStart& start, ViewQuery& query) {
  const GasOutline& gas = view.scene().outline();
  config::Camera camera = start.camera;
  camera.name = "view";
  const double side = gas.longest() / kpc_of_view;
  double far = 0;
  for (const double c : gas.centre) far = std::max(far, std::abs(c) / kpc_of_view);
  camera.direction = query.vector("d", camera.direction, 1e6);
  camera.up = query.vector("u", camera.up, 1e6);
  if (std::ranges::all_of(camera.direction, [](double d) { return d == 0; })) {
    throw Error(ExitCode::usage, "dx, dy, dz: expected a direction other than 0");
  }
  if (std::ranges::all_of(camera.up, [](double u) { return u == 0; })) {
    throw Error(ExitCode::usage, "ux, uy, uz: expected a direction other than 0");
  }
  std::array<double, 3> centre = *camera.centre;
  for (double& c : centre) c /= kpc_of_view;
  centre = query.vector("c", centre, far + 100 * side);
  for (double& c : centre) c *= kpc_of_view;
  camera.centre = centre;
  camera.width = kpc_of_view * query.number("width", camera.width / kpc_of_view, 1e-6 * side, 100 * side);
  if (const auto depth = query.number("depth", 1e-6 * side, 1e3 * side)) camera.depth = *depth * kpc_of_view;
  camera.pixels = std::uint64_t(query.integer("pixels", 512, 16, 2048));
  camera.rows = std::uint64_t(query.integer("rows", int(camera.pixels), 16, 2048));
  return camera;
}

View::View(const config::Raytrace& config, const RunOptions& options, const std::string& field) {
  std::promise<std::string> ready;
  worker_ = std::thread([&, this] { work(config, options, field, ready); });
  try {
    device_ = ready.get_future().get();
  } catch (...) {
    worker_.join();
    throw;
  }
}

View::~View() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  more_.notify_one();
  worker_.join();
}

void View::work(const config::Raytrace& config, const RunOptions& options, const std::string& field,
                std::promise<std::string>& ready) {
  std::optional<ViewScene> view;
  ViewStart start;
  try {
    view.emplace(config, options);
    start = start_of_view(config, view->scene(), field);
  } catch (...) {
    ready.set_exception(std::current_exception());
    return;
  }
  ready.set_value(view->device());
  std::unique_lock lock(mutex_);
  while (true) {
    more_.wait(lock, [&] { return ended_ || !waiting_.empty(); });
    if (ended_) return;
    const Waiting next = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    if (next.exchange->is_wanted()) {
      next.exchange->answer(is_interrupted() ? io::web::refusal(503, "thor view is ending")
                                             : answer_now(*view, start, next.request));
    }
    lock.lock();
  }
}

io::web::Response View::answer_now(ViewScene& view, const ViewStart& start, const io::web::Request& request) {
  using io::web::refusal;
  try {
    ViewQuery query(request.query);
    if (request.path == "/info") return view.with_room([&] { return view_info(view, start, query); });
    if (request.path == "/frame") return view.with_room([&] { return view_frame(view, start, query); });
    return view.with_room([&] { return view_spectrum(view, start, query); });
  } catch (const Error& e) {
    return refusal(e.code() == ExitCode::device ? 503 : 400, e.what());
  } catch (const std::bad_alloc&) {
    return refusal(503, "out of memory");
  } catch (const std::exception& e) {
    return refusal(500, e.what());
  }
}

void View::answer(const io::web::Request& request, const std::shared_ptr<io::web::Exchange>& exchange) {
  if (request.path == "/") {
    const std::string nonce = io::web::random_digits(16);
    return exchange->answer(
        {200, "text/html; charset=utf-8", view_page(nonce),
         fmt::format("default-src 'self'; script-src 'nonce-{0}'; style-src 'nonce-{0}'; img-src 'self' data: blob:; "
                     "object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
                     nonce)});
  }
  if (request.path != "/info" && request.path != "/frame" && request.path != "/spectrum")
    return exchange->answer(io::web::refusal(404, "not found"));
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back({request, exchange});
  }
  more_.notify_one();
}

}  // namespace thor
