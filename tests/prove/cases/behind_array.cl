kernel __attribute__((reqd_work_group_size(32, 1, 1))) void behind_array(global float *o, global const float *a, int n) {
  local float t[3][11];
  int l = get_local_id(0), g = get_global_id(0);
  (&t[0][0])[l] = a[g];
  if (l == 0)
    t[2][10] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (n == 123)
    o[g] = (&t[0][0])[l + 2] - (&t[0][0])[31 - l];
}
