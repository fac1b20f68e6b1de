/* condition_steps.h: what a condition is compiled into, between the files that
 * make, run and look at it.  Private to verify/. */
#ifndef HF_CONDITION_STEPS_H
#define HF_CONDITION_STEPS_H

#include "verify/condition.h"

/* Of the stack, when the steps are run. */
#define HF_CONDITION_DEPTH 48

typedef enum opcode {
    PUSH,   /* a literal */
    COLUMN, /* text: its name */
    NEGATE,
    ADD,
    SUBTRACT,
    MULTIPLY,
    DIVIDE,
    REMAINDER,
    EQUAL,
    UNEQUAL,
    LESS,
    LESS_EQUAL,
    GREATER,
    GREATER_EQUAL,
    IS_NULL,
    NOT,
    AND,
    OR,
    BETWEEN, /* value, low, high */
    IN,      /* value, then `number` candidates */
} opcode;

typedef struct step {
    opcode code;
    hf_scalar operand;
} step;

struct hf_condition {
    hf_str text;
    struct hf_condition_memo *memo; /* kept by match.c */
    bool understood;
    uint32_t n;
    step steps[];
};

#endif
