// Matrix and load/store messages in the manner of kernel libraries. For pvc.
__attribute__((intel_reqd_sub_group_size(16))) kernel void multiply(global float8 *c, global int8 *a, global int8 *b) {
  const size_t tid = get_global_id(0);
  float8 acc = c[tid];
  int8 rows = a[tid], columns = b[tid];
  __asm__ volatile("{\n"
                   ".decl rows v_type=G type=ud num_elts=128 align=GRF alias=<%[rows], 0>\n"
                   ".decl columns v_type=G type=ud num_elts=128 align=GRF alias=<%[columns], 0>\n"
                   "dpas.bf.bf.8.8 (M1, 16) %[acc].0 %[acc].0 columns.0 rows(0,0)\n"
                   "}\n"
                   : [acc] "+rw"(acc)
                   : [rows] "rw"(rows), [columns] "rw"(columns));
  c[tid] = acc;
}

__attribute__((intel_reqd_sub_group_size(16))) kernel void messages(global uint *d, global const uint *s) {
  const size_t tid = get_global_id(0);
  uint value;
  __asm__ volatile("lsc_load.ugm (M1, 16) %0:d32 flat[%1]:a64" : "=rw"(value) : "rw"(&s[tid]));
  __asm__ volatile("lsc_store.ugm (M1, 16) flat[%0]:a64 %1:d32" : : "rw"(&d[tid]), "rw"(value) : "memory");
  __asm__ volatile("lsc_fence.ugm.evict.gpu");
}
