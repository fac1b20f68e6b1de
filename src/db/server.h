/* server.h: private servers: started from installed programs, thrown away.
 *
 * A hf_server is one directory that only the server's user may enter, and up
 * to HF_SERVER_NODES server processes that live in it.  Between us and them
 * stands the keeper, a small process of its own (server_keeper.c) that starts
 * them and notices when we end, however we end: then it ends them and removes
 * the directory.  If the keeper is killed they get a signal from the kernel.
 *
 *     hf_server_find(&program, path, sizeof(path), &err);
 *     hf_server_new(&options, &s, &err);
 *     hf_server_run(s, initdb, 60, &err);            // to its end
 *     hf_server_start(s, 0, postgres, SIGQUIT, &err); // goes on
 *     hf_server_wait(s, 0, is_ready, user, 30, &err);
 *     hf_server_free(s);                             // nothing is left
 *
 * When we are root, everything is run as the user nobody.  Calls are safe from
 * any thread; each waits for the one before.
 */
#ifndef HF_DB_SERVER_H
#define HF_DB_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

#define HF_SERVER_NODES 8u
#define HF_SERVER_PATH 200 /* bytes of a directory's name */
#define HF_SERVER_SOCKET                                                       \
    107 /* bytes of a socket's name, the system's limit                        \
         */

typedef struct hf_server hf_server;

/* ---- finding programs ---------------------------------------------------- */

typedef struct hf_server_program {
    const char *name;    /* "initdb" */
    const char *command; /* prints its directory: "pg_config --bindir"; NULL */
    const char *places;  /* more directories, blanks between, * allowed; NULL */
    const char *only;    /* look in this directory and nowhere else; NULL */
    const char *package; /* Debian's, for the message */
} hf_server_program;

/* Its full path, links followed: by the command, in PATH, in the places. */
HF_MUST_USE hf_status hf_server_find(const hf_server_program *p, char *ret,
                                     size_t size, hf_error *err);

/* ---- a directory with servers -------------------------------------------- */

typedef struct hf_server_options {
    const char *name;   /* of the product, for messages: "PostgreSQL" */
    const char *parent; /* of the directory; NULL: /tmp */
    bool keep;          /* the directory stays when we have ended */
    bool network;       /* a network of their own, if it can be had */
} hf_server_options;

HF_MUST_USE hf_status hf_server_new(const hf_server_options *o, hf_server **ret,
                                    hf_error *err);
/* Stops what runs, at once, and removes the directory.  NULL: nothing. */
void hf_server_free(hf_server *s);

const char *hf_server_directory(const hf_server *s);
/* Writes (or adds to) a file of the directory that belongs to the server's
 * user; `name` is relative. */
HF_MUST_USE hf_status hf_server_write(hf_server *s, const char *name,
                                      const char *text, bool append,
                                      hf_error *err);
HF_MUST_USE hf_status hf_server_mkdir(hf_server *s, const char *name,
                                      hf_error *err);

/* ---- processes ----------------------------------------------------------- */

/* Arguments end with NULL; the first is the program's full path.  The
 * environment is a fixed one, the working directory that of the server, what
 * it prints goes to a log in it.  Runs a tool to its end; not ended well, or
 * not within `seconds`: an error with the last line it wrote. */
HF_MUST_USE hf_status hf_server_run(hf_server *s, const char *const *arguments,
                                    double seconds, hf_error *err);

/* Starts node `node`.  quit: the signal that makes it end at once. */
HF_MUST_USE hf_status hf_server_start(hf_server *s, unsigned node,
                                      const char *const *arguments, int quit,
                                      hf_error *err);
/* Waits until ready(user) says so.  An error, with what the log says, if the
 * process ends or the time is over: the process is not stopped then. */
HF_MUST_USE hf_status hf_server_wait(hf_server *s, unsigned node,
                                     bool (*ready)(void *user), void *user,
                                     double seconds, hf_error *err);
bool hf_server_running(hf_server *s, unsigned node);
/* Sends the signal and waits; what is still there after `seconds` is killed.
 * Not running: nothing. */
void hf_server_stop(hf_server *s, unsigned node, int signal, double seconds);
/* kill -9 of the process and all it has started; they are gone on return. */
void hf_server_kill(hf_server *s, unsigned node);
/* Stops or continues it and all it has started. */
void hf_server_pause(hf_server *s, unsigned node, bool pause);
/* The same for one process that the node has started; false: no such. */
bool hf_server_pause_one(hf_server *s, unsigned node, pid_t process,
                         bool pause);
/* Do the servers have a network of their own, where nobody else is?  Their
 * sockets in the directory are not part of it. */
bool hf_server_has_network(hf_server *s);
/* Cuts all connections of that network, or heals them; false: it has none. */
bool hf_server_cut(hf_server *s, bool cut);
/* The most telling line of a node's log (node HF_SERVER_NODES: of the tools);
 * empty if there is none.  Returns `ret`. */
const char *hf_server_last_line(hf_server *s, unsigned node, char *ret,
                                size_t size);

#endif
