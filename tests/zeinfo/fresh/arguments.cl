// Arguments of every kind but images: what the runtime adds, constants between, structs, unused ones.
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
struct S { int a; char b; short c; float4 d; long e; };
typedef struct { float x; int n; } T;
// constant between, mixed
kernel void constants_between(constant int *c0, global int *g0, int n, constant float *c1, global float *g1, local int *l0, float f) {
  int i = get_global_id(0); l0[get_local_id(0)] = g0[i] + c0[i & 3]; barrier(CLK_LOCAL_MEM_FENCE);
  if (i < n) g1[i] = f * c1[i & 7] + l0[get_local_id(0) ^ 1]; }
kernel void structs(global const int *a, struct S s, global int *o, T t, long q) {
  int i = get_global_id(0); o[i] = a[i] * s.a + s.b + s.c + (int)s.d.y + (int)s.e + t.n + (int)t.x + (int)q; }
kernel void grid_stride(global int *o, int u) { // grid stride
  for (int i = get_global_id(0); i < u; i += get_global_size(0)) o[i] = i * get_num_groups(0) + get_local_size(0); }
kernel void groups(global int *o) { int i = get_global_id(0); o[i] = get_num_groups(0) + 10 * get_work_dim(); }
kernel void grid(global int *o) { int i = get_global_id(0); o[i] = get_global_size(0); }
kernel void group(global int *o) { int i = get_global_id(0); o[i] = get_local_size(0) + get_local_id(0); }
kernel void two_locals(global int *o, local float *a, local int *b, int n) {
  local int st[64]; int l = get_local_id(0); a[l] = l; b[l] = n - l; st[l & 63] = l; barrier(CLK_LOCAL_MEM_FENCE);
  o[get_global_id(0)] = (int)a[l ^ 1] + b[l ^ 2] + st[(l + 5) & 63]; }
kernel void private_and_printf(global int *o, int n) { int p[40]; for (int i = 0; i < 40; i++) p[i] = i * n + o[i];
  int s = 0; for (int i = 0; i < n; i++) s += p[(s + i) % 40]; o[get_global_id(0) + 40] = s;
  if (get_global_id(0) == 3) printf("n=%d\n", s); }
kernel void unused(global int *o, int unused, float3 v, global int *unusedp, char c, short s, uchar4 u4) {
  o[get_global_id(0)] = (int)(v.x + v.y * v.z) + c * s + u4.x + u4.w; }
constant int TAB[16] = {1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16};
kernel void table(global int *o, constant int *c) { int i = get_global_id(0); o[i] = TAB[c[i & 3] & 15]; }
kernel __attribute__((reqd_work_group_size(16, 2, 1))) void linear_ids(global int *o, global atomic_int *x) {
  int i = get_global_linear_id(); o[i] = atomic_fetch_add(x, 1) * 0 + get_local_linear_id() + get_group_id(1); }
kernel void longs(global long *o, ulong n, ulong m) { o[get_global_id(0)] = n * m; }
kernel void copy(global int *dst, global int *src) { dst[get_global_id(0)] = src[get_global_id(0)]; }
kernel void constants_first(constant int *a, constant int *b, global int *o) { o[get_global_id(0)] = a[get_local_id(0)] * b[2]; }
kernel void constants_mixed(constant int *a, global int *b, constant int *c, global int *o) { o[get_global_id(0)] = a[get_local_id(0)] * b[get_global_id(0)]+c[get_global_id(1)]; }
