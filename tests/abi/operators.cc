// All forms of operator new and delete, the handler included.
#include "../testing.h"

#include <new>
#include <vector>

static void *volatile kept; // so that no call is optimised away
static void *reserve;
static int handler_calls;

static void throw_a_number()
{
	throw 42;
}

static void give_up()
{
	handler_calls++;
	std::set_new_handler(nullptr);
}

static void give_reserve()
{
	handler_calls++;
	::operator delete(reserve);
	reserve = nullptr;
	std::set_new_handler(throw_a_number);
}

static const std::align_val_t aligns[] = {
	std::align_val_t{ 1 },  std::align_val_t{ 16 },   std::align_val_t{ 32 },
	std::align_val_t{ 64 }, std::align_val_t{ 4096 }, std::align_val_t{ 65536 },
};

static void check_plain(size_t size)
{
	void *blocks[12];

	for (int i = 0; i < 12; i += 4) {
		blocks[i] = ::operator new(size);
		blocks[i + 1] = ::operator new[](size);
		blocks[i + 2] = ::operator new(size, std::nothrow);
		blocks[i + 3] = ::operator new[](size, std::nothrow);
	}
	for (auto block : blocks) {
		CHECK(block && test_aligned(block, 16));
		CHECK(malloc_usable_size(block) >= size);
		test_fill(block, size, 5);
	}
	::operator delete(blocks[0]);
	::operator delete(blocks[2], size);
	::operator delete(blocks[4], std::nothrow);
	::operator delete(blocks[6]);
	::operator delete[](blocks[1]);
	::operator delete[](blocks[3], size);
	::operator delete[](blocks[5], std::nothrow);
	::operator delete[](blocks[7]);
	free(blocks[8]);
	for (int i = 9; i < 12; i++)
		::operator delete(blocks[i]);
}

static void check_aligned(size_t size, std::align_val_t align)
{
	void *blocks[8];

	for (int i = 0; i < 8; i += 4) {
		blocks[i] = ::operator new(size, align);
		blocks[i + 1] = ::operator new[](size, align);
		blocks[i + 2] = ::operator new(size, align, std::nothrow);
		blocks[i + 3] = ::operator new[](size, align, std::nothrow);
	}
	for (auto block : blocks) {
		CHECK(block && test_aligned(block, static_cast<size_t>(align)));
		test_fill(block, size, 5);
	}
	::operator delete(blocks[0], align);
	::operator delete(blocks[2], size, align);
	::operator delete(blocks[4], align, std::nothrow);
	::operator delete(blocks[6], align);
	::operator delete[](blocks[1], align);
	::operator delete[](blocks[3], size, align);
	::operator delete[](blocks[5], align, std::nothrow);
	::operator delete[](blocks[7], align);
}

template <typename Call> static bool throws_bad_alloc(Call call)
{
	try {
		call();
	} catch (const std::bad_alloc &) {
		return true;
	}
	return false;
}

template <typename Call> static int thrown_number(Call call)
{
	try {
		call();
	} catch (int number) {
		return number;
	} catch (const std::bad_alloc &) {
		return -1;
	}
	return 0;
}

static void check_handler()
{
	const size_t huge = SIZE_MAX / 2 - 65536;
	const std::align_val_t align{ 64 };

	std::set_new_handler(nullptr);
	CHECK(throws_bad_alloc([=] { kept = ::operator new(huge); }));
	CHECK(throws_bad_alloc([=] { kept = ::operator new[](huge); }));
	CHECK(throws_bad_alloc([=] { kept = ::operator new(huge, align); }));
	CHECK(throws_bad_alloc([=] { kept = ::operator new[](huge, align); }));
	CHECK(!::operator new(huge, std::nothrow));
	CHECK(!::operator new[](huge, align, std::nothrow));

	std::set_new_handler(throw_a_number);
	CHECK(thrown_number([=] { kept = ::operator new(huge); }) == 42);
	CHECK(thrown_number([=] { kept = ::operator new[](huge); }) == 42);
	CHECK(thrown_number([=] { kept = ::operator new(huge, align); }) == 42);

	// Called first, then gone: bad_alloc, or a null pointer.
	std::set_new_handler(give_up);
	CHECK(throws_bad_alloc([=] { kept = ::operator new(huge); }) &&
	      handler_calls == 1);
	std::set_new_handler(give_up);
	CHECK(!::operator new(huge, std::nothrow) && handler_calls == 2);
	std::set_new_handler(nullptr);
}

// Under a limit of address space the handler gives back a reserve, and the
// request that failed succeeds.
#include <sys/resource.h>

static void check_reserve()
{
	struct rlimit limit;
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");
	std::vector<void *> taken;

	if (!file || fscanf(file, "%lu", &pages) != 1)
		return;
	fclose(file);
	getrlimit(RLIMIT_AS, &limit);
	limit.rlim_cur = pages * static_cast<size_t>(sysconf(_SC_PAGESIZE)) + 400 * MIB;
	taken.reserve(1000);
	reserve = ::operator new(96 * MIB);
	CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
	std::set_new_handler(give_reserve);
	handler_calls = 0;
	CHECK(thrown_number([&] {
		      for (int i = 0; i < 1000; i++)
			      taken.push_back(::operator new(8 * MIB));
	      }) == 42);
	CHECK(handler_calls == 1 && taken.size() >= 12);
	std::set_new_handler(nullptr);
	for (auto block : taken)
		::operator delete(block, 8 * MIB);
}

struct alignas(128) Wide {
	char bytes[256];
};

struct Counted {
	static int alive;
	int *data = new int[10];
	Counted()
	{
		alive++;
	}
	~Counted()
	{
		delete[] data;
		alive--;
	}
};
int Counted::alive;

int main()
{
	for (size_t n = 0, size; (size = test_size(n)) != 0; n += n < 1100 ? 5 : 1) {
		check_plain(size);
		for (auto align : aligns)
			check_aligned(size, align);
	}
	::operator delete(::operator new(0), static_cast<size_t>(0));
	::operator delete(nullptr);
	::operator delete (nullptr, std::size_t{ 8 });
	::operator delete[](nullptr, std::align_val_t{ 64 });

	Wide *wide = new Wide[7];
	CHECK(test_aligned(wide, 128));
	delete[] wide;
	Counted *counted = new Counted[100];
	CHECK(Counted::alive == 100);
	delete[] counted;
	CHECK(Counted::alive == 0);

	check_handler();
	check_reserve();
	return 0;
}
