/* What the host programs of these tests share: the device, expectations, short forms of calls. */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl_ext.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static cl_platform_id platform;
static cl_device_id device;
static cl_context context;
static cl_command_queue queue;
static int wrong; /* failed expectations */

#define N 256
static void expect(int holds, int line, const char *words) {
  if (!holds && wrong++ < 9) printf("line %d: %s is not so\n", line, words);
}
#define EXPECT(condition) expect(!!(condition), __LINE__, #condition)
#define OK(call) EXPECT((call) == CL_SUCCESS)

static cl_program build(const char *source, const char *options) {
  cl_int e;
  cl_program p = clCreateProgramWithSource(context, 1, &source, NULL, &e);
  OK(clBuildProgram(p, 1, &device, options, NULL, NULL));
  if (wrong) {
    static char log[9999];
    OK(clGetProgramBuildInfo(p, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL));
    fputs(log, stderr);
  }
  return p;
}
static cl_kernel kernel(const char *name, const char *source) {
  cl_int e;
  cl_kernel k = clCreateKernel(build(source, ""), name, &e);
  OK(e);
  return k;
}
static cl_mem buffer(size_t size, const void *data) {
  cl_int e;
  cl_mem m = clCreateBuffer(context, CL_MEM_READ_WRITE | (data ? CL_MEM_COPY_HOST_PTR : 0), size, (void *)data, &e);
  OK(e);
  return m;
}
static void set(cl_kernel k, int n, cl_mem m) { OK(clSetKernelArg(k, n, sizeof m, &m)); }
static void set_number(cl_kernel k, int n, cl_uint v) { OK(clSetKernelArg(k, n, sizeof v, &v)); }
static cl_int run(cl_kernel k, size_t global, size_t local) {
  cl_int e = clEnqueueNDRangeKernel(queue, k, 1, NULL, &global, local ? &local : NULL, 0, NULL, NULL);
  clFinish(queue);
  return e;
}
static void open_device(void) {
  OK(clGetPlatformIDs(1, &platform, NULL));
  OK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
  context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
  queue = clCreateCommandQueue(context, device, 0, NULL);
}
