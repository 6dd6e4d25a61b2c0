// Forms of strings: adjacent, spliced, in macros, with conditionals, comments and blocks of labels. For tgllp.
#define LANES "16"
#define SCALE(target, source) \
  __asm__ volatile("mul (M1, " LANES ") %0(0,0)<1> %0(0,0)<1;1,0> %1(0,0)<1;1,0>\n" \
                   : "+rw"(target) : "rw"(source))
#define SHIFT(target, lanes, by) \
  __asm__ volatile("shl (M1, " #lanes ") %0(0,0)<1> %0(0,0)<1;1,0> " #by ":d\n" \
                   "add (M1, 16) %0(0,0)<1> %0(0,0)<1;1,0> 0x1:w" : "+rw"(target))

__attribute__((intel_reqd_sub_group_size(16))) kernel void forms(global int *d) {
  const size_t tid = get_global_id(0);
  int x = d[tid], y = x;
  __asm("mov (M1, 1" "6) %0(0,0)<1> " // a comment between
        "%1(0,0)<1;1,0>\n" : "=rw"(y) : "rw"(x));
  __asm__ __volatile__("add (M1, 16) %0(0,0)<1> \
%1(0,0)<1;1,0> 0x7:w\n" : "=rw"(y) : "rw"(x));
  __asm__ volatile(
      "{\n"
      "// \"quoted\" in a comment\n"
      ".decl t v_type=G type=d num_elts=16 align=GRF\n"
#ifdef WIDE
      "mov (M1, 16) t(0,0)<1> 0x2:d\n"
#else
      "mov (M1, 16) t(0,0)<1> 0x1:d\n"
#endif
      "\tadd (M1, 16) %0(0,0)<1> %0(0,0)<1;1,0> t(0,0)<1;1,0>\n"
      "mov (M1_NM, 1) t(0,0)<1> %%r0(0,0)<0;1,0>\n"
      "}\n"
      : "+rw"(y));
  SCALE(y, x);
  SHIFT(y, 16, 2);
  d[tid] = y;
}

__attribute__((intel_reqd_sub_group_size(16))) kernel void labels(global int *d) {
  const size_t tid = get_global_id(0);
  int x = d[tid];
  __asm__ volatile("{\n"
                   ".decl p v_type=P num_elts=16\n"
                   "cmp.gt (M1, 16) p %0(0,0)<1;1,0> 0x0:d\n"
                   "(p) goto (M1, 16) skip\n"
                   "}\n" : : "rw"(x));
  __asm__ volatile("add (M1, 16) %0(0,0)<1> %0(0,0)<1;1,0> 0x1:w" : "+rw"(x));
  __asm__ volatile("skip:\n");
  d[tid] = x;
}
