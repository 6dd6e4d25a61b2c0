// Kernels with a fault each, and some without: test_default_launches.py says what launches by default have to find.

kernel void total(global float *sum, global const float *a, int n) { if (get_global_id(0) == 0) { float s = 0; for (int k = 0; k <= n; k++) s += a[k]; sum[0] = s; } }
kernel void rowdiff(global float *o, global const float *in, int w, int h) { int x = get_global_id(0), y = get_global_id(1); if (x < w && y < h) o[y*w+x] = in[(y+1)*w+x] - in[y*w+x]; }
kernel void reduce(global float *o, global const float *in, local float *t) { int l = get_local_id(0); t[l] = in[get_global_id(0)]; barrier(CLK_LOCAL_MEM_FENCE);
  for (int d = get_local_size(0)/2; d > 0; d >>= 1) if (l < d) t[l] += t[l+d];
  if (l == 0) o[get_group_id(0)] = t[0]; }
kernel void trans(global float *o, global const float *in, int n) { local float t[16][17]; int lx = get_local_id(0), ly = get_local_id(1);
  t[ly][lx] = in[get_global_id(1)*n+get_global_id(0)]; o[(get_group_id(0)*16+ly)*n+get_group_id(1)*16+lx] = t[lx][ly]; }
kernel void all3(global int *hist, global float *out, global const float *in, int n) { local float t[64]; int l = get_local_id(0), i = get_global_id(0);
  t[l] = in[i+1]; if (i < n) { out[i] = t[63-l]; hist[(int)in[i] & 255]++; } }
kernel void rev(global int *o, global const int *in, int n) { int i = get_global_id(0); if (i < n) o[i] = in[n-i]; }
kernel void hist2(global int *h, global const float *d, const int count) { int i = get_global_id(0); if (i < count) { int b = (int)(d[i] * 10.0f); h[b] = h[b] + 1; } }
kernel void lbound(global float *o, global const float *in, uint num) { local float t[64]; uint i = get_global_id(0); int l = get_local_id(0); t[l+1] = i < num ? in[i] : 0; barrier(CLK_LOCAL_MEM_FENCE); if (i < num) o[i] = t[l]; }
kernel void shift(global float *a, int n) { int i = get_global_id(0); if (i < n - 1) a[i] = a[i + 1]; }
kernel void good(global float *a, global const float *b, int n) { int i = get_global_id(0); if (i > 0 && i < n - 1) a[i] = b[i-1] + b[i] + b[i + 1]; }
kernel void scan(global int *o, global const int *in, local int *t, int n) { int l = get_local_id(0), i = get_global_id(0); t[l] = i < n ? in[i] : 0; barrier(CLK_LOCAL_MEM_FENCE);
  for (int d = 1; d < get_local_size(0); d <<= 1) { int v = l >= d ? t[l-d] : 0; barrier(CLK_LOCAL_MEM_FENCE); t[l] += v; barrier(CLK_LOCAL_MEM_FENCE); } if (i < n) o[i] = t[l]; }
kernel void fill(global int *o, int n) { int i = get_global_id(0); if (i <= n) o[i] = i; }
kernel void spmv(global float *y, global const int *row_ptr, global const int *col, global const float *val, global const float *x, int n) {
  int i = get_global_id(0); if (i >= n) return; float s = 0; for (int k = row_ptr[i]; k < row_ptr[i+1]; ++k) s += val[k] * x[col[k]]; y[i] = s; }
kernel void mm(global float *c, global const float *a, global const float *b, int n) {
  int x = get_global_id(0), y = get_global_id(1); if (x >= n || y >= n) return; float s = 0; for (int k = 0; k < n; ++k) s += a[y*n+k]*b[k*n+x]; c[y*n+x] = s; }
kernel void red(global float *partial, global const float *x, local float *t, int n) {
  int i = get_global_id(0), l = get_local_id(0); t[l] = i < n ? x[i] : 0; barrier(CLK_LOCAL_MEM_FENCE);
  for (int d = get_local_size(0)/2; d > 0; d >>= 1) { if (l < d) t[l] += t[l+d]; barrier(CLK_LOCAL_MEM_FENCE); }
  if (l == 0) partial[get_group_id(0)] = t[0]; }
kernel void scatter(global int *out, global const int *idx, global const int *x) { int i = get_global_id(0); out[idx[i]] = x[i]; }
kernel void dct(global float *x) { local float t[64]; int lx = get_local_id(0), ly = get_local_id(1);
  t[ly*8+lx] = x[get_global_id(1)*get_global_size(0)+get_global_id(0)];
  float s = 0; for (int k = 0; k < 8; ++k) s += t[ly*8+k]; t[ly*8+lx] = s;  x[get_global_id(1)*get_global_size(0)+get_global_id(0)] = t[ly*8+lx]; }
