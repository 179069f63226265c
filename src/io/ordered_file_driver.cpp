#include "io/ordered_file_driver.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "io/hdf5_handle.hpp"

namespace starpmc::hdf5 {
namespace {

constexpr herr_t succeeded = 0;
constexpr herr_t failed = -1;

using Bytes = std::vector<unsigned char>;

/// A write that waits for the flush.
struct HeldWrite {
  H5FD_mem_t type;
  Bytes bytes;

  haddr_t end(haddr_t start) const { return start + bytes.size(); }
};

/// A node of a B-tree, version 1, begins with these letters, the kind of node and its level.
constexpr std::string_view node_signature = "TREE";
constexpr std::size_t node_level_offset = 5;
using NodeStart = std::array<unsigned char, node_level_offset + 1>;

bool is_node(std::span<const unsigned char> start) {
  return start.size() > node_level_offset &&
         std::memcmp(start.data(), node_signature.data(), node_signature.size()) == 0;
}

struct CloseFile {
  void operator()(H5FD_t* file) const { H5FDclose(file); }
};

/// An open file: HDF5's part comes first.
class OrderedFile : public H5FD_t {
 public:
  explicit OrderedFile(H5FD_t* ordinary) : H5FD_t{}, ordinary_(ordinary) {}

  H5FD_t* ordinary() const { return ordinary_.get(); }

  herr_t read(H5FD_mem_t type, hid_t transfer, haddr_t start, std::size_t size, void* buffer) {
    if (H5FDread(ordinary(), type, transfer, start, size, buffer) < 0) return failed;
    const std::span<unsigned char> wanted(static_cast<unsigned char*>(buffer), size);
    for (const auto& [held_start, held] : held_) {
      const haddr_t first = std::max(start, held_start);
      const haddr_t last = std::min(start + size, held.end(held_start));
      if (first < last)
        std::copy_n(held.bytes.data() + (first - held_start), last - first,
                    wanted.data() + (first - start));
    }
    return succeeded;
  }

  /// Numbers of a dataset go to the file at once: before its directory says so, nobody looks there,
  /// or they are the same as those that are there.
  herr_t write(H5FD_mem_t type, hid_t transfer, haddr_t start, std::size_t size,
               const void* buffer) {
    const std::span bytes(static_cast<const unsigned char*>(buffer), size);
    if (overlaps_in_part(start, start + size) && write_held(transfer) < 0) return failed;
    if (type == H5FD_MEM_DRAW) {
      held_.erase(start);
      return H5FDwrite(ordinary(), type, transfer, start, size, buffer);
    }
    held_.insert_or_assign(start, HeldWrite{type, Bytes(bytes.begin(), bytes.end())});
    return succeeded;
  }

  /// A file may be longer than its directory says, not shorter: it shrinks after the directory.
  herr_t set_length(hid_t transfer, hbool_t closing) {
    shrinks_ =
        H5FDget_eoa(ordinary(), H5FD_MEM_DEFAULT) < H5FDget_eof(ordinary(), H5FD_MEM_DEFAULT);
    return shrinks_ ? succeeded : H5FDtruncate(ordinary(), transfer, closing);
  }

  herr_t flush(hid_t transfer, hbool_t closing) {
    if (write_held(transfer) < 0) return failed;
    if (std::exchange(shrinks_, false) && H5FDtruncate(ordinary(), transfer, closing) < 0)
      return failed;
    return H5FDflush(ordinary(), transfer, closing);
  }

 private:
  herr_t write_held(hid_t transfer) {
    std::vector<std::pair<int, haddr_t>> order;
    for (const auto& [start, held] : held_) {
      const int turn = turn_of(start, held, transfer);
      if (turn < 0) return failed;
      order.emplace_back(turn, start);
    }
    std::ranges::sort(order);
    // Where entries move, what refers to them and what they leave reach the disk after them.
    const bool entries_move = !order.empty() && order.front().first == new_node;
    int before = new_node;
    for (const auto& [turn, start] : order) {
      const bool next = std::exchange(before, turn) < turn;
      if (entries_move && next && synchronise() < 0) return failed;
      const HeldWrite& held = held_.at(start);
      if (H5FDwrite(ordinary(), held.type, transfer, start, held.bytes.size(), held.bytes.data()) <
          0)
        return failed;
      held_.erase(start);
    }
    return succeeded;
  }

  herr_t synchronise() {
    void* descriptor = nullptr;
    if (H5FDget_vfd_handle(ordinary(), H5P_DEFAULT, &descriptor) < 0) return failed;
    const bool done = fdatasync(*static_cast<const int*>(descriptor)) == 0;
    return done || errno == EINVAL ? succeeded : failed;  // EINVAL: what is no file on a disk
  }

  /// What a write overlaps, it must cover exactly, to take its place.
  bool overlaps_in_part(haddr_t start, haddr_t end) const {
    return std::ranges::any_of(held_, [&](const auto& entry) {
      const auto& [held_start, held] = entry;
      const haddr_t held_end = held.end(held_start);
      return held_start < end && start < held_end && (held_start != start || held_end != end);
    });
  }

  enum Turn { new_node, length_of_the_file, topmost_node };
  /// Those of smaller turns go first; negative if the file cannot be read.
  int turn_of(haddr_t start, const HeldWrite& held, hid_t transfer) {
    constexpr int levels = std::numeric_limits<unsigned char>::max();
    constexpr int everything_else = topmost_node + levels + 1;  // the number of frames, above all
    if (!is_node(held.bytes))
      return held.type == H5FD_MEM_SUPER ? length_of_the_file : everything_else;
    NodeStart present{};
    if (H5FDread(ordinary(), held.type, transfer, start, present.size(), present.data()) < 0)
      return failed;
    return is_node(present) ? topmost_node + levels - held.bytes[node_level_offset] : new_node;
  }

  std::unique_ptr<H5FD_t, CloseFile> ordinary_;
  std::map<haddr_t, HeldWrite> held_;  ///< of HDF5's own directory, by address
  bool shrinks_ = false;               ///< with the next flush
};

OrderedFile& ordered(H5FD_t* file) { return *static_cast<OrderedFile*>(file); }
H5FD_t* ordinary(const H5FD_t* file) { return static_cast<const OrderedFile*>(file)->ordinary(); }

/// HDF5 is C: no exception may reach it.
template <typename Action>
herr_t guarded(Action action) noexcept {
  try {
    return action();
  } catch (const std::bad_alloc&) {
    return failed;
  }
}

/// Never closed: HDF5 forgets why a file could not be opened when something else succeeds.
hid_t ordinary_access() {
  static const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  return H5Pset_fapl_sec2(access) < 0 ? H5I_INVALID_HID : access;
}

H5FD_t* open_ordered(const char* name, unsigned flags, hid_t access, haddr_t most) {
  hbool_t locks = true;
  hbool_t ignores_missing_locks = true;
  if (H5Pget_file_locking(access, &locks, &ignores_missing_locks) < 0 ||
      H5Pset_file_locking(ordinary_access(), locks, ignores_missing_locks) < 0)
    return nullptr;
  H5FD_t* opened = H5FDopen(name, flags, ordinary_access(), most);
  if (opened == nullptr) return nullptr;
  H5FD_t* file = new (std::nothrow) OrderedFile(opened);
  if (file == nullptr) H5FDclose(opened);
  return file;
}

herr_t close_ordered(H5FD_t* file) {
  const std::unique_ptr<OrderedFile> closed(&ordered(file));
  return guarded([&] { return closed->flush(H5P_DEFAULT, true); });
}

/// What the ordinary driver can do, but that it joins neighbouring writes.
herr_t features_of(const H5FD_t* file, unsigned long* features) {
  if (file != nullptr) {
    if (H5FDquery(ordinary(file), features) < 0) return failed;
  } else {
    *features = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_DATA_SIEVE |
                H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_POSIX_COMPAT_HANDLE |
                H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
  }
  *features &= ~static_cast<unsigned long>(H5FD_FEAT_ACCUMULATE_METADATA);
  return succeeded;
}

H5FD_class_t ordered_class() {
  H5FD_class_t driver{};
#ifdef H5FD_CLASS_VERSION  // since HDF5 1.13
  driver.version = H5FD_CLASS_VERSION;
  driver.value = static_cast<H5FD_class_value_t>(512);  // the first for drivers of programs
#endif
  driver.name = "starpmc_ordered";
  driver.maxaddr = static_cast<haddr_t>(std::numeric_limits<off_t>::max());
  driver.fc_degree = H5F_CLOSE_WEAK;
  driver.open = open_ordered;
  driver.close = close_ordered;
  driver.cmp = [](const H5FD_t* a, const H5FD_t* b) { return H5FDcmp(ordinary(a), ordinary(b)); };
  driver.query = features_of;
  driver.get_eoa = [](const H5FD_t* file, H5FD_mem_t type) {
    return H5FDget_eoa(ordinary(file), type);
  };
  driver.set_eoa = [](H5FD_t* file, H5FD_mem_t type, haddr_t end) {
    return H5FDset_eoa(ordinary(file), type, end);
  };
  driver.get_eof = [](const H5FD_t* file, H5FD_mem_t type) {
    return H5FDget_eof(ordinary(file), type);
  };
  driver.get_handle = [](H5FD_t* file, hid_t access, void** descriptor) {
    return H5FDget_vfd_handle(ordinary(file), access, descriptor);
  };
  driver.read = [](H5FD_t* file, H5FD_mem_t type, hid_t transfer, haddr_t start, std::size_t size,
                   void* buffer) {
    return ordered(file).read(type, transfer, start, size, buffer);
  };
  driver.write = [](H5FD_t* file, H5FD_mem_t type, hid_t transfer, haddr_t start, std::size_t size,
                    const void* buffer) {
    return guarded([&] { return ordered(file).write(type, transfer, start, size, buffer); });
  };
  driver.flush = [](H5FD_t* file, hid_t transfer, hbool_t closing) {
    return guarded([&] { return ordered(file).flush(transfer, closing); });
  };
  driver.truncate = [](H5FD_t* file, hid_t transfer, hbool_t closing) {
    return ordered(file).set_length(transfer, closing);
  };
  driver.lock = [](H5FD_t* file, hbool_t exclusive) { return H5FDlock(ordinary(file), exclusive); };
  driver.unlock = [](H5FD_t* file) { return H5FDunlock(ordinary(file)); };
  constexpr H5FD_mem_t kinds_of_space[] = H5FD_FLMAP_DICHOTOMY;
  std::ranges::copy(kinds_of_space, std::begin(driver.fl_map));
  return driver;
}

}  // namespace

void write_in_safe_order(hid_t access) {
  static const H5FD_class_t driver = ordered_class();
  static const Handle registered(H5FDregister(&driver), "file driver");
  check(H5Pset_driver(access, registered.get(), nullptr), "file access");
}

}  // namespace starpmc::hdf5
