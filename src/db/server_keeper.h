/* server_keeper.h: what server.c and its keeper say to each other.
 *
 * One request, one reply, each one packet of a socket pair.  Only src/db.
 */
#ifndef HF_DB_SERVER_KEEPER_H
#define HF_DB_SERVER_KEEPER_H

#include "db/server.h"

#define HF_KEEPER_TEXT 8000 /* bytes of all arguments of a command line */
#define HF_KEEPER_ARGUMENTS 100u

typedef enum hf_keeper_what {
    HF_KEEPER_MAKE,   /* text: template of the directory; reply: its name */
    HF_KEEPER_RUN,    /* text: arguments; reply: how it ended */
    HF_KEEPER_START,  /* node, text, signal for the end; reply: its number */
    HF_KEEPER_STATE,  /* node; reply: 1 it runs, 0 not */
    HF_KEEPER_STOP,   /* node, signal, milliseconds */
    HF_KEEPER_SIGNAL, /* node, signal: to it and all it has started */
    HF_KEEPER_ONE,    /* node, signal, process: one that it has started */
    HF_KEEPER_NETWORK /* signal: 0 cut it, 1 heal it, else nothing; reply: 1
                         there is one */
} hf_keeper_what;

typedef struct hf_keeper_request {
    uint32_t what, node;
    int32_t signal, process;
    uint32_t milliseconds;
    uint32_t n_arguments;      /* in text, each ended by NUL */
    uint32_t length;           /* of text */
    char text[HF_KEEPER_TEXT]; /* last: only `length` bytes are sent */
} hf_keeper_request;

/* value of HF_KEEPER_RUN: the exit status, or one of these. */
#define HF_KEEPER_TIME_OVER (-1)
#define HF_KEEPER_SIGNALLED (-2)

typedef struct hf_keeper_reply {
    int32_t error; /* errno; 0: done */
    int32_t value;
    char text[HF_SERVER_PATH];
} hf_keeper_reply;

/* Becomes the keeper; in a new process, `socket` is its only tie.  network:
 * servers shall have a network of their own, if it can be had.  Does not
 * return. */
void hf_keeper_main(int socket, bool keep, bool network)
    __attribute__((noreturn));

/* server_network.c: moves this process into a network of its own, with nothing
 * but a loopback; false: cannot be had, nothing has changed. */
bool hf_network_enter(void);
/* The loopback of that network: down, nobody reaches anybody. */
bool hf_network_set(bool up);

#endif
