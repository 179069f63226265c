#pragma once

#include <filesystem>
#include <string>

// Defined in one small file, so that a compiler cache serves the tests of every clone.

/// The root of the checkout.
std::filesystem::path source_folder();

/// tests/data.
std::filesystem::path test_data_folder();

/// The Python with tests/requirements.txt; empty where there is none.
std::string test_python();
