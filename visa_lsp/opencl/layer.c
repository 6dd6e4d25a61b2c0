/* The OpenCL layer of `visa-lsp exec`: diverts programs, kernels and their memory to the simulator.
 *
 * The loader calls it before the host's OpenCL (OPENCL_LAYERS). The host supplies contexts, queues, events, samplers and
 * copies; programs and kernels are objects of this file, which the host never gets, so that no kernel can run on it.
 * A launch is a native kernel in the host's queue that sends a request to the server and waits for the answer.
 * Buffers and images lie in an arena, shared memory that the server maps too. Memory without initial contents is filled
 * with a pattern (UNDEFINED_WORDS) by which the server recognises bytes that nothing has written, whoever copied them.
 *
 * Invariants: a request has one answer, in order; after the first failure of the connection every diverted call
 * returns an error. The functions at the end say for each function of OpenCL who does it: DIVERT, REFUSE or HOST.
 */
#define _GNU_SOURCE
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include <CL/cl_ext.h>
#include <CL/cl_half.h>
#include <CL/cl_layer.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define PROGRAM_MAGIC 0x7669736150524f47u
#define KERNEL_MAGIC 0x766973614b45524eu
#define UNDEFINED_WORDS 0xffa5c3d7fb96e187u /* two words that are NaN as floats and no likely integers */
/* Larger memory is not filled, nor more in all, because that takes its pages. */
#define MAX_FILLED_BYTES ((size_t)256 << 20)
#define MAX_ALL_FILLED_BYTES ((size_t)1 << 30)
#define PAGE ((size_t)4096)
#define MAX_ARGUMENTS 256

static cl_int enter(cl_command_queue q, const char *call);
static cl_int refuse(const char *call, cl_int error, const char *format, ...);
static cl_icd_dispatch layer;        /* ours */
static const cl_icd_dispatch *host;  /* the host's, through the loader */
/* Once the program knows it, the host's device: pocl's with threads, and another without, for forked children, in which the
   threads of the first are missing, so that any wait for it would be forever. */
static cl_device_id host_device, spare_device;
static int is_forked; /* since then */

/* ---- the connection */

typedef struct {
  char *data;
  size_t size, room, at;
  int is_bad;
} Message;

static pthread_mutex_t connection_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t object_lock = PTHREAD_MUTEX_INITIALIZER;
static int connection = -1, is_dead;
static uint64_t servers; /* other servers before this one: a forked process may get its own, which does not know earlier programs */
static char *arena;
static size_t arena_size, arena_used;

/* Shared virtual memory and unified shared memory: places of the arena, at equal addresses for the server. */
typedef struct Shared {
  char *place;
  size_t size;
  uint64_t number; /* of the allocation, as reports name it */
  cl_uint type; /* CL_MEM_TYPE_HOST_INTEL and its likes; 0 for shared virtual memory */
  cl_device_id device;
  struct Shared *next;
} Shared;
static uint64_t allocations;
static Shared *shared, *freed; /* freed ones keep their pages while commands are pending that may have been enqueued before */
static int pending;

/* What orders commands, for the server, which compares launches and copies that nothing orders. It is recorded once there are two
   queues, or one that is out of order, and sent before a launch and after a call that waits. */
static Message order;
static pthread_mutex_t order_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t commands; /* of the record; their numbers */
static int queue_count;

static void put(Message *m, const void *data, size_t size) {
  if (m->size + size > m->room) {
    m->room = 2 * (m->size + size) + 256;
    m->data = realloc(m->data, m->room);
    if (!m->data) abort();
  }
  if (size) memcpy(m->data + m->size, data, size);
  m->size += size;
}

static void put_number(Message *m, uint64_t value) { put(m, &value, sizeof value); }
static void put_bytes(Message *m, const void *data, size_t size) { put_number(m, size); put(m, data, size); }
static void put_text(Message *m, const char *text) { put_bytes(m, text, text ? strlen(text) : 0); }

static uint64_t take_number(Message *m) {
  uint64_t value = 0;
  if (m->is_bad || m->size - m->at < sizeof value) m->is_bad = 1;
  else memcpy(&value, m->data + m->at, sizeof value), m->at += sizeof value;
  return value;
}

/* Return a copy of the next bytes with a zero after them. */
static char *take_bytes(Message *m, size_t *size) {
  uint64_t count = take_number(m);
  if (m->is_bad || m->size - m->at < count) m->is_bad = 1, count = 0;
  char *copy = malloc(count + 1);
  if (!copy) abort();
  if (count) memcpy(copy, m->data + m->at, count);
  copy[count] = 0;
  m->at += count;
  if (size) *size = count;
  return copy;
}

static int send_all(const void *data, size_t size) {
  for (const char *at = data; size;) {
    ssize_t count = send(connection, at, size, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return -1;
    at += count, size -= (size_t)count;
  }
  return 0;
}

static int receive_all(void *data, size_t size) {
  for (char *at = data; size;) {
    ssize_t count = recv(connection, at, size, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return -1;
    at += count, size -= (size_t)count;
  }
  return 0;
}

static void lose_connection(const char *why) {
  if (!is_dead) fprintf(stderr, "visa-lsp exec: %s; no further kernel runs\n", why);
  is_dead = 1;
  if (connection >= 0) close(connection);
  connection = -1;
}

/* Start a server for a program that was not started by `visa-lsp exec`, but with its environment. */
static int start_server(const char *command) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) return -1;
  char number[16];
  snprintf(number, sizeof number, "%d", ends[1]);
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    setsid();
    unsetenv("OPENCL_LAYERS");
    setenv("VISA_LSP_EXEC_DESCRIPTOR", number, 1);
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(127);
  }
  close(ends[1]);
  fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  return child < 0 ? -1 : ends[0];
}

static int open_socket(void) {
  const char *path = getenv("VISA_LSP_EXEC_SOCKET"), *command = getenv("VISA_LSP_EXEC_SERVER");
  if (!path || !*path) return command && *command ? start_server(command) : -1;
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof name.sun_path) return -1;
  strcpy(name.sun_path, path);
  int end = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (end >= 0 && connect(end, (struct sockaddr *)&name, sizeof name)) close(end), end = -1;
  return end;
}

/* Map shared memory without a name, as much as the system lets us reserve, and return its descriptor. */
static int map_arena(void) {
  int file = memfd_create("visa-lsp-exec", MFD_CLOEXEC);
  for (arena_size = (size_t)1 << 40; file >= 0 && arena_size >= (size_t)1 << 28; arena_size >>= 1) {
    if (ftruncate(file, (off_t)arena_size)) continue;
    arena = mmap(NULL, arena_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
    if (arena != MAP_FAILED) return file;
  }
  arena = NULL;
  return -1;
}

/* Send the descriptor of the arena with one byte, as the first message. */
static int send_arena(int file) {
  char byte = 'A', control[CMSG_SPACE(sizeof file)] = {0};
  struct iovec part = {&byte, 1};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET, header->cmsg_type = SCM_RIGHTS, header->cmsg_len = CMSG_LEN(sizeof file);
  memcpy(CMSG_DATA(header), &file, sizeof file);
  return sendmsg(connection, &message, MSG_NOSIGNAL) == 1 ? 0 : -1;
}

static int exchange(char operation, Message *request, Message *answer) {
  uint64_t head[2] = {(unsigned char)operation, request->size}, size = 0;
  memset(answer, 0, sizeof *answer);
  int failed = connection < 0 || send_all(head, sizeof head) || send_all(request->data, request->size) ||
               receive_all(&size, sizeof size) || size > (uint64_t)1 << 40;
  if (!failed) {
    answer->data = malloc(size + 1), answer->size = size;
    failed = !answer->data || receive_all(answer->data, size);
  }
  free(request->data);
  memset(request, 0, sizeof *request);
  if (failed) {
    free(answer->data);
    memset(answer, 0, sizeof *answer);
    answer->is_bad = 1;
    lose_connection("the simulator's process has ended");
  }
  return failed;
}

typedef struct {
  uint64_t name;
  char *value;
  size_t size;
} Fact;
typedef struct {
  Fact *facts;
  size_t count;
} Facts; /* what the server says about a device, a kernel or an argument, by the number of the query */

static Facts platform_facts, device_facts;
static uint64_t max_group_items = 256, follows_undefined;

static Facts take_facts(Message *m) {
  Facts all = {NULL, take_number(m)};
  if (m->is_bad || all.count > m->size) return (Facts){NULL, 0};
  all.facts = calloc(all.count + 1, sizeof *all.facts);
  for (size_t i = 0; i < all.count; i++) {
    all.facts[i].name = take_number(m);
    all.facts[i].value = take_bytes(m, &all.facts[i].size);
  }
  return all;
}

static void free_facts(Facts *all) { for (size_t i = 0; i < all->count; i++) free(all->facts[i].value); free(all->facts); }

static int is_in_arena(const char *place) { return arena && place >= arena && place < arena + arena_size; }

/* Forget, in a forked child, what belongs to the parent: the connection, the arena and the shared memory in it. */
static void forget_parent(void) {
  if (connection >= 0) close(connection);
  connection = -1, is_dead = 0, arena = NULL, arena_used = 0, shared = freed = NULL, pending = 0;
  is_forked = host_device != NULL, servers += !getenv("VISA_LSP_EXEC_SOCKET");
  pthread_mutex_init(&connection_lock, NULL), pthread_mutex_init(&object_lock, NULL), pthread_mutex_init(&order_lock, NULL);
  free(order.data), memset(&order, 0, sizeof order), commands = 0;
}

static cl_device_id own_device(cl_device_id d) { return is_forked && d == host_device ? spare_device : d; }

/* Connect at the first call. Return 0, or -1 if there is no server. Needs connection_lock. */
static int connect_server(void) {
  static int handlers;
  if (connection >= 0) return 0;
  if (is_dead) return -1;
  if (!handlers++) pthread_atfork(NULL, NULL, forget_parent);
  connection = open_socket();
  int file = connection < 0 ? -1 : map_arena();
  Message hello = {0}, answer = {0};
  if (file < 0 || send_arena(file)) {
    lose_connection(connection < 0 ? "cannot connect to the simulator's process" : "cannot map shared memory");
  } else {
    put_number(&hello, (uintptr_t)arena);
    put_number(&hello, arena_size);
    put_number(&hello, UNDEFINED_WORDS);
    if (!exchange('H', &hello, &answer)) {
      max_group_items = take_number(&answer), follows_undefined = take_number(&answer);
      platform_facts = take_facts(&answer);
      device_facts = take_facts(&answer);
    }
  }
  if (file >= 0) close(file);
  free(answer.data);
  return is_dead ? -1 : 0;
}

static int is_connected(void) {
  pthread_mutex_lock(&connection_lock);
  int failed = connect_server();
  pthread_mutex_unlock(&connection_lock);
  return !failed;
}

/* Send the record of what orders commands. Needs connection_lock. */
static void send_order(void) {
  pthread_mutex_lock(&order_lock);
  Message record = order, answer;
  memset(&order, 0, sizeof order);
  pthread_mutex_unlock(&order_lock);
  if (record.size) exchange('O', &record, &answer), free(answer.data);
}

/* Send it if no launch is running, whose end nobody should wait for here. */
static void try_send_order(void) {
  if (pthread_mutex_trylock(&connection_lock)) return;
  send_order();
  pthread_mutex_unlock(&connection_lock);
}

static int ask(char operation, Message *request, Message *answer) {
  pthread_mutex_lock(&connection_lock);
  int failed = connect_server();
  if (!failed && operation == 'L') send_order();
  if (failed) free(request->data), memset(answer, 0, sizeof *answer), answer->is_bad = 1;
  else failed = exchange(operation, request, answer);
  pthread_mutex_unlock(&connection_lock);
  return failed;
}

static cl_int report_refusal(const char *call, cl_int error, int is_announced, const char *words) {
  Message request = {0}, answer;
  put_text(&request, call);
  put_number(&request, (uint64_t)(int64_t)error);
  put_number(&request, (uint64_t)is_announced);
  put_text(&request, words);
  if (ask('R', &request, &answer)) fprintf(stderr, "visa-lsp exec: %s is refused: %s\n", call, words);
  free(answer.data);
  return error;
}

/* Report a call that does nothing, and return its error. */
__attribute__((format(printf, 3, 4))) static cl_int refuse(const char *call, cl_int error, const char *format, ...) {
  char words[1024];
  va_list values;
  va_start(values, format);
  vsnprintf(words, sizeof words, format, values);
  va_end(values);
  return report_refusal(call, error, 0, words);
}

static void *refuse_object(const char *call, cl_int *error, cl_int number, const char *why) {
  refuse(call, number, "%s", why);
  if (error) *error = number;
  return NULL;
}

/* The same for something that the device, when it is queried, says that it has not: every driver of such a device returns
   this error, and the program may have another way. */
static cl_int decline(const char *call, cl_int error, const char *why) { return report_refusal(call, error, 1, why); }

static void *decline_object(const char *call, cl_int *error, cl_int number, const char *why) {
  decline(call, number, why);
  if (error) *error = number;
  return NULL;
}

/* ---- answers to queries */

static cl_int give(const void *value, size_t size, size_t room, void *out, size_t *written) {
  if (out && room < size) return CL_INVALID_VALUE;
  if (out && size) memcpy(out, value, size);
  if (written) *written = size;
  return CL_SUCCESS;
}

#define GIVE(type, expression)                                                                                         \
  do {                                                                                                                 \
    type given_value = (type)(expression);                                                                             \
    return give(&given_value, sizeof given_value, room, out, written);                                                 \
  } while (0)

static int find_fact(const Facts *all, uint64_t name, size_t room, void *out, size_t *written, cl_int *result) {
  for (size_t i = 0; i < all->count; i++)
    if (all->facts[i].name == name) {
      *result = give(all->facts[i].value, all->facts[i].size, room, out, written);
      return 1;
    }
  return 0;
}

/* Return a number of 8 bytes; 0 if it is not there. */
static uint64_t find_number(const Facts *all, uint64_t name) {
  uint64_t number = 0;
  cl_int result;
  find_fact(all, name, sizeof number, &number, NULL, &result);
  return number;
}

static cl_int CL_API_CALL get_platform_info(cl_platform_id p, cl_platform_info name, size_t room, void *out, size_t *written) {
  cl_int result;
  if (is_connected() && find_fact(&platform_facts, name, room, out, written, &result)) return result;
  return host->clGetPlatformInfo(p, name, room, out, written);
}

static cl_int find_host_devices(cl_platform_id p) {
  char text[256] = "";
  cl_device_id all[16];
  cl_uint count = 0;
  host->clGetPlatformInfo(p, CL_PLATFORM_VERSION, sizeof text, text, NULL);
  const char *own = strstr(text, "PoCL ");
  if (own) setenv("POCL_DEVICES", atoi(own + 5) >= 4 ? "cpu cpu-minimal" : "pthread basic", 1);
  cl_int result = host->clGetDeviceIDs(p, CL_DEVICE_TYPE_ALL, 16, all, &count);
  for (cl_uint i = 0; !result && i < count && i < 16; i++) {
    int is_spare = own && !host->clGetDeviceInfo(all[i], CL_DEVICE_NAME, sizeof text, text, NULL) && (!strncmp(text, "basic", 5) || !strncmp(text, "cpu-minimal", 11));
    if (is_spare) spare_device = all[i];
    else if (!host_device) host_device = all[i];
  }
  if (!host_device) host_device = spare_device;
  return result;
}

static cl_int CL_API_CALL get_devices(cl_platform_id p, cl_device_type type, cl_uint count, cl_device_id *out, cl_uint *found) {
  if ((out && !count) || (!out && !found)) return CL_INVALID_VALUE;
  if (type != CL_DEVICE_TYPE_ALL && !(type & (CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_DEFAULT)))
    return type & (CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_ACCELERATOR | CL_DEVICE_TYPE_CUSTOM) ? CL_DEVICE_NOT_FOUND : CL_INVALID_DEVICE_TYPE;
  if (!is_connected()) return CL_DEVICE_NOT_FOUND;
  cl_int result = host_device ? CL_SUCCESS : find_host_devices(p);
  if (result) return result;
  if (is_forked && !spare_device) return refuse("clGetDeviceIDs", CL_DEVICE_NOT_FOUND, "the process has forked after its first call of OpenCL, and its host has threads");
  if (out) *out = own_device(host_device);
  if (found) *found = 1;
  return CL_SUCCESS;
}

static cl_int CL_API_CALL get_device_info(cl_device_id d, cl_device_info name, size_t room, void *out, size_t *written) {
  cl_int result;
  int is_ours = d && (d == host_device || d == spare_device);
  if (is_ours && is_connected() && find_fact(&device_facts, name, room, out, written, &result)) return result;
  return host->clGetDeviceInfo(d, name, room, out, written);
}

static cl_context CL_API_CALL create_context(const cl_context_properties *properties, cl_uint n, const cl_device_id *d,
                                             void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *data, cl_int *error) {
  cl_device_id own = n == 1 && d ? own_device(*d) : NULL;
  return host->clCreateContext(properties, n, own ? &own : d, notify, data, error);
}

static cl_context CL_API_CALL create_context_from_type(const cl_context_properties *properties, cl_device_type type,
                                                       void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *data, cl_int *error) {
  cl_platform_id platform = NULL;
  cl_device_id device;
  for (const cl_context_properties *p = properties; p && *p; p += 2)
    if (*p == CL_CONTEXT_PLATFORM) platform = (cl_platform_id)p[1];
  cl_int result = platform ? CL_SUCCESS : host->clGetPlatformIDs(1, &platform, NULL);
  if (!result) result = get_devices(platform, type, 1, &device, NULL);
  if (!result) return host->clCreateContext(properties, 1, &device, notify, data, error);
  if (error) *error = result;
  return NULL;
}

static cl_int CL_API_CALL create_sub_devices(cl_device_id d, const cl_device_partition_property *p, cl_uint n, cl_device_id *out, cl_uint *found) {
  (void)d, (void)p, (void)n, (void)out, (void)found;
  return decline("clCreateSubDevices", CL_DEVICE_PARTITION_FAILED, "the simulated device has no parts");
}

/* ---- memory */

typedef struct Memory {
  cl_mem object; /* NULL once released */
  struct Memory *next, *whole; /* of a part, the buffer around it */
  uint64_t number; /* of the allocation, as reports name it */
  char *place;                 /* in the arena */
  char *users;                 /* CL_MEM_USE_HOST_PTR: the program's own memory, copied around each launch, or a place of shared memory */
  size_t size, origin;
  size_t row, rows, slices, row_step, slice_step; /* of the program's own memory; `place` has no padding */
  cl_mem_flags flags;
  cl_image_format format;
  cl_image_desc shape; /* image_type 0 for buffers */
} Memory;

#define BUCKETS 1024
static Memory *memories[BUCKETS];

static size_t bucket_of(const void *object) { return ((uintptr_t)object >> 5) % BUCKETS; }

static Memory *find_memory(cl_mem object) {
  pthread_mutex_lock(&object_lock);
  Memory *m = object ? memories[bucket_of(object)] : NULL;
  while (m && m->object != object) m = m->next;
  pthread_mutex_unlock(&object_lock);
  return m;
}

static void CL_CALLBACK forget_memory(cl_mem object, void *data) {
  Memory *m = data; /* kept, because arguments of kernels may refer to it */
  pthread_mutex_lock(&object_lock);
  m->object = NULL;
  Memory **at = &memories[bucket_of(object)];
  while (*at && *at != m) at = &(*at)->next;
  if (*at) *at = m->next;
  if (!m->whole && m->users != m->place && is_in_arena(m->place)) madvise(m->place, (m->size + PAGE - 1) & ~(PAGE - 1), MADV_REMOVE);
  pthread_mutex_unlock(&object_lock);
}

static Memory *remember_memory(cl_mem object, char *place, size_t size, cl_mem_flags flags) {
  Memory *m = calloc(1, sizeof *m);
  if (!m) abort();
  m->object = object, m->place = place, m->size = size, m->flags = flags;
  m->row = m->row_step = m->slice_step = size, m->rows = m->slices = 1;
  pthread_mutex_lock(&object_lock);
  Memory **bucket = &memories[bucket_of(object)];
  m->number = ++allocations, m->next = *bucket, *bucket = m;
  pthread_mutex_unlock(&object_lock);
  host->clSetMemObjectDestructorCallback(object, forget_memory, m);
  return m;
}

/* Return memory of the arena. Places are not used again, so that a pointer to freed memory hits nothing else. */
static char *take_arena(size_t size) {
  if (!is_connected() || size > arena_size) return NULL;
  size_t step = (size + 2 * PAGE - 1) & ~(PAGE - 1);
  pthread_mutex_lock(&object_lock);
  char *place = arena && arena_used + step <= arena_size ? arena + arena_used : NULL;
  if (place) arena_used += step;
  pthread_mutex_unlock(&object_lock);
  return place;
}

static void fill_undefined(char *place, size_t size) {
  const uint64_t words = UNDEFINED_WORDS;
  static size_t filled; /* also released memory */
  if (!follows_undefined || size > MAX_FILLED_BYTES || __atomic_add_fetch(&filled, size, __ATOMIC_RELAXED) > MAX_ALL_FILLED_BYTES) return;
  for (size_t i = 0; i + 8 <= size; i += 8) memcpy(place + i, &words, 8);
  memcpy(place + (size & ~(size_t)7), &words, size & 7);
}

/* Return whether bytes lie in an allocation of shared memory. */
static int find_shared(const char *place, size_t size) {
  pthread_mutex_lock(&object_lock);
  const Shared *s = shared;
  while (s && !(place >= s->place && place < s->place + s->size && size <= (size_t)(s->place + s->size - place))) s = s->next;
  pthread_mutex_unlock(&object_lock);
  return s != NULL;
}

static const cl_mem_flags host_bits = CL_MEM_COPY_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_USE_HOST_PTR;

static cl_int check_host_pointer(cl_mem_flags flags, const void *pointer) {
  return !pointer == !(flags & (CL_MEM_COPY_HOST_PTR | CL_MEM_USE_HOST_PTR)) ? CL_SUCCESS : CL_INVALID_HOST_PTR;
}

static cl_mem fail_memory(cl_int *error, cl_int number) { if (error) *error = number; return NULL; }

static cl_mem CL_API_CALL create_buffer_with_properties(cl_context c, const cl_mem_properties *properties, cl_mem_flags flags, size_t size, void *pointer, cl_int *error) {
  cl_int ignored, *told = error ? error : &ignored;
  int is_users = (flags & CL_MEM_USE_HOST_PTR) != 0;
  if (check_host_pointer(flags, pointer)) return fail_memory(error, CL_INVALID_HOST_PTR);
  int is_shared_memory = is_users && find_shared(pointer, size);
  char *place = is_shared_memory ? pointer : size ? take_arena(size) : NULL;
  if (size && !place) return fail_memory(error, is_dead ? CL_OUT_OF_RESOURCES : size > arena_size ? CL_INVALID_BUFFER_SIZE : CL_MEM_OBJECT_ALLOCATION_FAILURE);
  if (!is_users && size) {
    if (pointer) memcpy(place, pointer, size);
    else fill_undefined(place, size);
  }
  cl_mem_flags theirs = (flags & ~host_bits) | CL_MEM_USE_HOST_PTR;
  void *memory = is_users ? pointer : place;
  if (!size || (is_users && (flags & host_bits) != CL_MEM_USE_HOST_PTR)) theirs = flags, memory = pointer; /* an error */
  cl_mem object = properties && host->clCreateBufferWithProperties
                      ? host->clCreateBufferWithProperties(c, properties, theirs, size, memory, told)
                      : host->clCreateBuffer(c, theirs, size, memory, told);
  if (object) remember_memory(object, place, size, flags)->users = is_users ? pointer : NULL;
  return object;
}

static cl_mem CL_API_CALL create_buffer(cl_context c, cl_mem_flags flags, size_t size, void *pointer, cl_int *error) {
  return create_buffer_with_properties(c, NULL, flags, size, pointer, error);
}

static cl_mem CL_API_CALL create_sub_buffer(cl_mem parent, cl_mem_flags flags, cl_buffer_create_type type, const void *info, cl_int *error) {
  cl_int ignored, *told = error ? error : &ignored;
  Memory *whole = find_memory(parent);
  cl_mem object = host->clCreateSubBuffer(parent, flags, type, info, told);
  const cl_buffer_region *region = info;
  if (!object && *told == CL_MISALIGNED_SUB_BUFFER_OFFSET)
    refuse("clCreateSubBuffer", *told, "a part of a buffer of %zu bytes begins at byte %zu, which is no multiple of the device's alignment",
           whole ? whole->size : 0, region->origin);
  if (object && whole) {
    cl_mem_flags access = CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY;
    if (!(flags & access)) flags |= whole->flags & access;
    access = CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS;
    if (!(flags & access)) flags |= whole->flags & access;
    Memory *m = remember_memory(object, whole->place + region->origin, region->size, flags | (whole->flags & host_bits));
    m->whole = whole, m->origin = region->origin;
    m->users = whole->users ? whole->users + region->origin : NULL;
  }
  return object;
}

static cl_int CL_API_CALL release_memory(cl_mem object) {
  if (find_memory(object)) return host->clReleaseMemObject(object);
  return refuse("clReleaseMemObject", CL_INVALID_MEM_OBJECT, "its argument is no buffer or image, or one that the program has released before");
}

static cl_int CL_API_CALL get_memory_info(cl_mem object, cl_mem_info name, size_t room, void *out, size_t *written) {
  Memory *m = find_memory(object);
  if (m && name == CL_MEM_FLAGS) GIVE(cl_mem_flags, m->flags);
  if (m && name == CL_MEM_HOST_PTR) GIVE(void *, m->users);
  if (m && name == CL_MEM_USES_SVM_POINTER) GIVE(cl_bool, m->users && is_in_arena(m->users));
  return host->clGetMemObjectInfo(object, name, room, out, written);
}

static size_t texel_bytes(const cl_image_format *f) {
  size_t channels = f->image_channel_order == CL_R ? 1 : f->image_channel_order == CL_RG ? 2 : f->image_channel_order == CL_RGBA ? 4 : 0;
  if (f->image_channel_order == CL_BGRA) return f->image_channel_data_type == CL_UNORM_INT8 ? 4 : 0;
  switch (f->image_channel_data_type) {
  case CL_SNORM_INT8: case CL_UNORM_INT8: case CL_SIGNED_INT8: case CL_UNSIGNED_INT8: return channels;
  case CL_SNORM_INT16: case CL_UNORM_INT16: case CL_SIGNED_INT16: case CL_UNSIGNED_INT16: case CL_HALF_FLOAT: return 2 * channels;
  case CL_SIGNED_INT32: case CL_UNSIGNED_INT32: case CL_FLOAT: return 4 * channels;
  default: return 0;
  }
}

/* Return the format of the host's object for an image: another one with texels of as many bytes for RG and BGRA, which not every
   host has. The host copies texels, and converts only colors of fills (alias_color). */
static cl_image_format host_format(const cl_image_format *f) {
  if (f->image_channel_order == CL_BGRA) return (cl_image_format){CL_RGBA, CL_UNSIGNED_INT8};
  if (f->image_channel_order != CL_RG) return *f;
  switch (texel_bytes(f)) {
  case 2: return (cl_image_format){CL_R, CL_UNSIGNED_INT16};
  case 4: return (cl_image_format){CL_R, CL_UNSIGNED_INT32};
  default: return (cl_image_format){CL_RGBA, CL_UNSIGNED_INT16};
  }
}

static long round_to(float value, float scale, float lowest) {
  value = value != value ? 0 : value < lowest ? lowest : value > 1 ? 1 : value;
  return lrintf(value * scale);
}

/* Write a channel of a color of a fill in a format, and return its bytes. */
static size_t put_channel(char *out, cl_channel_type type, const void *color, int channel) {
  float real = ((const float *)color)[channel];
  uint32_t bits = ((const uint32_t *)color)[channel];
  cl_half half;
  size_t size = 4;
  switch (type) {
  case CL_UNORM_INT8: bits = (uint32_t)round_to(real, 255, 0), size = 1; break;
  case CL_SNORM_INT8: bits = (uint32_t)round_to(real, 127, -1), size = 1; break;
  case CL_UNORM_INT16: bits = (uint32_t)round_to(real, 65535, 0), size = 2; break;
  case CL_SNORM_INT16: bits = (uint32_t)round_to(real, 32767, -1), size = 2; break;
  case CL_HALF_FLOAT: half = cl_half_from_float(real, CL_HALF_RTE), bits = half, size = 2; break;
  case CL_SIGNED_INT8: bits = (uint32_t)((int32_t)bits < -128 ? -128 : (int32_t)bits > 127 ? 127 : (int32_t)bits), size = 1; break;
  case CL_SIGNED_INT16: bits = (uint32_t)((int32_t)bits < -32768 ? -32768 : (int32_t)bits > 32767 ? 32767 : (int32_t)bits), size = 2; break;
  case CL_UNSIGNED_INT8: bits = bits > 255 ? 255 : bits, size = 1; break;
  case CL_UNSIGNED_INT16: bits = bits > 65535 ? 65535 : bits, size = 2; break;
  default: break;
  }
  memcpy(out, &bits, size);
  return size;
}

/* Return the color of a fill for the host's object of an image: the bytes of a texel as integers, if its format is another one. */
static const void *alias_color(const Memory *m, const void *color, uint32_t *space) {
  char texel[16] = {0}, *at = texel;
  int is_swapped = m && m->format.image_channel_order == CL_BGRA;
  if (!m || !color || (!is_swapped && m->format.image_channel_order != CL_RG)) return color;
  for (int i = 0; i < (is_swapped ? 4 : 2); i++) at += put_channel(at, m->format.image_channel_data_type, color, is_swapped && i != 3 ? 2 - i : i);
  cl_image_format theirs = host_format(&m->format);
  size_t step = theirs.image_channel_data_type == CL_UNSIGNED_INT8 ? 1 : theirs.image_channel_data_type == CL_UNSIGNED_INT16 ? 2 : 4;
  memset(space, 0, 4 * sizeof *space);
  for (size_t i = 0; i < 4; i++) memcpy(space + i, texel + i * step, step);
  return space;
}

static size_t or_one(size_t n) { return n ? n : 1; }

/* Return whether all sizes of an image that its type has are there. */
static int has_shape(const cl_image_desc *d) {
  switch (d->image_type) {
  case CL_MEM_OBJECT_IMAGE1D: return d->image_width > 0;
  case CL_MEM_OBJECT_IMAGE1D_BUFFER: return d->image_width && d->mem_object;
  case CL_MEM_OBJECT_IMAGE1D_ARRAY: return d->image_width && d->image_array_size;
  case CL_MEM_OBJECT_IMAGE2D: return d->image_width && d->image_height;
  case CL_MEM_OBJECT_IMAGE2D_ARRAY: return d->image_width && d->image_height && d->image_array_size;
  case CL_MEM_OBJECT_IMAGE3D: return d->image_width && d->image_height && d->image_depth;
  default: return 0;
  }
}

static cl_mem CL_API_CALL create_image_with_properties(cl_context c, const cl_mem_properties *properties, cl_mem_flags flags, const cl_image_format *format,
                                                       const cl_image_desc *desc, void *pointer, cl_int *error) {
  const char *call = "clCreateImage";
  cl_int ignored, *told = error ? error : &ignored;
  cl_bool has_images = CL_TRUE;
  find_fact(&device_facts, CL_DEVICE_IMAGE_SUPPORT, sizeof has_images, &has_images, NULL, told);
  if (!has_images) return decline_object(call, error, CL_INVALID_OPERATION, "the simulated device has no images");
  if (!format || !desc) return fail_memory(error, format ? CL_INVALID_IMAGE_DESCRIPTOR : CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
  size_t texel = texel_bytes(format);
  if (!texel) return refuse_object(call, error, CL_IMAGE_FORMAT_NOT_SUPPORTED, "images have the channels R, RG, RGBA or BGRA (of 8 bits) and no packed types");
  cl_mem_object_type type = desc->image_type;
  size_t width = desc->image_width, rows = 1, slices = 1;
  if (type == CL_MEM_OBJECT_IMAGE2D || type == CL_MEM_OBJECT_IMAGE2D_ARRAY || type == CL_MEM_OBJECT_IMAGE3D) rows = or_one(desc->image_height);
  if (type == CL_MEM_OBJECT_IMAGE3D) slices = or_one(desc->image_depth);
  if (type == CL_MEM_OBJECT_IMAGE2D_ARRAY || type == CL_MEM_OBJECT_IMAGE1D_ARRAY) slices = or_one(desc->image_array_size);
  if (!has_shape(desc)) return refuse_object(call, error, CL_INVALID_IMAGE_DESCRIPTOR, "its type is that of no image, or one of its sizes is 0");
  const int is_volume = type == CL_MEM_OBJECT_IMAGE3D, is_over_buffer = type == CL_MEM_OBJECT_IMAGE1D_BUFFER;
  const size_t widest = find_number(&device_facts, is_over_buffer ? CL_DEVICE_IMAGE_MAX_BUFFER_SIZE : is_volume ? CL_DEVICE_IMAGE3D_MAX_WIDTH : CL_DEVICE_IMAGE2D_MAX_WIDTH);
  const size_t highest = find_number(&device_facts, is_volume ? CL_DEVICE_IMAGE3D_MAX_HEIGHT : CL_DEVICE_IMAGE2D_MAX_HEIGHT);
  const size_t deepest = find_number(&device_facts, is_volume ? CL_DEVICE_IMAGE3D_MAX_DEPTH : CL_DEVICE_IMAGE_MAX_ARRAY_SIZE);
  if (width > widest || rows > highest || slices > deepest) {
    refuse(call, CL_INVALID_IMAGE_SIZE, "an image of %zu x %zu x %zu texels; at most %zu x %zu x %zu", width, rows, slices, widest, highest, deepest);
    return fail_memory(error, CL_INVALID_IMAGE_SIZE);
  }
  size_t row = width * texel, size = row * rows * slices;
  cl_image_desc tight = *desc;
  Memory *around = desc->mem_object ? find_memory(desc->mem_object) : NULL;
  if (around && type != CL_MEM_OBJECT_IMAGE1D_BUFFER) return decline_object(call, error, CL_INVALID_OPERATION, "the simulated device has no images of several dimensions over buffers (cl_khr_image2d_from_buffer)");
  int is_users = (flags & CL_MEM_USE_HOST_PTR) != 0;
  size_t row_step = desc->image_row_pitch ? desc->image_row_pitch : row;
  size_t slice_step = desc->image_slice_pitch && slices > 1 ? desc->image_slice_pitch : row_step * rows;
  if (!around && check_host_pointer(flags, pointer)) return fail_memory(error, CL_INVALID_HOST_PTR);
  if ((!pointer && (desc->image_row_pitch || desc->image_slice_pitch)) || row_step < row || row_step % texel || slice_step < row_step * rows)
    return refuse_object(call, error, CL_INVALID_IMAGE_DESCRIPTOR, "the pitch of rows or slices is less than they have, or no multiple of texels, or there is no host pointer");
  char *place = around ? around->place : take_arena(or_one(size));
  if (!place) return fail_memory(error, is_dead ? CL_OUT_OF_RESOURCES : CL_MEM_OBJECT_ALLOCATION_FAILURE);
  cl_mem_flags theirs = flags;
  void *memory = pointer;
  if (!around && !is_users) {
    if (pointer)
      for (size_t z = 0; z < slices; z++)
        for (size_t y = 0; y < rows; y++) memcpy(place + (z * rows + y) * row, (char *)pointer + z * slice_step + y * row_step, row);
    else fill_undefined(place, size);
    tight.image_row_pitch = row;
    tight.image_slice_pitch = slices > 1 || type == CL_MEM_OBJECT_IMAGE1D_ARRAY || type == CL_MEM_OBJECT_IMAGE2D_ARRAY ? row * rows : 0;
    theirs = (flags & ~host_bits) | CL_MEM_USE_HOST_PTR, memory = place;
  }
  const cl_image_format alias = host_format(format);
  cl_mem object = properties && host->clCreateImageWithProperties
                      ? host->clCreateImageWithProperties(c, properties, theirs, &alias, &tight, memory, told)
                      : host->clCreateImage(c, theirs, &alias, &tight, memory, told);
  /* pocl says that no device has images where it lacks the format. */
  if (!object && (*told == CL_INVALID_OPERATION || *told == CL_IMAGE_FORMAT_NOT_SUPPORTED))
    return refuse_object(call, error, CL_IMAGE_FORMAT_NOT_SUPPORTED, "the host's OpenCL has no images of this format; clGetSupportedImageFormats lists those that there are");
  if (object) {
    Memory *m = remember_memory(object, place, size, flags);
    m->users = around ? around->users : is_users ? pointer : NULL, m->whole = around;
    if (is_users) m->row = row, m->rows = rows, m->slices = slices, m->row_step = row_step, m->slice_step = slice_step;
    m->format = *format, m->shape = *desc;
    m->shape.image_height = rows, m->shape.image_depth = slices;
  }
  return object;
}

static cl_mem CL_API_CALL create_image(cl_context c, cl_mem_flags flags, const cl_image_format *f, const cl_image_desc *d, void *p, cl_int *e) {
  return create_image_with_properties(c, NULL, flags, f, d, p, e);
}

static cl_mem CL_API_CALL create_image_2d(cl_context c, cl_mem_flags flags, const cl_image_format *f, size_t w, size_t h, size_t pitch, void *p, cl_int *e) {
  cl_image_desc d = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = w, .image_height = h, .image_row_pitch = pitch};
  return create_image(c, flags, f, &d, p, e);
}

static cl_mem CL_API_CALL create_image_3d(cl_context c, cl_mem_flags flags, const cl_image_format *f, size_t w, size_t h, size_t depth, size_t pitch, size_t slice, void *p, cl_int *e) {
  cl_image_desc d = {.image_type = CL_MEM_OBJECT_IMAGE3D, .image_width = w, .image_height = h, .image_depth = depth, .image_row_pitch = pitch, .image_slice_pitch = slice};
  return create_image(c, flags, f, &d, p, e);
}

static cl_int CL_API_CALL get_image_formats(cl_context c, cl_mem_flags flags, cl_mem_object_type type, cl_uint room, cl_image_format *out, cl_uint *found) {
  cl_image_format theirs[256], all[256];
  cl_uint count = 0, kept = 0;
  cl_int result = host->clGetSupportedImageFormats(c, flags, type, 256, theirs, &count);
  if (result) return result;
  for (cl_uint i = 0; i < count && i < 256 && kept < 254; i++) {
    const cl_channel_order order = theirs[i].image_channel_order;
    const cl_channel_type data = theirs[i].image_channel_data_type;
    if (!texel_bytes(&theirs[i]) || (order != CL_R && order != CL_RGBA)) continue;
    all[kept++] = theirs[i];
    if (order == CL_R) all[kept++] = (cl_image_format){CL_RG, data};
    else if (data == CL_UNORM_INT8) all[kept++] = (cl_image_format){CL_BGRA, data};
  }
  for (cl_uint i = 0; out && i < kept && i < room; i++) out[i] = all[i];
  if (found) *found = kept;
  return CL_SUCCESS;
}

static cl_int CL_API_CALL get_image_info(cl_mem object, cl_image_info name, size_t room, void *out, size_t *written) {
  Memory *m = find_memory(object);
  if (m && m->shape.image_type && name == CL_IMAGE_FORMAT) GIVE(cl_image_format, m->format);
  return host->clGetImageInfo(object, name, room, out, written);
}

/* ---- the order of commands */

/* Bytes that a command reads or writes, as places in the arena: slices of rows. */
typedef struct {
  const Memory *memory; /* NULL for shared memory */
  uint64_t is_write, place, row, rows, pitch, slices, slice_pitch;
  int is_unknown; /* its object is none */
} Region;

static Region region_of_buffer(cl_mem object, int is_write, size_t offset, size_t size) {
  const Memory *m = find_memory(object);
  return m && is_in_arena(m->place) ? (Region){m, is_write, (uint64_t)(m->place - arena) + offset, size, 1, 0, 1, 0, 0} : (Region){.is_unknown = !m};
}

static Region region_of_rectangle(cl_mem object, int is_write, const size_t *origin, const size_t *shape, size_t pitch, size_t slice_pitch) {
  const Memory *m = find_memory(object);
  if (!m || !origin || !shape || !is_in_arena(m->place)) return (Region){.is_unknown = !m};
  if (!pitch) pitch = shape[0];
  if (!slice_pitch) slice_pitch = pitch * shape[1];
  return (Region){m, is_write, (uint64_t)(m->place - arena) + origin[0] + origin[1] * pitch + origin[2] * slice_pitch, shape[0], shape[1], pitch, shape[2], slice_pitch, 0};
}

static size_t bytes_of_texels(cl_mem image, const size_t *shape) {
  const Memory *m = find_memory(image);
  return m && shape ? texel_bytes(&m->format) * shape[0] * shape[1] * shape[2] : 0;
}

static Region region_of_image(cl_mem image, int is_write, const size_t *origin, const size_t *shape) {
  const Memory *m = find_memory(image);
  if (!m || !origin || !shape) return (Region){.is_unknown = !m};
  size_t texel = texel_bytes(&m->format), pitch = m->shape.image_width * texel;
  const size_t first[3] = {origin[0] * texel, origin[1], origin[2]}, bytes[3] = {shape[0] * texel, shape[1], shape[2]};
  return region_of_rectangle(image, is_write, first, bytes, pitch, pitch * m->shape.image_height);
}

static Region region_of_pointer(const void *pointer, int is_write, size_t size) {
  return is_in_arena(pointer) ? (Region){NULL, is_write, (uint64_t)((const char *)pointer - arena), size, 1, 0, 1, 0, 0} : (Region){0};
}

static int is_in_order(cl_command_queue q) {
  cl_command_queue_properties properties = 0;
  host->clGetCommandQueueInfo(q, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL);
  return !(properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
}

/* Record numbers for the server: a letter and what belongs to it. */
static void record(int count, const uint64_t *numbers, cl_uint n, const cl_event *events) {
  if (!commands && queue_count < 2) return;
  pthread_mutex_lock(&order_lock);
  put(&order, numbers, (size_t)count * sizeof *numbers);
  for (cl_uint i = 0; i < n; i++) put_number(&order, (uintptr_t)events[i]);
  pthread_mutex_unlock(&order_lock);
}
#define RECORD(...) record(sizeof((uint64_t[]){__VA_ARGS__}) / 8, (uint64_t[]){__VA_ARGS__}, 0, NULL)

/* Record a command before the host gets it: 'c', 'k' of a kernel, 'm' or 'b' of a marker or barrier, 'u' of an unmap. Return its
   number, 0 if there is one queue in order. */
static uint64_t begin_command(const char *call, int kind, cl_command_queue q, cl_uint n, const cl_event *w, const Region *regions, size_t count) {
  int is_ordered = !q || is_in_order(q);
  if (!q || (is_ordered && queue_count < 2)) return 0;
  pthread_mutex_lock(&order_lock);
  uint64_t number = ++commands, used = 0;
  put_number(&order, (uint64_t)kind), put_number(&order, number), put_number(&order, (uintptr_t)q), put_number(&order, is_ordered);
  put_text(&order, call), put_number(&order, w ? n : 0);
  for (cl_uint i = 0; w && i < n; i++) put_number(&order, (uintptr_t)w[i]);
  for (size_t i = 0; i < count; i++) used += regions[i].row != 0;
  put_number(&order, used);
  for (size_t i = 0; i < count; i++)
    if (regions[i].row) put(&order, &regions[i].is_write, 7 * sizeof(uint64_t));
  pthread_mutex_unlock(&order_lock);
  return number;
}

/* The types of the events of commands that are others for the host: it runs native kernels and markers. */
typedef struct EventType {
  cl_event event;
  cl_command_type type;
  struct EventType *next;
} EventType;
static EventType *event_types[BUCKETS];

static EventType *find_event_type(cl_event e) { /* needs order_lock */
  EventType *t = event_types[bucket_of(e)];
  while (t && t->event != e) t = t->next;
  return t;
}

/* Note the type of a new event, 0 for that of the host; an earlier event had its address. */
static void note_event_type(const cl_event *e, cl_command_type type) {
  if (!e || !*e) return;
  pthread_mutex_lock(&order_lock);
  EventType *t = find_event_type(*e);
  if (!t && type && (t = malloc(sizeof *t))) *t = (EventType){*e, 0, event_types[bucket_of(*e)]}, event_types[bucket_of(*e)] = t;
  if (t) t->type = type;
  pthread_mutex_unlock(&order_lock);
}

static void end_command(uint64_t number, const cl_event *e, cl_int result, cl_bool blocks) {
  if (!number) return;
  if (result) RECORD('x', number);
  else if (e) RECORD('e', number, (uintptr_t)*e);
  if (!result && blocks) RECORD('d', number), try_send_order();
}

/* Return why the host does not take a command, as far as its error tells. */
static const char *reason_of(const char *call, cl_int error) {
  switch (error) {
  case CL_INVALID_EVENT_WAIT_LIST: return "its list of events is not valid";
  case CL_INVALID_CONTEXT: return "queue, events and memory belong to different contexts";
  case CL_INVALID_COMMAND_QUEUE: return "its queue is none";
  case CL_INVALID_MEM_OBJECT: return "an argument is a buffer in place of an image, or the other way round";
  case CL_MEM_COPY_OVERLAP: return "what it reads and what it writes overlap";
  case CL_INVALID_OPERATION: return strstr(call, "Buffer") || strstr(call, "Image") ? "the flags of the memory do not allow it to the host (CL_MEM_HOST_READ_ONLY and its likes)" : "the host's OpenCL does not take it";
  case CL_INVALID_VALUE: return strstr(call, "Unmap") ? "nothing is mapped at the pointer" : "one of its values is not valid: a null pointer, or a size, offset or pitch that does not fit";
  case CL_INVALID_IMAGE_SIZE: return "an image has a size that the host's OpenCL does not take";
  case CL_IMAGE_FORMAT_MISMATCH: return "the formats of the images differ";
  default: return "the host's OpenCL does not take it";
  }
}

/* Report a command whose arguments include an object that is none; the host would look into it. */
static cl_int check_objects(const char *call, const Region *regions, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (regions[i].is_unknown) return refuse(call, CL_INVALID_MEM_OBJECT, "an argument is no buffer or image, or one that the program has released");
  return CL_SUCCESS;
}

/* Report a command that the host does not take, such as a copy beyond the end of a buffer. */
static cl_int refuse_command(const char *call, cl_int error, const Region *regions, size_t count) {
  for (size_t i = 0; i < count && error == CL_INVALID_VALUE; i++) {
    const Region *r = &regions[i];
    if (!r->memory) continue;
    if (!r->row || !r->rows || !r->slices) return refuse(call, error, "its region is empty");
    uint64_t first = r->place - (uint64_t)(r->memory->place - arena), end = first + r->row + (r->rows - 1) * r->pitch + (r->slices - 1) * r->slice_pitch;
    if (end > r->memory->size)
      return refuse(call, error, "it %s bytes %zu to %zu of %s %zu, which has %zu bytes", r->is_write ? "writes" : "reads", (size_t)first, (size_t)end - 1, r->memory->shape.image_type ? "image" : "buffer", (size_t)r->memory->number, r->memory->size);
  }
  return refuse(call, error, "%s", reason_of(call, error));
}

static void *share(size_t size, cl_uint alignment, cl_uint type, cl_device_id d) {
  char *place = alignment > PAGE || (alignment & (alignment - 1)) ? NULL : take_arena(size);
  Shared *s = place ? calloc(1, sizeof *s) : NULL;
  if (!s) return NULL;
  fill_undefined(place, size);
  s->place = place, s->size = size, s->type = type, s->device = d;
  pthread_mutex_lock(&object_lock);
  s->number = ++allocations, s->next = shared, shared = s;
  pthread_mutex_unlock(&object_lock);
  return place;
}

/* Give back the pages of freed memory if no command is pending. Needs object_lock. */
static void drop_freed(void) {
  for (Shared *s; !pending && (s = freed); free(s)) {
    freed = s->next;
    madvise(s->place, (s->size + PAGE - 1) & ~(PAGE - 1), MADV_REMOVE);
  }
}

static void count_pending(int change) {
  pthread_mutex_lock(&object_lock);
  pending += change;
  drop_freed();
  pthread_mutex_unlock(&object_lock);
}

static void CL_API_CALL svm_free(cl_context c, void *pointer) {
  (void)c;
  pthread_mutex_lock(&object_lock);
  Shared **at = &shared, *s;
  while (*at && (*at)->place != pointer) at = &(*at)->next;
  if ((s = *at)) *at = s->next, s->next = freed, freed = s;
  drop_freed();
  pthread_mutex_unlock(&object_lock);
}

static void *CL_API_CALL svm_alloc(cl_context c, cl_svm_mem_flags flags, size_t size, cl_uint alignment) {
  (void)c;
  return size && !(flags & (CL_MEM_SVM_FINE_GRAIN_BUFFER | CL_MEM_SVM_ATOMICS)) ? share(size, alignment, 0, NULL) : NULL;
}

/* The extension cl_intel_unified_shared_memory. */
static void *usm_alloc(size_t size, cl_uint alignment, cl_uint type, cl_device_id d, cl_int *error) {
  void *place = size ? share(size, alignment, type, d) : NULL;
  if (error) *error = place ? CL_SUCCESS : !size ? CL_INVALID_BUFFER_SIZE : is_dead ? CL_OUT_OF_RESOURCES : CL_OUT_OF_HOST_MEMORY;
  return place;
}

static void *CL_API_CALL usm_host(cl_context c, const cl_mem_properties_intel *p, size_t size, cl_uint alignment, cl_int *error) {
  (void)c, (void)p;
  return usm_alloc(size, alignment, CL_MEM_TYPE_HOST_INTEL, NULL, error);
}

static void *CL_API_CALL usm_device(cl_context c, cl_device_id d, const cl_mem_properties_intel *p, size_t size, cl_uint alignment, cl_int *error) {
  (void)c, (void)p;
  return usm_alloc(size, alignment, CL_MEM_TYPE_DEVICE_INTEL, d, error);
}

static void *CL_API_CALL usm_shared(cl_context c, cl_device_id d, const cl_mem_properties_intel *p, size_t size, cl_uint alignment, cl_int *error) {
  (void)c, (void)p;
  return usm_alloc(size, alignment, CL_MEM_TYPE_SHARED_INTEL, d, error);
}

static cl_int CL_API_CALL usm_free(cl_context c, void *pointer) { svm_free(c, pointer); return CL_SUCCESS; }

static cl_int CL_API_CALL usm_info(cl_context c, const void *pointer, cl_mem_info_intel name, size_t room, void *out, size_t *written) {
  (void)c;
  Shared none = {.type = CL_MEM_TYPE_UNKNOWN_INTEL}, m = none;
  pthread_mutex_lock(&object_lock);
  for (Shared *s = shared; s; s = s->next)
    if (s->type && (const char *)pointer >= s->place && (const char *)pointer < s->place + s->size) m = *s;
  pthread_mutex_unlock(&object_lock);
  switch (name) {
  case CL_MEM_ALLOC_TYPE_INTEL: GIVE(cl_unified_shared_memory_type_intel, m.type);
  case CL_MEM_ALLOC_BASE_PTR_INTEL: GIVE(void *, m.place);
  case CL_MEM_ALLOC_SIZE_INTEL: GIVE(size_t, m.size);
  case CL_MEM_ALLOC_DEVICE_INTEL: GIVE(cl_device_id, m.device);
  case CL_MEM_ALLOC_FLAGS_INTEL: GIVE(cl_mem_alloc_flags_intel, 0);
  default: return CL_INVALID_VALUE;
  }
}

/* A copy, fill or release in a queue's order. */
typedef struct {
  char *target;
  const char *source;
  size_t size, pattern;
  void *pointers; /* of a release: a copy of the list */
  cl_uint count;
  void(CL_CALLBACK *notify)(cl_command_queue, cl_uint, void **, void *);
  void *data;
  cl_command_queue queue;
  char bytes[128];
} MemoryJob;

static void CL_CALLBACK do_memory_job(void *block) {
  MemoryJob *j = block;
  if (j->pointers) {
    if (j->notify) j->notify(j->queue, j->count, j->pointers, j->data);
    else for (cl_uint i = 0; i < j->count; i++) svm_free(NULL, ((void **)j->pointers)[i]);
    free(j->pointers);
  } else if (j->source) memmove(j->target, j->source, j->size);
  else for (size_t i = 0; i + j->pattern <= j->size; i += j->pattern) memcpy(j->target + i, j->bytes, j->pattern);
  count_pending(-1);
}

static cl_int enqueue_memory_job(const char *call, cl_command_type type, cl_command_queue q, MemoryJob *j, cl_bool blocks, cl_uint n, const cl_event *w, cl_event *e) {
  cl_event own = NULL;
  cl_int result = enter(q, call);
  if (result) return result;
  const Region touched[] = {region_of_pointer(j->target, 1, j->size), region_of_pointer(j->source, 0, j->size)};
  uint64_t number = begin_command(call, 'c', q, n, w, touched, 2);
  count_pending(1);
  result = host->clEnqueueNativeKernel(q, do_memory_job, j, sizeof *j, 0, NULL, NULL, n, w, e ? e : &own);
  if (result) count_pending(-1);
  else note_event_type(e, type);
  if (!result && blocks) result = host->clWaitForEvents(1, e ? e : &own);
  end_command(number, e, result, blocks);
  if (own) host->clReleaseEvent(own);
  return result;
}

#define COPY(function, call, type)                                                                                     \
  static cl_int CL_API_CALL function(cl_command_queue q, cl_bool blocks, void *target, const void *source, size_t size, cl_uint n, const cl_event *w, cl_event *e) { \
    if (!target || !source) return CL_INVALID_VALUE;                                                                   \
    MemoryJob j = {.target = target, .source = source, .size = size};                                                  \
    return enqueue_memory_job(call, type, q, &j, blocks, n, w, e);                                                     \
  }
#define FILL(function, call, type)                                                                                     \
  static cl_int CL_API_CALL function(cl_command_queue q, void *target, const void *pattern, size_t size, size_t total, cl_uint n, const cl_event *w, cl_event *e) { \
    if (!target || !pattern || !size || size > 128 || total % size) return CL_INVALID_VALUE;                           \
    MemoryJob j = {.target = target, .pattern = size, .size = total};                                                  \
    memcpy(j.bytes, pattern, size);                                                                                    \
    return enqueue_memory_job(call, type, q, &j, CL_FALSE, n, w, e);                                                   \
  }
COPY(svm_copy, "clEnqueueSVMMemcpy", CL_COMMAND_SVM_MEMCPY)
COPY(usm_copy, "clEnqueueMemcpyINTEL", CL_COMMAND_MEMCPY_INTEL)
FILL(svm_fill, "clEnqueueSVMMemFill", CL_COMMAND_SVM_MEMFILL)
FILL(usm_fill, "clEnqueueMemFillINTEL", CL_COMMAND_MEMFILL_INTEL)

static cl_int mark_shared(const char *call, cl_command_type type, cl_command_queue q, int kind, cl_bool blocks, Region touched, cl_uint n, const cl_event *w, cl_event *e) {
  cl_int result = enter(q, call);
  if (result) return result;
  uint64_t number = begin_command(call, kind, q, n, w, &touched, 1);
  result = host->clEnqueueMarkerWithWaitList(q, n, w, e);
  if (!result) note_event_type(e, type);
  if (!result && blocks) result = host->clFinish(q);
  end_command(number, e, result, blocks);
  return result;
}

static cl_int CL_API_CALL svm_map(cl_command_queue q, cl_bool blocks, cl_map_flags flags, void *p, size_t size, cl_uint n, const cl_event *w, cl_event *e) {
  if (!p) return CL_INVALID_VALUE;
  return mark_shared("clEnqueueSVMMap", CL_COMMAND_SVM_MAP, q, 'c', blocks, region_of_pointer(p, (flags & ~(cl_map_flags)CL_MAP_READ) != 0, size), n, w, e);
}

static cl_int CL_API_CALL svm_unmap(cl_command_queue q, void *p, cl_uint n, const cl_event *w, cl_event *e) {
  if (!p) return CL_INVALID_VALUE;
  return mark_shared("clEnqueueSVMUnmap", CL_COMMAND_SVM_UNMAP, q, 'u', CL_FALSE, region_of_pointer(p, 1, 1), n, w, e);
}

static cl_int CL_API_CALL svm_migrate(cl_command_queue q, cl_uint count, const void **p, const size_t *sizes, cl_mem_migration_flags flags, cl_uint n, const cl_event *w, cl_event *e) {
  (void)sizes, (void)flags;
  return count && p ? mark_shared("clEnqueueSVMMigrateMem", CL_COMMAND_SVM_MIGRATE_MEM, q, 'c', CL_FALSE, (Region){0}, n, w, e) : CL_INVALID_VALUE;
}

static cl_int CL_API_CALL usm_migrate(cl_command_queue q, const void *p, size_t size, cl_mem_migration_flags flags, cl_uint n, const cl_event *w, cl_event *e) {
  (void)flags, (void)size;
  return p ? mark_shared("clEnqueueMigrateMemINTEL", CL_COMMAND_MIGRATEMEM_INTEL, q, 'c', CL_FALSE, (Region){0}, n, w, e) : CL_INVALID_VALUE;
}

static cl_int CL_API_CALL usm_advise(cl_command_queue q, const void *p, size_t size, cl_mem_advice_intel advice, cl_uint n, const cl_event *w, cl_event *e) {
  (void)advice, (void)size;
  return p ? mark_shared("clEnqueueMemAdviseINTEL", CL_COMMAND_MEMADVISE_INTEL, q, 'c', CL_FALSE, (Region){0}, n, w, e) : CL_INVALID_VALUE;
}

static cl_int CL_API_CALL svm_enqueue_free(cl_command_queue q, cl_uint count, void *pointers[], void(CL_CALLBACK *notify)(cl_command_queue, cl_uint, void **, void *),
                                           void *data, cl_uint n, const cl_event *w, cl_event *e) {
  if (!count || !pointers) return CL_INVALID_VALUE;
  MemoryJob j = {.pointers = malloc(count * sizeof *pointers), .count = count, .notify = notify, .data = data, .queue = q};
  memcpy(j.pointers, pointers, count * sizeof *pointers);
  return enqueue_memory_job("clEnqueueSVMFree", CL_COMMAND_SVM_FREE, q, &j, CL_FALSE, n, w, e);
}

/* ---- programs */

typedef struct {
  uint64_t kind, size; /* v b l i s; bytes of a value, 0 if unknown */
  char *name;
  Facts facts;
} Parameter;
typedef struct {
  char *name;
  Facts facts, group_facts;
  uint64_t lanes, max_items, required[3], is_ragged, count;
  Parameter *parameters;
} KernelFacts;
typedef struct {
  const void *dispatch;
  uint64_t magic;
  int references, attached; /* kernels */
  cl_context context;
  cl_device_id device;
  char kind; /* S source, I SPIR-V, B binary, L linked, K built-in */
  char *source;
  size_t source_size;
  uint64_t number, server; /* 0 before a build; which server knows the number */
  cl_build_status status;
  cl_program_binary_type type;
  char *options, *log, *binary;
  size_t binary_size, kernel_count;
  KernelFacts *kernels;
} Program;
typedef struct {
  int is_set;
  size_t size;
  Memory *memory;
  void *pointer; /* shared virtual memory */
  uint64_t sampler[3];
  char *data;
} Argument;
typedef struct {
  const void *dispatch;
  uint64_t magic;
  int references;
  Program *program;
  KernelFacts *facts;
  Argument *arguments;
} Kernel;

static Program *program_of(cl_program p) { Program *q = (Program *)p; return q && q->magic == PROGRAM_MAGIC ? q : NULL; }
static Kernel *kernel_of(cl_kernel k) { Kernel *q = (Kernel *)k; return q && q->magic == KERNEL_MAGIC ? q : NULL; }

static void drop_build(Program *p) {
  for (size_t i = 0; i < p->kernel_count; i++) {
    KernelFacts *k = &p->kernels[i];
    for (size_t a = 0; a < k->count; a++) free(k->parameters[a].name), free_facts(&k->parameters[a].facts);
    free(k->parameters), free(k->name), free_facts(&k->facts), free_facts(&k->group_facts);
  }
  free(p->kernels), free(p->options), free(p->log), free(p->binary);
  p->kernels = NULL, p->options = p->log = p->binary = NULL;
  p->kernel_count = p->binary_size = 0;
}

static Program *make_program(cl_context c, char kind, const void *source, size_t size, cl_int *error) {
  cl_device_id devices[16];
  cl_int result = c ? host->clGetContextInfo(c, CL_CONTEXT_DEVICES, sizeof devices, devices, NULL) : CL_INVALID_CONTEXT;
  Program *p = result ? NULL : calloc(1, sizeof *p);
  if (p) {
    p->dispatch = &layer, p->magic = PROGRAM_MAGIC, p->references = 1, p->context = c, p->device = devices[0];
    p->kind = kind, p->source = malloc(size + 1), p->source_size = size, p->status = CL_BUILD_NONE;
    if (size) memcpy(p->source, source, size);
    p->source[size] = 0;
    host->clRetainContext(c);
  }
  if (error) *error = result;
  return p;
}

static cl_program CL_API_CALL create_with_source(cl_context c, cl_uint count, const char **texts, const size_t *sizes, cl_int *error) {
  Message whole = {0};
  int is_valid = count && texts;
  for (cl_uint i = 0; is_valid && i < count; i++) {
    if (!texts[i]) is_valid = 0;
    else put(&whole, texts[i], sizes && sizes[i] ? sizes[i] : strlen(texts[i]));
  }
  Program *p = is_valid ? make_program(c, 'S', whole.data, whole.size, error) : NULL;
  if (!is_valid && error) *error = CL_INVALID_VALUE;
  free(whole.data);
  return (cl_program)p;
}

static cl_program CL_API_CALL create_with_il(cl_context c, const void *il, size_t size, cl_int *error) {
  uint32_t word = 0;
  if (il && size >= 4) memcpy(&word, il, 4);
  if (word != 0x07230203u && word != 0x03022307u) return refuse_object("clCreateProgramWithIL", error, CL_INVALID_VALUE, "the bytes are no SPIR-V");
  return (cl_program)make_program(c, 'I', il, size, error);
}

static const char binary_head[] = "visa-lsp program\n";

static cl_program CL_API_CALL create_with_binary(cl_context c, cl_uint n, const cl_device_id *d, const size_t *sizes, const unsigned char **data, cl_int *status, cl_int *error) {
  if (!n || !d || !sizes || !data || !sizes[0] || !data[0]) {
    if (error) *error = CL_INVALID_VALUE;
    return NULL;
  }
  int is_ours = sizes[0] > sizeof binary_head && !memcmp(data[0], binary_head, sizeof binary_head - 1);
  if (status) *status = is_ours ? CL_SUCCESS : CL_INVALID_BINARY;
  if (!is_ours) return refuse_object("clCreateProgramWithBinary", error, CL_INVALID_BINARY, "the bytes are machine code of another device; the simulator runs programs from source, and binaries that it gave");
  Program *p = make_program(c, 'B', data[0], sizes[0], error);
  if (p && (p->binary = malloc(sizes[0]))) memcpy(p->binary, data[0], p->binary_size = sizes[0]);
  return (cl_program)p;
}

static cl_program CL_API_CALL create_with_built_in(cl_context c, cl_uint n, const cl_device_id *d, const char *names, cl_int *error) {
  (void)c, (void)n, (void)d, (void)names;
  return decline_object("clCreateProgramWithBuiltInKernels", error, CL_INVALID_VALUE, "the simulated device has no built-in kernels");
}

static cl_int CL_API_CALL retain_program(cl_program h) {
  Program *p = program_of(h);
  if (!p) return CL_INVALID_PROGRAM;
  __atomic_add_fetch(&p->references, 1, __ATOMIC_SEQ_CST);
  return CL_SUCCESS;
}

static cl_int CL_API_CALL release_program(cl_program h) {
  Program *p = program_of(h);
  if (!p) return CL_INVALID_PROGRAM;
  if (__atomic_sub_fetch(&p->references, 1, __ATOMIC_SEQ_CST)) return CL_SUCCESS;
  drop_build(p);
  host->clReleaseContext(p->context);
  p->magic = 0;
  free(p->source), free(p);
  return CL_SUCCESS;
}

/* Such a callback waits for destructors of variables, of which the device says that there are none. */
static cl_int CL_API_CALL set_release_callback(cl_program h, void(CL_CALLBACK *notify)(cl_program, void *), void *data) {
  (void)notify, (void)data;
  return program_of(h) ? CL_INVALID_OPERATION : CL_INVALID_PROGRAM;
}

static void take_kernels(Program *p, Message *m) {
  p->kernel_count = take_number(m);
  if (m->is_bad || p->kernel_count > m->size) p->kernel_count = 0;
  p->kernels = calloc(p->kernel_count + 1, sizeof *p->kernels);
  for (size_t i = 0; i < p->kernel_count; i++) {
    KernelFacts *k = &p->kernels[i];
    k->name = take_bytes(m, NULL);
    k->facts = take_facts(m), k->group_facts = take_facts(m);
    k->lanes = take_number(m), k->max_items = take_number(m);
    for (int n = 0; n < 3; n++) k->required[n] = take_number(m);
    k->is_ragged = take_number(m), k->count = take_number(m);
    if (m->is_bad || k->count > MAX_ARGUMENTS) k->count = 0, m->is_bad = 1;
    k->parameters = calloc(k->count + 1, sizeof *k->parameters);
    for (size_t a = 0; a < k->count; a++) {
      Parameter *one = &k->parameters[a];
      one->kind = take_number(m), one->size = take_number(m), one->name = take_bytes(m, NULL), one->facts = take_facts(m);
    }
  }
}

/* Send a build, whose operation is 'B', 'C' (compile only) or 'L' (link); return its result. */
static cl_int send_build(Program *p, char operation, const char *options, Message *rest, cl_int failure) {
  Message request = {0}, m;
  drop_build(p);
  p->options = strdup(options ? options : "");
  put_number(&request, (uint64_t)operation);
  put_number(&request, (uint64_t)p->kind);
  put_bytes(&request, p->source, p->source_size);
  put_text(&request, options);
  put(&request, rest->data, rest->size);
  free(rest->data);
  p->number = 0, p->type = CL_PROGRAM_BINARY_TYPE_NONE, p->status = CL_BUILD_ERROR;
  if (ask('B', &request, &m)) {
    p->log = strdup("the simulator's process has ended");
    return CL_OUT_OF_RESOURCES;
  }
  cl_int result = (cl_int)take_number(&m);
  p->number = take_number(&m), p->server = servers, p->type = (cl_program_binary_type)take_number(&m);
  p->log = take_bytes(&m, NULL), p->binary = take_bytes(&m, &p->binary_size);
  take_kernels(p, &m);
  if (m.is_bad) result = failure;
  free(m.data);
  if (!result) p->status = CL_BUILD_SUCCESS;
  return result;
}

static void put_no_parts(Message *m) { put_number(m, 0), put_number(m, 0); } /* neither headers nor programs */

static cl_int check_build(Program *p, cl_uint n, const cl_device_id *d, const void *notify, const void *data) {
  if (!p) return CL_INVALID_PROGRAM;
  if (!n != !d || (!notify && data)) return CL_INVALID_VALUE;
  if (n && own_device(d[0]) != own_device(p->device)) return CL_INVALID_DEVICE;
  return p->attached ? CL_INVALID_OPERATION : CL_SUCCESS;
}

static cl_int CL_API_CALL build_program(cl_program h, cl_uint n, const cl_device_id *d, const char *options, void(CL_CALLBACK *notify)(cl_program, void *), void *data) {
  Program *p = program_of(h);
  cl_int result = check_build(p, n, d, (const void *)(uintptr_t)notify, data);
  if (result) return result;
  if (p->kind == 'L') return CL_INVALID_OPERATION;
  Message rest = {0};
  put_no_parts(&rest);
  result = send_build(p, 'B', options, &rest, CL_BUILD_PROGRAM_FAILURE);
  if (notify) notify(h, data);
  return result;
}

static cl_int CL_API_CALL compile_program(cl_program h, cl_uint n, const cl_device_id *d, const char *options, cl_uint count, const cl_program *headers, const char **names,
                                          void(CL_CALLBACK *notify)(cl_program, void *), void *data) {
  Program *p = program_of(h);
  cl_int result = check_build(p, n, d, (const void *)(uintptr_t)notify, data);
  if (result) return result;
  if (!count != !headers || !count != !names) return CL_INVALID_VALUE;
  if (p->kind != 'S' && p->kind != 'I') return CL_INVALID_OPERATION;
  Message rest = {0};
  put_number(&rest, count);
  for (cl_uint i = 0; i < count; i++) {
    Program *header = program_of(headers[i]);
    put_text(&rest, names[i]);
    put_bytes(&rest, header ? header->source : "", header ? header->source_size : 0);
  }
  put_number(&rest, 0);
  result = send_build(p, 'C', options, &rest, CL_COMPILE_PROGRAM_FAILURE);
  if (notify) notify(h, data);
  return result;
}

static cl_program CL_API_CALL link_program(cl_context c, cl_uint n, const cl_device_id *d, const char *options, cl_uint count, const cl_program *parts,
                                           void(CL_CALLBACK *notify)(cl_program, void *), void *data, cl_int *error) {
  cl_int ignored, *told = error ? error : &ignored;
  *told = !count || !parts || !n != !d ? CL_INVALID_VALUE : CL_SUCCESS;
  Message rest = {0};
  put_number(&rest, 0);
  put_number(&rest, count);
  for (cl_uint i = 0; !*told && i < count; i++) {
    Program *part = program_of(parts[i]);
    if (part && part->kind == 'B' && !part->number) { /* a compiled object, of which only the binary was kept */
      Message none = {0};
      put_no_parts(&none);
      send_build(part, 'B', "", &none, CL_INVALID_BINARY);
    }
    if (!part) *told = CL_INVALID_PROGRAM;
    else if (!part->number || part->server != servers) *told = CL_INVALID_OPERATION;
    else put_number(&rest, part->number);
  }
  Program *p = *told ? NULL : make_program(c, 'L', "", 0, told);
  if (!p) {
    free(rest.data);
    return NULL;
  }
  *told = send_build(p, 'L', options, &rest, CL_LINK_PROGRAM_FAILURE);
  if (notify) notify((cl_program)p, data);
  return (cl_program)p;
}

static cl_int CL_API_CALL unload_compiler(void) { return CL_SUCCESS; }
static cl_int CL_API_CALL unload_platform_compiler(cl_platform_id p) { return p ? CL_SUCCESS : CL_INVALID_PLATFORM; }

static cl_int CL_API_CALL set_specialization(cl_program h, cl_uint number, size_t size, const void *value) {
  (void)size, (void)value;
  if (!program_of(h)) return CL_INVALID_PROGRAM;
  return refuse("clSetProgramSpecializationConstant", CL_INVALID_OPERATION, "specialization constant %u keeps its default", number);
}

static cl_int CL_API_CALL get_program_info(cl_program h, cl_program_info name, size_t room, void *out, size_t *written) {
  Program *p = program_of(h);
  if (!p) return CL_INVALID_PROGRAM;
  switch (name) {
  case CL_PROGRAM_REFERENCE_COUNT: GIVE(cl_uint, p->references);
  case CL_PROGRAM_CONTEXT: GIVE(cl_context, p->context);
  case CL_PROGRAM_NUM_DEVICES: GIVE(cl_uint, 1);
  case CL_PROGRAM_DEVICES: GIVE(cl_device_id, p->device);
  case CL_PROGRAM_SOURCE: return p->kind == 'S' ? give(p->source, p->source_size + 1, room, out, written) : give("", 1, room, out, written);
  case CL_PROGRAM_IL: return give(p->source, p->kind == 'I' ? p->source_size : 0, room, out, written);
  case CL_PROGRAM_BINARY_SIZES: GIVE(size_t, p->binary_size);
  case CL_PROGRAM_BINARIES:
    if (out && room < sizeof(char *)) return CL_INVALID_VALUE;
    if (out && *(char **)out && p->binary_size) memcpy(*(char **)out, p->binary, p->binary_size);
    if (written) *written = sizeof(char *);
    return CL_SUCCESS;
  case CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT:
  case CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT: GIVE(cl_bool, CL_FALSE);
  case CL_PROGRAM_NUM_KERNELS:
    if (p->type != CL_PROGRAM_BINARY_TYPE_EXECUTABLE) return CL_INVALID_PROGRAM_EXECUTABLE;
    GIVE(size_t, p->kernel_count);
  case CL_PROGRAM_KERNEL_NAMES: {
    if (p->type != CL_PROGRAM_BINARY_TYPE_EXECUTABLE) return CL_INVALID_PROGRAM_EXECUTABLE;
    Message names = {0};
    for (size_t i = 0; i < p->kernel_count; i++) put(&names, ";", i ? 1 : 0), put(&names, p->kernels[i].name, strlen(p->kernels[i].name));
    put(&names, "", 1);
    cl_int result = give(names.data, names.size, room, out, written);
    free(names.data);
    return result;
  }
  default: return CL_INVALID_VALUE;
  }
}

static cl_int CL_API_CALL get_build_info(cl_program h, cl_device_id d, cl_program_build_info name, size_t room, void *out, size_t *written) {
  Program *p = program_of(h);
  if (!p) return CL_INVALID_PROGRAM;
  if (d && own_device(d) != own_device(p->device)) return CL_INVALID_DEVICE;
  const char *options = p->options ? p->options : "", *log = p->log ? p->log : "";
  switch (name) {
  case CL_PROGRAM_BUILD_STATUS: GIVE(cl_build_status, p->status);
  case CL_PROGRAM_BUILD_OPTIONS: return give(options, strlen(options) + 1, room, out, written);
  case CL_PROGRAM_BUILD_LOG: return give(log, strlen(log) + 1, room, out, written);
  case CL_PROGRAM_BINARY_TYPE: GIVE(cl_program_binary_type, p->type);
  case CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE: GIVE(size_t, 0);
  default: return CL_INVALID_VALUE;
  }
}

/* ---- kernels */

static Kernel *make_kernel(Program *p, KernelFacts *facts) {
  Kernel *k = calloc(1, sizeof *k);
  if (!k) abort();
  k->dispatch = &layer, k->magic = KERNEL_MAGIC, k->references = 1, k->program = p, k->facts = facts;
  k->arguments = calloc(facts->count + 1, sizeof *k->arguments);
  retain_program((cl_program)p);
  __atomic_add_fetch(&p->attached, 1, __ATOMIC_SEQ_CST);
  return k;
}

static cl_kernel CL_API_CALL create_kernel(cl_program h, const char *name, cl_int *error) {
  Program *p = program_of(h);
  cl_int result = !p ? CL_INVALID_PROGRAM : !name ? CL_INVALID_VALUE : p->type != CL_PROGRAM_BINARY_TYPE_EXECUTABLE ? CL_INVALID_PROGRAM_EXECUTABLE : CL_INVALID_KERNEL_NAME;
  Kernel *k = NULL;
  for (size_t i = 0; result == CL_INVALID_KERNEL_NAME && i < p->kernel_count; i++)
    if (!strcmp(p->kernels[i].name, name)) k = make_kernel(p, &p->kernels[i]), result = CL_SUCCESS;
  if (error) *error = result;
  return (cl_kernel)k;
}

static cl_int CL_API_CALL create_kernels(cl_program h, cl_uint room, cl_kernel *out, cl_uint *found) {
  Program *p = program_of(h);
  if (!p) return CL_INVALID_PROGRAM;
  if (p->type != CL_PROGRAM_BINARY_TYPE_EXECUTABLE) return CL_INVALID_PROGRAM_EXECUTABLE;
  if (out && room < p->kernel_count) return CL_INVALID_VALUE;
  for (size_t i = 0; out && i < p->kernel_count; i++) out[i] = (cl_kernel)make_kernel(p, &p->kernels[i]);
  if (found) *found = (cl_uint)p->kernel_count;
  return CL_SUCCESS;
}

static cl_kernel CL_API_CALL clone_kernel(cl_kernel h, cl_int *error) {
  Kernel *k = kernel_of(h);
  if (error) *error = k ? CL_SUCCESS : CL_INVALID_KERNEL;
  if (!k) return NULL;
  Kernel *copy = make_kernel(k->program, k->facts);
  for (size_t i = 0; i < k->facts->count; i++) {
    copy->arguments[i] = k->arguments[i];
    if (k->arguments[i].data) {
      copy->arguments[i].data = malloc(k->arguments[i].size);
      memcpy(copy->arguments[i].data, k->arguments[i].data, k->arguments[i].size);
    }
  }
  return (cl_kernel)copy;
}

static cl_int CL_API_CALL retain_kernel(cl_kernel h) {
  Kernel *k = kernel_of(h);
  if (!k) return CL_INVALID_KERNEL;
  __atomic_add_fetch(&k->references, 1, __ATOMIC_SEQ_CST);
  return CL_SUCCESS;
}

static cl_int CL_API_CALL release_kernel(cl_kernel h) {
  Kernel *k = kernel_of(h);
  if (!k) return CL_INVALID_KERNEL;
  if (__atomic_sub_fetch(&k->references, 1, __ATOMIC_SEQ_CST)) return CL_SUCCESS;
  for (size_t i = 0; i < k->facts->count; i++) free(k->arguments[i].data);
  __atomic_sub_fetch(&k->program->attached, 1, __ATOMIC_SEQ_CST);
  release_program((cl_program)k->program);
  k->magic = 0;
  free(k->arguments), free(k);
  return CL_SUCCESS;
}

static cl_int set_data(Argument *a, size_t size, const void *value) {
  free(a->data);
  memset(a, 0, sizeof *a);
  a->is_set = 1, a->size = size;
  if (value) {
    a->data = malloc(size + 1);
    memcpy(a->data, value, size);
  }
  return CL_SUCCESS;
}

static cl_int set_wrong(const Kernel *k, cl_uint index, cl_int error, const char *what) {
  return refuse("clSetKernelArg", error, "argument %u (%s) of kernel `%s` %s", index, k->facts->parameters[index].name, k->facts->name, what);
}

/* Return whether a larger value is the same number, such as a size_t for a uint; Intel's driver takes it, and oneMKL relies on that. */
static int keeps_number(const void *value, size_t needed, size_t size) {
  const char *bytes = value;
  for (size_t i = needed; i < size && size <= sizeof(uint64_t); i++)
    if (bytes[i]) return 0;
  return needed < size && size <= sizeof(uint64_t);
}

static cl_int CL_API_CALL set_argument(cl_kernel h, cl_uint index, size_t size, const void *value) {
  Kernel *k = kernel_of(h);
  if (!k) return CL_INVALID_KERNEL;
  if (index >= k->facts->count) return refuse("clSetKernelArg", CL_INVALID_ARG_INDEX, "kernel `%s` has no argument %u", k->facts->name, index);
  const Parameter *p = &k->facts->parameters[index];
  Argument *a = &k->arguments[index];
  cl_mem object = NULL;
  switch (p->kind) {
  case 'v':
    if (!value) return set_wrong(k, index, CL_INVALID_ARG_VALUE, "is passed by value, but the pointer is null");
    if (p->size && size != p->size && !keeps_number(value, p->size, size)) {
      char words[96];
      snprintf(words, sizeof words, "is a value of %zu bytes, got %zu bytes", (size_t)p->size, size);
      return set_wrong(k, index, CL_INVALID_ARG_SIZE, words);
    }
    return set_data(a, p->size ? p->size : size, value);
  case 'l':
    if (value) return set_wrong(k, index, CL_INVALID_ARG_VALUE, "is local memory, which has a size but no value");
    if (!size) return set_wrong(k, index, CL_INVALID_ARG_SIZE, "is local memory of 0 bytes");
    return set_data(a, size, NULL);
  case 's': {
    cl_sampler sampler;
    if (size != sizeof sampler || !value) return set_wrong(k, index, value ? CL_INVALID_ARG_SIZE : CL_INVALID_SAMPLER, "is a sampler");
    memcpy(&sampler, value, sizeof sampler);
    cl_addressing_mode address = 0;
    cl_filter_mode filter = 0;
    cl_bool is_normalized = 0;
    if (!sampler || find_memory((cl_mem)sampler) || host->clGetSamplerInfo(sampler, CL_SAMPLER_ADDRESSING_MODE, sizeof address, &address, NULL) ||
        host->clGetSamplerInfo(sampler, CL_SAMPLER_FILTER_MODE, sizeof filter, &filter, NULL) ||
        host->clGetSamplerInfo(sampler, CL_SAMPLER_NORMALIZED_COORDS, sizeof is_normalized, &is_normalized, NULL))
      return set_wrong(k, index, CL_INVALID_SAMPLER, "is a sampler");
    set_data(a, size, NULL);
    a->sampler[0] = address, a->sampler[1] = filter, a->sampler[2] = is_normalized;
    return CL_SUCCESS;
  }
  default:
    if (size != sizeof object) return set_wrong(k, index, CL_INVALID_ARG_SIZE, p->kind == 'i' ? "is an image" : "is a buffer");
    if (value) memcpy(&object, value, sizeof object);
    Memory *m = find_memory(object);
    if (object && (!m || (p->kind == 'i') != (m->shape.image_type != 0)))
      return set_wrong(k, index, CL_INVALID_MEM_OBJECT, p->kind == 'i' ? "is an image, got something else" : "is a buffer, got something else");
    if (!object && p->kind == 'i') return set_wrong(k, index, CL_INVALID_ARG_VALUE, "is an image, got null");
    if (p->kind == 'i') {
      cl_kernel_arg_access_qualifier access = CL_KERNEL_ARG_ACCESS_NONE;
      cl_int result;
      find_fact(&p->facts, CL_KERNEL_ARG_ACCESS_QUALIFIER, sizeof access, &access, NULL, &result);
      if (m->flags & CL_MEM_READ_ONLY && access != CL_KERNEL_ARG_ACCESS_READ_ONLY) return set_wrong(k, index, CL_INVALID_ARG_VALUE, "is an image to write, got one with CL_MEM_READ_ONLY");
      if (m->flags & CL_MEM_WRITE_ONLY && access != CL_KERNEL_ARG_ACCESS_WRITE_ONLY) return set_wrong(k, index, CL_INVALID_ARG_VALUE, "is an image to read, got one with CL_MEM_WRITE_ONLY");
    }
    set_data(a, size, NULL);
    a->memory = m;
    return CL_SUCCESS;
  }
}

static cl_int CL_API_CALL set_svm_argument(cl_kernel h, cl_uint index, const void *pointer) {
  Kernel *k = kernel_of(h);
  if (!k) return CL_INVALID_KERNEL;
  if (index >= k->facts->count) return CL_INVALID_ARG_INDEX;
  if (k->facts->parameters[index].kind != 'b') return set_wrong(k, index, CL_INVALID_ARG_VALUE, "is no pointer to global memory");
  set_data(&k->arguments[index], sizeof pointer, NULL);
  k->arguments[index].pointer = (void *)(uintptr_t)pointer;
  return CL_SUCCESS;
}

static cl_int CL_API_CALL set_exec_info(cl_kernel h, cl_kernel_exec_info name, size_t size, const void *value) {
  (void)size;
  if (!kernel_of(h)) return CL_INVALID_KERNEL;
  switch (name) { /* every kernel sees all shared memory */
  case CL_KERNEL_EXEC_INFO_SVM_PTRS: case CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM: case CL_KERNEL_EXEC_INFO_INDIRECT_HOST_ACCESS_INTEL:
  case CL_KERNEL_EXEC_INFO_INDIRECT_DEVICE_ACCESS_INTEL: case CL_KERNEL_EXEC_INFO_INDIRECT_SHARED_ACCESS_INTEL: case CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL:
    return value ? CL_SUCCESS : CL_INVALID_VALUE;
  default: return CL_INVALID_VALUE;
  }
}

static cl_int CL_API_CALL get_kernel_info(cl_kernel h, cl_kernel_info name, size_t room, void *out, size_t *written) {
  Kernel *k = kernel_of(h);
  cl_int result;
  if (!k) return CL_INVALID_KERNEL;
  switch (name) {
  case CL_KERNEL_FUNCTION_NAME: return give(k->facts->name, strlen(k->facts->name) + 1, room, out, written);
  case CL_KERNEL_NUM_ARGS: GIVE(cl_uint, k->facts->count);
  case CL_KERNEL_REFERENCE_COUNT: GIVE(cl_uint, k->references);
  case CL_KERNEL_CONTEXT: GIVE(cl_context, k->program->context);
  case CL_KERNEL_PROGRAM: GIVE(Program *, k->program);
  default: return find_fact(&k->facts->facts, name, room, out, written, &result) ? result : CL_INVALID_VALUE;
  }
}

static cl_int CL_API_CALL get_argument_info(cl_kernel h, cl_uint index, cl_kernel_arg_info name, size_t room, void *out, size_t *written) {
  Kernel *k = kernel_of(h);
  cl_int result;
  if (!k) return CL_INVALID_KERNEL;
  if (index >= k->facts->count) return CL_INVALID_ARG_INDEX;
  return find_fact(&k->facts->parameters[index].facts, name, room, out, written, &result) ? result : CL_INVALID_VALUE;
}

/* Return the local memory of a group: that of the kernel, and of its arguments. */
static uint64_t local_bytes(const Kernel *k) {
  uint64_t size = find_number(&k->facts->group_facts, CL_KERNEL_LOCAL_MEM_SIZE);
  for (size_t i = 0; i < k->facts->count; i++)
    if (k->facts->parameters[i].kind == 'l') size += k->arguments[i].size;
  return size;
}

static cl_int CL_API_CALL get_group_info(cl_kernel h, cl_device_id d, cl_kernel_work_group_info name, size_t room, void *out, size_t *written) {
  Kernel *k = kernel_of(h);
  cl_int result;
  if (!k) return CL_INVALID_KERNEL;
  if (d && own_device(d) != own_device(k->program->device)) return CL_INVALID_DEVICE;
  if (name == CL_KERNEL_LOCAL_MEM_SIZE) GIVE(cl_ulong, local_bytes(k));
  return find_fact(&k->facts->group_facts, name, room, out, written, &result) ? result : CL_INVALID_VALUE;
}

static cl_int CL_API_CALL get_sub_group_info(cl_kernel h, cl_device_id d, cl_kernel_sub_group_info name, size_t input_size, const void *input, size_t room, void *out, size_t *written) {
  Kernel *k = kernel_of(h);
  if (!k) return CL_INVALID_KERNEL;
  if (d && own_device(d) != own_device(k->program->device)) return CL_INVALID_DEVICE;
  size_t items = 1, sizes[3] = {0};
  if (input && input_size <= sizeof sizes) memcpy(sizes, input, input_size);
  for (size_t i = 0; i < input_size / sizeof *sizes && i < 3; i++) items *= sizes[i];
  switch (name) {
  case CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE: GIVE(size_t, k->facts->lanes);
  case CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE: GIVE(size_t, (items + k->facts->lanes - 1) / k->facts->lanes);
  case CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT: {
    size_t wanted[3] = {sizes[0] * k->facts->lanes, 1, 1};
    if (wanted[0] > k->facts->max_items) wanted[0] = wanted[1] = wanted[2] = 0;
    return give(wanted, room < sizeof wanted && out ? room : sizeof wanted, room, out, written);
  }
  case CL_KERNEL_MAX_NUM_SUB_GROUPS: GIVE(size_t, k->facts->max_items / k->facts->lanes);
  case CL_KERNEL_COMPILE_NUM_SUB_GROUPS: GIVE(size_t, 0);
  case CL_KERNEL_COMPILE_SUB_GROUP_SIZE_INTEL: GIVE(size_t, find_number(&k->facts->group_facts, name));
  default: return CL_INVALID_VALUE;
  }
}

/* ---- commands and waits of the host, recorded */

/* Return an error for a queue of the process from which this one forked. */
static cl_int enter(cl_command_queue q, const char *call) {
  cl_device_id d = NULL;
  if (!is_forked || !q || host->clGetCommandQueueInfo(q, CL_QUEUE_DEVICE, sizeof d, &d, NULL) || d == own_device(d)) return CL_SUCCESS;
  return refuse(call, CL_INVALID_COMMAND_QUEUE, "its queue is that of the process from which this one forked");
}

static void record_wait(cl_uint n, const cl_event *events) {
  const uint64_t head[] = {'w', n};
  record(2, head, n, events);
}

static cl_int CL_API_CALL sync_clFinish(cl_command_queue q) {
  cl_int result = enter(q, "clFinish");
  if (!result) result = host->clFinish(q);
  if (!result) RECORD('f', (uintptr_t)q), try_send_order();
  return result;
}

static cl_int CL_API_CALL sync_clWaitForEvents(cl_uint n, const cl_event *w) {
  cl_command_queue q = NULL;
  if (is_forked && n && w) host->clGetEventInfo(w[0], CL_EVENT_COMMAND_QUEUE, sizeof q, &q, NULL);
  cl_int result = enter(q, "clWaitForEvents");
  if (result) return result;
  result = host->clWaitForEvents(n, w);
  if (n && w) record_wait(n, w), try_send_order();
  return result;
}

static cl_int CL_API_CALL get_event_info(cl_event e, cl_event_info name, size_t room, void *out, size_t *written) {
  cl_int result = host->clGetEventInfo(e, name, room, out, written);
  if (!result && name == CL_EVENT_COMMAND_EXECUTION_STATUS && out && *(cl_int *)out <= CL_COMPLETE) record_wait(1, &e);
  cl_command_type theirs = 0;
  if (!result && name == CL_EVENT_COMMAND_TYPE && out) memcpy(&theirs, out, sizeof theirs);
  if (theirs == CL_COMMAND_NATIVE_KERNEL || theirs == CL_COMMAND_MARKER) {
    pthread_mutex_lock(&order_lock);
    const EventType *own = find_event_type(e);
    if (own && own->type) memcpy(out, &own->type, sizeof own->type);
    pthread_mutex_unlock(&order_lock);
  }
  return result;
}

static cl_int CL_API_CALL sync_clGetEventProfilingInfo(cl_event e, cl_profiling_info name, size_t room, void *out, size_t *written) {
  cl_int result = host->clGetEventProfilingInfo(e, name, room, out, written);
  if (!result) record_wait(1, &e);
  return result;
}

typedef struct {
  void(CL_CALLBACK *notify)(cl_event, cl_int, void *);
  void *data;
} Callback;

/* What the callback does comes after the command, and so does what other threads enqueue once they have seen it. */
static void CL_CALLBACK call_back(cl_event e, cl_int status, void *data) {
  Callback own;
  memcpy(&own, data, sizeof own);
  free(data);
  record_wait(1, &e);
  own.notify(e, status, own.data);
}

static cl_int CL_API_CALL sync_clSetEventCallback(cl_event e, cl_int status, void(CL_CALLBACK *notify)(cl_event, cl_int, void *), void *data) {
  Callback *own = notify ? malloc(sizeof *own) : NULL;
  if (own) *own = (Callback){notify, data};
  cl_int result = host->clSetEventCallback(e, status, own ? call_back : NULL, own);
  if (result) free(own);
  return result;
}

static cl_event CL_API_CALL sync_clCreateUserEvent(cl_context c, cl_int *error) {
  cl_event e = host->clCreateUserEvent(c, error);
  pthread_mutex_lock(&order_lock);
  uint64_t number = commands += commands || queue_count > 1;
  pthread_mutex_unlock(&order_lock);
  if (e) RECORD('v', number, (uintptr_t)e);
  return e;
}

static cl_int CL_API_CALL sync_clSetUserEventStatus(cl_event e, cl_int status) {
  RECORD('s', (uintptr_t)e);
  return host->clSetUserEventStatus(e, status);
}

#define RUN(function, kind, blocks, values, ...)                                                                       \
  cl_int result = enter(q, #function);                                                                                 \
  if (result) return result;                                                                                           \
  const Region touched[] = {__VA_ARGS__};                                                                              \
  if ((result = check_objects(#function, touched, sizeof touched / sizeof *touched))) return result;                    \
  uint64_t number = q ? begin_command(#function, kind, q, n, w, touched, sizeof touched / sizeof *touched) : 0;        \
  result = host->function values;                                                                                      \
  if (!result) note_event_type(e, 0);                                                                                  \
  end_command(number, e, result, blocks);                                                                              \
  return result ? refuse_command(#function, result, touched, sizeof touched / sizeof *touched) : result;
#define COMMAND(function, kind, blocks, parameters, values, ...)                                                       \
  static cl_int CL_API_CALL sync_##function parameters { RUN(function, kind, blocks, values, __VA_ARGS__) }
#define BUFFER(m, is_write, offset, size) region_of_buffer(m, is_write, offset, size)
#define RECTANGLE(m, is_write, origin, shape, pitch, slice_pitch) region_of_rectangle(m, is_write, origin, shape, pitch, slice_pitch)
#define IMAGE(m, is_write, origin, shape) region_of_image(m, is_write, origin, shape)
#define NOTHING (Region){0}

COMMAND(clEnqueueReadBuffer, 'c', b, (cl_command_queue q, cl_mem m, cl_bool b, size_t o, size_t s, void *p, cl_uint n, const cl_event *w, cl_event *e), (q, m, b, o, s, p, n, w, e), BUFFER(m, 0, o, s))
COMMAND(clEnqueueWriteBuffer, 'c', b, (cl_command_queue q, cl_mem m, cl_bool b, size_t o, size_t s, const void *p, cl_uint n, const cl_event *w, cl_event *e), (q, m, b, o, s, p, n, w, e), BUFFER(m, 1, o, s))
COMMAND(clEnqueueCopyBuffer, 'c', 0, (cl_command_queue q, cl_mem a, cl_mem b, size_t o, size_t t, size_t s, cl_uint n, const cl_event *w, cl_event *e), (q, a, b, o, t, s, n, w, e), BUFFER(a, 0, o, s), BUFFER(b, 1, t, s))
COMMAND(clEnqueueReadBufferRect, 'c', b, (cl_command_queue q, cl_mem m, cl_bool b, const size_t *o, const size_t *h, const size_t *r, size_t a, size_t s, size_t c, size_t d, void *p, cl_uint n, const cl_event *w, cl_event *e), (q, m, b, o, h, r, a, s, c, d, p, n, w, e), RECTANGLE(m, 0, o, r, a, s))
COMMAND(clEnqueueWriteBufferRect, 'c', b, (cl_command_queue q, cl_mem m, cl_bool b, const size_t *o, const size_t *h, const size_t *r, size_t a, size_t s, size_t c, size_t d, const void *p, cl_uint n, const cl_event *w, cl_event *e), (q, m, b, o, h, r, a, s, c, d, p, n, w, e), RECTANGLE(m, 1, o, r, a, s))
COMMAND(clEnqueueCopyBufferRect, 'c', 0, (cl_command_queue q, cl_mem m, cl_mem b, const size_t *o, const size_t *h, const size_t *r, size_t a, size_t s, size_t c, size_t d, cl_uint n, const cl_event *w, cl_event *e), (q, m, b, o, h, r, a, s, c, d, n, w, e), RECTANGLE(m, 0, o, r, a, s), RECTANGLE(b, 1, h, r, c, d))
COMMAND(clEnqueueFillBuffer, 'c', 0, (cl_command_queue q, cl_mem m, const void *p, size_t s, size_t o, size_t t, cl_uint n, const cl_event *w, cl_event *e), (q, m, p, s, o, t, n, w, e), BUFFER(m, 1, o, t))
COMMAND(clEnqueueReadImage, 'c', b, (cl_command_queue q, cl_mem m, cl_bool b, const size_t *o, const size_t *r, size_t a, size_t s, void *p, cl_uint n, const cl_event *w, cl_event *e), (q, m, b, o, r, a, s, p, n, w, e), IMAGE(m, 0, o, r))
COMMAND(clEnqueueWriteImage, 'c', b, (cl_command_queue q, cl_mem m, cl_bool b, const size_t *o, const size_t *r, size_t a, size_t s, const void *p, cl_uint n, const cl_event *w, cl_event *e), (q, m, b, o, r, a, s, p, n, w, e), IMAGE(m, 1, o, r))
COMMAND(clEnqueueCopyImage, 'c', 0, (cl_command_queue q, cl_mem a, cl_mem b, const size_t *o, const size_t *r, const size_t *s, cl_uint n, const cl_event *w, cl_event *e), (q, a, b, o, r, s, n, w, e), IMAGE(a, 0, o, s), IMAGE(b, 1, r, s))
COMMAND(clEnqueueFillImage, 'c', 0, (cl_command_queue q, cl_mem m, const void *p, const size_t *o, const size_t *r, cl_uint n, const cl_event *w, cl_event *e), (q, m, alias_color(find_memory(m), p, (uint32_t[4]){0}), o, r, n, w, e), IMAGE(m, 1, o, r))
COMMAND(clEnqueueCopyImageToBuffer, 'c', 0, (cl_command_queue q, cl_mem a, cl_mem b, const size_t *o, const size_t *r, size_t s, cl_uint n, const cl_event *w, cl_event *e), (q, a, b, o, r, s, n, w, e), IMAGE(a, 0, o, r), BUFFER(b, 1, s, bytes_of_texels(a, r)))
COMMAND(clEnqueueCopyBufferToImage, 'c', 0, (cl_command_queue q, cl_mem a, cl_mem b, size_t s, const size_t *o, const size_t *r, cl_uint n, const cl_event *w, cl_event *e), (q, a, b, s, o, r, n, w, e), BUFFER(a, 0, s, bytes_of_texels(b, r)), IMAGE(b, 1, o, r))
COMMAND(clEnqueueMigrateMemObjects, 'c', 0, (cl_command_queue q, cl_uint c, const cl_mem *m, cl_mem_migration_flags f, cl_uint n, const cl_event *w, cl_event *e), (q, c, m, f, n, w, e), NOTHING)
COMMAND(clEnqueueNativeKernel, 'c', 0, (cl_command_queue q, void(CL_CALLBACK *f)(void *), void *a, size_t s, cl_uint c, const cl_mem *m, const void **l, cl_uint n, const cl_event *w, cl_event *e), (q, f, a, s, c, m, l, n, w, e), NOTHING)
COMMAND(clEnqueueMarkerWithWaitList, 'm', 0, (cl_command_queue q, cl_uint n, const cl_event *w, cl_event *e), (q, n, w, e), NOTHING)
COMMAND(clEnqueueBarrierWithWaitList, 'b', 0, (cl_command_queue q, cl_uint n, const cl_event *w, cl_event *e), (q, n, w, e), NOTHING)

static cl_int CL_API_CALL sync_clEnqueueMarker(cl_command_queue q, cl_event *e) {
  const cl_uint n = 0;
  const cl_event *w = NULL;
  RUN(clEnqueueMarker, 'm', 0, (q, e), NOTHING)
}

static cl_int CL_API_CALL sync_clEnqueueBarrier(cl_command_queue q) {
  const cl_uint n = 0;
  const cl_event *w = NULL, *e = NULL;
  RUN(clEnqueueBarrier, 'b', 0, (q), NOTHING)
}

static cl_int CL_API_CALL sync_clEnqueueWaitForEvents(cl_command_queue q, cl_uint n, const cl_event *w) {
  const cl_event *e = NULL;
  RUN(clEnqueueWaitForEvents, 'b', 0, (q, n, w), NOTHING)
}

/* A place in the arena for the program's own memory of a buffer (CL_MEM_USE_HOST_PTR). */
static const char *place_of_mapped(const Memory *m, const char *p) {
  if (!m || !m->users || p < m->users || p >= m->users + m->slices * m->slice_step) return p;
  size_t byte = (size_t)(p - m->users), in_slice = byte % m->slice_step;
  return m->place + (byte / m->slice_step * m->rows + in_slice / m->row_step) * m->row + in_slice % m->row_step;
}

static cl_int CL_API_CALL sync_clEnqueueUnmapMemObject(cl_command_queue q, cl_mem m, void *p, cl_uint n, const cl_event *w, cl_event *e) {
  Memory *own = find_memory(m);
  RUN(clEnqueueUnmapMemObject, 'u', 0, (q, m, p, n, w, e), own ? region_of_pointer(place_of_mapped(own, p), 1, 1) : (Region){.is_unknown = 1})
}

#define MAPS_FOR_WRITES ((f & ~(cl_map_flags)CL_MAP_READ) != 0)
#define MAP(function, values, region)                                                                                  \
  cl_int result = enter(q, #function);                                                                                 \
  if (result) return fail_memory(error, result);                                                                       \
  const Region touched = region;                                                                                       \
  if ((result = check_objects(#function, &touched, 1))) return fail_memory(error, result);                             \
  uint64_t number = q ? begin_command(#function, 'c', q, n, w, &touched, 1) : 0;                                       \
  void *place = host->function values;                                                                                 \
  end_command(number, e, result, b);                                                                                   \
  if (result) refuse_command(#function, result, &touched, 1);                                                          \
  if (error) *error = result;                                                                                          \
  return place;

static void *CL_API_CALL sync_clEnqueueMapBuffer(cl_command_queue q, cl_mem m, cl_bool b, cl_map_flags f, size_t o, size_t s, cl_uint n, const cl_event *w, cl_event *e, cl_int *error) {
  MAP(clEnqueueMapBuffer, (q, m, b, f, o, s, n, w, e, &result), BUFFER(m, MAPS_FOR_WRITES, o, s))
}
static void *CL_API_CALL sync_clEnqueueMapImage(cl_command_queue q, cl_mem m, cl_bool b, cl_map_flags f, const size_t *o, const size_t *r, size_t *a, size_t *s, cl_uint n, const cl_event *w, cl_event *e, cl_int *error) {
  MAP(clEnqueueMapImage, (q, m, b, f, o, r, a, s, n, w, e, &result), IMAGE(m, MAPS_FOR_WRITES, o, r))
}

static cl_command_queue CL_API_CALL create_plain_queue(cl_context c, cl_device_id d, cl_command_queue_properties p, cl_int *error) {
  __atomic_add_fetch(&queue_count, 1, __ATOMIC_SEQ_CST);
  return host->clCreateCommandQueue(c, own_device(d), p, error);
}

/* ---- launches */

typedef struct {
  Message request;
  size_t copy_count;
  struct Copy { /* of a Memory, which may be gone before the launch runs */
    char *users, *place;
    size_t row, rows, slices, row_step, slice_step;
  } copies[MAX_ARGUMENTS];
} Launch;

/* Copy the program's own memory into the arena, or back. */
static void copy_users(const Launch *l, int is_back) {
  for (const struct Copy *c = l->copies; c < l->copies + l->copy_count; c++)
    for (size_t i = 0; i < c->rows * c->slices; i++) {
      char *users = c->users + i / c->rows * c->slice_step + i % c->rows * c->row_step, *place = c->place + i * c->row;
      memcpy(is_back ? users : place, is_back ? place : users, c->row);
    }
}

static void CL_CALLBACK run_launch(void *block) {
  Launch *l;
  Message answer;
  memcpy(&l, block, sizeof l);
  copy_users(l, 0);
  if (!ask('L', &l->request, &answer)) {
    size_t size;
    char *printed = take_bytes(&answer, &size);
    if (size) fwrite(printed, 1, size, stdout), fflush(stdout);
    free(printed);
    copy_users(l, 1);
  }
  free(answer.data);
  free(l);
  count_pending(-1);
}

static void put_memory(Launch *l, const Argument *a) {
  const Memory *m = a->memory, *top = m->whole ? m->whole : m;
  put_number(&l->request, top->number);
  int is_here = is_in_arena(top->place); /* not if the process has forked since */
  put_number(&l->request, is_here ? (uint64_t)(top->place - arena) : 0);
  put_number(&l->request, top->size);
  put_number(&l->request, (uint64_t)(m->place - top->place));
  put_number(&l->request, m->size);
  put_number(&l->request, m->flags);
  put_number(&l->request, is_here && top->object != NULL && m->object != NULL);
  if (top->users && top->users != top->place && top->object && is_here) {
    size_t i = 0;
    while (i < l->copy_count && l->copies[i].place != top->place) i++;
    if (i == l->copy_count) l->copies[l->copy_count++] = (struct Copy){top->users, top->place, top->row, top->rows, top->slices, top->row_step, top->slice_step};
  }
}

static cl_int check_sizes(const Kernel *k, cl_uint dimensions, const size_t *global, const size_t *local) {
  const char *call = "clEnqueueNDRangeKernel", *name = k->facts->name;
  size_t items = 1;
  for (cl_uint i = 0; i < dimensions; i++) {
    if (global[i] > UINT32_MAX) return refuse(call, CL_INVALID_GLOBAL_WORK_SIZE, "kernel `%s`: a global size of %zu is larger than 2^32", name, global[i]);
    if (local && !local[i]) return refuse(call, CL_INVALID_WORK_GROUP_SIZE, "kernel `%s`: the local size is 0", name);
    if (local && local[i] > max_group_items) return refuse(call, CL_INVALID_WORK_ITEM_SIZE, "kernel `%s`: a local size of %zu is larger than %zu", name, local[i], (size_t)max_group_items);
    if (local && global[i] % local[i] && !k->facts->is_ragged)
      return refuse(call, CL_INVALID_WORK_GROUP_SIZE, "kernel `%s`: local size %zu does not divide global size %zu (only programs that are built with -cl-std=CL2.0 or later, and without -cl-uniform-work-group-size, may have such sizes)", name, local[i], global[i]);
    if (local && local[i] > global[i] && !k->facts->is_ragged) return refuse(call, CL_INVALID_WORK_GROUP_SIZE, "kernel `%s`: local size %zu is larger than global size %zu", name, local[i], global[i]);
    if (local) items *= local[i];
  }
  if (items > k->facts->max_items) return refuse(call, CL_INVALID_WORK_GROUP_SIZE, "kernel `%s`: a group of %zu work items; at most %zu", name, items, (size_t)k->facts->max_items);
  for (cl_uint i = 0; i < 3 && k->facts->required[0]; i++)
    if (local ? (i < dimensions ? local[i] : 1) != k->facts->required[i] : (i < dimensions ? global[i] : 1) % k->facts->required[i] && !k->facts->is_ragged)
      return refuse(call, CL_INVALID_WORK_GROUP_SIZE, "kernel `%s` requires a local size of %zu, %zu, %zu", name, (size_t)k->facts->required[0], (size_t)k->facts->required[1], (size_t)k->facts->required[2]);
  return CL_SUCCESS;
}

static void put_shared(Message *m) {
  size_t count = 0;
  pthread_mutex_lock(&object_lock);
  for (Shared *s = shared; s; s = s->next) count++;
  put_number(m, count);
  for (Shared *s = shared; s; s = s->next) put_number(m, (uint64_t)(s->place - arena)), put_number(m, s->size), put_number(m, s->number);
  pthread_mutex_unlock(&object_lock);
}

static void CL_CALLBACK do_nothing(void *block) { (void)block; }

/* Enqueue a launch of no work items, which OpenCL has since 2.1: only its events count. */
static cl_int enqueue_nothing(cl_command_queue q, cl_uint n, const cl_event *w, cl_event *e) {
  char block = 0;
  uint64_t number = begin_command("clEnqueueNDRangeKernel", 'c', q, n, w, NULL, 0);
  cl_int result = host->clEnqueueNativeKernel(q, do_nothing, &block, sizeof block, 0, NULL, NULL, n, w, e);
  if (!result) note_event_type(e, CL_COMMAND_NDRANGE_KERNEL);
  end_command(number, e, result, CL_FALSE);
  return result;
}

static cl_int enqueue_range(const char *call, cl_command_type type, cl_command_queue q, cl_kernel h, cl_uint dimensions, const size_t *offset, const size_t *global,
                            const size_t *local, cl_uint n, const cl_event *w, cl_event *e) {
  Kernel *k = kernel_of(h);
  cl_int result;
  if (!q) return CL_INVALID_COMMAND_QUEUE;
  if (is_forked && (result = enter(q, call))) return result;
  if (!k) return refuse(call, CL_INVALID_KERNEL, "the kernel is none that the program created");
  if (dimensions < 1 || dimensions > 3) return refuse(call, CL_INVALID_WORK_DIMENSION, "kernel `%s`: %u dimensions", k->facts->name, dimensions);
  int is_empty = !global;
  for (cl_uint i = 0; !is_empty && i < dimensions; i++) is_empty = !global[i];
  result = is_empty ? CL_SUCCESS : check_sizes(k, dimensions, global, local);
  if (result) return result;
  for (size_t i = 0; i < k->facts->count; i++)
    if (!k->arguments[i].is_set) return refuse(call, CL_INVALID_KERNEL_ARGS, "kernel `%s`: argument %zu (%s) is not set", k->facts->name, i, k->facts->parameters[i].name);
  if (is_empty) return enqueue_nothing(q, n, w, e);
  const uint64_t most = find_number(&device_facts, CL_DEVICE_LOCAL_MEM_SIZE), needed = local_bytes(k);
  if (needed > most) return refuse(call, CL_OUT_OF_RESOURCES, "kernel `%s`: %zu bytes of local memory; the device has %zu", k->facts->name, (size_t)needed, (size_t)most);
  if (!is_connected()) return CL_OUT_OF_RESOURCES;
  if (k->program->server != servers) return refuse(call, CL_INVALID_PROGRAM_EXECUTABLE, "kernel `%s` was built before the process forked, which now has a server of its own", k->facts->name);
  Launch *l = calloc(1, sizeof *l);
  if (!l) return CL_OUT_OF_HOST_MEMORY;
  Message *m = &l->request;
  put_number(m, k->program->number);
  put_number(m, (uint64_t)(k->facts - k->program->kernels));
  put_number(m, dimensions);
  for (cl_uint i = 0; i < 3; i++) put_number(m, i < dimensions ? global[i] : 1);
  for (cl_uint i = 0; i < 3; i++) put_number(m, !local ? 0 : i >= dimensions ? 1 : local[i] < global[i] ? local[i] : global[i]);
  for (cl_uint i = 0; i < 3; i++) put_number(m, offset && i < dimensions ? offset[i] : 0);
  uint64_t number = begin_command(call, 'k', q, n, w, NULL, 0);
  put_number(m, number);
  put_shared(m);
  cl_mem objects[MAX_ARGUMENTS];
  const void *places[MAX_ARGUMENTS];
  char block[sizeof l + MAX_ARGUMENTS * sizeof(void *)];
  cl_uint used = 0;
  memcpy(block, &l, sizeof l);
  for (size_t i = 0; i < k->facts->count; i++) {
    const Argument *a = &k->arguments[i];
    uint64_t kind = k->facts->parameters[i].kind;
    if (kind == 'b' && !a->memory) kind = a->pointer ? 'p' : 'n';
    put_number(m, kind);
    if (kind == 'v') put_bytes(m, a->data, a->size);
    else if (kind == 'l') put_number(m, a->size);
    else if (kind == 's') put_number(m, a->sampler[0]), put_number(m, a->sampler[1]), put_number(m, a->sampler[2]);
    else if (kind == 'p') put_number(m, (uintptr_t)a->pointer);
    else if (kind != 'n') {
      put_memory(l, a);
      if (kind == 'i') {
        put_number(m, a->memory->shape.image_type), put_number(m, a->memory->shape.image_width);
        put_number(m, a->memory->shape.image_height), put_number(m, a->memory->shape.image_depth);
        put_number(m, a->memory->format.image_channel_order), put_number(m, a->memory->format.image_channel_data_type);
      }
      int is_listed = !a->memory->object; /* the host must not see a released object */
      for (cl_uint o = 0; o < used; o++) is_listed |= objects[o] == a->memory->object;
      if (!is_listed) objects[used] = a->memory->object, places[used] = block + sizeof l + used * sizeof(void *), used++;
    }
  }
  count_pending(1);
  result = host->clEnqueueNativeKernel(q, run_launch, block, sizeof l + used * sizeof(void *), used, used ? objects : NULL, used ? places : NULL, n, w, e);
  if (!result) note_event_type(e, type);
  end_command(number, e, result, CL_FALSE);
  if (result) {
    count_pending(-1);
    free(l->request.data), free(l);
    refuse(call, result, "kernel `%s`: %s", k->facts->name, reason_of(call, result));
  }
  return result;
}

static cl_int CL_API_CALL enqueue_kernel(cl_command_queue q, cl_kernel k, cl_uint dimensions, const size_t *offset, const size_t *global, const size_t *local,
                                         cl_uint n, const cl_event *w, cl_event *e) {
  return enqueue_range("clEnqueueNDRangeKernel", CL_COMMAND_NDRANGE_KERNEL, q, k, dimensions, offset, global, local, n, w, e);
}

static cl_int CL_API_CALL enqueue_task(cl_command_queue q, cl_kernel k, cl_uint n, const cl_event *w, cl_event *e) {
  size_t one = 1;
  return enqueue_range("clEnqueueTask", CL_COMMAND_TASK, q, k, 1, NULL, &one, &one, n, w, e);
}

/* ---- what there is not */

static cl_mem CL_API_CALL create_pipe(cl_context c, cl_mem_flags f, cl_uint size, cl_uint count, const cl_pipe_properties *p, cl_int *error) {
  (void)c, (void)f, (void)size, (void)count, (void)p;
  return decline_object("clCreatePipe", error, CL_INVALID_OPERATION, "the simulated device has no pipes");
}

static cl_command_queue CL_API_CALL create_queue(cl_context c, cl_device_id d, const cl_queue_properties *p, cl_int *error) {
  for (const cl_queue_properties *at = p; at && *at; at += 2)
    if (*at == CL_QUEUE_PROPERTIES && at[1] & (CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT))
      return decline_object("clCreateCommandQueueWithProperties", error, CL_INVALID_QUEUE_PROPERTIES, "kernels cannot enqueue kernels");
  __atomic_add_fetch(&queue_count, 1, __ATOMIC_SEQ_CST);
  return host->clCreateCommandQueueWithProperties(c, own_device(d), p, error);
}

static cl_int CL_API_CALL set_queue_property(cl_command_queue q, cl_command_queue_properties p, cl_bool is_on, cl_command_queue_properties *before) {
  (void)p, (void)is_on, (void)before;
  return q ? CL_INVALID_OPERATION : CL_INVALID_COMMAND_QUEUE; /* as of OpenCL 1.1 */
}

static cl_int CL_API_CALL set_device_queue(cl_context c, cl_device_id d, cl_command_queue q) {
  (void)c, (void)d, (void)q;
  return decline("clSetDefaultDeviceCommandQueue", CL_INVALID_OPERATION, "kernels cannot enqueue kernels");
}

/* Functions of extensions: only those that this file has, because others could run kernels past it. */
#define EXTENSION(function, ours) {#function, (void *)(uintptr_t)ours}
static const struct { const char *name; void *function; } extensions[] = {
  EXTENSION(clCreateProgramWithILKHR, create_with_il), EXTENSION(clGetKernelSubGroupInfoKHR, get_sub_group_info),
  EXTENSION(clHostMemAllocINTEL, usm_host), EXTENSION(clDeviceMemAllocINTEL, usm_device), EXTENSION(clSharedMemAllocINTEL, usm_shared),
  EXTENSION(clMemFreeINTEL, usm_free), EXTENSION(clMemBlockingFreeINTEL, usm_free), EXTENSION(clGetMemAllocInfoINTEL, usm_info),
  EXTENSION(clSetKernelArgMemPointerINTEL, set_svm_argument), EXTENSION(clEnqueueMemFillINTEL, usm_fill),
  EXTENSION(clEnqueueMemcpyINTEL, usm_copy), EXTENSION(clEnqueueMigrateMemINTEL, usm_migrate), EXTENSION(clEnqueueMemAdviseINTEL, usm_advise),
};

static void *find_extension(const char *name) {
  for (size_t i = 0; name && i < sizeof extensions / sizeof *extensions; i++)
    if (!strcmp(name, extensions[i].name)) return extensions[i].function;
  return NULL;
}

static void *CL_API_CALL get_extension_for_platform(cl_platform_id p, const char *name) { (void)p; return find_extension(name); }
static void *CL_API_CALL get_extension(const char *name) { return find_extension(name); }

/* ---- the table: `DIVERT(function, ours)` is done here, `REFUSE` returns an error, `HOST` passes through,
   `ORDER` passes through and is recorded, because it may order commands */

#define DIVERT(function, ours) layer.function = ours
#define REFUSE(function, ours) layer.function = ours
#define HOST(function)
#define ORDER(function) layer.function = sync_##function

static void fill_table(void) {
  DIVERT(clGetPlatformInfo, get_platform_info); DIVERT(clGetDeviceIDs, get_devices); DIVERT(clGetDeviceInfo, get_device_info);
  DIVERT(clCreateContext, create_context);
  DIVERT(clCreateContextFromType, create_context_from_type); DIVERT(clCreateBuffer, create_buffer);
  DIVERT(clCreateBufferWithProperties, create_buffer_with_properties); DIVERT(clCreateSubBuffer, create_sub_buffer);
  DIVERT(clCreateImage, create_image); DIVERT(clCreateImageWithProperties, create_image_with_properties); DIVERT(clCreateImage2D, create_image_2d);
  DIVERT(clCreateImage3D, create_image_3d); DIVERT(clGetSupportedImageFormats, get_image_formats); DIVERT(clGetMemObjectInfo, get_memory_info); DIVERT(clGetImageInfo, get_image_info);
  DIVERT(clGetEventInfo, get_event_info); DIVERT(clSVMAlloc, svm_alloc); DIVERT(clSVMFree, svm_free); DIVERT(clEnqueueSVMFree, svm_enqueue_free);
  DIVERT(clEnqueueSVMMemcpy, svm_copy); DIVERT(clEnqueueSVMMemFill, svm_fill); DIVERT(clEnqueueSVMMap, svm_map);
  DIVERT(clEnqueueSVMUnmap, svm_unmap); DIVERT(clEnqueueSVMMigrateMem, svm_migrate); DIVERT(clCreateProgramWithSource, create_with_source);
  DIVERT(clCreateProgramWithIL, create_with_il); DIVERT(clCreateProgramWithBinary, create_with_binary); DIVERT(clRetainProgram, retain_program);
  DIVERT(clReleaseProgram, release_program); DIVERT(clSetProgramReleaseCallback, set_release_callback); DIVERT(clBuildProgram, build_program);
  DIVERT(clCompileProgram, compile_program); DIVERT(clLinkProgram, link_program); DIVERT(clUnloadCompiler, unload_compiler);
  DIVERT(clUnloadPlatformCompiler, unload_platform_compiler); DIVERT(clGetProgramInfo, get_program_info);
  DIVERT(clGetProgramBuildInfo, get_build_info); DIVERT(clCreateKernel, create_kernel); DIVERT(clCreateKernelsInProgram, create_kernels);
  DIVERT(clCloneKernel, clone_kernel); DIVERT(clRetainKernel, retain_kernel); DIVERT(clReleaseKernel, release_kernel);
  DIVERT(clSetKernelArg, set_argument); DIVERT(clSetKernelArgSVMPointer, set_svm_argument); DIVERT(clSetKernelExecInfo, set_exec_info);
  DIVERT(clGetKernelInfo, get_kernel_info); DIVERT(clGetKernelArgInfo, get_argument_info); DIVERT(clGetKernelWorkGroupInfo, get_group_info);
  DIVERT(clGetKernelSubGroupInfo, get_sub_group_info); DIVERT(clGetKernelSubGroupInfoKHR, get_sub_group_info);
  DIVERT(clEnqueueNDRangeKernel, enqueue_kernel); DIVERT(clEnqueueTask, enqueue_task); DIVERT(clCreateCommandQueueWithProperties, create_queue);
  DIVERT(clGetExtensionFunctionAddress, get_extension); DIVERT(clGetExtensionFunctionAddressForPlatform, get_extension_for_platform);
  REFUSE(clCreateProgramWithBuiltInKernels, create_with_built_in); REFUSE(clSetProgramSpecializationConstant, set_specialization);
  REFUSE(clCreateSubDevices, create_sub_devices); REFUSE(clCreatePipe, create_pipe); REFUSE(clSetDefaultDeviceCommandQueue, set_device_queue);
  DIVERT(clCreateCommandQueue, create_plain_queue); ORDER(clGetEventProfilingInfo); ORDER(clFinish); ORDER(clWaitForEvents);
  ORDER(clSetUserEventStatus); ORDER(clSetEventCallback); ORDER(clEnqueueReadBuffer); ORDER(clEnqueueWriteBuffer); ORDER(clEnqueueCopyBuffer);
  ORDER(clEnqueueReadBufferRect); ORDER(clEnqueueWriteBufferRect); ORDER(clEnqueueCopyBufferRect); ORDER(clEnqueueFillBuffer);
  ORDER(clEnqueueReadImage); ORDER(clEnqueueWriteImage); ORDER(clEnqueueCopyImage); ORDER(clEnqueueFillImage); ORDER(clEnqueueCopyImageToBuffer);
  ORDER(clEnqueueCopyBufferToImage); ORDER(clEnqueueUnmapMemObject); ORDER(clEnqueueMigrateMemObjects); ORDER(clEnqueueMarker);
  ORDER(clEnqueueBarrier); ORDER(clEnqueueWaitForEvents); ORDER(clEnqueueMarkerWithWaitList); ORDER(clEnqueueBarrierWithWaitList);
  ORDER(clEnqueueMapBuffer); ORDER(clEnqueueMapImage); ORDER(clEnqueueNativeKernel);
  ORDER(clCreateUserEvent); HOST(clGetPlatformIDs) HOST(clRetainDevice) HOST(clReleaseDevice) 
  HOST(clRetainContext) HOST(clReleaseContext) HOST(clGetContextInfo) HOST(clSetContextDestructorCallback) HOST(clRetainCommandQueue)
  HOST(clReleaseCommandQueue) HOST(clGetCommandQueueInfo) DIVERT(clSetCommandQueueProperty, set_queue_property); HOST(clRetainMemObject) DIVERT(clReleaseMemObject, release_memory);
  HOST(clSetMemObjectDestructorCallback) HOST(clCreateSampler) HOST(clCreateSamplerWithProperties) HOST(clRetainSampler)
  HOST(clReleaseSampler) HOST(clGetSamplerInfo) HOST(clRetainEvent) HOST(clReleaseEvent) HOST(clFlush)
  HOST(clGetDeviceAndHostTimer) HOST(clGetHostTimer)
}

CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info name, size_t room, void *out, size_t *written) {
  if (name == CL_LAYER_API_VERSION) GIVE(cl_layer_api_version, CL_LAYER_API_VERSION_100);
  if (name == CL_LAYER_NAME) return give("visa-lsp exec", sizeof "visa-lsp exec", room, out, written);
  return CL_INVALID_VALUE;
}

CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint count, const cl_icd_dispatch *target, cl_uint *returned, const cl_icd_dispatch **table) {
  if (!target || !returned || !table) return CL_INVALID_VALUE;
  size_t size = count * sizeof(void *);
  host = target;
  memcpy(&layer, target, size < sizeof layer ? size : sizeof layer);
  fill_table();
  *returned = sizeof layer / sizeof(void *), *table = &layer;
  return CL_SUCCESS;
}

/* Loaders since 2025 call these. */
extern CL_API_ENTRY cl_int CL_API_CALL clInitLayerWithProperties(cl_uint count, const cl_icd_dispatch *target, cl_uint *returned, const cl_icd_dispatch **table, const void *properties);
extern CL_API_ENTRY cl_int CL_API_CALL clDeinitLayer(void);

CL_API_ENTRY cl_int CL_API_CALL clInitLayerWithProperties(cl_uint count, const cl_icd_dispatch *target, cl_uint *returned, const cl_icd_dispatch **table, const void *properties) {
  (void)properties;
  return clInitLayer(count, target, returned, table);
}

CL_API_ENTRY cl_int CL_API_CALL clDeinitLayer(void) { return CL_SUCCESS; }
