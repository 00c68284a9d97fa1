/*
 * remote_free.pml: the protocol by which one thread frees another thread's blocks.
 *
 * One page of three blocks in two claim words (blocks 0 and 1; block 2), three
 * threads that do anything a program may do, in any order, for ever: the search is
 * over all interleavings of unbounded runs, not over scripts.
 *
 * Owns: the page's states, claims, live bits, lists, pending stack, hand-over, the
 * end of a page and the reuse of its description.  Does not own: the stack's links
 * (pending_stack.pml).  docs/concurrency.md explains the protocol.
 *
 * How it is kept small without leaving anything out:
 *  - the epoch is not a number: a thread's copy of a claim word is valid until the
 *    next collection of that word (snapok).  So the model has no counter that grows.
 *  - a live bit that the owner cleared sits in a store buffer: memory shows it (mlive)
 *    at any later time, for each bit apart, at the latest at the owner's next fence or
 *    locked operation.  This is weaker than x86-TSO (stores may pass each other).  A
 *    bit that malloc sets is in memory at once: the program hands the pointer on, so
 *    that whoever frees the block sees it.
 *  - a load followed by a CAS that expects what was loaded is one step: had it failed,
 *    the thread would be back where it was.
 *  - while a page is TAKEN or the abandon lock is held, claims are only added, so a
 *    scan of all words is one step.
 *
 * Switches: DOUBLE one free too many in a run, EXIT threads hand pages over and adopt,
 * REUSE a description serves the next page, OWNERS bit mask of the threads that own
 * pages.  DROP_*: the mutations; each must make the search find an error.
 */

#ifndef OWNERS
#define OWNERS 1
#endif
#ifndef DOUBLERS
#define DOUBLERS 7
#endif

#define OWNED     0
#define NOTED     1
#define PARKED    2
#define PENDING   3
#define TAKEN     4
#define GONE      5
#define ABANDONED 6

#define NOBODY 3
#define ALL 7
#define BIT(n) (1 << (n))
#define WORD(b) ((b) >> 1)
#define MASK(w) ((w) == 0 -> 3 : 4)
#define MW(b) MASK(WORD(b))

/* The shared words. */
byte xk = OWNED, xh = 0;        /* x_owner: kind, heap (one word, always one step) */
byte claim;                     /* x_claim bits of both words */
byte snapok;                    /* thread t's copy of its claim word has the word's epoch */
byte snap0, snap1;              /* which threads hold a copy of word 0, word 1 */
byte olive;                     /* live bits as the owner sees them */
byte mlive;                     /* live bits in memory: olive, and clears still on their way */
byte on;                        /* the page is on heap h's pending stack */
bit  lock;                      /* the abandon lock */
bit  pool;                      /* the description is free for the next page */

/* The owner's own. */
byte al = ALL, fl;              /* alloc lists, free lists */

/* What the program and the promises know; the protocol never reads these. */
bit  mem = 1;                   /* the page's memory is there */
byte tok;                       /* blocks that the program may free once */
byte acc1 = ALL, acc2;          /* frees accepted since the block was handed out: >= 1, 2 */
byte loc;                       /* the first of them was the owner's own */
byte infl;                      /* thread t is inside free, not accepted yet */
byte fb[3];                     /* ... of this block */
byte stale;                     /* the page of t's block is gone, the description is reused */
byte busy;                      /* threads inside an operation */
bit  dead;                      /* the process has ended with a report */
#ifdef DOUBLE
bit  extra = 1;                 /* one free too many may still come */
byte dbl = NOBODY;              /* the block freed twice */
byte seqt = NOBODY;             /* the thread whose second free follows the first in time */
#endif

#define INFLIGHT(b) \
    ((((infl & ~stale) & 1) && fb[0] == (b)) || (((infl & ~stale) & 2) && fb[1] == (b)) \
     || (((infl & ~stale) & 4) && fb[2] == (b)))

#define FENCE mlive = olive

/* A report must blame a block that was freed twice. */
#ifdef DOUBLE
#define BLAME(set) assert((set) == BIT(dbl)); dead = 1; goto stuck
#else
#define BLAME(set) assert(false); goto stuck
#endif

/* A free of block b has its effect. */
inline accept(b, islocal) {
    assert(!(stale & BIT(me)));
    assert(mem);
#ifdef DOUBLE
    assert(seqt != me);
    if
    :: (acc1 & BIT(b)) -> assert(!(acc2 & BIT(b))); acc2 = acc2 | BIT(b)
    :: else -> acc1 = acc1 | BIT(b); loc = (islocal -> loc | BIT(b) : loc & ~BIT(b))
    fi;
#else
    assert(!(acc1 & BIT(b)));
    acc1 = acc1 | BIT(b);
#endif
    infl = infl & ~BIT(me);
    fb[me] = 0
}

inline release() {
    assert(mem && acc1 == ALL && acc2 == 0 && tok == 0);
    mem = 0
}

/* What must hold whenever no thread is inside an operation. */
inline quiet() {
    assert(xk != TAKEN && !lock);
    if
    :: pool -> assert(xk == GONE && on == 0)
    :: else ->
        assert(on == 0 || on == BIT(xh));
        assert((on != 0) == (xk == PENDING || xk == GONE));
        assert((xk == GONE) == !mem);
        if
        :: mem ->
            assert(tok == (ALL & ~acc1));
            /* nothing lost: a claim is where the next collection looks */
            assert((xk != OWNED && xk != PARKED) || claim == 0);
            assert((olive & acc1 & ~claim) == 0);
            assert((al & fl) == 0 && (al | fl) == (ALL & ~olive));
            /* a second free that got through will be reported by that collection */
            assert((claim & ~olive) == acc2);
            /* a page that frees completed has been released */
            assert((xk != PENDING && xk != ABANDONED) || claim != olive)
        :: else
        fi
    fi
}

inline idle() {
    busy--;
    if :: busy == 0 -> quiet() :: else fi
}

/* Invalidate all copies of word w: its epoch moves on. */
inline bump(w) {
#ifndef DROP_EPOCH
    snapok = snapok & ~(w == 0 -> snap0 : snap1)
#else
    skip
#endif
}

/* Copy block b's claim word (an acquiring load). */
inline take_copy() {
    wb = claim & MW(b);
    snapok = snapok | BIT(me);
    snap0 = (WORD(b) == 0 -> snap0 | BIT(me) : snap0 & ~BIT(me));
    snap1 = (WORD(b) == 1 -> snap1 | BIT(me) : snap1 & ~BIT(me))
}

inline drop_copy() {
    wb = 0;
    snapok = snapok & ~BIT(me);
    snap0 = snap0 & ~BIT(me);
    snap1 = snap1 & ~BIT(me)
}

/* Another thread reads block b's live word; clears on their way may have arrived. */
inline read_live() {
    if
    :: true
    :: ((mlive & ~olive) & BIT(b)) -> mlive = mlive & (olive | ~BIT(b))
    :: ((mlive & ~olive) & MW(b) & ~BIT(b)) -> mlive = mlive & (olive | BIT(b) | ~MW(b))
    :: ((mlive & ~olive) & MW(b)) == MW(b) && MW(b) == 3 -> mlive = mlive & (olive | ~MW(b))
    fi;
    lv = mlive & MW(b)
}

#define R_REFILL 0
#define R_MAIN   1
#define R_FREE   2
#define R_EXIT   3

proctype thread(byte me)
provided (!dead)
{
    byte b;      /* block being freed or handed out */
    byte k;      /* kind of the page as loaded */
    byte h;      /* heap as loaded */
    byte wb;     /* bits of the claim word as loaded */
    byte lv;     /* live word as loaded */
    byte i;      /* word of a walk over the claim words */
    byte dn;     /* claims of word i already taken by this collection */
    byte ret;    /* where a collection or a drain goes on */

end_main:
    atomic {
        if
        /* a correct free */
        :: (tok & 1) -> b = 0; goto begin
        :: (tok & 2) -> b = 1; goto begin
        :: (tok & 4) -> b = 2; goto begin
#ifdef DOUBLE
        /* one free too many (block 1 is as block 0) */
        :: (DOUBLERS & BIT(me)) && extra && mem && !(tok & 1) -> b = 0; goto begin_double
        :: (DOUBLERS & BIT(me)) && extra && mem && !(tok & 4) -> b = 2; goto begin_double
#endif
        /* malloc */
        :: xh == me && xk <= NOTED && (al & 1) -> b = 0; goto handout
        :: xh == me && xk <= NOTED && (al & 2) -> b = 1; goto handout
        :: xh == me && xk <= NOTED && (al & 4) -> b = 2; goto handout
        :: xh == me && xk <= NOTED && al == 0 -> busy++; goto refill
        /* a slow path looks at the pending stack */
        :: (on & BIT(me)) -> busy++; ret = R_MAIN; goto drain
#ifdef EXIT
        /* the thread ends; a later one gets its heap */
        :: xh == me && xk != GONE -> busy++; ret = R_EXIT; goto drain
        /* adopt */
        :: (OWNERS & BIT(me)) && xk == ABANDONED && !lock ->
            busy++;
#ifdef DROP_ADOPT_COLLECT
            xk = OWNED; xh = me; idle(); goto end_main
#else
            xk = NOTED; xh = me; ret = R_MAIN; goto collect
#endif
#endif
#ifdef REUSE
        :: (OWNERS & BIT(me)) && pool ->
            pool = 0; mem = 1; xk = OWNED; xh = me; al = ALL; fl = 0;
            olive = 0; mlive = 0; claim = 0; acc1 = ALL; acc2 = 0;
            stale = stale | infl;
#ifndef DROP_REUSE_EPOCH
            snapok = 0;
#endif
            goto end_main
#endif
        fi;
begin:
        tok = tok & ~BIT(b);
        goto begin2;
#ifdef DOUBLE
begin_double:
        extra = 0; dbl = b;
        if
        :: true
        :: (acc1 & BIT(b)) ->
            seqt = me;
            if :: (loc & BIT(b)) -> FENCE :: else fi
        fi;
#endif
begin2:
        busy++; infl = infl | BIT(me); fb[me] = b; stale = stale & ~BIT(me);
        goto free
    }

handout:
    atomic {
        /* a free under way while the block is handed out again cannot be told from a free of the new block */
        if
        :: INFLIGHT(b) ->
#ifdef DOUBLE
            dead = 1; goto stuck
#else
            assert(false)
#endif
        :: else
        fi;
        assert(mem);
        assert((acc1 & BIT(b)) && !(acc2 & BIT(b)) && !(tok & BIT(b)) && !(olive & BIT(b)));
        al = al & ~BIT(b); olive = olive | BIT(b); mlive = mlive | BIT(b);
        acc1 = acc1 & ~BIT(b); loc = loc & ~BIT(b); tok = tok | BIT(b);
        b = 0;
        if :: busy == 0 -> quiet() :: else fi;
        goto end_main
    }

    /* ---- refill, park ---- */
refill:
    atomic {
#ifndef DROP_REFILL_FENCE
        FENCE
#endif
    };
refill_look:
    atomic {
        if
        :: xk == NOTED -> ret = R_REFILL; goto collect
        :: else
        fi
    };
refill_move:
    atomic {
        al = fl; fl = 0; ret = 0;
        if
        :: al != 0 -> idle(); goto end_main
        :: else
        fi
    };
    atomic { /* park: no free block */
        FENCE;
        if
        :: xk == OWNED -> xk = PARKED; idle(); goto end_main
        :: else -> ret = R_MAIN; goto collect
        fi
    };

    /* ---- collect ---- */
collect:
    atomic {
        assert(xh == me && xk <= NOTED);
        xk = OWNED; FENCE; i = 0; dn = 0
    };
collect_word:
    atomic {
        wb = claim & MASK(i);
        if
        :: (wb & ~dn & ~olive) -> BLAME(wb & ~dn & ~olive)
        :: else
        fi;
#ifndef DROP_CLEAR_BEFORE_CAS
        olive = olive & ~wb;
#endif
        dn = wb
    };
    atomic {
        if
        :: (claim & MASK(i)) == wb ->
            claim = claim & ~MASK(i);
            bump(i);
            FENCE;
            assert(mem && !((al | fl) & wb));
            fl = fl | wb;
#ifdef DROP_CLEAR_BEFORE_CAS
            olive = olive & ~wb;
#endif
            wb = 0; dn = 0; i++;
            if
            :: i < 2 -> goto collect_word
            :: else -> i = 0
            fi
        :: else -> goto collect_word
        fi;
        if
        :: ret == R_REFILL -> goto refill_move
        :: ret == R_MAIN -> ret = 0; idle(); goto end_main
        :: ret == R_FREE -> ret = 0; goto free_again
        :: ret == R_EXIT -> goto hand_over
        fi
    };

    /* ---- free: the owner's way ---- */
free:
    atomic {
        if
        :: xh != me || xk == ABANDONED -> goto remote
        :: xh == me && xk == OWNED -> goto free_local
        :: xh == me && xk == NOTED -> goto free_noted
        :: xh == me && xk == PARKED -> xk = OWNED; FENCE; goto free_local
        :: xh == me && (xk == PENDING || xk == TAKEN) -> ret = R_FREE; goto drain
        :: xh == me && xk == GONE -> BLAME(BIT(b))
        fi
    };
free_noted:
    atomic {
        if
        :: (claim & BIT(b)) -> BLAME(BIT(b))
        :: else
        fi
    };
free_local:
    atomic {
        if
        :: !(olive & BIT(b)) -> BLAME(BIT(b))
        :: else
        fi;
        olive = olive & ~BIT(b);
        accept(b, 1);
        assert(!((al | fl) & BIT(b)));
        fl = fl | BIT(b);
        b = 0; idle();
        goto end_main
    };
free_again: /* after a drain: the page may be ours again, or not yet */
    atomic {
        if
        :: (stale & BIT(me)) -> BLAME(BIT(b))
        :: !(stale & BIT(me)) && xh == me && (xk == PENDING || xk == TAKEN) -> goto remote
        :: else -> goto free
        fi
    };

    /* ---- free: another thread's way ---- */
remote:
    atomic { take_copy() };
#ifdef REUSE
    atomic { /* the page map still says that this description is the block's page */
        if
        :: (stale & BIT(me)) -> BLAME(BIT(b))
        :: else
        fi
    };
#endif
    atomic {
        if
        :: xk == OWNED -> xk = NOTED; k = NOTED
        :: xk == PARKED -> xk = PENDING; k = PENDING; h = xh; goto remote_push
        :: xk == GONE -> BLAME(BIT(b))
        :: else -> k = xk
        fi;
        goto remote_live
    };
remote_push:
    atomic {
        assert(!(on & BIT(h)));
        on = on | BIT(h); h = 0
    };
remote_live:
    atomic {
        if
        :: (wb & BIT(b)) -> BLAME(BIT(b))
        :: else
        fi;
        read_live();
        if
        :: !(lv & BIT(b)) -> BLAME(BIT(b))
        :: else
        fi;
        if :: k == NOTED -> lv = 0 :: else fi
    };
    atomic {
        if
        :: (snapok & BIT(me)) && (claim & MW(b)) == wb ->
            claim = claim | BIT(b);
            accept(b, 0);
            if
            :: k == NOTED || (wb | BIT(b)) != lv ->
                drop_copy(); k = 0; lv = 0; b = 0; idle(); goto end_main
            :: else -> drop_copy(); k = 0; lv = 0; b = 0
            fi
        :: else -> drop_copy(); k = 0; lv = 0; goto remote
        fi
    };

    /* ---- the page may be complete ---- */
scan:
    atomic {
        if
        :: xk <= NOTED -> /* the owner is writing: whatever we read */
            if :: true -> i++ :: true -> i = 3 fi
        :: xk > NOTED && xk != GONE && (claim & MASK(i)) == (mlive & MASK(i)) ->
            assert(mlive == olive); i++
        :: else -> i = 3
        fi;
        if
        :: i == 3 -> i = 0; idle(); goto end_main
        :: i == 1 -> goto scan
        :: else -> i = 0
        fi
    };
    atomic {
        if
        :: xk == PENDING -> xk = TAKEN; goto taken
        :: xk == ABANDONED -> goto complete_abandoned
        :: else -> idle(); goto end_main
        fi
    };
taken:
    atomic {
        if
        :: claim == mlive -> release()
        :: else -> goto put_back
        fi
    };
    atomic { xk = GONE; idle(); goto end_main };
put_back:
    atomic { xk = PENDING; goto scan };
complete_abandoned:
    atomic {
        !lock;
        if
        :: xk == ABANDONED && claim == mlive -> lock = 1; release()
        :: else -> idle(); goto end_main
        fi
    };
    atomic { xk = GONE; pool = 1; lock = 0; idle(); goto end_main };

    /* ---- drain the own pending stack ---- */
drain:
    atomic {
        FENCE;
        if
        :: (on & BIT(me)) -> on = on & ~BIT(me)
        :: else -> goto drained
        fi
    };
    atomic {
        if
        :: xk == PENDING -> xk = OWNED; goto collect
        :: xk == TAKEN
        :: xk == GONE -> pool = 1; goto drained
        fi
    };
    atomic { assert(!(on & BIT(me))); on = on | BIT(me) };
drained:
    atomic {
        if
        :: ret == R_MAIN -> ret = 0; idle(); goto end_main
        :: ret == R_FREE -> ret = 0; goto free_again
        :: ret == R_EXIT -> goto hand_over_look
        fi
    };

#ifdef EXIT
    /* ---- the thread ends ---- */
hand_over_look:
    atomic {
        if
        :: xh == me && xk <= NOTED -> goto collect
        :: xh == me && xk == PARKED -> xk = OWNED; goto collect
        :: else -> ret = 0; idle(); goto end_main
        fi
    };
hand_over:
    atomic {
        !lock;
        FENCE;
        if
        :: xk != OWNED -> goto collect
        :: xk == OWNED && olive == 0 ->
            xk = GONE; release(); pool = 1
        :: xk == OWNED && olive != 0 ->
            xk = ABANDONED; xh = NOBODY
        fi;
        ret = 0; idle(); goto end_main
    };
#else
hand_over_look:
hand_over:
    assert(false);
#endif
stuck:
    false
}

init {
    atomic { run thread(0); run thread(1); run thread(2) }
}
