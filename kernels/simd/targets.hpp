#pragma once

// SSE4, AVX2 and AVX-512 from one source (and SSE2, the least of x86-64); the instruction sets in
// between bring these kernels nothing and cost compile time.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)
