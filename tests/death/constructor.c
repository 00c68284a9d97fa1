/* A double free before main: in a constructor, with nothing set up. */
#include "death.h"

__attribute__((constructor)) static void before_main(int argc, char **argv)
{
	void *victim, *spare;

	death_arguments(&argc, &argv);
	death_start(argc, argv);
	victim = must(malloc(arg_number("size", 48)));
	spare = must(malloc(arg_number("size", 48)));
	say_pointer('P', victim);
	say_number('U', malloc_usable_size(victim));
	free(victim);
	free(innocent() ? spare : victim);
}

int main(void)
{
	return innocent() ? 0 : EXIT_UNNOTICED;
}
