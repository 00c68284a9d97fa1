/* Reports: one line on standard error, kept in exported buffers, then the end.
 * docs/reports.md is the contract for the wording.
 *
 * Takes no lock, allocates nothing, uses no stdio; works inside the allocator.
 * Threads: the first report wins, later ones wait for the process to end.
 */
#ifndef NC_REPORT_H
#define NC_REPORT_H

#include "port.h"

enum nc_report_kind {
	NC_DOUBLE_FREE,
	NC_INVALID_POINTER,
	NC_USE_AFTER_FREE,
	NC_SIZE_MISMATCH,
	NC_OVERFLOW,
	NC_WRITE_AFTER_FREE,
	NC_INTERNAL,
};

/* A test sets this to be told instead of dying; then a report returns, and the
 * call that did wrong has no effect. What is installed has no pointer to aim at. */
#ifdef NC_PUBLIC_NAMES
#define nc_report_hook ((void (*)(const char *, const char *))0)
#else
extern NC_HIDDEN void (*nc_report_hook)(const char *kind, const char *line);
#endif

/* Ends the process with the line "nacre: " and format, in which %p is an
 * address, %z a size_t and %s a string. */
NC_COLD void nc_report(enum nc_report_kind kind, const char *format, ...);

/* printf's small sister for %p, %z and %s: returns the length written, never
 * more than size - 1, and ends buf with a zero byte. */
size_t nc_format(char *buf, size_t size, const char *format, ...);

#endif
