/* C++'s operator new: asks the new-handler, then throws, without a need for
 * the C++ library: what it has of these is found where it is loaded. */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "api.h"
#include "names_cxx.h"
#include "report.h"

typedef void (*handler_t)(void);

/* std::get_new_handler() and std::__throw_bad_alloc(), if there. */
handler_t _ZSt15get_new_handlerv(void) __attribute__((weak));
NC_NORETURN void _ZSt17__throw_bad_allocv(void) __attribute__((weak));

#if defined(__GLIBC__) && defined(__x86_64__)
__asm__(".symver dlsym,dlsym@GLIBC_2.2.5");
#endif
#pragma weak dlsym

static void *take(size_t bytes, size_t align)
{
	return align ? nc_memalign(align, bytes) : nc_malloc(bytes);
}

NC_COLD static void *new_slow(size_t bytes, size_t align)
{
	for (;;) {
		handler_t handler =
			_ZSt15get_new_handlerv ? _ZSt15get_new_handlerv() : NULL;
		if (!handler)
			break;
		handler();
		void *p = take(bytes, align);
		if (p)
			return p;
	}
	if (_ZSt17__throw_bad_allocv)
		_ZSt17__throw_bad_allocv();
	static const char line[] =
		"nacre: operator new is out of memory and cannot throw\n";
	nc_port_write(2, line, sizeof line - 1);
	nc_port_abort();
}

/* The handler may throw, and the caller must get NULL then: only C++ code can
 * catch, so the C++ library's own form, which calls ours, does the rest. */
NC_COLD static void *new_nothrow_slow(size_t bytes, size_t align, const void *nothrow,
                                      const char *name)
{
	if (!_ZSt15get_new_handlerv || !_ZSt15get_new_handlerv() || !dlsym)
		return NULL;
	void *next = dlsym(RTLD_NEXT, name);
	if (!next)
		return NULL;
	if (align)
		return ((void *(*)(size_t, size_t, const void *))next)(bytes, align,
		                                                       nothrow);
	return ((void *(*)(size_t, const void *))next)(bytes, nothrow);
}

NC_EXPORT void *NC_NEW(size_t bytes)
{
	void *p = nc_malloc(bytes);

	return NC_LIKELY(p) ? p : new_slow(bytes, 0);
}

NC_EXPORT void *NC_NEW_ALIGNED(size_t bytes, size_t align)
{
	void *p = nc_memalign(align, bytes);

	return NC_LIKELY(p) ? p : new_slow(bytes, align);
}

NC_EXPORT void *NC_NEW_NOTHROW(size_t bytes, const void *nothrow)
{
	void *p = nc_malloc(bytes);

	return NC_LIKELY(p)
	               ? p
	               : new_nothrow_slow(bytes, 0, nothrow, NC_TEXT(NC_NEW_NOTHROW));
}

NC_EXPORT void *NC_NEW_ALIGNED_NOTHROW(size_t bytes, size_t align, const void *nothrow)
{
	void *p = nc_memalign(align, bytes);

	return NC_LIKELY(p) ? p
	                    : new_nothrow_slow(bytes, align, nothrow,
	                                       NC_TEXT(NC_NEW_ALIGNED_NOTHROW));
}

#define NC_ALIAS(name, target) \
	NC_EXPORT extern __typeof__(target) name __attribute__((alias(NC_TEXT(target))))
NC_ALIAS(NC_NEW_ARRAY, NC_NEW);
NC_ALIAS(NC_NEW_ARRAY_ALIGNED, NC_NEW_ALIGNED);
NC_ALIAS(NC_NEW_ARRAY_NOTHROW, NC_NEW_NOTHROW);
NC_ALIAS(NC_NEW_ARRAY_ALIGNED_NOTHROW, NC_NEW_ALIGNED_NOTHROW);
