#include "thor/drivers/config.hpp"

#include <algorithm>
#include <filesystem>

#include "thor/config/source.hpp"

namespace thor::config {

std::vector<std::string> distinct(const std::vector<std::string>& paths) {
  std::vector<std::string> list;
  for (const std::string& path : paths) {
    if (!path.empty() && std::ranges::count(list, path) == 0) list.push_back(path);
  }
  return list;
}

Driver Document::driver() const {
  const Tree::Entry* driver = tree.kind == Tree::Kind::map ? tree.find("driver") : nullptr;
  return driver && driver->value.text == "raytrace" ? Driver::raytrace : Driver::mcrt;
}

std::string Document::beside(const std::string& path) const {
  return (std::filesystem::path(name).parent_path() / path).string();
}

void Document::place(CommonKeys& keys, const std::string& output) const {
  keys.path = name;
  keys.output_path = beside(output);
  if (!keys.line_list.empty()) keys.line_list = beside(keys.line_list);
  if (!keys.dataset.path.empty()) keys.dataset.path = beside(keys.dataset.path);
}

Document open_document(const std::string& path, const std::vector<std::string>& overrides) {
  return parse_document(read_source(path), path == "-" ? "<stdin>" : path, overrides);
}

Document parse_document(const std::string& yaml_text, const std::string& name,
                        const std::vector<std::string>& overrides) {
  Document document{name, read_tree(yaml_text, name)};
  for (const auto& text : overrides) apply_override(document.tree, text, document.faults);
  return document;
}

bool is_result_name(const std::string& path) {
  const auto extension = std::filesystem::path(path).extension();
  return (extension == ".h5" || extension == ".zarr") && path.find('\0') == std::string::npos;
}

}  // namespace thor::config
