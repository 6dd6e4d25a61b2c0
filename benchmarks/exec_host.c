/* Programs for `python -m benchmarks.exec`: NAME SIZE TIMES enqueues a kernel, waits, and prints seconds from the first
   enqueue to the end, and a sum of the results. A first launch, which is not counted, takes the compilation. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *source =
    "kernel void small(global int *y, global const int *x, int n) { int i = get_global_id(0); y[i] += x[i] + n; }\n"
    "kernel void arithmetic(global int *y, global const int *x, int n) {\n"
    "  int i = get_global_id(0), s = x[i];\n"
    "  for (int k = 0; k < n; k++) { s ^= s << 13; s ^= (int)((uint)s >> 17); s ^= s << 5; }\n"
    "  y[i] = s;\n}\n"
    "kernel void matmul(global int *y, global const int *x, int n) {\n"
    "  int row = get_global_id(0) / n, column = get_global_id(0) % n, s = 0;\n"
    "  for (int k = 0; k < n; k++) s += x[row * n + k] * x[k * n + column];\n"
    "  y[get_global_id(0)] = s;\n}\n"
    "kernel void reduction(global int *y, global const int *x, int n) {\n"
    "  local int t[64];\n  int l = get_local_id(0), s = 0;\n"
    "  for (int k = 0; k < n; k++) s += x[(get_global_id(0) + k * 64) % get_global_size(0)];\n"
    "  t[l] = s;\n"
    "  for (int w = 32; w; w /= 2) {\n    barrier(CLK_LOCAL_MEM_FENCE);\n    if (l < w) t[l] += t[l + w];\n  }\n"
    "  if (!l) y[get_group_id(0)] = t[0];\n}\n";

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

int main(int count, char **words) {
  if (count != 5) return 2;
  size_t size = strtoul(words[2], NULL, 10), local = 64;
  cl_int inner = atoi(words[3]), times = atoi(words[4]);
  cl_platform_id platform;
  cl_device_id device;
  clGetPlatformIDs(1, &platform, NULL);
  clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL);
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);
  cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, NULL);
  if (clBuildProgram(program, 1, &device, "", NULL, NULL)) return 3;
  cl_kernel kernel = clCreateKernel(program, words[1], NULL);
  int *data = malloc(4 * size);
  for (size_t i = 0; i < size; i++) data[i] = i % 7 + 1;
  cl_mem y = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, 4 * size, data, NULL);
  cl_mem x = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, 4 * size, data, NULL);
  clSetKernelArg(kernel, 0, sizeof y, &y), clSetKernelArg(kernel, 1, sizeof x, &x), clSetKernelArg(kernel, 2, 4, &inner);
  double began = 0;
  for (int i = 0; i <= times; i++) {
    if (clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size, &local, 0, NULL, NULL)) return 4;
    if (!i) clFinish(queue), began = now();
  }
  clFinish(queue);
  double seconds = now() - began;
  unsigned sum = 0;
  clEnqueueReadBuffer(queue, y, CL_TRUE, 0, 4 * size, data, 0, NULL, NULL);
  for (size_t i = 0; i < size; i++) sum = sum * 31 + (unsigned)data[i];
  printf("%.6f %u\n", seconds, sum);
  return 0;
}
