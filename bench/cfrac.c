/* Factors a number by continued fractions. Every number, however short its life, is a
 * heap block with a reference count: many small blocks, nearly all dead at once, among
 * some hundred that stay.
 *
 *     cfrac [NUMBER]
 *           853973422267356708801755307227067758023
 *
 * NUMBER from 2, in decimal. The time grows with what is left of it when primes below
 * 1000 are taken out, two- to fivefold for 2 digits more; the default has 39. The usual
 * number of the published program, 17545186520507317056371138836327483792789528, leaves
 * 43 and takes two to three times as long as the default.
 * Operations: numbers made, each one malloc and one free.
 *
 * What is left after the small primes is split until all parts are prime (Miller and
 * Rabin's test to 24 bases): the convergents A / B of the square root of k * n give
 * A^2 = +-Q (mod n) with Q below 2 sqrt(k * n). Each Q is divided by the primes of a
 * base, number by number, hopeless ones being given up early; from those that factor
 * completely, elimination over GF(2) finds products that are squares, which give
 * x^2 = y^2 (mod n) and so, about every second time, a divisor. The factors are printed;
 * they must make the number when multiplied.
 *
 * The load is that of cfrac by D. Barrett, known from B. Zorn's studies of allocators
 * and from mimalloc-bench. The algorithm is by M. Morrison and J. Brillhart, "A Method
 * of Factoring and the Factorization of F7" (Math. Comp. 29, 1975), the early abort by
 * C. Pomerance. */
#include <math.h>
#include <stdbool.h>

#include "bench.h"

#define DEFAULT_NUMBER "853973422267356708801755307227067758023"

/* -- Numbers ------------------------------------------------------------------------- */

/* A natural number. Functions borrow their arguments and return a reference that the
 * caller owns and gives up with big_drop; a number never changes once it is made. */
struct big {
	uint32_t references;
	uint32_t count;    /* of digits; the highest is not 0; 0 is the number 0 */
	uint32_t digits[]; /* base 2^32, lowest first */
};

static uint64_t numbers_made, numbers_dropped;

/* With its digits not yet set. */
static struct big *big_make(uint32_t count)
{
	struct big *number =
		bench_need(malloc(sizeof *number + count * sizeof *number->digits));

	number->references = 1;
	number->count = count;
	numbers_made++;
	return number;
}

static struct big *big_share(struct big *number)
{
	number->references++;
	return number;
}

static void big_drop(struct big *number)
{
	if (--number->references == 0) {
		numbers_dropped++;
		free(number);
	}
}

/* Puts value in the variable in place of what was there. */
static void big_set(struct big **variable, struct big *value)
{
	big_drop(*variable);
	*variable = value;
}

static struct big *big_trim(struct big *number)
{
	while (number->count > 0 && number->digits[number->count - 1] == 0)
		number->count--;
	return number;
}

static struct big *big_from(uint64_t value)
{
	struct big *number = big_make(2);

	number->digits[0] = (uint32_t)value;
	number->digits[1] = (uint32_t)(value >> 32);
	return big_trim(number);
}

static int big_compare(const struct big *a, const struct big *b)
{
	if (a->count != b->count)
		return a->count < b->count ? -1 : 1;
	for (uint32_t i = a->count; i-- > 0;) {
		if (a->digits[i] != b->digits[i])
			return a->digits[i] < b->digits[i] ? -1 : 1;
	}
	return 0;
}

static bool big_is(const struct big *a, uint32_t value)
{
	return value ? a->count == 1 && a->digits[0] == value : a->count == 0;
}

static bool big_is_odd(const struct big *a)
{
	return a->count > 0 && (a->digits[0] & 1);
}

static double big_real(const struct big *a)
{
	double value = 0;

	for (uint32_t i = a->count; i-- > 0;)
		value = value * 4294967296.0 + a->digits[i];
	return value;
}

static struct big *big_add(const struct big *a, const struct big *b)
{
	uint32_t count = (a->count > b->count ? a->count : b->count) + 1;
	struct big *sum = big_make(count);
	uint64_t carry = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (i < a->count)
			carry += a->digits[i];
		if (i < b->count)
			carry += b->digits[i];
		sum->digits[i] = (uint32_t)carry;
		carry >>= 32;
	}
	return big_trim(sum);
}

/* a - b, where a >= b. */
static struct big *big_subtract(const struct big *a, const struct big *b)
{
	struct big *difference = big_make(a->count);
	uint64_t borrow = 0;

	for (uint32_t i = 0; i < a->count; i++) {
		uint64_t taken = (i < b->count ? b->digits[i] : 0) + borrow;

		borrow = a->digits[i] < taken;
		difference->digits[i] = (uint32_t)(a->digits[i] - taken);
	}
	return big_trim(difference);
}

static struct big *big_multiply(const struct big *a, const struct big *b)
{
	struct big *product = big_make(a->count + b->count);

	memset(product->digits, 0, product->count * sizeof *product->digits);
	for (uint32_t i = 0; i < a->count; i++) {
		uint64_t carry = 0;

		for (uint32_t j = 0; j < b->count; j++) {
			carry += (uint64_t)a->digits[i] * b->digits[j] +
			         product->digits[i + j];
			product->digits[i + j] = (uint32_t)carry;
			carry >>= 32;
		}
		product->digits[i + b->count] = (uint32_t)carry;
	}
	return big_trim(product);
}

/* By one digit; the remainder. The quotient's digits may be NULL. */
static uint32_t divide_by_digit(const struct big *a, uint32_t divisor, uint32_t *quotient)
{
	uint64_t rest = 0;

	for (uint32_t i = a->count; i-- > 0;) {
		rest = rest << 32 | a->digits[i];
		if (quotient)
			quotient[i] = (uint32_t)(rest / divisor);
		rest %= divisor;
	}
	return (uint32_t)rest;
}

/* The next digit of a quotient, by the two highest digits of a normalised divisor; the
 * digit times the divisor is taken from the digits at rest. */
static uint32_t divide_step(uint32_t *rest, const uint32_t *divisor, uint32_t count)
{
	uint64_t top = (uint64_t)rest[count] << 32 | rest[count - 1];
	uint64_t digit = top / divisor[count - 1], left = top % divisor[count - 1];
	uint64_t carry = 0, borrow = 0;

	while (digit >> 32 ||
	       digit * divisor[count - 2] > (left << 32 | rest[count - 2])) {
		digit--;
		left += divisor[count - 1];
		if (left >> 32)
			break;
	}
	for (uint32_t i = 0; i <= count; i++) {
		uint64_t taken;

		carry += i < count ? digit * divisor[i] : 0;
		taken = (carry & 0xffffffff) + borrow;
		carry >>= 32;
		borrow = rest[i] < taken;
		rest[i] = (uint32_t)(rest[i] - taken);
	}
	if (borrow) { /* one too many */
		digit--;
		carry = 0;
		for (uint32_t i = 0; i <= count; i++) {
			carry += (uint64_t)rest[i] + (i < count ? divisor[i] : 0);
			rest[i] = (uint32_t)carry;
			carry >>= 32;
		}
	}
	return (uint32_t)digit;
}

/* a * 2^bits (bits < 32) in count digits, the highest of which may be 0. */
static struct big *big_shift(const struct big *a, unsigned bits, uint32_t count)
{
	struct big *shifted = big_make(count);
	uint64_t carry = 0;

	for (uint32_t i = 0; i < count; i++) {
		carry |= (uint64_t)(i < a->count ? a->digits[i] : 0) << bits;
		shifted->digits[i] = (uint32_t)carry;
		carry >>= 32;
	}
	return shifted;
}

/* Knuth's algorithm D ("The Art of Computer Programming", 4.3.1): quotient has room for
 * it; the remainder. The divisor has two digits or more and no more than a. */
static struct big *divide_long(const struct big *a, const struct big *b,
                               struct big *quotient)
{
	unsigned bits = (unsigned)__builtin_clz(b->digits[b->count - 1]);
	struct big *rest = big_shift(a, bits, a->count + 1);
	struct big *divisor = big_shift(b, bits, b->count);

	for (uint32_t i = a->count - b->count + 1; i-- > 0;)
		quotient->digits[i] =
			divide_step(rest->digits + i, divisor->digits, b->count);
	big_drop(divisor);
	rest->count = b->count;
	for (uint32_t i = 0; i < rest->count && bits > 0; i++) {
		uint32_t above = i + 1 < rest->count ? rest->digits[i + 1] : 0;

		rest->digits[i] = rest->digits[i] >> bits | above << (32 - bits);
	}
	return big_trim(rest);
}

/* The quotient; b is not 0. */
static struct big *big_divide(struct big *a, const struct big *b, struct big **remainder)
{
	struct big *quotient;

	if (big_compare(a, b) < 0) {
		*remainder = big_share(a);
		return big_from(0);
	}
	quotient = big_make(a->count - b->count + 1);
	if (b->count == 1)
		*remainder = big_from(divide_by_digit(a, b->digits[0], quotient->digits));
	else
		*remainder = divide_long(a, b, quotient);
	return big_trim(quotient);
}

static struct big *big_modulo(struct big *a, const struct big *b)
{
	struct big *remainder;

	if (b->count == 1)
		return big_from(divide_by_digit(a, b->digits[0], NULL));
	big_drop(big_divide(a, b, &remainder));
	return remainder;
}

static uint32_t big_modulo_digit(struct big *a, uint32_t divisor)
{
	struct big *b = big_from(divisor), *remainder = big_modulo(a, b);
	uint32_t result = remainder->count ? remainder->digits[0] : 0;

	big_drop(b);
	big_drop(remainder);
	return result;
}

static struct big *big_multiply_modulo(const struct big *a, const struct big *b,
                                       const struct big *modulus)
{
	struct big *product = big_multiply(a, b), *result = big_modulo(product, modulus);

	big_drop(product);
	return result;
}

static struct big *big_power_modulo(struct big *base, const struct big *exponent,
                                    const struct big *modulus)
{
	struct big *power = big_from(1);

	for (uint32_t i = 32 * exponent->count; i-- > 0;) {
		big_set(&power, big_multiply_modulo(power, power, modulus));
		if (exponent->digits[i / 32] >> i % 32 & 1)
			big_set(&power, big_multiply_modulo(power, base, modulus));
	}
	return power;
}

/* Rounded down. Newton's iteration from above. */
static struct big *big_root(struct big *a)
{
	struct big *root = big_from(1), *two = big_from(2);

	/* To above the root, which has no more than 16 bits for each digit of a. */
	for (uint32_t i = 0; i < 16 * a->count / 31 + 1; i++)
		big_set(&root, big_shift(root, 31, root->count + 1));
	big_trim(root);
	for (;;) {
		struct big *remainder, *next = big_divide(a, root, &remainder);

		big_drop(remainder);
		big_set(&next, big_add(next, root));
		big_set(&next, big_divide(next, two, &remainder));
		big_drop(remainder);
		if (big_compare(next, root) >= 0) {
			big_drop(next);
			break;
		}
		big_set(&root, next);
	}
	big_drop(two);
	return root;
}

static struct big *big_divisor(struct big *a, struct big *b)
{
	struct big *x = big_share(a), *y = big_share(b);

	while (y->count > 0) {
		struct big *remainder = big_modulo(x, y);

		big_set(&x, y);
		y = remainder;
	}
	big_drop(y);
	return x;
}

/* NULL unless text is decimal digits alone. */
static struct big *big_parse(const char *text)
{
	struct big *value = big_from(0), *ten = big_from(10);

	for (; *text >= '0' && *text <= '9'; text++) {
		struct big *digit = big_from((uint64_t)(*text - '0'));

		big_set(&value, big_multiply(value, ten));
		big_set(&value, big_add(value, digit));
		big_drop(digit);
	}
	big_drop(ten);
	if (*text) {
		big_drop(value);
		return NULL;
	}
	return value;
}

static void big_print(struct big *number)
{
	struct big *left = big_share(number), *billion = big_from(1000000000);
	uint32_t parts[64], count = 0;

	do {
		struct big *part, *quotient = big_divide(left, billion, &part);

		parts[count++] = part->count ? part->digits[0] : 0;
		big_drop(part);
		big_set(&left, quotient);
	} while (left->count > 0 && count < 64);
	printf("%u", (unsigned)parts[--count]);
	while (count > 0)
		printf("%09u", (unsigned)parts[--count]);
	big_drop(left);
	big_drop(billion);
}

/* -- Primes -------------------------------------------------------------------------- */

#define PRIMES_BELOW 65536
#define PRIMES_MAX 6542
#define TRIAL_PRIMES 168 /* below 1000: taken out by division */

static uint32_t primes[PRIMES_MAX];
static uint32_t prime_count;

static void primes_find(void)
{
	static bool composite[PRIMES_BELOW];

	for (uint32_t i = 2; i < PRIMES_BELOW; i++) {
		if (composite[i])
			continue;
		primes[prime_count++] = i;
		for (uint32_t j = 2 * i; j < PRIMES_BELOW; j += i)
			composite[j] = true;
	}
}

/* Whether a is 0 or a square modulo the prime p. */
static bool is_residue(uint32_t a, uint32_t p)
{
	uint64_t power = 1, base = a % p;

	for (uint32_t exponent = p / 2; exponent; exponent >>= 1) {
		if (exponent & 1)
			power = power * base % p;
		base = base * base % p;
	}
	return power <= 1;
}

/* Miller and Rabin's test to one base; n is odd and above it. */
static bool is_likely_prime(struct big *n, uint32_t base)
{
	struct big *one = big_from(1), *two = big_from(2), *start = big_from(base);
	struct big *minus_one = big_subtract(n, one), *odd = big_share(minus_one);
	struct big *power;
	uint32_t twos = 0;
	bool result;

	while (!big_is_odd(odd)) {
		struct big *remainder, *half = big_divide(odd, two, &remainder);

		big_drop(remainder);
		big_set(&odd, half);
		twos++;
	}
	power = big_power_modulo(start, odd, n);
	result = big_is(power, 1) || !big_compare(power, minus_one);
	while (!result && --twos > 0) {
		big_set(&power, big_multiply_modulo(power, power, n));
		result = !big_compare(power, minus_one);
	}
	big_drop(one);
	big_drop(two);
	big_drop(start);
	big_drop(minus_one);
	big_drop(odd);
	big_drop(power);
	return result;
}

/* n has no prime factor below 1000. */
static bool is_prime(struct big *n)
{
	for (uint32_t i = 0; i < 24; i++) {
		if (!is_likely_prime(n, primes[i]))
			return false;
	}
	return true;
}

/* -- The expansion ------------------------------------------------------------------- */

/* The continued fraction of the square root of kn. After step i, in the usual names, p
 * is P[i+1], q is Q[i+1], a is A[i] modulo n, and A[i]^2 = +-Q[i+1] modulo n. */
struct expansion {
	struct big *n, *kn, *root; /* root of kn, rounded down */
	struct big *p, *q_last, *q, *a_last, *a;
	bool negative; /* the sign before q */
};

static struct expansion expansion_start(struct big *n, uint32_t multiplier)
{
	struct expansion it = { .n = big_share(n), .kn = big_from(multiplier) };
	struct big *square;

	big_set(&it.kn, big_multiply(it.kn, n));
	it.root = big_root(it.kn);
	square = big_multiply(it.root, it.root);
	it.p = big_share(it.root);
	it.q_last = big_from(1);
	it.q = big_subtract(it.kn, square);
	it.a_last = big_from(1);
	it.a = big_modulo(it.root, n);
	it.negative = true;
	big_drop(square);
	return it;
}

static void expansion_finish(struct expansion *it)
{
	big_drop(it->n);
	big_drop(it->kn);
	big_drop(it->root);
	big_drop(it->p);
	big_drop(it->q_last);
	big_drop(it->q);
	big_drop(it->a_last);
	big_drop(it->a);
}

/* Q[i+1] = Q[i-1] + digit * (P[i] - P[i+1]). */
static struct big *next_q(const struct expansion *it, const struct big *digit,
                          const struct big *next_p)
{
	bool falls = big_compare(it->p, next_p) >= 0;
	struct big *change =
		falls ? big_subtract(it->p, next_p) : big_subtract(next_p, it->p);
	struct big *result;

	big_set(&change, big_multiply(change, digit));
	result = falls ? big_add(it->q_last, change) : big_subtract(it->q_last, change);
	big_drop(change);
	return result;
}

static void expansion_step(struct expansion *it)
{
	struct big *sum = big_add(it->root, it->p), *remainder;
	struct big *digit = big_divide(sum, it->q, &remainder);
	struct big *next_p = big_subtract(it->root, remainder);
	struct big *q = next_q(it, digit, next_p);
	struct big *a = big_multiply(digit, it->a);

	big_set(&a, big_add(a, it->a_last));
	big_set(&a, big_modulo(a, it->n));
	big_set(&it->p, next_p);
	big_set(&it->q_last, it->q);
	it->q = q;
	big_set(&it->a_last, it->a);
	it->a = a;
	it->negative = !it->negative;
	big_drop(sum);
	big_drop(digit);
	big_drop(remainder);
}

/* -- Relations ----------------------------------------------------------------------- */

#define BASE_MAX 2000
#define RELATIONS_SPARE 64
#define ABORTS 2

/* The small primes that may divide a q: those of which kn is a square. */
struct base {
	uint32_t count;
	uint32_t values[BASE_MAX];
	struct big *primes[BASE_MAX];
	uint32_t abort_at[ABORTS];       /* after so many primes give up */
	struct big *abort_above[ABORTS]; /* if more than this is left of a q */
};

/* a^2 = the product of the base's primes to their exponents (mod n), where exponent 0
 * is of -1 and exponent i + 1 of prime i. */
struct relation {
	struct big *a;
	unsigned char exponents[];
};

/* All about one try to split n. */
struct split {
	struct expansion it;
	struct base base;
	uint32_t relation_count, relation_max;
	struct relation **relations;
	/* The matrix over GF(2). A line is the parity of the exponents of a product of
	 * relations, and behind it a bit for each relation that is in the product. */
	uint32_t parity_words, line_words;
	uint64_t **pivots; /* by the first odd exponent: the line with it, or NULL */
};

/* After one part in so many of the primes, a q must have been divided by so much, set
 * against the largest that there may be. Found by trial, as is the size of the base. */
static const uint32_t abort_parts[ABORTS] = { 20, 6 };
static const uint32_t abort_factors[ABORTS] = { 5000, 100000000 };

static void base_init(struct base *base, const struct expansion *it)
{
	double log_n = log(big_real(it->n));
	double size = exp(0.29 * sqrt(log_n * log(log_n)));
	struct big *most = big_add(it->root, it->root);
	uint32_t wanted = size < BASE_MAX ? (uint32_t)size + 5 : BASE_MAX;

	base->count = 0;
	for (uint32_t i = 0; i < prime_count && base->count < wanted; i++) {
		uint32_t residue = big_modulo_digit(it->kn, primes[i]);

		if (is_residue(residue, primes[i])) {
			base->values[base->count] = primes[i];
			base->primes[base->count++] = big_from(primes[i]);
		}
	}
	for (int i = 0; i < ABORTS; i++) {
		struct big *factor = big_from(abort_factors[i]), *remainder;

		base->abort_at[i] = base->count / abort_parts[i];
		base->abort_above[i] = big_divide(most, factor, &remainder);
		big_drop(factor);
		big_drop(remainder);
	}
	big_drop(most);
}

static void base_finish(struct base *base)
{
	for (uint32_t i = 0; i < base->count; i++)
		big_drop(base->primes[i]);
	for (int i = 0; i < ABORTS; i++)
		big_drop(base->abort_above[i]);
}

static bool base_aborts(const struct base *base, uint32_t i, const struct big *rest)
{
	for (int j = 0; j < ABORTS; j++) {
		if (i == base->abort_at[j] && big_compare(rest, base->abort_above[j]) > 0)
			return true;
	}
	return false;
}

/* Divides prime i out of rest as often as it goes; how often. */
static unsigned char divide_out(struct big **rest, const struct big *prime)
{
	for (unsigned char times = 0;; times++) {
		struct big *remainder = big_modulo(*rest, prime);
		bool divides = big_is(remainder, 0);

		big_drop(remainder);
		if (!divides)
			return times;
		big_set(rest, big_divide(*rest, prime, &remainder));
		big_drop(remainder);
	}
}

/* The relation that the expansion stands at, or NULL if q has other factors. */
static struct relation *relation_find(const struct expansion *it, const struct base *base)
{
	unsigned char exponents[BASE_MAX + 1] = { it->negative };
	struct big *rest = big_share(it->q);
	struct relation *relation = NULL;

	for (uint32_t i = 0; i < base->count && !big_is(rest, 1); i++) {
		if (base_aborts(base, i, rest))
			break;
		exponents[i + 1] = divide_out(&rest, base->primes[i]);
	}
	if (big_is(rest, 1)) {
		relation = bench_need(malloc(sizeof *relation + base->count + 1));
		relation->a = big_share(it->a);
		memcpy(relation->exponents, exponents, base->count + 1);
	}
	big_drop(rest);
	return relation;
}

/* -- Elimination --------------------------------------------------------------------- */

static void split_start(struct split *split, struct big *n, uint32_t multiplier)
{
	split->it = expansion_start(n, multiplier);
	base_init(&split->base, &split->it);
	split->relation_count = 0;
	split->relation_max = split->base.count + 1 + RELATIONS_SPARE;
	split->relations =
		bench_need(malloc(split->relation_max * sizeof *split->relations));
	split->parity_words = (split->base.count + 1 + 63) / 64;
	split->line_words = split->parity_words + (split->relation_max + 63) / 64;
	split->pivots = bench_need(calloc(split->base.count + 1, sizeof *split->pivots));
}

static void split_finish(struct split *split)
{
	for (uint32_t i = 0; i < split->relation_count; i++) {
		big_drop(split->relations[i]->a);
		free(split->relations[i]);
	}
	free(split->relations);
	for (uint32_t i = 0; i <= split->base.count; i++)
		free(split->pivots[i]);
	free(split->pivots);
	base_finish(&split->base);
	expansion_finish(&split->it);
}

static uint64_t *line_make(const struct split *split, uint32_t index)
{
	uint64_t *line = bench_need(calloc(split->line_words, sizeof *line));
	uint32_t history_bit = 64 * split->parity_words + index;

	for (uint32_t i = 0; i <= split->base.count; i++) {
		uint64_t parity = split->relations[index]->exponents[i] & 1;

		line[i / 64] |= parity << i % 64;
	}
	line[history_bit / 64] |= (uint64_t)1 << history_bit % 64;
	return line;
}

/* The first odd exponent, or -1. */
static int line_first(const struct split *split, const uint64_t *line)
{
	for (uint32_t i = 0; i < split->parity_words; i++) {
		if (line[i])
			return (int)(64 * i) + __builtin_ctzll(line[i]);
	}
	return -1;
}

/* Takes the line in. True if it came to nothing but even exponents: then it stays the
 * caller's. */
static bool eliminate(struct split *split, uint64_t *line)
{
	for (;;) {
		int first = line_first(split, line);

		if (first < 0)
			return true;
		if (!split->pivots[first]) {
			split->pivots[first] = line;
			return false;
		}
		for (uint32_t i = 0; i < split->line_words; i++)
			line[i] ^= split->pivots[first][i];
	}
}

/* The root of the product of the base's primes to these even exponents. */
static struct big *product_root(const struct split *split, const uint32_t *exponents)
{
	struct big *root = big_from(1);

	for (uint32_t i = 0; i < split->base.count; i++) {
		struct big *half = big_from(exponents[i + 1] / 2);
		struct big *power =
			big_power_modulo(split->base.primes[i], half, split->it.n);

		big_set(&root, big_multiply_modulo(root, power, split->it.n));
		big_drop(half);
		big_drop(power);
	}
	return root;
}

/* The divisor of n, perhaps a trivial one, that a product of relations with even
 * exponents gives: x^2 = y^2, so n divides (x + y) (x - y). */
static struct big *divisor_of_line(const struct split *split, const uint64_t *line)
{
	uint32_t exponents[BASE_MAX + 1] = { 0 };
	struct big *x = big_from(1), *y, *sum, *divisor;

	for (uint32_t j = 0; j < split->relation_count; j++) {
		uint32_t bit = 64 * split->parity_words + j;

		if (!(line[bit / 64] >> bit % 64 & 1))
			continue;
		big_set(&x, big_multiply_modulo(x, split->relations[j]->a, split->it.n));
		for (uint32_t i = 0; i <= split->base.count; i++)
			exponents[i] += split->relations[j]->exponents[i];
	}
	y = product_root(split, exponents);
	sum = big_add(x, y);
	divisor = big_divisor(split->it.n, sum);
	big_drop(x);
	big_drop(y);
	big_drop(sum);
	return divisor;
}

/* Takes the relation in; a proper divisor of n, if it completes one, or NULL. */
static struct big *split_add(struct split *split, struct relation *relation)
{
	uint32_t index = split->relation_count++;
	struct big *divisor;
	uint64_t *line;

	split->relations[index] = relation;
	line = line_make(split, index);
	if (!eliminate(split, line))
		return NULL;
	divisor = divisor_of_line(split, line);
	free(line);
	if (!big_is(divisor, 1) && big_compare(divisor, split->it.n))
		return divisor;
	big_drop(divisor);
	return NULL;
}

/* A proper divisor of the composite n, or NULL: the fraction was periodic too early, or
 * all products were trivial. */
static struct big *split_with(struct big *n, uint32_t multiplier)
{
	static struct split split;
	struct big *divisor = NULL;

	split_start(&split, n, multiplier);
	while (!divisor && !big_is(split.it.q, 1) &&
	       split.relation_count < split.relation_max) {
		struct relation *relation = relation_find(&split.it, &split.base);

		if (relation)
			divisor = split_add(&split, relation);
		expansion_step(&split.it);
	}
	split_finish(&split);
	return divisor;
}

/* -- Factors ------------------------------------------------------------------------- */

#define MULTIPLIER_MAX 200
#define FACTORS_MAX 512

static struct big *factors[FACTORS_MAX];
static uint32_t factor_count;

/* How often small primes divide a q, about (Knuth and Schroeppel). */
static double multiplier_score(struct big *n, uint32_t multiplier)
{
	uint32_t of_8 = big_modulo_digit(n, 8) * multiplier % 8;
	double score = -0.5 * log(multiplier);

	score += log(2) * (of_8 == 1 ? 2 : of_8 == 5 ? 1 : 0.5);
	for (uint32_t i = 1; i < TRIAL_PRIMES; i++) {
		uint32_t p = primes[i];
		uint32_t residue = (uint32_t)((uint64_t)big_modulo_digit(n, p) *
		                              (multiplier % p) % p);

		if (is_residue(residue, p))
			score += log(p) / (residue ? (p - 1) / 2.0 : p);
	}
	return score;
}

static bool is_squarefree(uint32_t a)
{
	for (uint32_t i = 2; i * i <= a; i++) {
		if (a % (i * i) == 0)
			return false;
	}
	return true;
}

/* A proper divisor of a composite n that is odd and no square. */
static struct big *split_composite(struct big *n)
{
	double scores[MULTIPLIER_MAX];
	struct big *divisor = NULL;

	for (uint32_t i = 1; i < MULTIPLIER_MAX; i++)
		scores[i] = is_squarefree(i) ? multiplier_score(n, i) : -1e9;
	scores[0] = -1e9;
	while (!divisor) {
		uint32_t best = 0;

		for (uint32_t i = 1; i < MULTIPLIER_MAX; i++) {
			if (scores[i] > scores[best])
				best = i;
		}
		if (best == 0) {
			fprintf(stderr, "no divisor found\n");
			exit(1);
		}
		scores[best] = -1e9;
		divisor = split_with(n, best);
	}
	return divisor;
}

static void factor_add(struct big *prime)
{
	if (factor_count == FACTORS_MAX) {
		fprintf(stderr, "too many factors\n");
		exit(1);
	}
	factors[factor_count++] = big_share(prime);
}

/* n has no prime factor below 1000. */
static void factor_large(struct big *n)
{
	struct big *root, *rest, *divisor, *quotient;

	if (big_is(n, 1))
		return;
	if (is_prime(n)) {
		factor_add(n);
		return;
	}
	root = big_root(n);
	quotient = big_divide(n, root, &rest);
	if (big_is(rest, 0)) {
		divisor = big_share(root);
	} else {
		divisor = split_composite(n);
		big_drop(rest);
		big_set(&quotient, big_divide(n, divisor, &rest));
		bench_check(big_is(rest, 0));
	}
	factor_large(divisor);
	factor_large(quotient);
	big_drop(root);
	big_drop(rest);
	big_drop(divisor);
	big_drop(quotient);
}

static void factor(struct big *n)
{
	struct big *rest = big_share(n);

	for (uint32_t i = 0; i < TRIAL_PRIMES; i++) {
		struct big *prime = big_from(primes[i]);

		for (unsigned times = divide_out(&rest, prime); times > 0; times--)
			factor_add(prime);
		big_drop(prime);
	}
	factor_large(rest);
	big_drop(rest);
}

/* Prints the factors and checks that they make n. */
static void finish(struct big *n)
{
	struct big *product = big_from(1);

	big_print(n);
	printf(" =");
	for (uint32_t i = 0; i < factor_count; i++) {
		printf(i ? " * " : " ");
		big_print(factors[i]);
		big_set(&product, big_multiply(product, factors[i]));
		big_drop(factors[i]);
	}
	printf("\n");
	bench_check(!big_compare(product, n));
	big_drop(product);
}

int main(int argc, char **argv)
{
	double start = bench_seconds();
	struct big *n = big_parse(argc > 1 ? argv[1] : DEFAULT_NUMBER);

	if (!n || n->count == 0 || big_is(n, 1)) {
		fprintf(stderr, "not a number from 2\n");
		return 2;
	}
	primes_find();
	factor(n);
	finish(n);
	big_drop(n);
	bench_check(numbers_made == numbers_dropped);
	bench_result("cfrac", numbers_made, bench_seconds() - start);
	return 0;
}
