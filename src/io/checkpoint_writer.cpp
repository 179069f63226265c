#include "io/checkpoint_writer.hpp"

#include <nlohmann/json.hpp>

#include "io/checked_file.hpp"
#include "io/checkpoint.hpp"

namespace starpmc {

CheckpointWriter::~CheckpointWriter() {
  if (writing_.valid()) writing_.wait();
}

void CheckpointWriter::write(nlohmann::json content, std::vector<std::filesystem::path> files) {
  wait();
  writing_ = std::async(std::launch::async,
                        [folder = folder_, content = std::move(content), files = std::move(files)] {
                          for (const std::filesystem::path& file : files) synchronise_file(file);
                          write_checkpoint(folder, content);
                        });
}

void CheckpointWriter::wait() {
  if (!writing_.valid()) return;
  writing_.get();
  any_ = true;
}

}  // namespace starpmc
