#pragma once

/// Before a function whose loops are compiled for longer vectors, too, and run with the longest
/// that the processor has. Operations are as they are written (-ffp-contract=off): the same bits.
/// Not with sanitizers, which run before the choice of such functions can be made.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define STARPMC_WIDE_VECTORS __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define STARPMC_WIDE_VECTORS
#endif
