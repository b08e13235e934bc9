#pragma once
#include <string>

#include "thor/config/schema.hpp"

/// Descriptions of a parameter in Markdown, for the configuration reference and for `thor help`.
namespace thor::config {

const char* name_of(Dimension dimension);

/// Type, range and choices of a value, without a link for maps.
std::string value_of(const Parameter& parameter);

/// Default value, or "required", or the group of keys of which one is required.
std::string default_of(const Parameter& parameter, const Schema& schema);

}  // namespace thor::config
