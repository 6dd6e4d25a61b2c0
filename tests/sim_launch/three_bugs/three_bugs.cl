// Three kernels with a bug each, which launches by default have to find: test_three_bugs.py.

kernel void smooth(global float *out, global const float *in, int n) {
  int i = get_global_id(0);
  if (i < n)
    out[i] = 0.5f * (in[i] + in[i + 1]);  // the last work item reads past the end
}

kernel void reverse(global int *data) {
  local int tile[64];
  int l = get_local_id(0);
  int i = get_global_id(0);
  tile[l] = data[i];
  data[i] = tile[63 - l];  // without a barrier
}

kernel void histogram(global uint *bins, global const uint *values, int n) {
  int i = get_global_id(0);
  if (i < n)
    bins[values[i] & 255] += 1;  // without an atomic
}
