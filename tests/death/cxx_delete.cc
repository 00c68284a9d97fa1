// The mistakes that C++ can make: delete twice, or with a size or an alignment
// that is not the block's. form= the operator, how= the mistake, given= and
// given_align= the wrong figures.
#include "death.h"

#include <new>

static size_t size, align, given, given_align;

static void *new_it()
{
	const std::align_val_t wanted{ align };

	if (arg_is("form", "array"))
		return align ? ::operator new[](size, wanted) : ::operator new[](size);
	return align ? ::operator new(size, wanted) : ::operator new(size);
}

static void delete_it(void *block)
{
	const std::align_val_t told{ given_align };

	if (arg_is("form", "array")) {
		if (arg_is("call", "sized_aligned"))
			::operator delete[](block, given, told);
		else if (arg_is("call", "sized"))
			::operator delete[](block, given);
		else if (arg_is("call", "aligned"))
			::operator delete[](block, told);
		else if (arg_is("call", "nothrow"))
			::operator delete[](block, std::nothrow);
		else if (arg_is("call", "aligned_nothrow"))
			::operator delete[](block, told, std::nothrow);
		else
			::operator delete[](block);
		return;
	}
	if (arg_is("call", "sized_aligned"))
		::operator delete(block, given, told);
	else if (arg_is("call", "sized"))
		::operator delete(block, given);
	else if (arg_is("call", "aligned"))
		::operator delete(block, told);
	else if (arg_is("call", "nothrow"))
		::operator delete(block, std::nothrow);
	else if (arg_is("call", "aligned_nothrow"))
		::operator delete(block, told, std::nothrow);
	else
		::operator delete(block);
}

int main(int argc, char **argv)
{
	unsigned char *blocks[8];
	unsigned char *victim;

	death_start(argc, argv);
	size = arg_number("size", 48);
	align = arg_number("align", 0);
	given = innocent() ? size : arg_number("given", size);
	given_align = innocent() ? align : arg_number("given_align", align);
	for (auto &block : blocks)
		block = static_cast<unsigned char *>(new_it());
	victim = blocks[0];
	for (auto block : blocks)
		if (given_align > align &&
		    reinterpret_cast<uintptr_t>(block) % given_align)
			victim = block;

	if (arg_is("how", "inside") && !innocent())
		victim += arg_number("offset", 8);
	say_pointer('P', victim);
	say_number('U', malloc_usable_size(blocks[1]));
	say_number('M', arg_number("offset", 8));
	if (arg_is("how", "twice"))
		run_by(arg("first", "main"), delete_it, victim);
	run_by(arg("second", "main"), delete_it,
	       innocent() && arg_is("how", "twice") ? blocks[1] : victim);
	return innocent() ? 0 : EXIT_UNNOTICED;
}
