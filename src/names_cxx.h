/* Mangled names of C++'s operator new: size_t is unsigned long where pointers
 * have 64 bits, unsigned int elsewhere. */
#ifndef NC_NAMES_CXX_H
#define NC_NAMES_CXX_H

#include "base.h"

#if defined(__SIZEOF_POINTER__) && __SIZEOF_POINTER__ == 8
#define NC_NEW _Znwm
#define NC_NEW_ARRAY _Znam
#define NC_NEW_NOTHROW _ZnwmRKSt9nothrow_t
#define NC_NEW_ARRAY_NOTHROW _ZnamRKSt9nothrow_t
#define NC_NEW_ALIGNED _ZnwmSt11align_val_t
#define NC_NEW_ARRAY_ALIGNED _ZnamSt11align_val_t
#define NC_NEW_ALIGNED_NOTHROW _ZnwmSt11align_val_tRKSt9nothrow_t
#define NC_NEW_ARRAY_ALIGNED_NOTHROW _ZnamSt11align_val_tRKSt9nothrow_t
#else
#define NC_NEW _Znwj
#define NC_NEW_ARRAY _Znaj
#define NC_NEW_NOTHROW _ZnwjRKSt9nothrow_t
#define NC_NEW_ARRAY_NOTHROW _ZnajRKSt9nothrow_t
#define NC_NEW_ALIGNED _ZnwjSt11align_val_t
#define NC_NEW_ARRAY_ALIGNED _ZnajSt11align_val_t
#define NC_NEW_ALIGNED_NOTHROW _ZnwjSt11align_val_tRKSt9nothrow_t
#define NC_NEW_ARRAY_ALIGNED_NOTHROW _ZnajSt11align_val_tRKSt9nothrow_t
#endif

NC_EXPORT void *NC_NEW(size_t bytes);
NC_EXPORT void *NC_NEW_ALIGNED(size_t bytes, size_t align);
NC_EXPORT void *NC_NEW_NOTHROW(size_t bytes, const void *nothrow);
NC_EXPORT void *NC_NEW_ALIGNED_NOTHROW(size_t bytes, size_t align, const void *nothrow);

#define NC_TEXT_(x) #x
#define NC_TEXT(x) NC_TEXT_(x)

#endif
