// Forms of operands: by number, by name, read and written, uniform, immediate. For tgllp.
typedef uint word_t;

__attribute__((intel_reqd_sub_group_size(16))) kernel void by_number(global int *const d, global const int *const s) {
  const size_t tid = get_global_id(0);
  int dst = d[tid];
  __asm__("add (M1, 16) %0(0,0)<1> %0(0,0)<1;1,0> (-)%1(0,0)<1;1,0>" : "+rw"(dst) : "rw"(s[tid]));
  __asm__ volatile("shl (M1, 16) %0(0,0)<1> %0(0,0)<1;1,0> %1\n"
                   "or  (M1, 16) %0(0,0)<1> %0(0,0)<1;1,0> %2\n"
                   : "+rw"(dst)
                   : "i"(3), "i"(1 << 30 | 0x42));
  d[tid] = dst;
}

__attribute__((intel_reqd_sub_group_size(16))) kernel void by_name(global word_t *d, const word_t scale) {
  const size_t tid = get_global_id(0);
  word_t value = d[tid];
  __asm__ volatile("{\n"
                   ".decl unsigned_value v_type=G type=ud num_elts=16 align=GRF alias=<%[value], 0>\n"
                   "shr (M1, 16) unsigned_value(0,0)<1> unsigned_value(0,0)<1;1,0> 0x2:ud\n"
                   "mul (M1, 16) %[value](0,0)<1> %[value](0,0)<1;1,0> %[scale](0,0)<0;1,0>\n"
                   "}\n"
                   : [value] "+rw"(value)
                   : [scale] "rw.u"(scale));
  d[tid] = value;
}

__attribute__((intel_reqd_sub_group_size(8))) kernel void floats(global float *f, global half *h) {
  const size_t tid = get_global_id(0);
  float wide = f[tid];
  half narrow = h[tid];
  __asm__ volatile("mov (M1, 8) %0(0,0)<1> %1(0,0)<1;1,0>" : "=rw"(wide) : "rw"(narrow));
  __asm__ volatile("mad (M1, 8) %0(0,0)<1> %0(0,0)<1;1,0> %1(0,0)<1;1,0> %0(0,0)<1;1,0>" : "+rw"(wide) : "rw"(wide));
  f[tid] = wide;
}

__attribute__((intel_reqd_sub_group_size(16))) kernel void pointers(global int *d, global const int *s) {
  const size_t tid = get_global_id(0);
  int value;
  __asm__ volatile("svm_gather.4.1 (M1, 16) %1.0 %0.0" : "=rw"(value) : "rw"(&s[tid]));
  __asm__ volatile("svm_scatter.4.1 (M1, 16) %0.0 %1.0" : : "rw"(&d[tid]), "rw"(value) : "memory");
}

__attribute__((intel_reqd_sub_group_size(16))) kernel void vectors(global float4 *v) {
  const size_t tid = get_global_id(0);
  float4 x = v[tid];
  __asm__ volatile("mul (M1, 16) %0(0,0)<1> %0(0,0)<1;1,0> %0(2,0)<1;1,0>\n"
                   "add (M1, 16) %0(4,0)<1> %0(4,0)<1;1,0> %0(6,0)<1;1,0>\n" : "+rw"(x));
  v[tid] = x;
}

kernel void no_operands(global int *d) {
  d[get_global_id(0)] = 1;
  __asm__("barrier");
  __asm__("");
}
