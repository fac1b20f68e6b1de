/* server_network.c: a network that private servers have for themselves.
 *
 * A network namespace with nothing in it but a loopback.  Ports in it are in
 * nobody's way, nobody outside can connect, and to part the servers from each
 * other it is enough to take the loopback down: no packet gets through, and
 * connections stay as they are until their own timeouts.  It ends with the last
 * process in it: nothing has to be removed.
 *
 * Root may make one; others make a user namespace with it, in which they are
 * who they were, if the system lets them.  Whether it does is tried out in a
 * process that is thrown away, as there is no way back.
 */
#include "db/server_keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

bool hf_network_set(bool up)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct ifreq r;
    bool done;

    if (fd < 0)
        return false;
    memset(&r, 0, sizeof(r));
    memcpy(r.ifr_name, "lo", 3);
    done = ioctl(fd, SIOCGIFFLAGS, &r) == 0;
    if (up)
        r.ifr_flags = (short)(r.ifr_flags | IFF_UP);
    else
        r.ifr_flags = (short)(r.ifr_flags & ~IFF_UP);
    done = done && ioctl(fd, SIOCSIFFLAGS, &r) == 0;
    (void)close(fd);
    return done;
}

static bool write_text(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool done = fd >= 0 && write(fd, text, strlen(text)) >= 0;

    if (fd >= 0)
        (void)close(fd);
    return done;
}

static bool enter(void)
{
    unsigned uid = geteuid(), gid = getegid();
    char text[64];

    if (uid == 0)
        return unshare(CLONE_NEWNET) == 0 && hf_network_set(true);
    if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)
        return false;
    (void)snprintf(text, sizeof(text), "%u %u 1", uid, uid);
    if (!write_text("/proc/self/setgroups", "deny") ||
        !write_text("/proc/self/uid_map", text))
        return false;
    (void)snprintf(text, sizeof(text), "%u %u 1", gid, gid);
    return write_text("/proc/self/gid_map", text) && hf_network_set(true);
}

bool hf_network_enter(void)
{
    pid_t child = fork();
    int status = 1;

    if (child == 0)
        _exit(enter() ? 0 : 1);
    if (child < 0)
        return false;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return status == 0 && enter();
}
