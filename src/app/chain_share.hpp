#pragma once

#include <span>
#include <vector>

namespace starpmc {

/// The chains of one rank: consecutive ones.
struct ChainShare {
  unsigned first = 0;
  unsigned count = 0;
};

/// `chains` dealt to `ranks`: the first chains to rank 0; shares differ by one at most.
inline ChainShare equal_share(unsigned chains, unsigned rank, unsigned ranks) {
  const unsigned least = chains / ranks;
  const unsigned with_one_more = chains % ranks;
  const unsigned before = rank < with_one_more ? rank : with_one_more;
  return {rank * least + before, least + (rank < with_one_more ? 1 : 0)};
}

/// Each rank has said how many it takes.
inline ChainShare stated_share(std::span<const unsigned> counts, unsigned rank) {
  ChainShare share{0, counts[rank]};
  for (unsigned before = 0; before < rank; ++before) share.first += counts[before];
  return share;
}

}  // namespace starpmc
