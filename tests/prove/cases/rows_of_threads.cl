__attribute__((intel_reqd_sub_group_size(16)))
kernel void rows_of_threads(global const float *x, global float *y, int n) {
  int row = get_group_id(0) * get_num_sub_groups() + get_sub_group_id();
  for (int i = get_sub_group_local_id(); i < n; i += 16) y[row * n + i] = x[row * n + i];
}
