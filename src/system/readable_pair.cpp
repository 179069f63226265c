#include "system/readable_pair.hpp"

#include <string>
#include <system_error>

#include "base/checked_file.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/shown_text.hpp"

namespace starpmc {
namespace {

/// Removed with the object, where they still have these names.
class TemporaryPair {
 public:
  explicit TemporaryPair(const FilePair& files)
      : files_{temporary_path(files.coordinates), temporary_path(files.topology)} {}
  ~TemporaryPair() {
    std::error_code ignored;
    std::filesystem::remove(files_.coordinates, ignored);
    std::filesystem::remove(files_.topology, ignored);
  }
  TemporaryPair(const TemporaryPair&) = delete;
  TemporaryPair& operator=(const TemporaryPair&) = delete;

  const FilePair& files() const { return files_; }

 private:
  FilePair files_;
};

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

/// The message with the files' own names: the temporary ones are gone when it is read.
std::string renamed(std::string message, const FilePair& temporary, const FilePair& files) {
  const auto rename = [&](const std::filesystem::path& from, const std::filesystem::path& to) {
    replace_all(message, shown_text(from.string()), shown_text(to.string()));
  };
  rename(temporary.coordinates, files.coordinates);
  rename(temporary.topology, files.topology);
  return message;
}

}  // namespace

void write_readable_pair(const FilePair& files, std::string_view coordinates,
                         std::string_view topology,
                         const std::function<void(const FilePair&)>& read) {
  const TemporaryPair temporary(files);
  try {
    write_file_atomically(temporary.files().topology, topology);
    write_file_atomically(temporary.files().coordinates, coordinates);
    read(temporary.files());
    rename_durably(temporary.files().topology, files.topology);
    rename_durably(temporary.files().coordinates, files.coordinates);
  } catch (const InputError& error) {
    // Put together as it was taken apart, whatever the place is.
    const std::string message = renamed(error.what(), temporary.files(), files);
    const std::size_t place_end = message.find(": ");
    throw InputError(message.substr(0, place_end), message.substr(place_end + 2), "", "");
  } catch (const RunError& error) {
    throw RunError(renamed(error.what(), temporary.files(), files));
  }
}

}  // namespace starpmc
