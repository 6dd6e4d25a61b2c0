/* Runs the kernels of a file lane by lane: threads of a group one after another, lanes as coroutines that meet at sync points. */
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

enum { LANES = 32, STACK = 1 << 18, NAMES = 32 };

struct value { const char *name; int first, size; };
struct entry { const char *name; void (*call)(void); int simd; const struct value *values; int id_first, id_step, id_axes; uint group[3]; };
extern const struct entry entries[];

_Thread_local int lane;
_Thread_local const uchar *payload;
_Thread_local uchar *slm, *scratch;

struct surface { uint number; uchar *start; uint width, height, depth, channels, dims, pitch, layered, kind, format; };
static struct surface surfaces[4096];
static struct state { uint number, address, linear, normalized; } samplers[1024];
static int n_samplers;
static int n_surfaces;
static const struct entry *kernel_entry;

struct fiber { ucontext_t context; uchar *stack; bool done; int line, depth; bool released; };
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
    if (kernel_entry->group[0] && strstr(name, "local_size")) return kernel_entry->group[axis]; /* required, so not in the payload */
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
uint thread_lanes(void) { return self->lanes; }
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

/* ---- images: one level, texels in rows */

static const struct surface *image_of(const void *image) {
    for (int i = 0; i < n_surfaces; i++)
        if (surfaces[i].number == (uint)(ulong)image) return &surfaces[i];
    fprintf(stderr, "no image %p\n", image);
    _exit(3);
}
static const struct state *state_of(const void *sampler) {
    uint number = (ulong)sampler < 0x10000 ? (uint)(ulong)sampler : (uint)(ulong)sampler & ~15u;
    for (int i = 0; i < n_samplers; i++)
        if (samplers[i].number == number) return &samplers[i];
    fprintf(stderr, "no sampler %p\n", sampler);
    _exit(3);
}
uint image_width(const void *image) { return image_of(image)->width; }
uint image_height(const void *image) { return image_of(image)->height; }
uint image_depth(const void *image) { return image_of(image)->depth; }
uint image_array_size(const void *image) { return image_of(image)->depth; }
uint image_channel_order(const void *image) {
    static const uint orders[] = {0, 0x10b0, 0x10b2, 0x10b4, 0x10b5};
    return orders[image_of(image)->channels];
}
uint image_channel_data_type(const void *image) {
    const struct surface *s = image_of(image);
    uint sign = s->format >> 3, size = s->format & 7, step = size == 4 ? 2 : size - 1;
    if (s->kind == 0) return 0x10d0 + 2 * !sign + step;
    return s->kind == 2 ? 0x10dd + (size == 4) : 0x10d7 + 3 * !sign + step;
}
uint image_num_mip_levels(const void *image) { return 0; }
uint image_num_samples(const void *image) { return 0; }
uint image_srgb_channel_order(const void *image) { return 0; }
uint sampler_snap_wa(sampler_t s) { return state_of(s)->address == 2 && !state_of(s)->linear ? ~0u : 0; }
uint sampler_address(sampler_t s) { return 0x1130 + state_of(s)->address; }
uint sampler_normalized(sampler_t s) { return state_of(s)->normalized; }

static uchar *texel(const struct surface *s, long x, long y, long z) {
    bool inside = x >= 0 && x < s->width && y >= 0 && y < s->height && z >= 0 && z < s->depth;
    return inside ? s->start + (z * s->height + y) * s->pitch + x * s->channels * (s->format & 7) : 0;
}
static long channel_of(const struct surface *s, const uchar *at) {
    long v = 0;
    int bytes = s->format & 7;
    memcpy(&v, at, bytes);
    return s->format & 8 ? v << (64 - 8 * bytes) >> (64 - 8 * bytes) : v;
}
static double top_of(const struct surface *s) { return (double)((1ul << (8 * (s->format & 7) - (s->format >> 3))) - 1); }
/* The four channels of a texel; a missing colour is 0, a missing alpha 1, and all are 0 outside. */
static uint4 fetch(const struct surface *s, long x, long y, long z) {
    uint r[4] = {0, 0, 0, 0};
    const uchar *at = texel(s, x, y, z);
    for (int c = 0; at && c < 4; c++) {
        float v = 0;
        bool own = c < s->channels;
        long n = own ? channel_of(s, at + c * (s->format & 7)) : c == 3;
        if (s->kind == 1) { r[c] = (uint)n; continue; }
        if (!own) v = c == 3;
        else if (s->kind == 0) v = (float)(n / top_of(s) < -1 ? -1 : n / top_of(s));
        else v = (s->format & 7) == 2 ? (float)as_half((ushort)n) : as_float((uint)n);
        r[c] = as_uint(v);
    }
    return (uint4){r[0], r[1], r[2], r[3]};
}
static void put(const struct surface *s, long x, long y, long z, uint4 bits) {
    uint v[4] = {bits.x, bits.y, bits.z, bits.w};
    uchar *at = texel(s, x, y, z);
    int bytes = s->format & 7;
    for (int c = 0; at && c < s->channels; c++) {
        long n;
        float f = as_float(v[c]);
        if (s->kind == 1) {
            long high = (1l << (8 * bytes - (s->format >> 3))) - 1, low = s->format & 8 ? -high - 1 : 0;
            n = s->format & 8 ? (long)(int)v[c] : (long)v[c];
            n = n < low ? low : n > high ? high : n;
        } else if (s->kind == 0) {
            double d = f != f ? 0 : f, low = s->format & 8 ? -1 : 0;
            n = (long)(rint)((d < low ? low : d > 1 ? 1 : d) * top_of(s));
        } else
            n = bytes == 2 ? as_ushort((half)f) : as_uint(f);
        memcpy(at + c * bytes, &n, bytes);
    }
}
static void axes_of(const struct surface *s, const long c[3], long p[3]) {
    bool row = s->dims == 2 && s->layered && s->height == 1;
    p[0] = c[0];
    p[1] = s->dims == 1 || row ? 0 : c[1];
    p[2] = row ? c[1] : s->dims > 2 ? c[2] : 0;
}
static long wrap_texel(long i, long size, uint address) {
    if (address == 3) return (i % size + size) % size;
    if (address == 2) return i < 0 || i >= size ? -1 : i;
    return i < 0 ? 0 : i >= size ? size - 1 : i;
}
static int taps_of(double c, long size, const struct state *state, long at[2], double weight[2]) {
    c = c != c ? 0 : c > 0x1p40 ? 0x1p40 : c < -0x1p40 ? -0x1p40 : c;
    if (state->normalized) c = (state->address == 3 ? c - (floor)(c) : state->address == 4 ? (fabs)(c - 2 * (rint)(0.5 * c)) : c) * size;
    double low = (floor)(state->linear ? c - 0.5 : c), w = state->linear ? c - 0.5 - low : 0;
    at[0] = wrap_texel((long)low, size, state->address), weight[0] = 1 - w;
    at[1] = wrap_texel((long)low + 1, size, state->address), weight[1] = w;
    return state->linear ? 2 : 1;
}
static uint4 filter(const struct surface *s, const struct state *state, const double c[3]) {
    bool row = s->dims == 2 && s->layered && s->height == 1;
    double given[3] = {c[0], row ? 0 : c[1], row ? c[1] : c[2]}, sum[4] = {0};
    uint size[3] = {s->width, s->height, s->depth};
    long at[3][2] = {{0}};
    double weight[3][2] = {{1, 0}, {1, 0}, {1, 0}};
    int count[3] = {1, 1, 1};
    for (int a = 0; a < 3; a++) {
        if (a && !(a == 1 ? s->dims >= 2 && !row : s->dims > 2 || row)) continue;
        if (a == 2 && s->layered)
            at[2][0] = wrap_texel((long)(rint)(given[2] != given[2] ? 0 : given[2]), size[2], 1);
        else
            count[a] = taps_of(given[a], size[a], state, at[a], weight[a]);
    }
    if (!state->linear) return fetch(s, at[0][0], at[1][0], at[2][0]);
    for (int i = 0; i < count[0]; i++)
        for (int j = 0; j < count[1]; j++)
            for (int k = 0; k < count[2]; k++) {
                uint4 t = fetch(s, at[0][i], at[1][j], at[2][k]);
                double w = weight[0][i] * weight[1][j] * weight[2][k];
                uint bits[4] = {t.x, t.y, t.z, t.w};
                for (int n = 0; n < 4; n++) sum[n] += w * (s->kind == 1 ? (double)bits[n] : (double)as_float(bits[n]));
            }
    return (uint4){as_uint((float)sum[0]), as_uint((float)sum[1]), as_uint((float)sum[2]), as_uint((float)sum[3])};
}
static int n_axes(const struct surface *s) { return s->dims > 3 ? 3 : s->dims; }
#define WHOLE(given, last) \
    long c_[3] = {0}, p_[3]; \
    va_list list; \
    va_start(list, last); \
    for (int i = 0; i < n_axes(s); i++) c_[i] = va_arg(list, int); \
    axes_of(s, c_, p_);
#define TEXEL(T) \
    T##4 read_texel_##T(const void *image, ...) { \
        const struct surface *s = image_of(image); \
        WHOLE(s, image) \
        return as_##T##4(fetch(s, p_[0], p_[1], p_[2])); \
    } \
    void write_texel_##T(void *image, ...) { \
        const struct surface *s = image_of(image); \
        WHOLE(s, image) \
        put(s, p_[0], p_[1], p_[2], as_uint4(va_arg(list, T##4))); \
    }
TEXEL(float) TEXEL(int) TEXEL(uint)
#define SAMPLE_AS(name, T, iu, iv, ir) \
    T##4 name##_##T(const void *image, ...) { \
        const struct surface *s = image_of(image); \
        va_list list; \
        va_start(list, image); \
        const struct state *state = state_of(va_arg(list, void *)); \
        const int places[3] = {iu, iv, ir}; \
        double c[3] = {0}; \
        for (int i = 0; i <= places[n_axes(s) - 1]; i++) { \
            double v = va_arg(list, double); \
            for (int a = 0; a < 3; a++) if (places[a] == i) c[a] = v; \
        } \
        return as_##T##4(filter(s, state, c)); \
    }
#define LOAD_AS(name, T, iu, iv, ir) \
    T##4 name##_##T(const void *image, ...) { \
        const struct surface *s = image_of(image); \
        va_list list; \
        va_start(list, image); \
        const int places[3] = {iu, iv, ir}; \
        long c[3] = {0}, p[3]; \
        for (int i = 0; i <= places[n_axes(s) - 1]; i++) { \
            int v = va_arg(list, int); \
            for (int a = 0; a < 3; a++) if (places[a] == i) c[a] = v; \
        } \
        axes_of(s, c, p); \
        return as_##T##4(fetch(s, p[0], p[1], p[2])); \
    }
#define SAMPLE(name, iu, iv, ir) SAMPLE_AS(name, float, iu, iv, ir) SAMPLE_AS(name, int, iu, iv, ir) SAMPLE_AS(name, uint, iu, iv, ir)
#define LOAD(name, iu, iv, ir) LOAD_AS(name, float, iu, iv, ir) LOAD_AS(name, int, iu, iv, ir) LOAD_AS(name, uint, iu, iv, ir)
uint4 resinfo_uint(const void *image, ...) {
    const struct surface *s = image_of(image);
    va_list list;
    va_start(list, image);
    if (va_arg(list, int)) return (uint4){0, 0, 0, 1};
    if (s->dims == 1) return (uint4){s->width, 0, 0, 1};
    if (s->dims == 2 && s->layered && s->height == 1) return (uint4){s->width, s->depth, 0, 1};
    return (uint4){s->width, s->height, s->dims > 2 ? s->depth : 0, 1};
}
int4 resinfo_int(const void *image, ...) {
    va_list list;
    va_start(list, image);
    return as_int4(resinfo_uint(image, va_arg(list, int)));
}

/* Bytes of rows of an image; rows lie at least four bytes apart in registers, a power of two. */
static void move_block(uchar *registers, const struct surface *s, int x, int y, int width, int height, bool write, bool clamped) {
    int pitch = 4;
    while (pitch < width) pitch *= 2;
    long line = (long)s->width * s->channels * (s->format & 7);
    for (int row = 0; row < height; row++)
        for (int at = 0; at < width; at++) {
            long px = (long)x + at, py = (long)y + row;
            if (clamped) px = px < 0 ? px & 3 : px >= line ? line - 4 + (px & 3) : px, py = py < 0 ? 0 : py >= s->height ? s->height - 1 : py;
            bool inside = px >= 0 && px < line && py >= 0 && py < s->height;
            uchar *own = registers + row * pitch + at, *there = s->start + py * s->pitch + px;
            if (!write) *own = inside ? *there : 0;
            else if (inside) *there = *own;
        }
}
void read_block_2d(void *to, const void *image, int x, int y, int width, int height, int size) {
    move_block(to, image_of(image), x, y, width * size, height, false, false);
}
void read_block_2d_clamped(void *to, const void *image, int x, int y, int width, int height, int size) {
    move_block(to, image_of(image), x, y, width * size, height, false, true);
}
void write_block_2d(void *image, int x, int y, int width, int height, int size, const void *from) {
    move_block((void *)from, image_of(image), x, y, width * size, height, true, false);
}

/* Lanes in functions meet before those in their callers do. */
enum { DEPTH = 1 << 20 };
void function_begins(void) { self->fibers[lane].depth++; }
void function_ends(void) { self->fibers[lane].depth--; }
static void wait_at(int line) {
    struct fiber *f = &self->fibers[lane];
    int own = lane;
    f->line = line - DEPTH * f->depth;
    f->released = false;
    swapcontext(&f->context, &self->home);
    lane = own;
}
void sync_lanes_at(int line) { wait_at(line); }
int lane_count(void) { return kernel_entry->simd; }
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
        take(file, &surfaces[i].width, 9 * 4);
    }
    n_samplers = number(file);
    take(file, samplers, n_samplers * sizeof *samplers);
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
