#include "tests/test_folders.hpp"

std::filesystem::path source_folder() { return STARPMC_SOURCE_FOLDER; }

std::filesystem::path test_data_folder() { return source_folder() / "tests/data"; }

std::string test_python() { return STARPMC_TEST_PYTHON; }
