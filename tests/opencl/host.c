/* Host programs for `visa-lsp exec`: `host NAME...` runs cases, right ones and some with a planted fault, each with
   kernels of its own name. A right case checks its own results; status 1 says that one of them is wrong. */
#include "host.h"

static int numbers[N];
static int *read_ints(cl_mem m, size_t count) {
  static int out[4 * N];
  OK(clEnqueueReadBuffer(queue, m, CL_TRUE, 0, 4 * count, out, 0, NULL, NULL));
  return out;
}

/* ---- planted faults */

static void small_buffer(void) {
  cl_kernel k = kernel("small_buffer", "kernel void small_buffer(global int *c) {\n  c[get_global_id(0)] = 1;\n}");
  set(k, 0, buffer(4 * (N - 16), NULL));
  run(k, N, 64);
}
static void swapped_arguments(void) {
  cl_kernel k = kernel("swapped_arguments", "kernel void swapped_arguments(global const int *few, global int *many) {\n"
                                            "  many[get_global_id(0)] = few[get_global_id(0) / 4];\n}");
  set(k, 0, buffer(4 * N, numbers)), set(k, 1, buffer(N, numbers));
  run(k, N, 64);
}
static void undefined_buffer(void) {
  cl_kernel k = kernel("undefined_buffer", "kernel void undefined_buffer(global const int *x, global int *y) {\n"
                                           "  y[get_global_id(0)] = x[get_global_id(0)] * 2;\n}");
  set(k, 0, buffer(4 * N, NULL)), set(k, 1, buffer(4 * N, NULL));
  run(k, N, 64);
}
static void half_written(void) { /* the first half is written by one launch, the second launch reads all */
  cl_program p = build("kernel void first_half(global int *x) { x[get_global_id(0)] = 3; }\n"
                       "kernel void half_written(global const int *x, global int *y) {\n"
                       "  y[get_global_id(0)] = x[get_global_id(0)];\n}", "");
  cl_kernel a = clCreateKernel(p, "first_half", NULL), b = clCreateKernel(p, "half_written", NULL);
  cl_mem x = buffer(4 * N, NULL);
  set(a, 0, x), set(b, 0, x), set(b, 1, buffer(4 * N, NULL));
  run(a, N / 2, 64), run(b, N, 64);
}
static void undefined_loop(void) { /* too many reads for a run that follows undefined bytes */
  cl_kernel k = kernel("undefined_loop", "kernel void undefined_loop(global int *x, uint n) {\n  int s = 0;\n"
                                         "  for (uint i = 0; i < n; i++) s += x[(get_global_id(0) + i) % 256];\n  if (s == 7) x[0] = 1;\n}");
  set(k, 0, buffer(4 * N, NULL)), set_number(k, 1, 40000);
  run(k, N, 64);
}
static void undefined_late(void) { /* only the last of many work items reads what nothing has written */
  cl_kernel k = kernel("undefined_late", "kernel void undefined_late(global const int *x, global int *y) {\n  y[get_global_id(0)] = x[get_global_id(0)];\n}");
  cl_mem x = buffer(4 * 256 * N, NULL);
  int zero = 0;
  OK(clEnqueueFillBuffer(queue, x, &zero, 4, 0, 4 * 256 * N - 64, 0, NULL, NULL));
  set(k, 0, x), set(k, 1, buffer(4 * 256 * N, NULL));
  run(k, 256 * N, 64);
}
static void linked_fault(void) {
  const char *source = "kernel void linked_fault(global int *x) {\n  x[get_global_id(0) + 1] = 1;\n}";
  cl_int e;
  cl_program part = clCreateProgramWithSource(context, 1, &source, NULL, &e);
  OK(clCompileProgram(part, 1, &device, "", 0, NULL, NULL, NULL, NULL));
  cl_kernel k = clCreateKernel(clLinkProgram(context, 1, &device, "", 1, &part, NULL, NULL, &e), "linked_fault", &e);
  set(k, 0, buffer(4 * N, NULL));
  run(k, N, 64);
}
static void race(void) {
  cl_kernel k = kernel("race", "kernel void race(global int *sum, global const int *x) {\n  *sum += x[get_global_id(0)];\n}");
  set(k, 0, buffer(4, numbers)), set(k, 1, buffer(4 * N, numbers));
  run(k, N, 64);
}
static void freed_buffer(void) {
  cl_kernel k = kernel("freed_buffer", "kernel void freed_buffer(global int *x) {\n  x[get_global_id(0)] = 1;\n}");
  cl_mem x = buffer(4 * N, NULL);
  set(k, 0, x);
  clReleaseMemObject(x);
  run(k, N, 64);
}
static void wrong_local_size(void) {
  cl_kernel k = kernel("wrong_local_size", "kernel void wrong_local_size(global int *x, local int *tile) {\n"
                                           "  tile[get_local_id(0)] = x[get_global_id(0)];\n"
                                           "  barrier(CLK_LOCAL_MEM_FENCE);\n"
                                           "  x[get_global_id(0)] = tile[get_local_size(0) - 1 - get_local_id(0)];\n}");
  set(k, 0, buffer(4 * N, numbers));
  OK(clSetKernelArg(k, 1, 4 * 64, NULL));
  run(k, N, 128);
}
static void misaligned(void) {
  cl_kernel k = kernel("misaligned", "kernel void misaligned(global uchar *x) {\n  ((global int *)(x + 2))[get_global_id(0)] = 1;\n}");
  set(k, 0, buffer(4 * N + 64, numbers));
  run(k, N, 64);
}
static void missing_barrier(void) {
  cl_kernel k = kernel("missing_barrier", "kernel void missing_barrier(global int *x) {\n  local int tile[64];\n"
                                          "  tile[get_local_id(0)] = x[get_global_id(0)];\n"
                                          "  x[get_global_id(0)] = tile[63 - get_local_id(0)];\n}");
  set(k, 0, buffer(4 * N, numbers));
  run(k, N, 64);
}
static void divergent_barrier(void) {
  cl_kernel k = kernel("divergent_barrier", "kernel void divergent_barrier(global int *x, local int *t) {\n  t[get_local_id(0)] = 1;\n"
                                            "  if (get_local_id(0) < 5) barrier(CLK_LOCAL_MEM_FENCE);\n"
                                            "  x[get_global_id(0)] = t[get_local_id(0)];\n}");
  set(k, 0, buffer(4 * N, NULL));
  OK(clSetKernelArg(k, 1, 4 * 64, NULL));
  run(k, N, 64);
}
static void wrong_count(void) { /* the host passes bytes where the kernel counts elements */
  cl_kernel k = kernel("wrong_count", "kernel void wrong_count(global int *x, uint n) {\n"
                                      "  for (uint i = get_global_id(0); i < n; i += get_global_size(0)) x[i] = i;\n}");
  set(k, 0, buffer(4 * N, NULL)), set_number(k, 1, 4 * N);
  run(k, 64, 64);
}
#define FIND(name) name##_fn name = (name##_fn)clGetExtensionFunctionAddressForPlatform(platform, #name)
static void run_shared(const char *source, const char *name, int fill) { /* unified shared memory of N numbers */
  FIND(clSharedMemAllocINTEL);
  FIND(clSetKernelArgMemPointerINTEL);
  FIND(clGetMemAllocInfoINTEL);
  FIND(clEnqueueMemcpyINTEL);
  FIND(clMemBlockingFreeINTEL);
  cl_int e;
  size_t size = 0;
  int *x = clSharedMemAllocINTEL(context, device, NULL, 4 * N, 0, &e), copy[N];
  OK(e), OK(clGetMemAllocInfoINTEL(context, x + 9, CL_MEM_ALLOC_SIZE_INTEL, sizeof size, &size, NULL));
  EXPECT(size == 4 * N);
  for (int i = 0; fill && i < N; i++) x[i] = numbers[i];
  cl_kernel k = kernel(name, source);
  OK(clSetKernelArgMemPointerINTEL(k, 0, x));
  OK(run(k, N, 64));
  OK(clEnqueueMemcpyINTEL(queue, CL_TRUE, copy, x, sizeof copy, 0, NULL, NULL));
  for (int i = 0; fill && i < N; i++) EXPECT(copy[i] == 2 * numbers[i] && x[i] == copy[i]);
  OK(clMemBlockingFreeINTEL(context, x));
}
static void usm_overrun(void) { run_shared("kernel void usm_overrun(global int *x) {\n  x[get_global_id(0) + 1] = 3;\n}", "usm_overrun", 0); }
static void undefined_shared(void) { run_shared("kernel void undefined_shared(global int *x) {\n  x[get_global_id(0)] *= 3;\n}", "undefined_shared", 0); }
static void freed_pointer(void) {
  int *x = clSVMAlloc(context, CL_MEM_READ_WRITE, 4 * N, 0);
  cl_kernel k = kernel("freed_pointer", "kernel void freed_pointer(global int *x) {\n  x[get_global_id(0)] = 1;\n}");
  OK(clSetKernelArgSVMPointer(k, 0, x));
  clSVMFree(context, x);
  run(k, N, 64);
}
static void CL_CALLBACK ignore(cl_event e, cl_int status, void *data) { (void)e, (void)status, (void)data; }
static cl_mem fill_in(cl_command_queue q, const char *name, cl_event *e);
static void callback_race(void) { /* a callback of an event that has not ended orders nothing that was enqueued before */
  cl_int e;
  cl_event gate = clCreateUserEvent(context, &e), filled;
  cl_command_queue other = clCreateCommandQueue(context, device, 0, NULL);
  int out[N];
  OK(clEnqueueMarkerWithWaitList(queue, 1, &gate, NULL));
  cl_mem x = fill_in(queue, "callback_race", &filled);
  OK(clSetEventCallback(filled, CL_COMPLETE, ignore, NULL));
  OK(clEnqueueReadBuffer(other, x, CL_FALSE, 0, sizeof out, out, 0, NULL, NULL));
  OK(clSetUserEventStatus(gate, CL_COMPLETE)), OK(clFinish(queue)), OK(clFinish(other));
}
static void refused_calls(void) {
  cl_int e;
  cl_buffer_region part = {2, 64};
  cl_mem x = buffer(4 * N, numbers);
  clCreateSubBuffer(x, 0, CL_BUFFER_CREATE_TYPE_REGION, &part, &e);
  EXPECT(e == CL_MISALIGNED_SUB_BUFFER_OFFSET);
  cl_kernel k = kernel("refused", "kernel void refused(global int *x, int n) { x[get_global_id(0)] = n; }");
  cl_kernel local = kernel("refused_local", "kernel void refused_local(global int *x, local int *t) { t[get_local_id(0)] = x[0]; barrier(CLK_LOCAL_MEM_FENCE); x[0] = t[1]; }");
  set(local, 0, x), OK(clSetKernelArg(local, 1, 65540, NULL));
  EXPECT(run(k, N, 64) == CL_INVALID_KERNEL_ARGS);
  EXPECT(clSetKernelArg(k, 1, sizeof x, &x) == CL_INVALID_ARG_SIZE);
  EXPECT(clSetKernelArg(k, 4, 4, numbers) == CL_INVALID_ARG_INDEX);
  set(k, 0, x), set_number(k, 1, 1);
  EXPECT(run(k, 100, 64) == CL_INVALID_WORK_GROUP_SIZE);
  const unsigned char bytes[64] = "\x7f" "ELF", *binary = bytes;
  size_t size = sizeof bytes;
  clCreateProgramWithBinary(context, 1, &device, &size, &binary, NULL, &e);
  EXPECT(e == CL_INVALID_BINARY);
  size_t sizes[4] = {64, 1, 1, 1};
  EXPECT(clEnqueueNDRangeKernel(queue, k, 4, NULL, sizes, NULL, 0, NULL, NULL) == CL_INVALID_WORK_DIMENSION);
  EXPECT(run(local, 64, 64) == CL_OUT_OF_RESOURCES);
  cl_image_format format = {CL_LUMINANCE, CL_FLOAT}, plain = {CL_RGBA, CL_UNSIGNED_INT8};
  cl_image_desc shape = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 8, .image_height = 0};
  EXPECT(!clCreateImage(context, 0, &plain, &shape, NULL, &e) && e == CL_INVALID_IMAGE_DESCRIPTOR);
  shape.image_height = 20000;
  EXPECT(!clCreateImage(context, 0, &plain, &shape, NULL, &e) && e == CL_INVALID_IMAGE_SIZE);
  OK(clReleaseMemObject(x));
  EXPECT(clEnqueueReadBuffer(queue, x, CL_TRUE, 0, 4, numbers, 0, NULL, NULL) == CL_INVALID_MEM_OBJECT);
  EXPECT(clReleaseMemObject(x) == CL_INVALID_MEM_OBJECT);
  shape.image_height = 8;
  EXPECT(!clCreateImage(context, CL_MEM_READ_ONLY, &format, &shape, NULL, &e) && e == CL_IMAGE_FORMAT_NOT_SUPPORTED);
}

/* What the device says it has not, and machine code, for which the program has the source too. */
static void other_ways(void) {
  cl_int e;
  cl_device_partition_property equally[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
  EXPECT(clCreateSubDevices(device, equally, 0, NULL, NULL) == CL_DEVICE_PARTITION_FAILED);
  const unsigned char bytes[64] = "\x7f" "ELF", *binary = bytes;
  size_t size = sizeof bytes;
  clCreateProgramWithBinary(context, 1, &device, &size, &binary, NULL, &e);
  EXPECT(e == CL_INVALID_BINARY);
  cl_kernel k = kernel("other_ways", "kernel void other_ways(global int *x) { x[get_global_id(0)] = 1; }");
  set(k, 0, buffer(4 * N, numbers));
  OK(run(k, N, 64));
}

static void two_queues(const char *name, int is_ordered) {
  char source[256];
  snprintf(source, sizeof source, "kernel void %s_first(global int *x) { x[get_global_id(0)] = 1; }\n"
                                  "kernel void %s(global const int *x, global int *y) {\n  y[get_global_id(0)] = x[get_global_id(0)];\n}", name, name);
  cl_program p = build(source, "");
  char first[64];
  snprintf(first, sizeof first, "%s_first", name);
  cl_kernel a = clCreateKernel(p, first, NULL), b = clCreateKernel(p, name, NULL);
  cl_command_queue other = clCreateCommandQueue(context, device, 0, NULL);
  cl_mem x = buffer(4 * N, numbers), y = buffer(4 * N, NULL);
  set(a, 0, x), set(b, 0, x), set(b, 1, y);
  cl_event written;
  size_t size = N;
  OK(clEnqueueNDRangeKernel(queue, a, 1, NULL, &size, NULL, 0, NULL, &written));
  OK(clFlush(queue));
  OK(clEnqueueNDRangeKernel(other, b, 1, NULL, &size, NULL, is_ordered, is_ordered ? &written : NULL, NULL));
  OK(clFinish(queue)), OK(clFinish(other));
}
static void missing_wait(void) { two_queues("missing_wait", 0); }
static cl_mem fill_in(cl_command_queue q, const char *name, cl_event *e) {
  char source[256];
  snprintf(source, sizeof source, "kernel void %s(global int *x) {\n  x[get_global_id(0)] = 5;\n}", name);
  cl_kernel k = kernel(name, source);
  cl_mem x = buffer(4 * N, numbers);
  size_t size = N;
  set(k, 0, x);
  OK(clEnqueueNDRangeKernel(q, k, 1, NULL, &size, NULL, 0, NULL, e));
  return x;
}
static void unordered_read(void) { /* the read waits for an event, but for another */
  cl_command_queue other = clCreateCommandQueue(context, device, 0, NULL);
  cl_event filled, marked;
  int out[N];
  OK(clEnqueueMarkerWithWaitList(queue, 0, NULL, &marked));
  cl_mem x = fill_in(queue, "unordered_read", &filled);
  OK(clEnqueueReadBuffer(other, x, CL_TRUE, 0, sizeof out, out, 1, &marked, NULL));
  OK(clFinish(queue));
}

/* ---- right programs */

static void waiting_queues(void) { two_queues("waiting_queues", 1); }
static void CL_CALLBACK set_status(cl_event e, cl_int status, void *data) { (void)e, (void)status, clSetUserEventStatus(data, CL_COMPLETE); }
static void host_events(void) { /* an event of the host and a callback, and a barrier in a queue that is out of order */
  cl_int e;
  cl_command_queue other = clCreateCommandQueue(context, device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, NULL);
  cl_event users = clCreateUserEvent(context, &e), filled;
  int out[N], nine = 9;
  cl_mem x = fill_in(queue, "host_events", &filled);
  OK(clEnqueueFillBuffer(other, x, &nine, 4, 0, 2 * N, 1, &users, NULL));
  OK(clSetEventCallback(filled, CL_COMPLETE, set_status, users));
  OK(clFlush(queue));
  OK(clEnqueueBarrierWithWaitList(other, 0, NULL, NULL));
  OK(clEnqueueReadBuffer(other, x, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL));
  EXPECT(out[0] == 9 && out[N - 1] == 5);
}

static const char axpy_source[] = "kernel void axpy(global int *y, global const int *x, int a, uint n) {\n"
                                  "  uint i = get_global_id(0);\n  if (i < n) y[i] += a * x[i];\n}";
static void check_axpy(cl_kernel k) {
  cl_mem y = buffer(4 * N, numbers), x = buffer(4 * N, numbers);
  set(k, 0, y), set(k, 1, x), set_number(k, 2, 3), set_number(k, 3, N);
  OK(run(k, N, 0));
  for (int i = 0, *out = read_ints(y, N); i < N; i++) EXPECT(out[i] == 4 * numbers[i]);
}
static void axpy(void) { check_axpy(kernel("axpy", axpy_source)); }
static void reduction(void) {
  cl_kernel k = kernel("reduction", "kernel void reduction(global const int *x, global int *sums, local int *t) {\n"
                                    "  uint l = get_local_id(0); t[l] = x[get_global_id(0)];\n"
                                    "  for (uint s = get_local_size(0) / 2; s; s /= 2) {\n    barrier(CLK_LOCAL_MEM_FENCE);\n"
                                    "    if (l < s) t[l] += t[l + s];\n  }\n  if (!l) sums[get_group_id(0)] = t[0];\n}");
  cl_mem sums = buffer(4 * (N / 64), NULL);
  set(k, 0, buffer(4 * N, numbers)), set(k, 1, sums);
  OK(clSetKernelArg(k, 2, 4 * 64, NULL));
  OK(run(k, N, 64));
  int sum = 0, expected = 0, *out = read_ints(sums, N / 64);
  for (int i = 0; i < N / 64; i++) sum += out[i];
  for (int i = 0; i < N; i++) expected += numbers[i];
  EXPECT(sum == expected);
}
static void same_again(void) { /* equal launches, between which memory, a value and a buffer change */
  cl_kernel k = kernel("same_again", "kernel void same_again(global int *y, global const int *x, int n, local int *t) {\n"
                                     "  int i = get_global_id(0), l = get_local_id(0), own[8];\n"
                                     "  for (int j = 0; j < 8; j++) own[j] = x[(i + j) % get_global_size(0)];\n"
                                     "  t[l] = own[n & 7];\n  barrier(CLK_LOCAL_MEM_FENCE);\n  y[i] += t[l ^ 1] * n + 1;\n}");
  int expected[N] = {0}, in[N];
  memcpy(in, numbers, sizeof in);
  cl_mem y = buffer(4 * N, expected), x = buffer(4 * N, in);
  set(k, 0, y), OK(clSetKernelArg(k, 3, 4 * 64, NULL));
  for (int turn = 0; turn < 12; turn++) {
    int n = 3 + turn / 6;
    if (turn % 3 == 2) {
      for (int i = 0; i < N; i++) in[i] = in[i] * 5 + turn;
      if (turn % 2) OK(clReleaseMemObject(x)), x = buffer(4 * N, in);
      else OK(clEnqueueWriteBuffer(queue, x, CL_TRUE, 0, 4 * N, in, 0, NULL, NULL));
    }
    set(k, 1, x), set_number(k, 2, n);
    OK(run(k, N, 64));
    for (int i = 0; i < N; i++) expected[i] += in[((i ^ 1) + (n & 7)) % N] * n + 1;
  }
  EXPECT(!memcmp(read_ints(y, N), expected, sizeof expected));
}
static void sub_buffers(void) { /* two halves of one buffer, and the whole beside one of them */
  cl_kernel k = kernel("halves", "kernel void halves(global int *to, global const int *from) { to[get_global_id(0)] = from[get_global_id(0)] + 1; }");
  cl_int e;
  cl_mem x = buffer(4 * N, numbers);
  cl_buffer_region low = {0, 2 * N}, high = {2 * N, 2 * N};
  cl_mem a = clCreateSubBuffer(x, 0, CL_BUFFER_CREATE_TYPE_REGION, &low, &e), b = clCreateSubBuffer(x, 0, CL_BUFFER_CREATE_TYPE_REGION, &high, &e);
  OK(e);
  set(k, 0, b), set(k, 1, a);
  OK(run(k, N / 2, 64));
  int *out = read_ints(x, N);
  for (int i = 0; i < N / 2; i++) EXPECT(out[N / 2 + i] == numbers[i] + 1 && out[i] == numbers[i]);
  set(k, 0, b), set(k, 1, x);
  OK(run(k, N / 2, 64));
}
static void copies(void) { /* fill, copy, rectangles, maps: all of them write */
  cl_kernel k = kernel("copies", "kernel void copies(global int *x) { x[get_global_id(0)] += 1; }");
  cl_mem x = buffer(4 * N, NULL), y = buffer(4 * N, NULL);
  int one = 1;
  OK(clEnqueueFillBuffer(queue, x, &one, 4, 0, 4 * N, 0, NULL, NULL));
  set(k, 0, x);
  OK(run(k, N, 0));
  OK(clEnqueueCopyBuffer(queue, x, y, 0, 0, 2 * N, 0, NULL, NULL));
  size_t from[3] = {0, 0, 0}, to[3] = {0, N / 32, 0}, shape[3] = {64, N / 32, 1};
  OK(clEnqueueCopyBufferRect(queue, x, y, from, to, shape, 64, 0, 64, 0, 0, NULL, NULL));
  cl_int e;
  int *m = clEnqueueMapBuffer(queue, y, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, 4 * N, 0, NULL, NULL, &e);
  for (int i = 0; i < N; i++) EXPECT(m[i] == 2), m[i] = i;
  OK(clEnqueueUnmapMemObject(queue, y, m, 0, NULL, NULL));
  set(k, 0, y);
  OK(run(k, N, 0));
  for (int i = 0, *out = read_ints(y, N); i < N; i++) EXPECT(out[i] == i + 1);
}
static void host_pointer(void) {
  cl_kernel k = kernel("host_pointer", "kernel void host_pointer(global int *x) { x[get_global_id(0)] *= 2; }");
  static int own[N];
  memcpy(own, numbers, sizeof own);
  cl_int e;
  cl_mem x = clCreateBuffer(context, CL_MEM_USE_HOST_PTR, sizeof own, own, &e);
  set(k, 0, x);
  OK(run(k, N, 64));
  int *m = clEnqueueMapBuffer(queue, x, CL_TRUE, CL_MAP_READ, 0, sizeof own, 0, NULL, NULL, &e);
  EXPECT(m == own);
  for (int i = 0; i < N; i++) EXPECT(own[i] == 2 * numbers[i]);
  OK(clEnqueueUnmapMemObject(queue, x, m, 0, NULL, NULL));
}
static void offsets(void) { /* a global offset, two dimensions, and a last group with fewer work items */
  cl_int e;
  cl_kernel k = clCreateKernel(build("kernel void offsets(global int *x, int w) { x[get_global_id(1) * w + get_global_id(0)] = get_global_size(0); }", "-cl-std=CL2.0"), "offsets", &e);
  cl_mem x = buffer(4 * N, numbers);
  set(k, 0, x), set_number(k, 1, 16);
  size_t from[2] = {2, 1}, size[2] = {13, 7}, local[2] = {8, 2};
  OK(clEnqueueNDRangeKernel(queue, k, 2, from, size, local, 0, NULL, NULL));
  size[0] = local[0] = 1, size[1] = 1, local[1] = 4;
  OK(clEnqueueNDRangeKernel(queue, k, 2, from, size, local, 0, NULL, NULL));
  int *out = read_ints(x, N);
  EXPECT(out[18] == 1);
  out[18] = 13;
  for (int i = 0; i < N; i++) EXPECT(out[i] == (i % 16 >= 2 && i % 16 < 15 && i / 16 >= 1 && i / 16 < 8 ? 13 : numbers[i]));
}
static void program_variables(void) { /* they keep their values from launch to launch, and begin anew in another program */
  for (int built = 0; built < 2; built++) {
    cl_int e;
    cl_program p = build("global int count = 40; global int *global where = &count; global int zeros[64];\n"
                         "kernel void program_variables(global int *x) { if (get_global_id(0) == 3) { *where += 1; zeros[5] += 2; x[0] = count; } }\n"
                         "kernel void sum_up(global int *x) { if (get_global_id(0) == 0) x[0] += count * 100 + zeros[5]; }", "-cl-std=CL2.0");
    cl_kernel k = clCreateKernel(p, "program_variables", &e), other = clCreateKernel(p, "sum_up", &e);
    cl_mem x = buffer(4, NULL); /* which nothing has written at first */
    set(k, 0, x), set(other, 0, x);
    OK(run(k, 64, 32));
    OK(run(k, 64, 32));
    EXPECT(read_ints(x, 1)[0] == 42);
    OK(run(other, 64, 32));
    EXPECT(read_ints(x, 1)[0] == 42 + 4200 + 4);
  }
}
static void images(void) {
  cl_kernel k = kernel("images", "constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;\n"
                                 "kernel void images(read_only image2d_t a, write_only image2d_t b, sampler_t s) {\n"
                                 "  int2 at = (int2)(get_global_id(0), get_global_id(1));\n"
                                 "  write_imageui(b, at, read_imageui(a, s, at + 1) + read_imageui(a, nearest, at));\n}");
  cl_int e;
  cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT32};
  cl_image_desc shape = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 8, .image_height = 8};
  static int padded[8 * 40];
  for (int i = 0; i < N; i++) padded[i / 32 * 40 + i % 32] = numbers[i];
  shape.image_row_pitch = 160;
  cl_mem a = clCreateImage(context, CL_MEM_READ_ONLY | CL_MEM_USE_HOST_PTR, &format, &shape, padded, &e);
  OK(e);
  shape.image_row_pitch = 0;
  cl_mem b = clCreateImage(context, CL_MEM_WRITE_ONLY, &format, &shape, NULL, &e);
  OK(e);
  cl_sampler s = clCreateSampler(context, CL_FALSE, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_NEAREST, &e);
  set(k, 0, a), set(k, 1, b);
  OK(clSetKernelArg(k, 2, sizeof s, &s));
  size_t size[3] = {8, 8, 1}, zero[3] = {0, 0, 0};
  OK(clEnqueueNDRangeKernel(queue, k, 2, NULL, size, NULL, 0, NULL, NULL));
  unsigned out[N];
  OK(clEnqueueReadImage(queue, b, CL_TRUE, zero, size, 0, 0, out, 0, NULL, NULL));
  for (int i = 0; i < N && !wrong; i++) {
    int c = i % 4, x = i / 4 % 8, y = i / 32, x1 = x < 7 ? x + 1 : 7, y1 = y < 7 ? y + 1 : 7;
    EXPECT(out[i] == (unsigned)(numbers[i] + numbers[(y1 * 8 + x1) * 4 + c]));
  }
}
/* Formats that not every host has: a fill, a launch, a copy to a buffer, and a write, in two channels, and with blue first. */
static void image_formats(void) {
  cl_kernel k = kernel("image_formats", "kernel void image_formats(read_only image2d_t a, write_only image2d_t b) {\n"
                                        "  int2 at = (int2)(get_global_id(0), get_global_id(1));\n"
                                        "  float4 x = read_imagef(a, at);\n"
                                        "  write_imagef(b, at, (float4)(x.y, x.x * 0.5f, x.z, x.w));\n}");
  cl_kernel order = kernel("image_order", "kernel void image_order(read_only image2d_t a, global int *y) { *y = get_image_channel_order(a); }");
  static const struct { cl_image_format format; size_t texel; } kinds[] = {
    {{CL_RG, CL_UNORM_INT8}, 2}, {{CL_RG, CL_HALF_FLOAT}, 4}, {{CL_RG, CL_FLOAT}, 8}, {{CL_BGRA, CL_UNORM_INT8}, 4},
  };
  static const unsigned char expected[][8] = {{0, 127}, {0, 0, 0, 0x38}, {0, 0, 0, 0, 0, 0, 0, 0x3f}, {51, 127, 0, 255}};
  const float color[4] = {1, 0, 0.2f, 1};
  size_t size[3] = {8, 4, 1}, zero[3] = {0, 0, 0};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    cl_int e;
    cl_image_desc shape = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 8, .image_height = 4};
    cl_mem a = clCreateImage(context, CL_MEM_READ_ONLY, &kinds[i].format, &shape, NULL, &e);
    OK(e);
    cl_mem b = clCreateImage(context, CL_MEM_WRITE_ONLY, &kinds[i].format, &shape, NULL, &e);
    OK(e);
    cl_image_format told;
    OK(clGetImageInfo(b, CL_IMAGE_FORMAT, sizeof told, &told, NULL));
    EXPECT(!memcmp(&told, &kinds[i].format, sizeof told));
    OK(clEnqueueFillImage(queue, a, color, zero, size, 0, NULL, NULL));
    set(k, 0, a), set(k, 1, b);
    OK(clEnqueueNDRangeKernel(queue, k, 2, NULL, size, NULL, 0, NULL, NULL));
    cl_mem y = buffer(256, NULL);
    OK(clEnqueueCopyImageToBuffer(queue, b, y, zero, size, 0, 0, NULL, NULL));
    unsigned char out[256], *texel = out + 31 * kinds[i].texel;
    OK(clEnqueueReadBuffer(queue, y, CL_TRUE, 0, 32 * kinds[i].texel, out, 0, NULL, NULL));
    for (size_t n = 0; n < kinds[i].texel; n++) EXPECT(abs(texel[n] - expected[i][n]) <= 1);
    set(order, 0, a), set(order, 1, y);
    OK(run(order, 1, 1));
    EXPECT(read_ints(y, 1)[0] == (int)kinds[i].format.image_channel_order);
  }
}
/* A launch of no work items waits for events, and one with a required local size needs none. */
static void empty_launches(void) {
  cl_int e;
  cl_kernel k = kernel("empty_launches", "kernel __attribute__((reqd_work_group_size(32, 1, 1))) void empty_launches(global int *x) { x[get_global_id(0)] = get_local_size(0); }");
  cl_mem x = buffer(4 * N, numbers);
  set(k, 0, x);
  cl_event before = clCreateUserEvent(context, &e), done;
  cl_int status = CL_COMPLETE;
  size_t size = 0;
  OK(clEnqueueNDRangeKernel(queue, k, 1, NULL, &size, NULL, 1, &before, &done));
  OK(clGetEventInfo(done, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
  EXPECT(status != CL_COMPLETE);
  OK(clSetUserEventStatus(before, CL_COMPLETE));
  OK(clWaitForEvents(1, &done));
  EXPECT(read_ints(x, N)[0] == numbers[0]);
  size = 64;
  OK(clEnqueueNDRangeKernel(queue, k, 1, NULL, &size, NULL, 0, NULL, NULL));
  EXPECT(read_ints(x, N)[0] == 32);
}
static void prints(void) {
  cl_kernel k = kernel("prints", "kernel void prints(int n) { printf(\"printed %d\\n\", n); }");
  set_number(k, 0, 42);
  OK(clEnqueueTask(queue, k, 0, NULL, NULL));
  OK(clFinish(queue));
}
static cl_program object_of(cl_program p) { /* the same program from its binary, not built */
  size_t size = 0;
  OK(clGetProgramInfo(p, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL));
  unsigned char *data = malloc(size);
  OK(clGetProgramInfo(p, CL_PROGRAM_BINARIES, sizeof data, &data, NULL));
  cl_int e, status;
  cl_program q = clCreateProgramWithBinary(context, 1, &device, &size, (const unsigned char **)&data, &status, &e);
  OK(e), OK(status);
  return q;
}
static cl_program binary_of(cl_program p) {
  cl_program q = object_of(p);
  OK(clBuildProgram(q, 0, NULL, "", NULL, NULL));
  return q;
}
static void links(void) { /* compile and link, and a header */
  const char *one = "#include \"twice.h\"\nint twice(int x) { return 2 * x * UNIT; }", *head = "int twice(int x);\n",
             *two = "#include \"twice.h\"\nkernel void links(global int *x) { x[get_global_id(0)] = twice(get_global_id(0)); }",
             *name = "twice.h";
  cl_int e;
  cl_program h = clCreateProgramWithSource(context, 1, &head, NULL, &e), parts[2];
  parts[0] = clCreateProgramWithSource(context, 1, &one, NULL, &e), parts[1] = clCreateProgramWithSource(context, 1, &two, NULL, &e);
  OK(clCompileProgram(parts[0], 1, &device, "-DUNIT=1", 1, &h, &name, NULL, NULL));
  OK(clCompileProgram(parts[1], 0, NULL, "", 1, &h, &name, NULL, NULL));
  cl_program library = clLinkProgram(context, 1, &device, "-create-library", 1, parts, NULL, NULL, &e);
  OK(e);
  cl_program_binary_type type;
  OK(clGetProgramBuildInfo(library, device, CL_PROGRAM_BINARY_TYPE, sizeof type, &type, NULL));
  EXPECT(type == CL_PROGRAM_BINARY_TYPE_LIBRARY);
  EXPECT(clLinkProgram(context, 1, &device, "", 1, parts + 1, NULL, NULL, &e) && e == CL_LINK_PROGRAM_FAILURE); /* without `twice` */
  parts[0] = library, parts[1] = object_of(parts[1]);
  cl_program p = clLinkProgram(context, 1, &device, "", 2, parts, NULL, NULL, &e);
  OK(e);
  cl_kernel k = clCreateKernel(binary_of(p), "links", &e);
  OK(e);
  cl_mem x = buffer(4 * N, NULL);
  set(k, 0, x);
  OK(run(k, N, 64));
  for (int i = 0, *out = read_ints(x, N); i < N; i++) EXPECT(out[i] == 2 * i);
}
static void binaries(void) {
  check_axpy(clCreateKernel(binary_of(build(axpy_source, "-DX")), "axpy", NULL));
}
static void queries(void) {
  cl_int e;
  const char *bad = "kernel void bad(global int *x) { x[0] = y; }";
  char text[4096];
  cl_program p = clCreateProgramWithSource(context, 1, &bad, NULL, &e);
  EXPECT(clBuildProgram(p, 1, &device, "", NULL, NULL) == CL_BUILD_PROGRAM_FAILURE);
  OK(clGetProgramBuildInfo(p, device, CL_PROGRAM_BUILD_LOG, sizeof text, text, NULL));
  EXPECT(strstr(text, ":1:") && strstr(text, "undeclared identifier 'y'"));
  clCreateKernel(p, "bad", &e);
  EXPECT(e == CL_INVALID_PROGRAM_EXECUTABLE);
  cl_kernel k = kernel("queries", "kernel __attribute__((reqd_work_group_size(16, 2, 1))) void queries(global const float4 *restrict in, local int *t, int3 v, read_only image2d_t im) { }");
  cl_uint count;
  size_t sizes[3];
  cl_kernel_arg_address_qualifier space;
  cl_kernel_arg_type_qualifier type;
  OK(clGetKernelInfo(k, CL_KERNEL_NUM_ARGS, sizeof count, &count, NULL));
  EXPECT(count == 4);
  OK(clGetKernelArgInfo(k, 0, CL_KERNEL_ARG_TYPE_NAME, sizeof text, text, NULL));
  EXPECT(!strcmp(text, "float4*"));
  OK(clGetKernelArgInfo(k, 0, CL_KERNEL_ARG_TYPE_QUALIFIER, sizeof type, &type, NULL));
  EXPECT(type == (CL_KERNEL_ARG_TYPE_CONST | CL_KERNEL_ARG_TYPE_RESTRICT));
  OK(clGetKernelArgInfo(k, 1, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof space, &space, NULL));
  EXPECT(space == CL_KERNEL_ARG_ADDRESS_LOCAL);
  OK(clGetKernelWorkGroupInfo(k, device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof sizes, sizes, NULL));
  EXPECT(sizes[0] == 16 && sizes[1] == 2 && sizes[2] == 1);
  size_t lanes = 1;
  OK(clGetKernelSubGroupInfo(k, device, CL_KERNEL_COMPILE_SUB_GROUP_SIZE_INTEL, 0, NULL, sizeof lanes, &lanes, NULL));
  EXPECT(lanes == 0);
  k = kernel("hints", "kernel __attribute__((vec_type_hint(float4))) __attribute__((work_group_size_hint(8, 2, 1))) void hints(void) { }");
  OK(clGetKernelInfo(k, CL_KERNEL_ATTRIBUTES, sizeof text, text, NULL));
  EXPECT(strstr(text, "vec_type_hint(float4)") && strstr(text, "work_group_size_hint(8,2,1)"));
}
static void profiling(void) {
  cl_int e;
  cl_command_queue q = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &e);
  cl_kernel k = kernel("profiling", "kernel void profiling(global int *x) { x[get_global_id(0)] = 1; }");
  cl_mem x = buffer(4 * N, NULL);
  set(k, 0, x);
  size_t size = N;
  cl_event one, two;
  cl_ulong start = 0, end = 0;
  cl_command_type type;
  OK(clEnqueueNDRangeKernel(q, k, 1, NULL, &size, NULL, 0, NULL, &one));
  clReleaseMemObject(x); /* the enqueue keeps it */
  OK(clEnqueueMarkerWithWaitList(q, 1, &one, &two));
  OK(clWaitForEvents(1, &two));
  OK(clGetEventProfilingInfo(one, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL));
  OK(clGetEventProfilingInfo(one, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL));
  OK(clGetEventInfo(one, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL));
  EXPECT(end > start && type == CL_COMMAND_NDRANGE_KERNEL);
}
static void shared_memory(void) { /* a pointer in shared virtual memory leads to another allocation */
  cl_kernel k = kernel("shared_memory", "kernel void shared_memory(global ulong *list) {\n"
                                          "  ((global int *)list[0])[get_global_id(0)] += get_global_id(0);\n}");
  cl_int e;
  int **list = clSVMAlloc(context, CL_MEM_READ_WRITE, 9 * sizeof *list, 0) /* only one is written */, *x = clSVMAlloc(context, CL_MEM_READ_WRITE, 4 * N, 0);
  EXPECT(list && x);
  *list = x;
  memset(x, 0, 4 * N);
  OK(clSetKernelArgSVMPointer(k, 0, list));
  OK(run(k, N, 64));
  OK(clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ, x, 4 * N, 0, NULL, NULL));
  for (int i = 0; i < N; i++) EXPECT(x[i] == i);
  cl_mem around = clCreateBuffer(context, CL_MEM_USE_HOST_PTR, 4 * N, x, &e);
  OK(e), OK(clEnqueueSVMUnmap(queue, x, 0, NULL, NULL));
  cl_bool is_shared = CL_FALSE;
  OK(clGetMemObjectInfo(around, CL_MEM_USES_SVM_POINTER, sizeof is_shared, &is_shared, NULL));
  EXPECT(is_shared && read_ints(around, N)[9] == 9);
  cl_kernel fill = kernel("shared_memory_buffer", "kernel void shared_memory_buffer(global int *x) { x[get_global_id(0)] = 7; }");
  set(fill, 0, around), OK(run(fill, N, 64));
  EXPECT(x[0] == 7 && x[N - 1] == 7);
  clReleaseMemObject(around);
  EXPECT(x[N - 1] == 7);
  clSVMFree(context, x), clSVMFree(context, list);
}
static void event_types(void) { /* of commands that the host does in another way */
  int *x = clSVMAlloc(context, CL_MEM_READ_WRITE, 4 * N, 0);
  static const cl_command_type types[] = {CL_COMMAND_SVM_MEMFILL, CL_COMMAND_SVM_MEMCPY, CL_COMMAND_SVM_MAP, CL_COMMAND_SVM_UNMAP, CL_COMMAND_TASK, CL_COMMAND_MARKER};
  cl_event e[6];
  cl_command_type type;
  cl_kernel k = kernel("event_types", "kernel void event_types(int n) { }");
  set_number(k, 0, 1);
  OK(clEnqueueSVMMemFill(queue, x, numbers, 4, 4 * N, 0, NULL, e)), OK(clEnqueueSVMMemcpy(queue, CL_FALSE, x, numbers, 4 * N, 0, NULL, e + 1));
  OK(clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ, x, 4 * N, 0, NULL, e + 2)), OK(clEnqueueSVMUnmap(queue, x, 0, NULL, e + 3));
  OK(clEnqueueTask(queue, k, 0, NULL, e + 4)), OK(clEnqueueMarkerWithWaitList(queue, 5, e, e + 5)), OK(clWaitForEvents(1, e + 5));
  for (int i = 0; i < 6; i++) OK(clGetEventInfo(e[i], CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL)), EXPECT(type == types[i]);
  clSVMFree(context, x);
}
static void unified_memory(void) { run_shared("kernel void unified_memory(global int *x) { x[get_global_id(0)] *= 2; }", "unified_memory", 1); }
static void backwards(void) { /* a pointer to the last element of shared virtual memory, from which the kernel goes down */
  cl_kernel k = kernel("backwards", "kernel void backwards(global const int *x, global int *y, int step) {\n"
                                    "  int i = get_global_id(0); y[i] = x[i * step];\n}");
  int *x = clSVMAlloc(context, CL_MEM_READ_WRITE, 4 * N, 0);
  cl_mem y = buffer(4 * N, NULL);
  for (int i = 0; i < N; i++) x[i] = numbers[i];
  OK(clSetKernelArgSVMPointer(k, 0, x + N - 1)), set(k, 1, y), set_number(k, 2, -1);
  OK(run(k, N, 64));
  for (int i = 0, *out = read_ints(y, N); i < N; i++) EXPECT(out[i] == numbers[N - 1 - i]);
  OK(clSetKernelArgSVMPointer(k, 0, x + 3)), OK(clSetKernelArgSVMPointer(k, 1, x)), set_number(k, 2, 1); /* two places of one allocation */
  OK(run(k, 1, 1));
  EXPECT(x[0] == numbers[3]);
  clSVMFree(context, x);
}
static void local_arrays(void) { /* beside local arguments, to which the kernel adds the size of its arrays */
  cl_kernel k = kernel("local_arrays", "kernel void local_arrays(global int *x, local int *t, local short *u) {\n  local int s[64];\n"
                                         "  uint l = get_local_id(0), i = get_global_id(0); s[l] = x[i]; t[l] = 3 * x[i]; u[l] = 5 * x[i];\n"
                                         "  barrier(CLK_LOCAL_MEM_FENCE);\n  x[i] = s[63 - l] + t[63 - l] + u[63 - l];\n}");
  cl_mem x = buffer(4 * N, numbers);
  set(k, 0, x), OK(clSetKernelArg(k, 1, 4 * 64, NULL)), OK(clSetKernelArg(k, 2, 2 * 64, NULL));
  OK(run(k, N, 64));
  for (int i = 0, *out = read_ints(x, N); i < N; i++) EXPECT(out[i] == 9 * numbers[i / 64 * 64 + 63 - i % 64]);
}
static void forks(void) { /* a child has its own context; the parent's buffers stay when the child releases them */
  cl_kernel k = kernel("forks", "kernel void forks(global int *x) { x[get_global_id(0)] += 1; }");
  cl_mem x = buffer(4 * N, numbers);
  set(k, 0, x);
  pid_t child = fork();
  int status = 0;
  if (!child) {
    
    clReleaseMemObject(x);
    open_device();
    axpy();
    _exit(wrong);
  }
  EXPECT(waitpid(child, &status, 0) == child && !status);
  OK(run(k, N, 0));
  for (int i = 0, *out = read_ints(x, N); i < N; i++) EXPECT(out[i] == numbers[i] + 1);
}

/* ---- ends of programs */

static void crash(void) { abort(); }
static void hang(void) { /* a kernel that does not end */
  cl_kernel k = kernel("hang", "kernel void hang(global int *x) { while (((volatile global int *)x)[1] == 2) x[0]++; }");
  set(k, 0, buffer(8, numbers));
  run(k, 1, 1);
}

static const struct {
  const char *name;
  void (*run)(void);
} cases[] = {
#define CASE(name) {#name, name}
    CASE(small_buffer), CASE(swapped_arguments), CASE(undefined_buffer), CASE(half_written), CASE(race),
    CASE(freed_buffer), CASE(wrong_local_size), CASE(misaligned), CASE(missing_barrier), CASE(divergent_barrier),
    CASE(wrong_count), CASE(missing_wait), CASE(unordered_read), CASE(waiting_queues), CASE(host_events), CASE(refused_calls), CASE(other_ways), CASE(axpy), CASE(reduction), CASE(same_again), CASE(sub_buffers), CASE(copies),
    CASE(host_pointer), CASE(offsets), CASE(program_variables), CASE(images), CASE(image_formats), CASE(empty_launches), CASE(prints), CASE(links), CASE(binaries), CASE(queries),
    CASE(profiling), CASE(shared_memory), CASE(event_types), CASE(freed_pointer), CASE(callback_race), CASE(forks), CASE(unified_memory), CASE(local_arrays), CASE(usm_overrun), CASE(undefined_shared), CASE(undefined_loop), CASE(undefined_late), CASE(linked_fault), CASE(backwards), CASE(crash), CASE(hang),
};

int main(int count, char **names) {
  for (int i = 0; i < N; i++) numbers[i] = i % 7 + 1;
  open_device();
  for (int i = 1; i < count; i++) {
    size_t at = 0;
    while (at < sizeof cases / sizeof *cases && strcmp(cases[at].name, names[i])) at++;
    if (at == sizeof cases / sizeof *cases) return 3;
    cases[at].run();
  }
  return wrong != 0;
}
