#pragma once

#include <string>
#include <string_view>

/// StarPU's files of performance models and of its bus calibration, as StarPU 1.3 and 1.4 write
/// them. StarPU ends the process where one of them is not what it expects, so that each is looked
/// through before StarPU gets to see it.
namespace starpmc {

/// @param version the number of the file format, which is the folder's name
/// @return what is wrong with a codelet's model; empty: nothing
std::string problem_of_model(std::string_view text, int version);

/// Those of a bus calibration: HOST.config and so on.
std::string problem_of_bus_config(std::string_view text);
/// Latency or bandwidth between memories.
std::string problem_of_bus_matrix(std::string_view text);
/// @param config a sound one: the devices and memories that affinity is about; empty: not known
std::string problem_of_bus_affinity(std::string_view text, std::string_view config);

}  // namespace starpmc
