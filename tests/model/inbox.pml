/*
 * inbox.pml: a heap's inbox, the list of its pages in which others freed blocks.
 *
 * Models: x_inbox and inbox_next, nc_heap_push_inbox (by any thread) and nc_heap_drain
 * (by the owner, who takes the whole list by one exchange and walks it), three pages,
 * two other threads, runs without end.  Does not: what the pages hold
 * (remote_free.pml).
 *
 * Shows: every push is seen by exactly one walk; a walk meets each page once, follows
 * only links of its own list, and ends.
 *
 * DROP_*, LATE_*: mutations, each makes the search find an error.
 */

#define PARKED  0
#define PENDING 1   /* pushed, or about to be */
#define TAKEN   2   /* the same, and a thread looks whether it is complete */
#define GONE    3   /* the same, and its memory is given back */
#define NONE    3   /* no page; pages are 0, 1, 2 */

byte kind[3];
byte next[3];
byte inbox = NONE;

/* What is promised: where a page is. */
#define OUT   0
#define IN    1
#define WALK  2
byte where[3];

inline push(p) {
    first = inbox;
    do
    :: atomic { next[p] = first };
        atomic {
            if
#ifdef DROP_PUSH_CAS
            :: true ->
#else
            :: inbox == first ->
#endif
                assert(where[p] == OUT);
                where[p] = IN; inbox = p; first = NONE; break
            :: else -> first = inbox
            fi
        }
    od
}

active [2] proctype other()
{
    byte p, first = NONE;

end:
    do
    :: atomic { kind[0] == PARKED -> kind[0] = PENDING; p = 0 }; push(p)
    :: atomic { kind[1] == PARKED -> kind[1] = PENDING; p = 1 }; push(p)
    :: atomic { kind[2] == PARKED -> kind[2] = PENDING; p = 2 }; push(p)
    /* a page comes to its end before the walk; block 0's thread stands for all */
    :: atomic { kind[0] == PENDING -> kind[0] = TAKEN }
    :: atomic { kind[0] == TAKEN -> kind[0] = PENDING }
    :: atomic { kind[0] == TAKEN -> kind[0] = GONE }
    od
}

active proctype owner()
{
    byte p = NONE, then = NONE, first = NONE;

end:
    do
    :: atomic {
            inbox != NONE ->
            p = inbox;
#ifdef DROP_EXCHANGE
        };
        atomic {
#endif
            inbox = NONE;
            if :: where[0] == IN -> where[0] = WALK :: else fi;
            if :: where[1] == IN -> where[1] = WALK :: else fi;
            if :: where[2] == IN -> where[2] = WALK :: else fi
        };
        do
        :: p == NONE -> break
        :: else ->
#ifndef LATE_NEXT
            then = next[p];
#endif
            atomic {
                assert(where[p] == WALK);
                where[p] = OUT;
                if
                /* collected nothing, parked again; or made anew: pushed again soon */
                :: kind[p] == PENDING -> kind[p] = PARKED
                :: kind[p] == GONE -> kind[p] = PARKED
                :: kind[p] == TAKEN -> goto back
                fi
            };
            if
            :: false ->
back:           push(p)
            :: true
            fi;
#ifdef LATE_NEXT
            then = next[p];
#endif
            atomic { p = then; then = NONE }
        od;
        assert(where[0] != WALK && where[1] != WALK && where[2] != WALK)
    od
}
