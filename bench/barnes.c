/* Gravity between BODIES bodies over STEPS steps by the method of Barnes and Hut: each
 * step builds an octree, a heap block for every cell, computes with it the force on each
 * body and moves the bodies, and frees the tree. Mostly floating point; blocks of one
 * size that live for a step.
 *
 *     barnes [BODIES STEPS]
 *            16384 50
 *
 * The bodies start as Plummer's sphere, in units in which the gravitational constant,
 * the mass and four times the energy (but for its sign) are 1. A step is of 1/40; the
 * forces are softened at 0.05 and cells taken as one where they appear smaller than 1.
 * Operations: bodies moved (BODIES * STEPS).
 *
 * At each step all bodies are found in the tree. At the end the forces on some bodies
 * are compared with the sums over all others, and energy and momentum with those of the
 * start; too large a deviation fails the program.
 *
 * After Barnes of the SPLASH-2 suite, whose usual 16384 bodies these are; mimalloc-bench
 * takes 163840. There all cells lie in a few large tables made at the start, so that the
 * allocator hardly matters: that each is a block is ours. The method is that of J. Barnes and P. Hut, "A hierarchical O(N log N)
 * force-calculation algorithm" (Nature 324, 1986), the start S. Aarseth's, M. Henon's
 * and R. Wielen's recipe (1974). */
#include <math.h>

#include "bench.h"

#define STEP 0.025
#define SOFTENING 0.05
#define OPENING 1.0
#define CHILDREN 8
#define DEPTH_MAX 64 /* bodies closer than 2^-64 of the cube are not told apart */
#define SAMPLES 64
#define PI 3.14159265358979323846

struct vector {
	double x, y, z;
};

struct body {
	struct vector position, velocity, force; /* force: for a mass of 1 */
	double mass, potential;
};

/* What a cell's octant holds: nothing, a cell, or a body. */
struct slot {
	enum { EMPTY, CELL, BODY } kind;
	union {
		struct cell *cell;
		struct body *body;
	} is;
};

/* A cube of the octree. */
struct cell {
	double mass; /* of all bodies in it */
	struct vector centre_of_mass;
	double size; /* its edge */
	struct slot slots[CHILDREN];
};

static uint64_t cells_made, cells_dropped;

static struct vector plus(struct vector a, struct vector b)
{
	return (struct vector){ a.x + b.x, a.y + b.y, a.z + b.z };
}

static struct vector minus(struct vector a, struct vector b)
{
	return (struct vector){ a.x - b.x, a.y - b.y, a.z - b.z };
}

static struct vector times(double factor, struct vector a)
{
	return (struct vector){ factor * a.x, factor * a.y, factor * a.z };
}

static double square(struct vector a)
{
	return a.x * a.x + a.y * a.y + a.z * a.z;
}

/* -- Start --------------------------------------------------------------------------- */

/* Uniform in 0..1, both excluded. */
static double uniform(uint64_t *random)
{
	return (bench_random(random) + 0.5) / 4294967296.0;
}

/* Of that length, in a random direction. */
static struct vector direction(uint64_t *random, double length)
{
	double z = 2 * uniform(random) - 1, angle = 2 * PI * uniform(random);
	double radius = sqrt(1 - z * z);

	return times(length,
	             (struct vector){ radius * cos(angle), radius * sin(angle), z });
}

/* A speed as a part of the escape speed has the density x^2 (1 - x^2)^3.5. */
static double speed_part(uint64_t *random)
{
	double part, density;

	do {
		part = uniform(random);
		density = part * part * pow(1 - part * part, 3.5);
	} while (0.1 * uniform(random) > density);
	return part;
}

static struct vector momentum(const struct body *bodies, size_t count)
{
	struct vector sum = { 0, 0, 0 };

	for (size_t i = 0; i < count; i++)
		sum = plus(sum, times(bodies[i].mass, bodies[i].velocity));
	return sum;
}

static void place_bodies(struct body *bodies, size_t count)
{
	double scale = 3 * PI / 16;
	uint64_t random = bench_seed(0);
	struct vector drift;

	for (size_t i = 0; i < count; i++) {
		/* The outermost hundredth of the mass is far away and left out. */
		double radius = 1 / sqrt(pow(0.99 * uniform(&random), -2.0 / 3) - 1);
		double escape = sqrt(2) * pow(1 + radius * radius, -0.25);
		double speed = escape * speed_part(&random);

		bodies[i].mass = 1.0 / (double)count;
		bodies[i].position = direction(&random, scale * radius);
		bodies[i].velocity = direction(&random, speed / sqrt(scale));
	}
	drift = momentum(bodies, count);
	for (size_t i = 0; i < count; i++)
		bodies[i].velocity = minus(bodies[i].velocity, drift);
}

/* -- The tree ------------------------------------------------------------------------ */

static struct cell *cell_make(double size)
{
	struct cell *cell = bench_need(calloc(1, sizeof *cell));

	cells_made++;
	cell->size = size;
	return cell;
}

static void cell_drop(struct cell *cell)
{
	for (int i = 0; i < CHILDREN; i++) {
		if (cell->slots[i].kind == CELL)
			cell_drop(cell->slots[i].is.cell);
	}
	cells_dropped++;
	free(cell);
}

/* The octant of the cube around middle that the position is in; the octant's middle
 * takes the place of the cube's. */
static int enter_octant(struct vector position, struct vector *middle, double size)
{
	int x = position.x >= middle->x, y = position.y >= middle->y,
	    z = position.z >= middle->z;

	middle->x += x ? size / 4 : -size / 4;
	middle->y += y ? size / 4 : -size / 4;
	middle->z += z ? size / 4 : -size / 4;
	return x + 2 * y + 4 * z;
}

/* Into the cube around middle. A body in its octant goes one cell down with it. */
static void cell_insert(struct cell *cell, struct vector middle, struct body *body)
{
	for (int depth = 0; depth < DEPTH_MAX; depth++) {
		int octant = enter_octant(body->position, &middle, cell->size);
		struct slot *slot = &cell->slots[octant];

		if (slot->kind == EMPTY) {
			slot->kind = BODY;
			slot->is.body = body;
			return;
		}
		if (slot->kind == BODY) {
			struct body *other = slot->is.body;
			struct cell *fresh = cell_make(cell->size / 2);
			struct vector ignored = middle;
			int place = enter_octant(other->position, &ignored, fresh->size);

			fresh->slots[place].kind = BODY;
			fresh->slots[place].is.body = other;
			slot->kind = CELL;
			slot->is.cell = fresh;
		}
		cell = slot->is.cell;
	}
	fprintf(stderr, "two bodies are at the same place\n");
	exit(1);
}

/* Sums up what is in a cell and below; the number of bodies. */
static size_t cell_sum(struct cell *cell)
{
	struct vector moment = { 0, 0, 0 };
	size_t count = 0;

	for (int i = 0; i < CHILDREN; i++) {
		struct slot *slot = &cell->slots[i];
		struct vector at;
		double mass;

		if (slot->kind == EMPTY)
			continue;
		if (slot->kind == CELL) {
			count += cell_sum(slot->is.cell);
			mass = slot->is.cell->mass;
			at = slot->is.cell->centre_of_mass;
		} else {
			count++;
			mass = slot->is.body->mass;
			at = slot->is.body->position;
		}
		cell->mass += mass;
		moment = plus(moment, times(mass, at));
	}
	cell->centre_of_mass = times(1 / cell->mass, moment);
	return count;
}

static struct cell *tree_make(struct body *bodies, size_t count)
{
	struct vector origin = { 0, 0, 0 };
	struct cell *root;
	double size = 1;

	for (size_t i = 0; i < count; i++) {
		struct vector at = bodies[i].position;
		double reach = fmax(fabs(at.x), fmax(fabs(at.y), fabs(at.z)));

		while (size / 2 <= reach)
			size *= 2;
	}
	root = cell_make(size);
	for (size_t i = 0; i < count; i++)
		cell_insert(root, origin, &bodies[i]);
	bench_check(cell_sum(root) == count);
	bench_check(fabs(root->mass - 1) < 1e-6);
	return root;
}

/* -- Forces -------------------------------------------------------------------------- */

static void attract(struct body *body, struct vector difference, double mass)
{
	double inverse = 1 / sqrt(square(difference) + SOFTENING * SOFTENING);

	body->potential -= mass * inverse;
	body->force =
		plus(body->force, times(mass * inverse * inverse * inverse, difference));
}

static void cell_attract(const struct cell *cell, struct body *body)
{
	struct vector difference = minus(cell->centre_of_mass, body->position);

	if (cell->size * cell->size < OPENING * OPENING * square(difference)) {
		attract(body, difference, cell->mass);
		return;
	}
	for (int i = 0; i < CHILDREN; i++) {
		const struct slot *slot = &cell->slots[i];

		if (slot->kind == CELL)
			cell_attract(slot->is.cell, body);
		else if (slot->kind == BODY && slot->is.body != body)
			attract(body, minus(slot->is.body->position, body->position),
			        slot->is.body->mass);
	}
}

static void compute_forces(struct body *bodies, size_t count)
{
	struct cell *root = tree_make(bodies, count);

	for (size_t i = 0; i < count; i++) {
		bodies[i].force = (struct vector){ 0, 0, 0 };
		bodies[i].potential = 0;
		cell_attract(root, &bodies[i]);
	}
	cell_drop(root);
}

/* Half a step of velocity, a step of position, forces, half a step of velocity. */
static void move_bodies(struct body *bodies, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct body *body = &bodies[i];

		body->velocity = plus(body->velocity, times(STEP / 2, body->force));
		body->position = plus(body->position, times(STEP, body->velocity));
	}
	compute_forces(bodies, count);
	for (size_t i = 0; i < count; i++)
		bodies[i].velocity =
			plus(bodies[i].velocity, times(STEP / 2, bodies[i].force));
}

/* -- Checks -------------------------------------------------------------------------- */

static double energy(const struct body *bodies, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += bodies[i].mass *
		       (square(bodies[i].velocity) + bodies[i].potential) / 2;
	return sum;
}

static void demand(const char *what, double deviation, double allowed)
{
	if (deviation <= allowed) /* false for NaN as well */
		return;
	fprintf(stderr, "%s: %g, more than %g\n", what, deviation, allowed);
	exit(1);
}

/* The root of the mean squared error of the forces, against that of the forces. */
static double force_error(const struct body *bodies, size_t count)
{
	double errors = 0, all = 0;

	for (size_t i = 0; i < SAMPLES; i++) {
		const struct body *body = &bodies[i * count / SAMPLES];
		struct body exact = *body;

		exact.force = (struct vector){ 0, 0, 0 };
		for (size_t j = 0; j < count; j++) {
			struct vector difference =
				minus(bodies[j].position, body->position);

			attract(&exact, difference, bodies[j].mass);
		}
		errors += square(minus(exact.force, body->force));
		all += square(exact.force);
	}
	return sqrt(errors / all);
}

int main(int argc, char **argv)
{
	long count_wanted = bench_arg(argc, argv, 1, 16384);
	long steps = bench_arg(argc, argv, 2, 50);

	if (count_wanted < 2 || steps < 1)
		return 2;

	size_t count = (size_t)count_wanted;
	struct body *bodies = bench_need(calloc(count, sizeof *bodies));
	double start = bench_seconds(), energy_at_start;

	place_bodies(bodies, count);
	compute_forces(bodies, count);
	energy_at_start = energy(bodies, count);
	for (long step = 0; step < steps; step++)
		move_bodies(bodies, count);
	printf("energy %.4f, then %.4f; momentum %.1e; error of the forces %.4f\n",
	       energy_at_start, energy(bodies, count),
	       sqrt(square(momentum(bodies, count))), force_error(bodies, count));
	demand("energy", fabs(energy(bodies, count) / energy_at_start - 1), 0.02);
	demand("momentum", sqrt(square(momentum(bodies, count))), 0.01);
	demand("error of the forces", force_error(bodies, count), 0.1);
	bench_check(cells_made == cells_dropped);
	printf("cells %llu of %zu bytes\n", (unsigned long long)cells_made,
	       sizeof(struct cell));
	free(bodies);
	bench_result("barnes", (uint64_t)count * (uint64_t)steps,
	             bench_seconds() - start);
	return 0;
}
