// Requests that no heap can serve, in C++: the throwing forms throw
// std::bad_alloc, the nothrow forms return a null pointer. No mistake here.
#include "death.h"

#include <new>

static void *volatile kept; // so that no call is optimised away

static const size_t huge[] = {
	PTRDIFF_MAX,   SIZE_MAX / 2 + 1, SIZE_MAX,
	SIZE_MAX - 15, SIZE_MAX - 4096,  SIZE_MAX / 2 - 65536,
};

template <typename Call> static bool throws(Call call)
{
	try {
		call();
	} catch (const std::bad_alloc &) {
		return true;
	}
	return false;
}

int main(int argc, char **argv)
{
	const std::align_val_t align{ 64 };

	death_start(argc, argv);
	for (size_t size : huge) {
		if (!throws([=] { kept = ::operator new(size); }))
			return 10;
		if (!throws([=] { kept = ::operator new[](size); }))
			return 11;
		if (!throws([=] { kept = ::operator new(size, align); }))
			return 12;
		if (!throws([=] { kept = ::operator new[](size, align); }))
			return 13;
		if (::operator new(size, std::nothrow))
			return 14;
		if (::operator new[](size, std::nothrow))
			return 15;
		if (::operator new(size, align, std::nothrow))
			return 16;
		if (::operator new[](size, align, std::nothrow))
			return 17;
	}
	return 0;
}
