/* Runs the kernels of a file lane by lane: threads of a group one after another, lanes as coroutines that meet at sync points. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

enum { LANES = 32, STACK = 1 << 18, NAMES = 32 };

struct value { const char *name; int first, size; };
struct entry { const char *name; void (*call)(void); int simd; const struct value *values; int id_first, id_step, id_axes; };
extern const struct entry entries[];

_Thread_local int lane;
_Thread_local const uchar *payload;
_Thread_local uchar *slm, *scratch;

struct surface { uint number; uchar *start; };
static struct surface surfaces[4096];
static int n_surfaces;
static const struct entry *kernel_entry;

struct fiber { ucontext_t context; uchar *stack; bool done; int line; bool released; };
struct thread {
    pthread_t handle;
    struct fiber fibers[LANES];
    ucontext_t home;
    uint lanes, group, votes, kept_votes;
    int leader, barrier_line;
    uint group_id[3], values[3];
    const uchar *payload;
    uchar *slm;
    bool done, waits;
};
static struct thread *threads;
static int n_threads, turn;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static _Thread_local struct thread *self;

uint group_id(int axis) { return self->group_id[axis]; }
uint local_id(int axis) {
    if (axis >= kernel_entry->id_axes) return 0;
    ushort id;
    memcpy(&id, payload + kernel_entry->id_first + axis * kernel_entry->id_step + 2 * lane, 2);
    return id;
}
static const struct value *find_value(const char *name) {
    for (const struct value *v = kernel_entry->values; v->name; v++)
        if (!strcmp(v->name, name)) return v;
    fprintf(stderr, "no launch value %s\n", name);
    _exit(3);
}
uint launch_value(const char *name, int axis) {
    const struct value *v = find_value(name);
    uint r = 0;
    memcpy(&r, payload + v->first + 4 * axis, 4);
    return r;
}
ulong launch_address(const char *name) {
    ulong r = 0;
    memcpy(&r, payload + find_value(name)->first, 8);
    return r;
}
static struct { char name[64]; ulong value; } symbols[1024];
static uint n_symbols;
ulong symbol(const char *name) {
    for (uint i = 0; i < n_symbols; i++)
        if (!strncmp(symbols[i].name, name, 63)) return symbols[i].value;
    fprintf(stderr, "no symbol %s\n", name);
    _exit(3);
}
uint thread_value(const char *name) { return self->values[!strcmp(name, "hw_id") ? 0 : !strcmp(name, "sr0") ? 1 : 2]; }
uchar *bti(uint number) {
    for (int i = 0; i < n_surfaces; i++)
        if (surfaces[i].number == number) return surfaces[i].start;
    fprintf(stderr, "no surface %u\n", number);
    _exit(3);
}

uchar *surface_at(ulong handle) {
    for (int i = 0; i < n_surfaces; i++)
        if (surfaces[i].number == (uint)handle) return surfaces[i].start;
    return scratch;
}
uchar *surface_of(const char *name) {
    fprintf(stderr, "no surface %s\n", name);
    _exit(3);
}

static void wait_at(int line) {
    struct fiber *f = &self->fibers[lane];
    int own = lane;
    f->line = line;
    f->released = false;
    swapcontext(&f->context, &self->home);
    lane = own;
}
void sync_lanes_at(int line) { wait_at(line); }
bool lanes_meet_at(int line) { wait_at(line); return lane == self->leader; }
bool lanes_part_at(int line) { wait_at(line); return false; }
uint lanes_where(bool condition, int line) {
    wait_at(line);
    if (lane == self->leader) self->votes = 0;
    if (condition) self->votes |= 1u << lane;
    wait_at(line);
    uint found = self->votes;
    wait_at(line);
    return found;
}
void barrier_at(int line) {
    wait_at(line);
    if (lane == self->leader) self->barrier_line = 1;
    wait_at(line);
}

static void run_lane(void) {
    kernel_entry->call();
    self->fibers[lane].done = true;
    swapcontext(&self->fibers[lane].context, &self->home);
}

static void resume(int number) {
    lane = number;
    swapcontext(&self->home, &self->fibers[number].context);
}

static void pass_on(struct thread *me, bool waits) {
    pthread_mutex_lock(&lock);
    me->waits = waits;
    int at = me - threads;
    for (;;) {
        int next = -1;
        for (int i = 1; i <= n_threads && next < 0; i++) {
            struct thread *t = &threads[(at + i) % n_threads];
            if (!t->done && !t->waits) next = t - threads;
        }
        if (next < 0) {
            for (int i = 0; i < n_threads; i++) threads[i].waits = false;
            for (int i = 0; i < n_threads && next < 0; i++) {
                int one = (at + i) % n_threads;  /* the last to come goes on, as in the simulator */
                if (!threads[one].done) next = one;
            }
        }
        turn = next;
        break;
    }
    pthread_cond_broadcast(&changed);
    while (!me->done && turn != at) pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

static void *run_thread(void *given) {
    struct thread *t = self = given;
    pthread_mutex_lock(&lock);
    while (turn != t - threads) pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    payload = t->payload;
    slm = t->slm;
    scratch = calloc(1 << 18, 1);
    fesetround(FE_TONEAREST);
    for (int i = 0; i < LANES; i++) {
        if (!(t->lanes >> i & 1)) { t->fibers[i].done = true; continue; }
        struct fiber *f = &t->fibers[i];
        f->stack = mmap(0, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        f->done = false;
        f->released = true;
        getcontext(&f->context);
        f->context.uc_stack.ss_sp = f->stack;
        f->context.uc_stack.ss_size = STACK;
        makecontext(&f->context, run_lane, 0);
    }
    for (;;) {
        bool ran = false;
        for (int i = 0; i < LANES; i++)
            if (!t->fibers[i].done && t->fibers[i].released) ran = true, resume(i);
        int first = 1 << 30;
        for (int i = 0; i < LANES; i++)
            if (!t->fibers[i].done && !t->fibers[i].released && t->fibers[i].line < first) first = t->fibers[i].line;
        if (first == 1 << 30) { if (!ran) break; continue; }
        if (t->barrier_line) { t->barrier_line = 0; pass_on(t, true); }
        t->leader = -1;
        for (int i = 0; i < LANES; i++)
            if (!t->fibers[i].done && t->fibers[i].line == first) {
                t->fibers[i].released = true;
                if (t->leader < 0) t->leader = i;
            }
    }
    for (int i = 0; i < LANES; i++)
        if (t->fibers[i].stack) munmap(t->fibers[i].stack, STACK);
    t->done = true;
    pass_on(t, false);
    return 0;
}

static void take(FILE *file, void *to, size_t size) {
    if (size && fread(to, 1, size, file) != size) { fprintf(stderr, "short input\n"); _exit(3); }
}
static uint number(FILE *file) { uint v; take(file, &v, 4); return v; }

/* A launch: kernel, buffers (address, size, bytes), surfaces (number, buffer, offset), slm size, groups of threads. */
static int run_launch(const char *in, const char *out) {
    FILE *file = fopen(in, "rb");
    if (!file) return 3;
    kernel_entry = &entries[number(file)];
    int count = number(file);
    uchar **starts = calloc(count, sizeof *starts);
    ulong *sizes = calloc(count, sizeof *sizes);
    for (int i = 0; i < count; i++) {
        ulong address;
        take(file, &address, 8);
        take(file, &sizes[i], 8);
        if (address) {
            ulong page = address & ~4095ul, length = (address - page + sizes[i] + 4095) & ~4095ul;
            void *got = mmap((void *)page, length ? length : 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
            if (got != (void *)page && mprotect((void *)page, length, PROT_READ | PROT_WRITE)) { fprintf(stderr, "no memory at %lx\n", address); return 3; }
            starts[i] = (uchar *)address;
        } else
            starts[i] = calloc(sizes[i] + 64, 1);
        take(file, starts[i], sizes[i]);
    }
    n_surfaces = number(file);
    for (int i = 0; i < n_surfaces; i++) {
        surfaces[i].number = number(file);
        uint buffer = number(file);
        surfaces[i].start = starts[buffer];
    }
    n_symbols = number(file);
    for (uint i = 0; i < n_symbols; i++) take(file, symbols[i].name, 64), take(file, &symbols[i].value, 8);
    uint slm_size = number(file), groups = number(file);
    uchar *memory = calloc(slm_size + (1 << 16), 1);
    for (uint g = 0; g < groups; g++) {
        n_threads = number(file);
        threads = calloc(n_threads, sizeof *threads);
        memset(memory, 0, slm_size + (1 << 16));
        for (int i = 0; i < n_threads; i++) {
            struct thread *t = &threads[i];
            for (int n = 0; n < 3; n++) t->values[n] = number(file);
            for (int axis = 0; axis < 3; axis++) t->group_id[axis] = number(file);
            t->lanes = number(file);
            uint size = number(file);
            uchar *bytes = calloc(size + 65536, 1);
            take(file, bytes, size);
            t->payload = bytes;
            t->slm = memory;
        }
        turn = 0;
        for (int i = 0; i < n_threads; i++)
            if (pthread_create(&threads[i].handle, 0, run_thread, &threads[i])) { fprintf(stderr, "no thread\n"); return 3; }
        for (int i = 0; i < n_threads; i++) pthread_join(threads[i].handle, 0), free((void *)threads[i].payload);
        free(threads);
    }
    FILE *to = fopen(out, "wb");
    for (int i = 0; i < count; i++) fwrite(starts[i], 1, sizes[i], to);
    return fclose(to) ? 3 : 0;
}

int main(int argc, char **argv) {
    int seconds = atoi(argv[1]);
    for (int i = 2; i + 1 < argc; i += 2) {
        fflush(stdout);
        pid_t child = fork();
        if (!child) { alarm(seconds); _exit(run_launch(argv[i], argv[i + 1])); }
        int status;
        waitpid(child, &status, 0);
        if (status) printf("%d %s\n", (i - 2) / 2, WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "stopped");
    }
    return 0;
}
