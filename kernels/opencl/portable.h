/* What every kernel file starts from: double precision, the real type, and how buffers arrive. */
#ifndef STARPMC_OPENCL_PORTABLE_H
#define STARPMC_OPENCL_PORTABLE_H

#pragma OPENCL EXTENSION cl_khr_fp64 : enable

/* STARPMC_SINGLE: pair terms in fp32 and sums in fp64; STARPMC_FIXED: and stored coordinates in
   fixed point. */
#if STARPMC_SINGLE
typedef float real;
typedef float3 real3;
typedef float4 real4;
#else
typedef double real;
typedef double3 real3;
typedef double4 real4;
#endif

/* Where fp32 has no instruction for it, fma() would be a function of many. The terms that use it are
   certified: a rounding more does no harm. */
#ifndef STARPMC_FUSED
#define STARPMC_FUSED 1
#endif
#if !STARPMC_FUSED
#define fma(a, b, c) ((a) * (b) + (c))
#endif

/* Type of stored coordinates. */
#if STARPMC_FIXED
typedef int coordinate;
#else
typedef real coordinate;
#endif

/* A buffer may start anywhere inside a device's memory object: kernels take both. */
#define BUFFER(name) __global char *name##_memory, ulong name##_offset
#define OF_BUFFER(name) (name##_memory + name##_offset)
/* OF: OF_BUFFER, or OF_PLACE */
#define ARRAY_AT(OF, type, name) __global type *name = (__global type *)OF(name)
#define ARRAY(type, name) ARRAY_AT(OF_BUFFER, type, name)
#define CONSTANT_ARRAY(type, name) ARRAY_AT(OF_BUFFER, const type, name)

/* Buffers of one memory object, which a kernel is given once: each object costs a launch half a
   microsecond. */
#define PLACE(name) ulong name##_offset
#define OF_PLACE(name) (handed_memory + name##_offset)
#define PLACED_ARRAY(type, name) ARRAY_AT(OF_PLACE, type, name)
#define CONSTANT_PLACED_ARRAY(type, name) ARRAY_AT(OF_PLACE, const type, name)

/* A whole number of items works together. Where a CPU's kernels share local memory, it is an argument:
   PoCL 3.1 let the groups of two threads share one __local array of a kernel's own. */
#define GROUP_OF(size) __attribute__((reqd_work_group_size(size, 1, 1)))

/* Coefficient of the 1/r part of the Coulomb function with the density. */
#ifndef STARPMC_COULOMB_POLE
#define STARPMC_COULOMB_POLE 1.0
#endif

/* Which functions of the user's there are. */
#ifndef STARPMC_USER_COULOMB
#define STARPMC_USER_COULOMB 0
#endif
/* Whether the grid term takes it in the precision of the pair terms. */
#ifndef STARPMC_USER_GRID
#define STARPMC_USER_GRID 0
#endif
#ifndef STARPMC_USER_MM
#define STARPMC_USER_MM 0
#endif
/* Whether MM molecules that are not near take them in the precision of the pair terms. */
#ifndef STARPMC_USER_MM_AS_PAIRS
#define STARPMC_USER_MM_AS_PAIRS 0
#endif
#ifndef STARPMC_USER_QMMM
#define STARPMC_USER_QMMM 0
#endif

#include "common/energy_terms.h"
#include "common/layout.h"

#endif
