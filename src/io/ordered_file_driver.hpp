#pragma once

#include <hdf5.h>

namespace starpmc::hdf5 {

/// HDF5's ordinary file driver, but what a flush writes goes to the file in an order in which a
/// process killed after any of the writes leaves all that earlier flushes wrote.
///
/// HDF5 finds the chunks of a dataset by a B-tree. Where a node is full, half its entries move to a
/// new node; HDF5 writes both, the node above and the length of the file in the order of their
/// addresses, and a kill in between loses the half that moved. Here the new nodes come first, then
/// the length of the file, then the nodes that were there, the upper levels before the lower ones:
/// a node that is still the old one has its old entries, too. Where entries move, each part is on
/// the disk before the next is written, so that a power failure finds what an earlier
/// synchronise_file() made sure of.
///
/// @param access file access properties, whose choice of locking is kept
/// @throws RunError with HDF5's reason
void write_in_safe_order(hid_t access);

}  // namespace starpmc::hdf5
