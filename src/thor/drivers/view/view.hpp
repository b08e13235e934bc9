#pragma once
#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <thread>

#include "thor/drivers/view/query.hpp"
#include "thor/drivers/view/scene.hpp"
#include "thor/io/web/server.hpp"

namespace thor {

/// What a view shows as long as nobody asks for something else. Lengths are in cm.
struct ViewStart {
  std::string name;  ///< of what is seen
  std::string kind = "render", field{};
  std::string weight = "auto";  ///< of a projection, or brightness of a rendering; "auto": that of usual_weight()
  std::string map = "auto";     ///< of colours; "auto": one that suits the field, "file": the transfer function
  config::Transfer transfer{};  ///< with a range of 0 to 0: one that fits the field
  double exposure = 1;
  config::Camera camera{};  ///< orthographic, with a centre
};
/// That of the first camera and the first picture of a configuration. `field`: another one, if there is a name.
ViewStart start_of_view(const config::Raytrace& config, RayScene& scene, const std::string& field);

/// The answers, which throw an Error for what cannot be shown.
io::web::Response view_info(ViewScene& view, const ViewStart& start, ViewQuery& query);
io::web::Response view_frame(ViewScene& view, const ViewStart& start, ViewQuery& query);
io::web::Response view_spectrum(ViewScene& view, const ViewStart& start, ViewQuery& query);
/// The camera of a request for a picture.
config::Camera view_camera(const ViewScene& view, const ViewStart& start, ViewQuery& query);
/// The page, with the word that allows its script to run.
std::string view_page(const std::string& nonce);

/// The gas of a configuration in a browser: answers what its page asks for.
class View {
 public:
  /// Reads the header of the gas. Throws an Error if there is no such field.
  View(const config::Raytrace& config, const RunOptions& options, const std::string& field);
  ~View();

  /// One at a time is answered, by the thread that owns the device; a request whose client has left is skipped.
  void answer(const io::web::Request& request, const std::shared_ptr<io::web::Exchange>& exchange);
  std::string device() const { return device_; }

 private:
  void work(const config::Raytrace& config, const RunOptions& options, const std::string& field,
            std::promise<std::string>& ready);
  struct Waiting {
    io::web::Request request;
    std::shared_ptr<io::web::Exchange> exchange;
  };
  static io::web::Response answer_now(ViewScene& view, const ViewStart& start, const io::web::Request& request);

  std::string device_;
  std::mutex mutex_;
  std::condition_variable more_;
  std::deque<Waiting> waiting_;
  bool ended_ = false;
  std::thread worker_;
};

}  // namespace thor
