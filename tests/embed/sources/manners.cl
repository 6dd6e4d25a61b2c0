// How kernel libraries and the compiler's own tests write vISA: a kernel for each manner. For pvc.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#define PREFETCH(ptr) __asm__ volatile("lsc_load.ugm.ca.ca (M1, 1) %%null:d32x16t flat[%0]:a64" :: "rw.u"(ptr))
__attribute__((intel_reqd_sub_group_size(16))) kernel void prefetch_macro(global float *p) {
  PREFETCH(p);
  p[get_global_id(0)] = 1;
}

__attribute__((intel_reqd_sub_group_size(16))) kernel void fences_in_branches(global int *p, int n) {
  if (n > 3) {
    __asm__ volatile("lsc_fence.ugm.none.group" ::: "memory");
  } else __asm__ volatile ("lsc_fence.slm.none.group\n" : : : "memory");
  p[0] = n;
}

__attribute__((intel_reqd_sub_group_size(16))) kernel void tied(global int *p) {
  int x = p[get_global_id(0)], y;
  __asm__("add (M1, 16) %0(0,0)<1> %1(0,0)<1;1,0> 0x1:d" : "=rw"(y) : "0"(x));
  p[get_global_id(0)] = y;
}

__attribute__((intel_reqd_sub_group_size(16))) kernel void named_and_numbered(global float *p, float s) {
  float x = p[get_global_id(0)];
  __asm__ __volatile__ (
    "mad (M1, 16) %[o](0,0)<1> %[o](0,0)<1;1,0> %1(0,0)<1;1,0> %[bias](0,0)<1;1,0>\n"
    : [o] "+rw" (x)
    : "rw" (s), [bias] "rw" (x * 2.0f));
  p[get_global_id(0)] = x;
}

__attribute__((intel_reqd_sub_group_size(16))) kernel void half_math(global half *p) {
  half h = p[get_global_id(0)];
  half r;
  __asm__("{\n.decl t v_type=G type=f num_elts=16 align=GRF\n"
      "mov (M1, 16) t(0,0)<1> %1(0,0)<1;1,0>\n"
      "mul (M1, 16) t(0,0)<1> t(0,0)<1;1,0> 0x3fb504f3:f\n"
      "mov (M1, 16) %0(0,0)<1> t(0,0)<1;1,0>\n}" : "=rw"(r) : "rw"(h));
  p[get_global_id(0)] = r;
}

__attribute__((intel_reqd_sub_group_size(16))) kernel void matrix(global float8 *c, global short8 *a, global int8 *b) {
  const int t = get_global_id(0);
  float8 acc = c[t]; short8 aa = a[t]; int8 bb = b[t];
  __asm__ volatile ("{\n"
    ".decl aa v_type=G type=ud num_elts=64 align=GRF alias=<%1,0>\n"
    ".decl bb v_type=G type=ud num_elts=128 align=GRF alias=<%2,0>\n"
    "dpas.hf.hf.8.8 (M1, 16) %0.0 %0.0 bb.0 aa(0,0)\n"
    "}\n" : "+rw"(acc) : "rw"(aa), "rw"(bb));
  c[t] = acc;
}

__attribute__((intel_reqd_sub_group_size(16))) kernel void prefetch_block(global char *base, int w, int h, int p, int x, int y) {
  long a = (long)base;
  __asm__ volatile ("lsc_load_block2d.ugm.ca.ca (M1, 1) %%null:d8.32x8nn flat[%0,%1,%2,%3,%4,%5]"
     :: "rw.u"(a), "rw.u"(w), "rw.u"(h), "rw.u"(p), "rw.u"(x), "rw.u"(y));
  base[0] = 1;
}

__attribute__((intel_reqd_sub_group_size(16))) kernel void load_block(global char *base, global short8 *o, int w, int h, int p, int x, int y) {
  short8 out;
  long a = (long)base;
  __asm__ volatile ("lsc_load_block2d.ugm (M1, 1) %0:d16.16x8nn flat[%1,%2,%3,%4,%5,%6]"
     : "=rw"(out) : "rw.u"(a), "rw.u"(w), "rw.u"(h), "rw.u"(p), "rw.u"(x), "rw.u"(y));
  o[get_global_id(0)] = out;
}

__attribute__((intel_reqd_sub_group_size(16))) kernel void four_dwords(global uint4 *p) {
  uint4 v;
  __asm__ volatile ("lsc_load.ugm.ca.uc (M1, 16) %0:d32x4 flat[%1]:a64" : "=rw"(v) : "rw"(p + get_global_id(0)));
  __asm__ volatile ("lsc_store.ugm.wb.wb (M1, 16) flat[%0]:a64 %1:d32x4" :: "rw"(p + get_global_id(0)), "rw"(v));
}

__attribute__((intel_reqd_sub_group_size(16))) kernel void atomic(global uint *p, uint n) {
  uint old;
  __asm__ volatile ("lsc_atomic_iadd.ugm (M1, 16) %0:d32 flat[%1]:a64 %2 %%null.0" : "=rw"(old) : "rw"(p), "rw"(n) : "memory");
  p[get_global_id(0)] = old;
}

__attribute__((intel_reqd_sub_group_size(16))) kernel void shared_memory(global int *p) {
  local int s[64];
  int v = p[get_global_id(0)];
  local int *q = &s[get_local_id(0)];
  __asm__ volatile ("lsc_store.slm (M1, 16) flat[%0]:a32 %1:d32" :: "rw"(q), "rw"(v));
  barrier(CLK_LOCAL_MEM_FENCE);
  __asm__ volatile ("lsc_load.slm (M1, 16) %0:d32 flat[%1]:a32" : "=rw"(v) : "rw"(q));
  p[get_global_id(0)] = v;
}

__attribute__((intel_reqd_sub_group_size(16))) kernel void unrolled(global int *p) {
  int x = 0;
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    __asm__ volatile ("add (M1, 16) %0(0,0)<1> %0(0,0)<1;1,0> %1(0,0)<1;1,0>\n" : "+rw"(x) : "rw"(p[i]));
  }
  p[get_global_id(0)] = x;
}

inline int add3(int a, int b) {
  int r;
  __asm__ volatile ("add3 (M1, 16) %0(0,0)<1> %1(0,0)<1;1,0> %2(0,0)<1;1,0> %2(0,0)<1;1,0>" : "=rw"(r) : "rw"(a), "rw"(b));
  return r;
}
__attribute__((intel_reqd_sub_group_size(16))) kernel void in_a_function(global int *p) { p[get_global_id(0)] = add3(p[0], p[1]); }

#define C 7
__attribute__((intel_reqd_sub_group_size(16))) kernel void numbers(global int *p) {
  int x = p[get_global_id(0)];
  __asm__ ("shl (M1, 16) %0(0,0)<1> %0(0,0)<1;1,0> %1\n and (M1, 16) %0(0,0)<1> %0(0,0)<1;1,0> %2\n"
    : "+rw"(x) : "i"(C), "i"(sizeof(float) * 3));
  p[get_global_id(0)] = x;
}

__attribute__((intel_reqd_sub_group_size(16))) kernel void predicate_and_label(global int *p) {
  int x = p[get_global_id(0)];
  __asm__ volatile ("{\n"
    ".decl pp v_type=P num_elts=16\n"
    "cmp.eq (M1, 16) pp %0(0,0)<1;1,0> 0x5:d\n"
    "(!pp) goto (M1, 16) L1\n"
    "mov (M1, 16) %0(0,0)<1> 0x7:d\n"
    "L1:\n"
    "}\n" : "+rw"(x));
  p[get_global_id(0)] = x;
}

__attribute__((intel_reqd_sub_group_size(32))) kernel void two_halves(global int *p) {
  int x = p[get_global_id(0)];
  __asm__ volatile ("add (M1, 16) %0(0,0)<1> %0(0,0)<1;1,0> 0x1:w\nadd (M5, 16) %0(1,0)<1> %0(1,0)<1;1,0> 0x1:w" : "+rw"(x));
  p[get_global_id(0)] = x;
}

typedef struct { float a; int b; } pair_t;
__attribute__((intel_reqd_sub_group_size(16))) kernel void members(global pair_t *p) {
  pair_t q = p[get_global_id(0)];
  __asm__ volatile ("mul (M1, 16) %0(0,0)<1> %0(0,0)<1;1,0> 0x40000000:f\nadd (M1, 16) %1(0,0)<1> %1(0,0)<1;1,0> 0x1:d" : "+rw"(q.a), "+rw"(q.b));
  p[get_global_id(0)] = q;
}

__attribute__((intel_reqd_sub_group_size(16))) kernel void components(global float4 *p) {
  float4 q = p[get_global_id(0)];
  float x = q.x;
  __asm__ volatile ("add (M1, 16) %0(0,0)<1> %1(0,0)<1;1,0> %2(0,0)<1;1,0>" : "=rw"(x) : "rw"(q.y), "rw"(q.s2));
  q.x = x;
  p[get_global_id(0)] = q;
}

__attribute__((intel_reqd_sub_group_size(16))) kernel void reinterpreted(global float *p) {
  int r;
  __asm__ volatile ("xor (M1, 16) %0(0,0)<1> %1(0,0)<1;1,0> 0x7fffffff:d" : "=rw"(r) : "rw"(as_int(p[get_global_id(0)])));
  p[get_global_id(0)] = as_float(r);
}

__attribute__((intel_reqd_sub_group_size(16))) kernel void bytes(global uchar *p) {
  uchar x = p[get_global_id(0)]; uchar y;
  __asm__ volatile ("mov (M1, 16) %0(0,0)<1> %1(0,0)<1;1,0>" : "=rw"(y) : "rw"(x));
  p[get_global_id(0)] = y;
}

__attribute__((intel_reqd_sub_group_size(16))) kernel void quadwords(global long *p) {
  long x = p[get_global_id(0)];
  __asm__ volatile ("add (M1, 16) %0(0,0)<1> %0(0,0)<1;1,0> 0x1:q" : "+rw"(x));
  p[get_global_id(0)] = x;
}

__attribute__((intel_reqd_sub_group_size(16))) kernel void doubles(global double *p) {
  double x = p[get_global_id(0)];
  __asm__ volatile ("mad (M1, 16) %0(0,0)<1> %0(0,0)<1;1,0> %0(0,0)<1;1,0> %0(0,0)<1;1,0>" : "+rw"(x));
  p[get_global_id(0)] = x;
}

__attribute__((intel_reqd_sub_group_size(16))) kernel void comments_everywhere(global int *p) {
  int x = p[get_global_id(0)];
  __asm__ volatile ("// first\n"
    "/* block */ add (M1, 16) %0(0,0)<1> %0(0,0)<1;1,0> 0x1:w // tail\n"
    /* host */ "/// $3\n" : "+rw"(x));
  p[get_global_id(0)] = x;
}

__attribute__((intel_reqd_sub_group_size(16))) kernel void tabs(global int *p) {
  int x = p[get_global_id(0)];
  __asm__ volatile ("\tadd\t(M1, 16)\t%0(0,0)<1>\t%0(0,0)<1;1,0>\t0x1:w\n\t" "\n" : "+rw"(x));
  p[get_global_id(0)] = x;
}

#define STR(x) #x
#define XSTR(x) STR(x)
#define W 16
__attribute__((intel_reqd_sub_group_size(16))) kernel void stringified(global int *p) {
  int x = p[get_global_id(0)];
  __asm__ volatile ("add (M1, " XSTR(W) ") %0(0,0)<1> %0(0,0)<1;1,0> 0x1:w\n" : "+rw"(x));
  p[get_global_id(0)] = x;
}

#define GEN(op, name) int name(int a, int b) { int r; __asm__ volatile (#op " (M1, 16) %0(0,0)<1> %1(0,0)<1;1,0> %2(0,0)<1;1,0>" : "=rw"(r) : "rw"(a), "rw"(b)); return r; }
GEN(add, do_add)
GEN(xor, do_xor)
__attribute__((intel_reqd_sub_group_size(16))) kernel void pasted(global int *p) { p[get_global_id(0)] = do_add(p[0], do_xor(p[1], 3)); }

__attribute__((intel_reqd_sub_group_size(16))) kernel void uniform_region(global float *p, float a) {
  float x = p[get_global_id(0)];
  __asm__ volatile ("mul (M1, 16) %0(0,0)<1> %0(0,0)<1;1,0> %1(0,0)<0;1,0>" : "+rw"(x) : "rw.u"(a));
  p[get_global_id(0)] = x;
}

__attribute__((intel_reqd_sub_group_size(16))) kernel void math_functions(global float *p) {
  float x = p[get_global_id(0)];
  __asm__ volatile ("inv (M1, 16) %0(0,0)<1> %0(0,0)<1;1,0>\nsqrt (M1, 16) %0(0,0)<1> %0(0,0)<1;1,0>\nexp (M1, 16) %0(0,0)<1> %0(0,0)<1;1,0>\nlog (M1, 16) %0(0,0)<1> %0(0,0)<1;1,0>\nsin (M1, 16) %0(0,0)<1> %0(0,0)<1;1,0>\nrnde (M1, 16) %0(0,0)<1> %0(0,0)<1;1,0>" : "+rw"(x));
  p[get_global_id(0)] = x;
}

__attribute__((intel_reqd_sub_group_size(16))) kernel void dot_and_logic(global int *p) {
  int x = p[get_global_id(0)], y = p[1], z = p[2];
  __asm__ volatile ("dp4a (M1, 16) %0(0,0)<1> %0(0,0)<1;1,0> %1(0,0)<1;1,0> %2(0,0)<1;1,0>\n" : "+rw"(x) : "rw"(y), "rw"(z));
  __asm__ volatile ("bfn.xCA (M1, 16) %0(0,0)<1> %0(0,0)<1;1,0> %1(0,0)<1;1,0> %2(0,0)<1;1,0>\n" : "+rw"(x) : "rw"(y), "rw"(z));
  p[get_global_id(0)] = x;
}

__attribute__((intel_reqd_sub_group_size(16))) kernel void predefined(global uint *p) {
  uint t;
  __asm__ volatile ("mov (M1_NM, 1) %0(0,0)<1> %%tsc(0,0)<0;1,0>" : "=rw"(t));
  uint g;
  __asm__ volatile ("mov (M1_NM, 1) %0(0,0)<1> %%r0(0,1)<0;1,0>" : "=rw"(g));
  p[0] = t + g;
}

__attribute__((intel_reqd_sub_group_size(16))) kernel void clobbers(global int *p) {
  __asm__ volatile ("" : : : "memory");
  __asm__ volatile ("\n" ::: "memory", "cc");
  p[0] = 0;
}

__attribute__((intel_reqd_sub_group_size(16))) kernel void synchronised(global int *p) {
  __asm__ volatile ("barrier");
  p[0] = 0;
}

__attribute__((intel_reqd_sub_group_size(16))) kernel void declared_before(global int *p) {
  int x = p[get_global_id(0)];
  __asm__ volatile (".decl shared v_type=G type=d num_elts=16 align=GRF\n");
  __asm__ volatile ("mov (M1, 16) shared(0,0)<1> %0(0,0)<1;1,0>\n" :: "rw"(x));
  __asm__ volatile ("add (M1, 16) %0(0,0)<1> shared(0,0)<1;1,0> 0x2:w\n" : "=rw"(x));
  p[get_global_id(0)] = x;
}

__attribute__((intel_reqd_sub_group_size(16))) kernel void elements_of_arrays(global int *p) {
  int a[4] = {1, 2, 3, 4};
  __asm__ volatile ("add (M1, 16) %0(0,0)<1> %0(0,0)<1;1,0> %1(0,0)<1;1,0>" : "+rw"(a[1]) : "rw"(a[3]));
  p[get_global_id(0)] = a[1];
}

__attribute__((intel_reqd_sub_group_size(16))) kernel void constant_memory(global int *p, constant int *c) {
  int v;
  __asm__ volatile ("lsc_load.ugm (M1, 16) %0:d32 flat[%1+0x10]:a64" : "=rw"(v) : "rw"(c + get_global_id(0)));
  p[get_global_id(0)] = v;
}

__attribute__((intel_reqd_sub_group_size(16))) kernel void sizes(global ulong *p) {
  size_t n = get_global_id(0); ulong r;
  __asm__ volatile ("mov (M1, 16) %0(0,0)<1> %1(0,0)<1;1,0>" : "=rw"(r) : "rw"(n));
  p[n] = r;
}

int f(int);
int f(int a) { return a * 2; }
__attribute__((intel_reqd_sub_group_size(16))) kernel void expressions(global int *p, int n) {
  int r;
  __asm__ volatile ("add (M1, 16) %0(0,0)<1> %1(0,0)<1;1,0> %2(0,0)<1;1,0>" : "=rw"(r) : "rw"(n > 2 ? 1 : n), "rw"(f(n)));
  p[get_global_id(0)] = r;
}

__attribute__((intel_reqd_sub_group_size(16))) kernel void modifiers(global float *p) {
  float r = p[get_global_id(0)];
  __asm__ volatile ("mul.sat (M1, 16) %0(0,0)<1> (-abs)%0(0,0)<1;1,0> 0x40400000:f\nmax (M1, 16) %0(0,0)<1> %0(0,0)<1;1,0> 0x0:f" : "+rw"(r));
  p[get_global_id(0)] = r;
}

__attribute__((intel_reqd_sub_group_size(16))) kernel void unpredicated(global int *p) {
  int b; int x = p[get_global_id(0)];
  __asm__ volatile ("{\n .decl P1 v_type=P num_elts=16\n cmp.ge (M1, 16) P1 %1(0,0)<1;1,0> 0x4:d\n sel (M1, 16) %0(0,0)<1> 0x1:d 0x0:d\n }" : "=rw"(b) : "rw"(x));
  p[get_global_id(0)] = b;
}

__attribute__((intel_reqd_sub_group_size(16))) kernel void predicated(global int *p) {
  int b; int x = p[get_global_id(0)];
  __asm__ volatile ("{\n .decl P1 v_type=P num_elts=16\n cmp.ge (M1, 16) P1 %1(0,0)<1;1,0> 0x4:d\n (P1) sel (M1, 16) %0(0,0)<1> 0x1:d 0x0:d\n }" : "=rw"(b) : "rw"(x));
  p[get_global_id(0)] = b;
}

__attribute__((intel_reqd_sub_group_size(16))) kernel void second_vector_element(global int *p) {
  int2 v = ((global int2 *)p)[get_global_id(0)];
  int s;
  __asm__ volatile ("add (M1, 16) %0(0,0)<1> %1(0,0)<1;1,0> %1(1,0)<1;1,0>" : "=rw"(s) : "rw"(v));
  p[get_global_id(0)] = s;
}

__attribute__((intel_reqd_sub_group_size(16))) kernel void aliases_of_operands(global int8 *p) {
  int8 v = p[get_global_id(0)];
  __asm__ volatile ("{\n.decl hi v_type=G type=ud num_elts=16 align=GRF alias=<%0, 64>\n.decl lo v_type=G type=uw num_elts=32 alias=<hi, 0>\nmov (M1, 16) lo(0,0)<2> 0x0:uw\n}" : "+rw"(v));
  p[get_global_id(0)] = v;
}

__attribute__((intel_reqd_sub_group_size(16))) kernel void in_a_loop(global int *p) {
  int x = p[get_global_id(0)];
  for (;;) {
    __asm__ volatile ("add (M1, 16) %0(0,0)<1> %0(0,0)<1;1,0> 0x1:w" : "+rw"(x));
    if (x > 10) break;
  }
  p[get_global_id(0)] = x;
}

__attribute__((intel_reqd_sub_group_size(16))) kernel void unsigned_aliases(global uint *p) {
  uint x = p[get_global_id(0)], y;
  __asm__ volatile ("{\n.decl u v_type=G type=ud num_elts=16 align=GRF alias=<%1,0>\n.decl w v_type=G type=ud num_elts=16 align=GRF alias=<%0,0>\nlzd (M1, 16) w(0,0)<1> u(0,0)<1;1,0>\n}" : "=rw"(y) : "rw"(x));
  p[get_global_id(0)] = y;
}

__attribute__((intel_reqd_sub_group_size(16))) kernel void early_clobber(global int *p) {
  global int *q = p + get_global_id(0);
  int v;
  __asm__ volatile ("lsc_load.ugm.uc.uc (M1, 16) %0:d32 flat[%1]:a64\n" "add (M1, 16) %0(0,0)<1> %0(0,0)<1;1,0> 0x1:w\n" "lsc_store.ugm (M1, 16) flat[%1]:a64 %0:d32\n" : "=rw"(v) : "rw"(q));
}

__attribute__((intel_reqd_sub_group_size(16))) kernel void words(global ushort *p) {
  ushort x = p[get_global_id(0)];
  __asm__ volatile ("add (M1, 16) %0(0,0)<1> %0(0,0)<1;1,0> 0x1:w\nshr (M1, 16) %0(0,0)<1> %0(0,0)<1;1,0> 0x1:uw" : "+rw"(x));
  p[get_global_id(0)] = x;
}

__attribute__((intel_reqd_sub_group_size(16))) kernel void other_letters(global int *p) {
  int x = p[get_global_id(0)];
  __asm__ volatile ("// größer ✓\nadd (M1, 16) %0(0,0)<1> %0(0,0)<1;1,0> 0x1:w\n" : "+rw"(x));
  p[get_global_id(0)] = x;
}
