/*
 * remote_free.pml: how one thread frees another thread's blocks.
 *
 * One page of three blocks in two claim words (blocks 0 and 1; block 2) and three
 * threads, each of which does at every moment anything that a program may do: the
 * search covers all interleavings of runs without end, not of scripts.
 *
 * Models: x_owner, x_claims, x_live, the page's lists, its place in an inbox, refill,
 * collect, park, drain, hand-over, adoption, the end of a page, the next page in the
 * same description.  Does not: the inbox's links (inbox.pml), more than one page.
 * The names are those of src/page.c, remote.c, heap.c; docs/concurrency.md explains
 * the protocol and what each DROP_ below shows.
 *
 * How it stays small and leaves nothing out:
 * - The epoch is no number: a thread's copy of a claim word is good until the word is
 *   next collected (good).  So nothing in the model grows, and 2^32 is not modelled.
 * - A live bit that the owner cleared lies in a store buffer: memory (mlive) shows it
 *   at any later time, each bit apart, at the latest at the owner's next atomic
 *   read-modify-write.  That is weaker than x86-TSO: stores may pass each other.  A bit
 *   that malloc sets is in memory at once, because whoever frees the block was handed
 *   the pointer.
 * - A load and the CAS that expects what was loaded are one step: if the CAS failed,
 *   the thread would be where it was.
 * - While a page is TAKEN or the core lock is held, claims only come: a scan of all
 *   words that finds them equal is as good as one step.
 *
 * Switches: DOUBLE  one free too many in the run; without it no report is allowed
 *           EXIT    threads end and hand their pages over
 *           REUSE   a description that was given back serves the next page
 *           OWNERS, DOUBLERS  bit masks: who may adopt or make pages; who may err
 *           BLOCKS  bit mask: the blocks that the page has
 *           DROP_*, EARLY_*, LATE_*  mutations, each makes the search find an error
 *           TRACE   print what a found trace does (with spin -t)
 */

#ifndef OWNERS
#define OWNERS 1
#endif
#ifndef DOUBLERS
#define DOUBLERS 7
#endif
#ifndef BLOCKS
#define BLOCKS 7
#endif
#ifdef TRACE
#define SAY(text) printf("thread %d: ", me); printf(text); printf(" (block %d)\n", b);
#else
#define SAY(text)
#endif

#define OWNED     0
#define NOTED     1
#define PARKED    2
#define PENDING   3
#define TAKEN     4
#define GONE      5
#define ABANDONED 6

#define NOBODY 3
#define me _pid            /* threads, and their heaps, are 0, 1, 2 */
#define BIT(n) (1 << (n))
#define MASK(w) ((w) == 0 -> 3 : 4)
#define WORD(b) ((b) >> 1)
#define MW(b) MASK(WORD(b))

/* ---- shared ---- */
unsigned kind : 3 = OWNED;  /* x_owner is kind and heap together: */
unsigned heap : 2 = 0;      /* every step reads or writes both */
unsigned claim : 3;         /* the claim bits of both words */
unsigned good : 3;          /* thread t's copy of its claim word has the word's epoch */
unsigned live : 3;          /* as the owner sees them */
unsigned mlive : 3;         /* as memory has them: live, and clears on their way */
unsigned inbox : 3;         /* the page is in heap t's inbox */
bit lock;                   /* nc_core_lock, as far as the abandoned list is concerned */
bit pool;                   /* the description is free for another page */

/* ---- the owner's own ---- */
unsigned queue : 3 = BLOCKS;    /* blocks that malloc takes */
unsigned heads : 3;             /* blocks that were freed, or collected */

/* ---- what is promised; the protocol never reads these ---- */
bit mem = 1;                /* the page has its memory, and the page map says so */
unsigned may : 3;           /* blocks that the program may free */
unsigned freed : 3 = BLOCKS;    /* a free of the block was accepted since its hand-out */
unsigned twice : 3;         /* two were */
unsigned own : 3;           /* the first one was the owner's fast one */
unsigned infl : 3;          /* thread t is in a free that is not accepted yet, */
byte target[3];                 /* of this block */
unsigned stale : 3;         /* the page map no longer leads from t's block here */
unsigned old : 3;           /* the description is another page's since */
unsigned busy : 2;          /* threads inside an operation */
bit dead;                   /* the process ended with a report */
#ifdef DOUBLE
bit extra = 1;              /* one free too many may still come */
unsigned dbl : 2 = NOBODY;  /* the block freed twice */
unsigned after : 2 = NOBODY;    /* the thread whose free follows an accepted one */
#endif

/* Another thread frees block b of this page at the moment. */
#define FREEING(b) ((((infl & ~old) & 1) && target[0] == (b)) || (((infl & ~old) & 2) && target[1] == (b)) \
                    || (((infl & ~old) & 4) && target[2] == (b)))
/* Threads whose free is of word w. */
#define INWORD(w) ((WORD(target[0]) == (w) -> 1 : 0) | (WORD(target[1]) == (w) -> 2 : 0) \
                   | (WORD(target[2]) == (w) -> 4 : 0))
#define MINE(k) (heap == me && kind == (k))
/* An atomic read-modify-write by the owner: its stores are in memory. */
#define FENCE mlive = live

/* A report: right only when it blames the block that was freed twice. */
#ifdef DOUBLE
#define REPORT(set) SAY("report") assert((set) == BIT(dbl)); dead = 1; goto stuck
#else
#define REPORT(set) SAY("report") assert(false); goto stuck
#endif

/* A free takes effect. */
inline accept(isown) {
    d_step {
    assert(!(old & BIT(me)) && mem);
#ifdef DOUBLE
    assert(after != me);
    if
    :: (freed & BIT(b)) -> assert(!(twice & BIT(b))); twice = twice | BIT(b)
    :: else -> freed = freed | BIT(b); own = (isown -> own | BIT(b) : own & ~BIT(b))
    fi;
#else
    assert(!(freed & BIT(b)));
    freed = freed | BIT(b);
#endif
    infl = infl & ~BIT(me);
    target[me] = 0
    }
}

/* The page's memory goes, and the page map is told. */
inline give_run() {
    assert(mem && freed == BLOCKS && twice == 0 && may == 0);
    mem = 0;
    stale = stale | infl
}

/* Whenever no thread is inside an operation: */
inline quiet() {
    d_step {
    assert(kind != TAKEN && !lock);
    assert((kind == GONE) == !mem);
    assert(inbox == (!pool && (kind == PENDING || kind == GONE) -> BIT(heap) : 0));
    if
    :: mem ->
        assert(may == (BLOCKS & ~freed));
        /* nothing is lost: a claim is where the next collection looks */
        assert((kind != OWNED && kind != PARKED) || claim == 0);
        assert((live & freed & ~claim) == 0);
        assert((queue & heads) == 0 && (queue | heads) == (BLOCKS & ~live));
        /* a second free that got through is reported by that collection */
        assert((claim & ~live) == twice);
        /* a page that frees have completed is given back */
        assert((kind != PENDING && kind != ABANDONED) || claim != live)
    :: else
    fi
    }
}

inline idle() {
    d_step { busy--; b = 0; k = 0; h = 0; wb = 0; lv = 0; i = 0; dn = 0; ret = 0; drains = 0 };
    if :: busy == 0 -> quiet() :: else fi
}

/* Another thread reads the live word of b; clears on their way may have arrived. */
inline read_live() {
    if
    :: true
    :: ((mlive & ~live) & BIT(b)) -> mlive = mlive & (live | (7 & ~BIT(b)))
    :: ((mlive & ~live) & MW(b) & ~BIT(b)) -> mlive = mlive & (live | BIT(b) | (7 & ~MW(b)))
    :: ((mlive & ~live) & MW(b)) == 3 -> mlive = mlive & (live | 4)
    fi;
    lv = mlive & MW(b)
}

/* Where a collection or a drain goes on. */
#define R_MAIN    0
#define R_REFILL  1
#define R_FREE    2
#define R_GIVE    3
#define R_RELEASE 4

active [3] proctype thread()
provided (!dead)
{
    unsigned b : 2;     /* block being freed or handed out */
    unsigned k : 3;     /* kind and heap as loaded */
    unsigned h : 2;
    unsigned wb : 3;    /* bits of a claim word as loaded */
    unsigned lv : 3;    /* bits of a live word as loaded */
    unsigned i : 2;     /* index of a walk over the words */
    unsigned dn : 3;    /* claims of word i that this collection has seen */
    unsigned ret : 3;   /* R_ */
    bit drains;         /* the collection belongs to a drain */

end_main:
    atomic {
        if
        /* the program frees what it may */
        :: (may & 1) -> b = 0; goto begin
        :: (may & 2) -> b = 1; goto begin
        :: (may & 4) -> b = 2; goto begin
#ifdef DOUBLE
        /* it errs, once (block 1 is as block 0) */
        :: (DOUBLERS & BIT(me)) && extra && mem && (BLOCKS & 1) && !(may & 1) ->
            b = 0; goto begin_double
        :: (DOUBLERS & BIT(me)) && extra && mem && (BLOCKS & 4) && !(may & 4) ->
            b = 2; goto begin_double
#endif
        /* malloc */
        :: heap == me && kind <= NOTED && (queue & 1) -> b = 0; goto hand_out
        :: heap == me && kind <= NOTED && (queue & 2) -> b = 1; goto hand_out
        :: heap == me && kind <= NOTED && (queue & 4) -> b = 2; goto hand_out
        :: heap == me && kind <= NOTED && queue == 0 -> busy++; goto refill
        :: (inbox & BIT(me)) -> busy++; goto drain
        /* an empty page */
        :: heap == me && kind <= NOTED && live == 0 -> busy++; goto release
#ifdef EXIT
        /* the thread ends; its heap goes to the next one */
        :: heap == me && kind != GONE -> busy++; ret = R_GIVE; goto drain
        :: (OWNERS & BIT(me)) && kind == ABANDONED && !lock -> /* nc_adopt, under the lock */
            busy++;
            SAY("adopt")
#ifdef DROP_ADOPT_NOTED
            kind = OWNED; heap = me; idle(); goto end_main
#else
            kind = TAKEN; goto adopt
#endif
#endif
#ifdef REUSE
        /* nc_page_make in the same description */
        :: (OWNERS & BIT(me)) && pool ->
            SAY("make page")
            d_step {
                pool = 0; mem = 1; queue = BLOCKS; heads = 0; live = 0; mlive = 0; claim = 0;
                kind = OWNED; heap = me;
                freed = BLOCKS; own = 0;
                old = old | infl
            };
#ifndef DROP_LASTING_EPOCH
            good = 0;
#endif
            goto end_main
#endif
        fi;
begin:
        may = may & ~BIT(b);
        goto begin_any;
#ifdef DOUBLE
begin_double:
        extra = 0; dbl = b;
        if
        :: true
        :: (freed & BIT(b)) -> /* it happens after one that was accepted */
            after = me;
            if :: (own & BIT(b)) -> FENCE :: else fi
        fi;
#endif
begin_any: /* nc_page_find */
        SAY("free begins")
        busy++;
        d_step {
            infl = infl | BIT(me); target[me] = b;
            stale = stale & ~BIT(me); old = old & ~BIT(me)
        };
        goto free;

hand_out:
        if
        :: FREEING(b) -> /* that free cannot be told from one of the new block */
#ifdef DOUBLE
            dead = 1; goto stuck
#else
            assert(false)
#endif
        :: else
        fi;
        SAY("hand out")
        d_step {
            assert(mem && (freed & BIT(b)) && !(twice & BIT(b)) && !(may & BIT(b)));
            assert(!(live & BIT(b)));
            queue = queue & ~BIT(b); live = live | BIT(b); mlive = mlive | BIT(b);
            freed = freed & ~BIT(b); own = own & ~BIT(b); may = may | BIT(b);
            b = 0
        };
        if :: busy == 0 -> quiet() :: else fi;
        goto end_main
    }

    /* ---- nc_page_refill ---- */
refill:
    atomic { /* read-modify-write of x_owner */
        SAY("refill")
#ifndef DROP_REFILL_ORDER
        FENCE;
#endif
#ifndef DROP_REFILL_COLLECT
        if
        :: kind == NOTED -> ret = R_REFILL; goto collect
        :: else
        fi;
#endif
        goto refill_move
    };
refill_move:
    atomic {
        queue = heads; heads = 0; ret = R_MAIN;
        if
        :: queue != 0 -> idle(); goto end_main
        :: else -> goto park
        fi
    };
park: /* no block is free */
    atomic {
        FENCE;
        if
#ifdef DROP_PARK_CAS
        :: true ->
#else
        :: kind == OWNED ->
#endif
            SAY("park")
            kind = PARKED;
            if
            :: drains -> drains = 0; goto drained
            :: else -> idle(); goto end_main
            fi
        :: else -> goto collect
        fi
    };

    /* ---- nc_page_collect ---- */
collect:
    atomic { /* exchange of x_owner */
        assert(heap == me && kind <= NOTED);
        FENCE; i = 0; dn = 0;
#ifndef LATE_OWNED
        kind = OWNED
#endif
    };
collect_word:
    atomic { /* load, test, clear live bits */
        wb = claim & MASK(i);
#ifndef DROP_COLLECT_TEST
        if
        :: (wb & ~dn & ~live) -> REPORT(wb & ~dn & ~live)
        :: else
        fi;
#endif
#ifdef DROP_NEWCOMER_TEST
collect_again:
        wb = claim & MASK(i);
#endif
#ifndef LATE_CLEAR
        live = live & ~wb;
#endif
        dn = wb
#ifdef DROP_EMPTY_WORDS
        ;
        if
        :: wb == 0 -> goto collect_next
        :: else
        fi
#endif
    };
    atomic { /* CAS */
        if
        :: (claim & MASK(i)) == wb ->
            claim = claim & ~MASK(i);
#ifndef DROP_EPOCH
            good = good & ~INWORD(i);
#endif
            FENCE;
            assert(mem && !((queue | heads) & wb));
            heads = heads | wb;
#ifdef LATE_CLEAR
            live = live & ~wb;
#endif
        :: else ->
#ifdef DROP_NEWCOMER_TEST
            goto collect_again
#else
            goto collect_word
#endif
        fi;
collect_next:
        wb = 0; dn = 0; i++;
        if
        :: i < 2 -> goto collect_word
        :: else -> i = 0
        fi;
#ifdef LATE_OWNED
        goto collected
    };
collected:
    atomic {
        kind = OWNED;
#endif
        if
        :: drains ->
            if
            :: (queue | heads) == 0 -> goto park
            :: else -> drains = 0; goto drained
            fi
        :: !drains && ret == R_MAIN -> idle(); goto end_main
        :: !drains && ret == R_REFILL -> goto refill_move
        :: !drains && ret == R_GIVE -> goto give_look
        :: !drains && ret == R_RELEASE -> goto release_gone
        fi
    };

    /* ---- nc_free and owner_free ---- */
free:
    atomic {
        if
        :: MINE(OWNED) -> goto free_local
        :: MINE(NOTED) -> goto free_noted
        :: MINE(PARKED) -> /* nc_heap_unpark */
#ifndef DROP_UNPARK_CAS
            FENCE; kind = OWNED;
#endif
            goto free_noted
        :: MINE(PENDING) || MINE(TAKEN) -> ret = R_FREE; goto drain
        :: else -> goto remote
        fi;
free_local: /* one step with the load: the live bit lies in the store buffer */
        if
        :: !(live & BIT(b)) -> REPORT(BIT(b))
        :: else
        fi;
        SAY("owner frees")
        live = live & ~BIT(b);
        accept(1);
        assert(!((queue | heads) & BIT(b)));
#ifdef DROP_TWO_LISTS
        queue = queue | BIT(b);
#else
        heads = heads | BIT(b);
#endif
        idle();
        goto end_main
    };
free_noted:
    atomic {
#ifndef DROP_NOTED_TEST
        if
        :: (claim & BIT(b)) -> REPORT(BIT(b))
        :: else
        fi;
#endif
        goto free_local
    };
free_drained:
    atomic {
        if
        :: heap == me && kind <= NOTED -> goto free_noted
#ifdef DROP_UNPARK_LOOK
        :: MINE(PENDING) || MINE(TAKEN) -> goto free_noted
#endif
        :: else -> goto remote
        fi
    };

    /* ---- remote_free ---- */
#ifdef LATE_WORD
remote:
    goto remote_note;
remote_word:
#else
remote:
#endif
    atomic {
        d_step { wb = claim & MW(b); good = good | BIT(me) }
    };
#if defined(REUSE) && !defined(DROP_MAP_LOOK)
    atomic { /* the page map still leads here */
        if
        :: (stale & BIT(me)) -> REPORT(BIT(b))
        :: else
        fi
    };
#endif
#ifdef LATE_WORD
    goto remote_live;
#endif
#ifdef EARLY_LIVE
    atomic { read_live() };
#endif
remote_note:
    atomic {
        if
#ifdef DROP_NOTE
        :: kind == OWNED -> k = NOTED
#else
        :: kind == OWNED -> SAY("note") kind = NOTED; k = NOTED
#endif
        :: kind == PARKED ->
            SAY("pending")
            kind = PENDING; k = PENDING; h = heap;
#ifndef DROP_PUSH
            goto remote_push
#endif
        :: kind == GONE -> REPORT(BIT(b))
        :: else -> k = kind; h = (kind == NOTED -> 0 : heap)
        fi;
        goto remote_noted
    };
remote_push:
    atomic {
        SAY("push")
        assert(!(inbox & BIT(h)));
        inbox = inbox | BIT(h);
        goto remote_noted
    };
remote_noted:
#ifdef LATE_WORD
    goto remote_word;
#endif
remote_live:
    atomic {
#ifndef DROP_CLAIM_TEST
        if
        :: (wb & BIT(b)) -> REPORT(BIT(b))
        :: else
        fi;
#endif
#ifndef EARLY_LIVE
        read_live();
#endif
#ifndef DROP_LIVE_TEST
        if
        :: !(lv & BIT(b)) -> REPORT(BIT(b))
        :: else
        fi;
#endif
        if :: k == NOTED -> lv = 0 :: else fi
#ifdef EARLY_SCAN
        ;
        dn = ((claim & ~MW(b)) == (mlive & ~MW(b)))
#endif
    };
    atomic { /* CAS */
        if
        :: (good & BIT(me)) && (claim & MW(b)) == wb ->
            SAY("claim")
            claim = claim | BIT(b);
            accept(0);
            good = good & ~BIT(me);
            if
#ifdef EARLY_SCAN
            :: k != NOTED && (wb | BIT(b)) == lv && dn -> wb = 0; lv = 0; b = 0; dn = 0; goto complete
#else
            :: k != NOTED && (wb | BIT(b)) == lv -> wb = 0; lv = 0; b = 0; goto scan
#endif
            :: else -> idle(); goto end_main
            fi
        :: else ->
            good = good & ~BIT(me);
            d_step { wb = 0; lv = 0; k = 0; h = 0; dn = 0 };
            goto remote
        fi
    };

    /* ---- nc_page_all_claimed, and what follows ---- */
scan: /* word by word; while an owner writes, whatever is read */
    atomic {
        if
        :: kind <= NOTED -> if :: true -> i++ :: true -> i = 3 fi
        :: kind > NOTED && kind != GONE && (claim & MASK(i)) == (mlive & MASK(i)) -> i++
        :: else -> i = 3
        fi;
        if
        :: i == 3 -> idle(); goto end_main
        :: i == 1 -> goto scan
        :: else -> i = 0
        fi
    };
complete:
    atomic {
        if
        :: k == ABANDONED -> k = 0; h = 0; goto finish_abandoned
        :: k != ABANDONED && kind == PENDING && heap == h -> /* finish_pending */
            SAY("take")
#ifndef DROP_TAKEN
            kind = TAKEN;
#endif
            goto taken
        :: else -> idle(); goto end_main
        fi
    };
taken:
    atomic {
        if
#ifdef DROP_RESCAN
        :: true ->
#else
        :: claim == mlive ->
#endif
            assert(live == mlive);
            SAY("release")
#ifdef EARLY_GONE
            assert(mem && freed == BLOCKS && twice == 0 && may == 0);
            mem = 0; kind = GONE
#else
            give_run()
#endif
        :: else -> goto put_back
        fi
    };
    atomic {
#ifdef EARLY_GONE
        stale = stale | (infl & old);
#else
        kind = GONE;
#endif
        idle(); goto end_main
    };
put_back:
    atomic {
        SAY("put back")
#ifndef DROP_TAKEN
        kind = PENDING;
#endif
#ifdef DROP_RECHECK
        idle(); goto end_main
#else
        goto scan
#endif
    };
finish_abandoned: /* nc_abandoned_finish */
    atomic {
#ifndef DROP_FINISH_LOCK
        !lock;
#endif
        if
#ifdef DROP_FINISH_LOOK
        :: claim == mlive ->
#else
        :: kind == ABANDONED && claim == mlive ->
#endif
            SAY("finish abandoned")
#ifdef DROP_FINISH_LOCK
            goto finish_gone
#else
            lock = 1; goto finish_gone
#endif
        :: else -> idle(); goto end_main
        fi
    };
finish_gone:
    atomic { kind = GONE; lock = 0 };
    goto forget;

    /* ---- nc_page_release ---- */
release:
    atomic { /* read-modify-write of x_owner */
        SAY("release own")
#ifndef DROP_RELEASE_ORDER
        FENCE;
#endif
#ifndef DROP_RELEASE_COLLECT
        if
        :: kind == NOTED -> ret = R_RELEASE; goto collect
        :: else
        fi;
#endif
        goto release_gone
    };
release_gone:
    atomic { kind = GONE; FENCE; ret = R_MAIN };
forget:
    atomic { give_run() };
    atomic { pool = 1; idle(); goto end_main };

    /* ---- nc_heap_drain ---- */
drain:
    atomic { /* exchange of x_inbox */
        FENCE;
        if
        :: (inbox & BIT(me)) -> SAY("drain") inbox = inbox & ~BIT(me)
        :: else -> goto drained
        fi
    };
    atomic {
        if
        :: kind == PENDING -> kind = OWNED; FENCE; drains = 1; goto collect
        :: kind == TAKEN
        :: kind == GONE -> pool = 1; goto drained
        :: else -> assert(false)
        fi
    };
    atomic { /* it is being looked at */
#ifndef DROP_PUSH_BACK
        assert(!(inbox & BIT(me)));
        inbox = inbox | BIT(me);
#endif
        goto drained
    };
drained:
    atomic {
        if
        :: ret == R_MAIN -> idle(); goto end_main
        :: ret == R_FREE -> ret = R_MAIN; goto free_drained
        :: ret == R_GIVE -> goto give
        fi
    };

    /* ---- nc_heap_give_pages, nc_abandon ---- */
give:
    atomic {
        if
        :: heap == me && kind <= NOTED -> goto give_look
        :: MINE(PARKED) -> kind = OWNED; FENCE; goto give_look
#ifdef DROP_GIVE_POP
        :: MINE(PENDING) -> kind = OWNED; FENCE; goto collect
#endif
        :: else -> idle(); goto end_main
        fi
    };
give_look:
    atomic {
        if
        :: kind != OWNED -> goto collect
        :: else
        fi;
        if
        :: live == 0 -> ret = R_MAIN; goto release
        :: else
        fi
    };
    atomic {
        !lock;
        FENCE;
        if
#ifndef DROP_GIVE_CAS
        :: kind != OWNED -> goto give_look
#endif
        :: else -> SAY("abandon") kind = ABANDONED; heap = NOBODY
        fi;
        idle(); goto end_main
    };

    /* ---- adopt ---- */
adopt:
    atomic {
        kind = NOTED; heap = me; goto collect
    };

stuck:
    false
}
