/* fixtures.c: the catalog's item fixtures and their rows of the matrix. */
#include "fixtures.h"

#include <stddef.h>

/* Columns: RU RC RCa MAV RA | ryw mr mw wfr pram | CC CV RR PSI PSIs PC |
 * SI SIs SIr | SER SERs SERr; F is forbidden. */
#define NEVER "FFFFF FFFFF FFFFFF FFF FFF"
#define ABOVE_RU ".FFFF FFFFF FFFFFF FFF FFF"
#define SKEW "....F ..... FFFFFF FFF FFF"
#define VANISH "..FFF ..... FFFFFF FFF FFF"
#define CAUSE "..... ...F. FFFFFF FFF FFF"
#define LOST "..... ..... .FFFF. FFF FFF"
#define FORK "..... ..... ..F..F FFF FFF"
#define WSKEW "..... ..... ..F... ... FFF"
#define RYW "....F F...F F...FF .FF .FF"
#define MREADS "..... .F..F F...FF .FF .FF"
#define MWRITES "..... ..F.F F...FF .FF .FF"
#define WFR "..... ...F. F...FF .FF .FF"
#define SESSION "..F.F FFFFF F...FF .FF .FF"
#define DEKKER "..... ..... .....F .FF .FF"
#define TIME "..... ..... ...... ..F ..F"
#define TWO_IDS "..... ..... ...... ... ..F"
#define FINE "..... ..... ...... ... ..."
#define PHANTOM "....F ..... FF.FFF FFF FFF"
#define PFORK "..... ..... .....F FFF FFF"
#define PSKEW "..... ..... ...... ... FFF"

static const fixture fixtures[] = {
    {"C1", "wx1 wy1 | wx2 wy2 / x:12 y:21", NEVER},
    {"C2", "wx1 ry1 | wy1 rx1", ABOVE_RU},
    {"C3", "rx0 rx1 | wx1", SKEW},
    {"C6", "wx1 wy1 | rx0 ry1", SKEW},
    {"C4", "wx1 wy1 | wx2 wy2 | rx2 ry1 / x:12 y:12", VANISH},
    {"C5", "wx1 wy1 | ry1 rx0", VANISH},
    {"C7", "wx1 | rx1 wy1 | ry1 rx0", CAUSE},
    {"C8", "rx0 wx1 | rx0 wx2", LOST},
    {"C9", "rx0 wx2 | wx1 / x:21", LOST},
    {"C10", "wx1 | wy1 | rx1 ry0 | rx0 ry1", FORK},
    {"C11", "rx0 ry0 wx1 | rx0 ry0 wy1", WSKEW},
    {"C12", "@2-3 ry0 wy2 | @1-8 rx0 ry0 wx3 | @5-6 rx0 ry2", WSKEW},
    {"C13", "rx0 wy1 | rx0 wx1 | rx1 ry0", WSKEW},
    {"C14", "@0-9 rx0 wz1 | @1-2 wx1 | @3-4 wx2 ry0 | @0-9 wy1 rz0", WSKEW},
    {"S1", "a: wx1 | a: rx0", RYW},
    {"S2", "wx1 | b: rx1 | b: rx0", MREADS},
    {"S3", "a: wx1 | a: wy1 | ry1 rx0", MWRITES},
    {"S4", "a: wx1 | a: wx2 | b: rx2 | b: rx1", MREADS},
    {"S5", "wx1 | b: rx1 | b: wy1 | ry1 rx0", WFR},
    {"S6", "a: wx1 | a: wx2 / x:21", SESSION},
    {"S7", "a: rx1 | a: wx1", SESSION},
    {"S8", "a: wx1 | a: ry0 | b: wy1 | b: rx0", DEKKER},
    {"R1", "@1-2 wx1 | @3-4 rx0", TIME},
    {"R2", "@1-3 wx1 | @5-6 wy1 | @0-9 rx0 ry1", TIME},
    {"R3", "@1-2 wx1 | @3-4 wx2 | @5-6 rx1", TIME},
    {"R4", "@1-2 rx1 | @3-4 wx1", TIME},
    {"R5", "@1-2 wx1 | @0-9 rx0 wy1 | @5-6 ry0", TWO_IDS},
    {"V1", "@0-9 ry0 | @1-8 rz0 wy1 | @2-7 wz1", FINE},
    {"V2", "rx0 wx2 | wx1", FINE},
    {"N1", "rx7", NEVER},
    {"N2", "wx1 rx0", NEVER},
    {"N4", "wx5 | wx5 / !", NEVER},
    {"N4 list", "ax5 | ax5 | lx55 / !", NEVER},
    {"N4 list, appended once", "ax5 | lx55", NEVER},
    {"no promise, appended twice", "ax5 | ax5 | lx55", FINE},
    {"N5", "wx1 !a | rx1", ABOVE_RU},
    {"N6", "wx1 wx2 | rx1", ABOVE_RU},
    {"N7", "ax1 !a | ax2 | lx12", ABOVE_RU},
    {"N8", "rx1 wx1", ABOVE_RU},
    {"N9", "ax1 | ax2 | lx12 | lx21", NEVER},
    /* lists say the order that C1 and C4 need a certificate for */
    {"C1 lists", "ax1 ay1 | ax2 ay2 | lx12 | ly21", NEVER},
    {"C4 lists", "ax1 ay1 | ax2 ay2 | lx12 ly1 | ly12", VANISH},
    {"C5 lists", "ax1 ay1 | ly1 lx", VANISH},
    {"C8 lists", "lx ax1 | lx ax2", LOST},
    {"C11 lists", "lx ly ax1 | lx ly ay1", WSKEW},
    {"G1b list", "ax1 ax2 | lx1", ABOVE_RU},
    {"own appends", "ax1 lx1 ax2 lx12 | lx12 ax3 lx123", FINE},
    {"own append missing", "ax1 lx | lx1", NEVER},
    /* predicates */
    {"R6", "@1-2 wx1 | @3-4 wy2 | @5-6 p>0(x1y0)x", TIME},
    {"Q1", "wx1 | wy2 | p<5(x1y0)x p<5(x1y2)xy", PHANTOM},
    {"Q2", "p<5(x1)x p<5(x9) | wx9 / x=1", SKEW},
    {"Q3", "p=3(x0) pt(x3)x | wx3", PHANTOM},
    {"Q5", "p<5(x0y0) ry1 | wx1 wy1", PHANTOM},
    {"Q6", "wx2 wy3 | u=2(x1y3) p=2(x2y3)x / x=1 y=2", PHANTOM},
    {"Q7", "rx1 u=2(x4y5) | wx4 wy5 / x=1 y=2", SKEW},
    {"Q8", "wx4 | wx6 | p<5(x6) rx4 / x:12", VANISH},
    {"Q9", "wx1 wy1 | pt(x0y1)y", PHANTOM},
    {"Q11", "wx1 | wy1 | pt(x1y0)x | pt(x0y1)y", PFORK},
    {"Q12", "p=3(x0y0) wx3 | p=3(x0y0) wy3", PSKEW},
    {"Q13", "rx5 wy1 | p=1(x5y0) wx6 / x=5", PSKEW},
    {"Q14", "u=2(x1y2)y wy1 | u=1(x1y2)x wx2 / x=1 y=2", PSKEW},
    {"Q15", "u<5(x1)x wx2 | u<5(x1)x wx3 / x=1", LOST},
    {"Q16", "rx1 wy7 | wx2 | rx2 p=7(x2y0) / x=1", PSKEW},
    {"N11", "wx4 | p<5(x4)", NEVER},
    {"N5 predicate", "wx3 !a | p<5(x3)x", ABOVE_RU},
    {"a later version that never matched", "p<5(x8) | rx7 wx8 / x=7", FINE},
    /* what is not known is tried every way */
    {"unknown, read", "wx1 !u | rx1", FINE},
    {"unknown, not read", "wx1 wy1 !u | rx0 ry0", FINE},
    {"unknown, skewed", "wx1 wy1 !u | rx0 ry1", SKEW},
    {"equal values", "wx1 wy1 | wx1 | ry0 rx1", FINE},
    {"unknown goes late", "@1-2 wx1 !u | @3-4 rx0 | @5-6 rx1", FINE},
    {"deleted", "wx1 | rx1 dx | rx0", FINE},
    {"aborted reads nonsense", "rx7 wx1 rx2 !a | rx0", FINE},
};

const fixture *fixture_at(unsigned index)
{
    return index < sizeof(fixtures) / sizeof(fixtures[0]) ? &fixtures[index]
                                                          : NULL;
}
