/* The frame of the unit tests: a file tests/test_NAME.c is about src/NAME.c,
 * defines unit_fill and has no main of its own.
 *
 * Each test runs in its own process, with a heap that nobody used; with
 * CK_FORK=no, for a debugger, name one test in CK_RUN_CASE. With UNIT_SLOW in
 * the environment (valgrind: meson test --setup valgrind --suite unit) the long
 * ones do less. */
#ifndef UNIT_H
#define UNIT_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

/* The sanitizers' runtimes ask these: a test that dies must do so by its signal. */
const char *__asan_default_options(void);
const char *__tsan_default_options(void);
const char *__asan_default_options(void)
{
	return "handle_segv=0:handle_sigbus=0:handle_abort=0:detect_leaks=0";
}
const char *__tsan_default_options(void)
{
	return "handle_segv=0:handle_sigbus=0:handle_abort=0:halt_on_error=1";
}

/* Defined by each file: put the tests into the suite. */
static void unit_fill(Suite *suite);

/* ---- reports: counted instead of deadly, from unit_expect_reports on ---- */

static unsigned unit_reports;
static char unit_kind[32];
static char unit_line[300];

static inline void unit_on_report(const char *kind, const char *line)
{
	unit_reports++;
	strncpy(unit_kind, kind, sizeof unit_kind - 1);
	strncpy(unit_line, line, sizeof unit_line - 1);
}

static inline void unit_expect_reports(void)
{
	unit_reports = 0;
	nc_report_hook = unit_on_report;
}

/* The report that came since unit_expect_reports: one, of this kind. */
#define unit_assert_reported(kind)                  \
	do {                                        \
		ck_assert_uint_eq(unit_reports, 1); \
		ck_assert_str_eq(unit_kind, kind);  \
		unit_reports = 0;                   \
	} while (0)

/* Whether each test has a process of its own, so that it may die. */
static inline bool unit_forks(void)
{
	const char *mode = getenv("CK_FORK");

	return !mode || strcmp(mode, "no");
}

static inline int unit_rounds(int count)
{
	return getenv("UNIT_SLOW") ? count / 20 + 1 : count;
}

static inline void unit_add(Suite *suite, const char *name, const TTest *test)
{
	TCase *tcase = tcase_create(name);

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, test);
	suite_add_tcase(suite, tcase);
}

#define UNIT_ADD(suite, test) unit_add(suite, #test, test)

int main(void)
{
	Suite *suite = suite_create(__BASE_FILE__);
	SRunner *runner = srunner_create(suite);
	int failed;

	unit_fill(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
