/* Makes two-level logic smaller: a function of several outputs, given by its minterms, is
 * turned into a sum of few products. Cubes (products) are heap blocks of 12 bytes, in
 * covers (sums) whose arrays grow by realloc; the recursions make covers by the thousand
 * and drop them soon.
 *
 *     espresso [ROUNDS]
 *              5
 *
 * Each of ROUNDS minimises an adder, a multiplier, a counter of ones, a symmetric
 * function, and a random one with outputs that do not matter, another in each round.
 * Operations: cubes made, each one malloc and one free.
 *
 * What is not wanted (the off-set) is found by complementing what is wanted or does not
 * matter. Then cubes are expanded as long as they miss the off-set, redundant ones are
 * dropped, and the rest is reduced to what no other covers, in turns until that makes
 * the cover no cheaper. Containment is asked by unate recursion: is a cofactor a
 * tautology? At the end the cover is evaluated at every point and compared with the
 * function.
 *
 * The load is like that of Espresso, known from B. Zorn's studies of allocators and from
 * mimalloc-bench, where however a cover's cubes lie in one array: its blocks are fewer
 * and of many sizes. The algorithm is that of R. Brayton and others, "Logic Minimization
 * Algorithms for VLSI Synthesis" (1984), without its last gasp and essential primes and
 * with simpler choices. */
#include <stdbool.h>

#include "bench.h"

#define INPUTS_MAX 12
#define EVEN_BITS 0x55555555u

/* Bit 2 * v of inputs: variable v may be 0; bit 2 * v + 1: it may be 1. One of them at
 * least is set. Cubes of the recursions, which know no outputs, have none. */
struct cube {
	uint32_t inputs, outputs;
	uint32_t covered; /* while a cover is expanded: is in another cube */
};

struct cover {
	struct cube **cubes;
	size_t count, room;
};

/* What a function wants at a point, by the bits of outputs: 1, and 1 or 0. */
struct point {
	uint32_t on, free;
};

struct function {
	const char *name;
	unsigned inputs, outputs;
	struct point points[1 << INPUTS_MAX];
};

/* Of the function at hand. */
static unsigned input_count, output_count;
static uint32_t all_inputs; /* the universe: both bits of every variable */

static uint64_t cubes_made, cubes_dropped;

/* -- Cubes and covers ---------------------------------------------------------------- */

static struct cube *cube_make(uint32_t inputs, uint32_t outputs)
{
	struct cube *cube = bench_need(malloc(sizeof *cube));

	cubes_made++;
	cube->inputs = inputs;
	cube->outputs = outputs;
	cube->covered = false;
	return cube;
}

static void cube_drop(struct cube *cube)
{
	cubes_dropped++;
	free(cube);
}

static void cover_add(struct cover *cover, struct cube *cube)
{
	if (cover->count == cover->room) {
		cover->room = cover->room ? 2 * cover->room : 4;
		cover->cubes = bench_need(realloc(cover->cubes,
		                                  cover->room * sizeof *cover->cubes));
	}
	cover->cubes[cover->count++] = cube;
}

static void cover_drop(struct cover *cover)
{
	for (size_t i = 0; i < cover->count; i++)
		cube_drop(cover->cubes[i]);
	free(cover->cubes);
	*cover = (struct cover){ NULL, 0, 0 };
}

/* The last cube takes the place of cube i. */
static void cover_remove(struct cover *cover, size_t i)
{
	cube_drop(cover->cubes[i]);
	cover->cubes[i] = cover->cubes[--cover->count];
}

/* Whether two products have a point in common. */
static bool inputs_meet(uint32_t a, uint32_t b)
{
	uint32_t both = a & b;

	return ((both | both >> 1) & EVEN_BITS) == (all_inputs & EVEN_BITS);
}

static bool contains(const struct cube *outer, const struct cube *inner)
{
	return !(inner->inputs & ~outer->inputs) && !(inner->outputs & ~outer->outputs);
}

/* The variables that a product depends on, by their even bits. */
static uint32_t literals(uint32_t inputs)
{
	return ~(inputs & inputs >> 1) & all_inputs & EVEN_BITS;
}

/* -- Recursions over covers without outputs ------------------------------------------ */

/* What the cover is where the product is 1: a cover that does not depend on the
 * product's variables. Of cubes with one of these outputs, or of all if 0. */
static struct cover cofactor(const struct cover *cover, uint32_t inputs, uint32_t outputs)
{
	struct cover result = { NULL, 0, 0 };

	for (size_t i = 0; i < cover->count; i++) {
		const struct cube *cube = cover->cubes[i];

		if ((!outputs || cube->outputs & outputs) &&
		    inputs_meet(cube->inputs, inputs))
			cover_add(&result,
			          cube_make(cube->inputs | (~inputs & all_inputs), 0));
	}
	return result;
}

static bool has_universe(const struct cover *cover)
{
	for (size_t i = 0; i < cover->count; i++) {
		if (cover->cubes[i]->inputs == all_inputs)
			return true;
	}
	return false;
}

/* The variable to split a cover by: the one that most cubes depend on in both senses, or
 * if there is none in any; binate says which. -1 if no cube depends on any. */
static int choose_variable(const struct cover *cover, bool *binate)
{
	size_t best_less = 0, best_sum = 0;
	int best = -1;

	for (unsigned v = 0; v < input_count; v++) {
		size_t counts[4] = { 0 }, less, sum;

		for (size_t i = 0; i < cover->count; i++)
			counts[cover->cubes[i]->inputs >> 2 * v & 3]++;
		less = counts[1] < counts[2] ? counts[1] : counts[2];
		sum = counts[1] + counts[2];
		if (less > best_less || (less == best_less && sum > best_sum)) {
			best = (int)v;
			best_less = less;
			best_sum = sum;
		}
	}
	*binate = best_less > 0;
	return best;
}

/* The product of all points where variable v has that value. */
static uint32_t half(int v, unsigned value)
{
	return all_inputs & ~((uint32_t)(value ? 1 : 2) << 2 * v);
}

/* Whether there are enough points in the cubes together to fill the space. */
static bool may_fill(const struct cover *cover)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < cover->count; i++)
		sum += 1u << (input_count - (unsigned)__builtin_popcount(
						    literals(cover->cubes[i]->inputs)));
	return sum >= 1u << input_count;
}

/* Whether the cover is 1 everywhere. */
static bool is_tautology(const struct cover *cover)
{
	bool binate, result = true;
	int v;

	if (has_universe(cover))
		return true;
	if (!may_fill(cover))
		return false;
	v = choose_variable(cover, &binate);
	if (!binate) /* and a unate cover has to have the universe */
		return false;
	for (unsigned value = 0; value < 2 && result; value++) {
		struct cover part = cofactor(cover, half(v, value), 0);

		result = is_tautology(&part);
		cover_drop(&part);
	}
	return result;
}

/* Restricts the cubes of one half, joins those that are in the other too. */
static void merge_halves(struct cover *into, struct cover halves[2], int v)
{
	for (size_t i = 0; i < halves[0].count; i++) {
		struct cube *cube = halves[0].cubes[i];
		size_t j = 0;

		while (j < halves[1].count && halves[1].cubes[j]->inputs != cube->inputs)
			j++;
		if (j < halves[1].count)
			cover_remove(&halves[1], j);
		else
			cube->inputs &= half(v, 0);
		cover_add(into, cube);
	}
	for (size_t i = 0; i < halves[1].count; i++) {
		halves[1].cubes[i]->inputs &= half(v, 1);
		cover_add(into, halves[1].cubes[i]);
	}
	free(halves[0].cubes);
	free(halves[1].cubes);
}

static struct cover complement(const struct cover *cover)
{
	struct cover result = { NULL, 0, 0 }, halves[2];
	bool binate;
	int v;

	if (has_universe(cover))
		return result;
	if (cover->count == 0) {
		cover_add(&result, cube_make(all_inputs, 0));
		return result;
	}
	v = choose_variable(cover, &binate);
	if (cover->count == 1) { /* De Morgan */
		uint32_t inputs = cover->cubes[0]->inputs;

		for (unsigned i = 0; i < input_count; i++) {
			uint32_t both = 3u << 2 * i;

			if ((inputs & both) != both)
				cover_add(&result,
				          cube_make(all_inputs & ~(inputs & both), 0));
		}
		return result;
	}
	for (unsigned value = 0; value < 2; value++) {
		struct cover part = cofactor(cover, half(v, value), 0);

		halves[value] = complement(&part);
		cover_drop(&part);
	}
	merge_halves(&result, halves, v);
	return result;
}

/* The smallest product that has all points where the cover is 0; 0 if there is none. */
static uint32_t complement_span(const struct cover *cover)
{
	uint32_t span = 0;
	bool binate;
	int v;

	if (has_universe(cover))
		return 0;
	if (cover->count == 0)
		return all_inputs;
	v = choose_variable(cover, &binate);
	for (unsigned value = 0; value < 2; value++) {
		struct cover part = cofactor(cover, half(v, value), 0);
		uint32_t inner = complement_span(&part);

		if (inner)
			span |= inner & half(v, value);
		cover_drop(&part);
	}
	return span;
}

/* -- Expand, irredundant, reduce ----------------------------------------------------- */

/* For each output what it must not be 1 at. */
static struct cover off_set(const struct cover *on, const struct cover *free_set)
{
	struct cover off = { NULL, 0, 0 };

	for (unsigned output = 0; output < output_count; output++) {
		struct cover sum = cofactor(on, all_inputs, 1u << output);
		struct cover more = cofactor(free_set, all_inputs, 1u << output), part;

		for (size_t i = 0; i < more.count; i++)
			cover_add(&sum, more.cubes[i]);
		free(more.cubes);
		part = complement(&sum);
		for (size_t i = 0; i < part.count; i++) {
			part.cubes[i]->outputs = 1u << output;
			cover_add(&off, part.cubes[i]);
		}
		free(part.cubes);
		cover_drop(&sum);
	}
	return off;
}

static bool misses(const struct cube *cube, const struct cover *off)
{
	for (size_t i = 0; i < off->count; i++) {
		if (cube->outputs & off->cubes[i]->outputs &&
		    inputs_meet(cube->inputs, off->cubes[i]->inputs))
			return false;
	}
	return true;
}

static size_t count_inside(const struct cover *cover, const struct cube *cube)
{
	size_t count = 0;

	for (size_t i = 0; i < cover->count; i++)
		count += !cover->cubes[i]->covered && contains(cube, cover->cubes[i]);
	return count;
}

/* The cube that spans this and one other of the cover, misses the off-set, and has most
 * other cubes in it; NULL if there is none. */
static struct cube *best_span(const struct cover *cover, const struct cube *cube,
                              const struct cover *off)
{
	struct cube *best = NULL;
	size_t best_count = 0;

	for (size_t i = 0; i < cover->count; i++) {
		const struct cube *other = cover->cubes[i];
		struct cube *span;
		size_t count;

		if (other->covered || contains(cube, other))
			continue;
		span = cube_make(cube->inputs | other->inputs,
		                 cube->outputs | other->outputs);
		count = misses(span, off) ? count_inside(cover, span) : 0;
		if (count > best_count) {
			if (best)
				cube_drop(best);
			best = span;
			best_count = count;
		} else {
			cube_drop(span);
		}
	}
	return best;
}

/* Raises what can be raised alone, so that the cube is prime. */
static void raise_bits(struct cube *cube, const struct cover *off)
{
	for (unsigned i = 0; i < 2 * input_count + output_count; i++) {
		struct cube *raised = cube_make(cube->inputs, cube->outputs);

		if (i < 2 * input_count)
			raised->inputs |= 1u << i;
		else
			raised->outputs |= 1u << (i - 2 * input_count);
		if (misses(raised, off)) {
			cube->inputs = raised->inputs;
			cube->outputs = raised->outputs;
		}
		cube_drop(raised);
	}
}

static void drop_covered(struct cover *cover)
{
	for (size_t i = 0; i < cover->count;) {
		if (cover->cubes[i]->covered)
			cover_remove(cover, i);
		else
			i++;
	}
}

/* How many points a cube has, with each output for itself. */
static uint32_t weight(const struct cube *cube)
{
	unsigned literal_count = (unsigned)__builtin_popcount(literals(cube->inputs));

	return (1u << (input_count - literal_count)) *
	       (uint32_t)__builtin_popcount(cube->outputs);
}

static int compare_weights(const void *a, const void *b)
{
	const struct cube *x = *(struct cube *const *)a, *y = *(struct cube *const *)b;

	if (weight(x) != weight(y))
		return weight(x) < weight(y) ? -1 : 1;
	if (x->inputs != y->inputs)
		return x->inputs < y->inputs ? -1 : 1;
	return x->outputs < y->outputs ? -1 : x->outputs > y->outputs;
}

static void sort(struct cover *cover)
{
	qsort(cover->cubes, cover->count, sizeof *cover->cubes, compare_weights);
}

static void expand(struct cover *cover, const struct cover *off)
{
	sort(cover);
	for (size_t i = 0; i < cover->count; i++) {
		struct cube *cube = cover->cubes[i], *span;

		if (cube->covered)
			continue;
		while ((span = best_span(cover, cube, off))) {
			cube->inputs = span->inputs;
			cube->outputs = span->outputs;
			cube_drop(span);
		}
		raise_bits(cube, off);
		for (size_t j = 0; j < cover->count; j++) {
			if (j != i && contains(cube, cover->cubes[j]))
				cover->cubes[j]->covered = true;
		}
	}
	drop_covered(cover);
}

/* What is 1 or may be, without cube i, where that cube is 1, at one output. */
static struct cover others(const struct cover *cover, size_t i,
                           const struct cover *free_set, uint32_t output)
{
	uint32_t inputs = cover->cubes[i]->inputs, outputs = cover->cubes[i]->outputs;
	struct cover result, more = cofactor(free_set, inputs, output);

	cover->cubes[i]->outputs = 0;
	result = cofactor(cover, inputs, output);
	cover->cubes[i]->outputs = outputs;
	for (size_t j = 0; j < more.count; j++)
		cover_add(&result, more.cubes[j]);
	free(more.cubes);
	return result;
}

/* Drops, the smallest first, each cube that the others cover. */
static void make_irredundant(struct cover *cover, const struct cover *free_set)
{
	sort(cover);
	for (size_t i = 0; i < cover->count; i++) {
		uint32_t left = cover->cubes[i]->outputs;
		bool needed = false;

		for (; left && !needed; left &= left - 1) {
			struct cover rest = others(cover, i, free_set, left & -left);

			needed = !is_tautology(&rest);
			cover_drop(&rest);
		}
		if (!needed) { /* nor may it count for the next */
			cover->cubes[i]->outputs = 0;
			cover->cubes[i]->covered = true;
		}
	}
	drop_covered(cover);
}

/* Makes each cube, the largest first, the smallest that has what only it covers. */
static void reduce(struct cover *cover, const struct cover *free_set)
{
	sort(cover);
	for (size_t i = cover->count; i-- > 0;) {
		struct cube *cube = cover->cubes[i];
		uint32_t inputs = 0, outputs = 0;

		for (uint32_t left = cube->outputs; left; left &= left - 1) {
			struct cover rest = others(cover, i, free_set, left & -left);
			uint32_t span = complement_span(&rest);

			inputs |= span & cube->inputs;
			outputs |= span ? left & -left : 0;
			cover_drop(&rest);
		}
		cube->covered = !outputs;
		cube->inputs = outputs ? inputs : cube->inputs;
		cube->outputs = outputs;
	}
	drop_covered(cover);
}

static size_t cost(const struct cover *cover)
{
	size_t sum = cover->count * 1000;

	for (size_t i = 0; i < cover->count; i++) {
		const struct cube *cube = cover->cubes[i];

		sum += (size_t)__builtin_popcount(literals(cube->inputs)) +
		       (size_t)__builtin_popcount(cube->outputs);
	}
	return sum;
}

static struct cover cover_copy(const struct cover *cover)
{
	struct cover copy = { NULL, 0, 0 };

	for (size_t i = 0; i < cover->count; i++)
		cover_add(&copy,
		          cube_make(cover->cubes[i]->inputs, cover->cubes[i]->outputs));
	return copy;
}

static void minimise(struct cover *cover, const struct cover *free_set)
{
	struct cover off = off_set(cover, free_set);

	expand(cover, &off);
	make_irredundant(cover, free_set);
	for (;;) {
		struct cover next = cover_copy(cover);

		reduce(&next, free_set);
		expand(&next, &off);
		make_irredundant(&next, free_set);
		if (cost(&next) >= cost(cover)) {
			cover_drop(&next);
			break;
		}
		cover_drop(cover);
		*cover = next;
	}
	cover_drop(&off);
}

/* -- Functions ----------------------------------------------------------------------- */

static uint32_t low_bits(unsigned count)
{
	return (1u << count) - 1;
}

static void define_adder(struct function *function, unsigned bits)
{
	*function = (struct function){ "adder", 2 * bits, bits + 1, { { 0, 0 } } };
	for (uint32_t x = 0; x < 1u << function->inputs; x++)
		function->points[x].on = (x & low_bits(bits)) + (x >> bits);
}

static void define_multiplier(struct function *function, unsigned bits)
{
	*function = (struct function){ "multiplier", 2 * bits, 2 * bits, { { 0, 0 } } };
	for (uint32_t x = 0; x < 1u << function->inputs; x++)
		function->points[x].on = (x & low_bits(bits)) * (x >> bits);
}

static void define_counter(struct function *function, unsigned inputs)
{
	*function = (struct function){ "counter", inputs, 4, { { 0, 0 } } };
	for (uint32_t x = 0; x < 1u << inputs; x++)
		function->points[x].on = (uint32_t)__builtin_popcount(x);
}

/* 1 if 3 to 6 of the inputs are. */
static void define_symmetric(struct function *function, unsigned inputs)
{
	*function = (struct function){ "symmetric", inputs, 1, { { 0, 0 } } };
	for (uint32_t x = 0; x < 1u << inputs; x++) {
		int ones = __builtin_popcount(x);

		function->points[x].on = ones >= 3 && ones <= 6;
	}
}

/* Each output is 1 at a quarter of the points and does not matter at another. */
static void define_random(struct function *function, unsigned inputs, unsigned outputs,
                          uint64_t seed)
{
	uint64_t random = bench_seed(seed);

	*function = (struct function){ "random", inputs, outputs, { { 0, 0 } } };
	for (uint32_t x = 0; x < 1u << inputs; x++) {
		uint32_t a = bench_random(&random) >> 8 & low_bits(outputs);
		uint32_t b = bench_random(&random) >> 8 & low_bits(outputs);

		function->points[x] = (struct point){ a & b, a & ~b };
	}
}

/* The product of that point alone. */
static uint32_t minterm(uint32_t x)
{
	uint32_t inputs = 0;

	for (unsigned v = 0; v < input_count; v++)
		inputs |= (x >> v & 1 ? 2u : 1u) << 2 * v;
	return inputs;
}

static void check(const struct function *function, const struct cover *cover)
{
	for (uint32_t x = 0; x < 1u << input_count; x++) {
		uint32_t outputs = 0, inputs = minterm(x);

		for (size_t i = 0; i < cover->count; i++) {
			if (!(inputs & ~cover->cubes[i]->inputs))
				outputs |= cover->cubes[i]->outputs;
		}
		bench_check(!((outputs ^ function->points[x].on) &
		              ~function->points[x].free));
	}
}

static void solve(const struct function *function)
{
	struct cover cover = { NULL, 0, 0 }, free_set = { NULL, 0, 0 };
	size_t minterms;

	input_count = function->inputs;
	output_count = function->outputs;
	all_inputs = low_bits(2 * input_count);
	for (uint32_t x = 0; x < 1u << input_count; x++) {
		const struct point *point = &function->points[x];

		if (point->on)
			cover_add(&cover, cube_make(minterm(x), point->on));
		if (point->free)
			cover_add(&free_set, cube_make(minterm(x), point->free));
	}
	minterms = cover.count;
	minimise(&cover, &free_set);
	check(function, &cover);
	printf("%s of %u inputs, %u outputs: %zu minterms, %zu products\n",
	       function->name, input_count, output_count, minterms, cover.count);
	cover_drop(&cover);
	cover_drop(&free_set);
}

int main(int argc, char **argv)
{
	static struct function function;
	long rounds = bench_arg(argc, argv, 1, 5);
	double start = bench_seconds();

	for (long round = 0; round < rounds; round++) {
		define_adder(&function, 5);
		solve(&function);
		define_multiplier(&function, 5);
		solve(&function);
		define_counter(&function, 9);
		solve(&function);
		define_symmetric(&function, 10);
		solve(&function);
		define_random(&function, 9, 8, (uint64_t)round);
		solve(&function);
	}
	bench_check(cubes_made == cubes_dropped);
	bench_result("espresso", cubes_made, bench_seconds() - start);
	return 0;
}
