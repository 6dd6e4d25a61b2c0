// Kernels with a usual mistake each, at the line that is marked `wrong`, and right ones of the same kinds, whose names begin
// with `right`. test_usual_mistakes.py compiles them and runs the launches by default.

kernel void off_by_one(global float *out, global const float *in, int n) {
  int i = get_global_id(0);
  if (i <= n)
    out[i] = 2 * in[i];  // wrong: i < n
}

kernel void odd_pairs(global float *out, global const float *in, int n) {
  int i = get_global_id(0);
  if (2 * i < n)
    out[i] = in[2 * i] + in[2 * i + 1];  // wrong: 2 * i + 1 < n
}

kernel void transpose_stride(global float *b, global const float *a, int w, int h) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x < w && y < h)
    b[x * w + y] = a[y * w + x];  // wrong: x * h + y
}

kernel void transposed_read(global float *b, global const float *a, int width, int height) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x < width && y < height)
    b[y * width + x] = a[x * width + y];  // wrong: x * height + y
}

kernel void exchanged_guard(global int *out, global const int *in, int w, int h) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x >= h || y >= w) return;
  out[y * w + x] = in[y * w + x] + 1;  // wrong: the guard exchanges w and h
}

kernel void row_below(global float *out, global const float *in, int w, int h) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x < w && y < h)
    out[y * w + x] = in[(y + 1) * w + x] - in[y * w + x];  // wrong: y + 1 < h
}

kernel void volume_stride(global float *out, global const float *in, int w, int h, int d) {
  int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
  if (x < w && y < h && z < d)
    out[(z * h + y) * w + x] = 2 * in[(z * w + y) * h + x];  // wrong: (z * h + y) * w + x
}

kernel void volume_row(global int *out, global const int *in, int w, int h, int d) {
  int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
  if (x < w && y < h && z < d)
    out[(z * h + y) * w + x] = 2 * in[(z * w + y) * w + x];  // wrong: (z * h + y) * w + x
}

kernel void partial_barrier(global int *out, global const int *in) {
  local int t[256];
  int l = get_local_id(0), i = get_global_id(0);
  t[l] = in[i];
  if (l < 20) barrier(CLK_LOCAL_MEM_FENCE);  // wrong: for all
  out[i] = t[l ^ 1];
}

kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void halo_of_one_side(global float *out, global const float *in, int n) {
  local float t[66];
  int l = get_local_id(0), i = get_global_id(0);
  t[l + 1] = i < n ? in[i] : 0;
  if (l == 0) t[0] = i > 0 ? in[i - 1] : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < n) out[i] = t[l] + t[l + 1] + t[l + 2];  // wrong: t[65]
}

kernel void matrix_vector(global float *y, global const float *a, global const float *x, int rows, int cols) {
  int i = get_global_id(0);
  if (i >= rows) return;
  float sum = 0;
  for (int k = 0; k < cols; ++k)
    sum += a[i * rows + k] * x[k];  // wrong: i * cols + k
  y[i] = sum;
}

kernel __attribute__((reqd_work_group_size(16, 8, 1)))
void tile_sides(global float *out, global const float *in, int w, int h) {
  local float t[8][16];
  int x = get_global_id(0), y = get_global_id(1), lx = get_local_id(0), ly = get_local_id(1);
  t[lx][ly] = x < w && y < h ? in[y * w + x] : 0;  // wrong: t[ly][lx]
  barrier(CLK_LOCAL_MEM_FENCE);
  if (x < w && y < h) out[y * w + x] = t[ly][15 - lx];
}

kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void short_tile(global float *out, global const float *in, int n) {
  local float t[65];
  int i = get_global_id(0), l = get_local_id(0);
  t[l + 1] = i < n ? in[i] : 0;
  if (l == 0) t[0] = i > 0 && i <= n ? in[i - 1] : 0;
  if (l == 0) t[get_local_size(0) + 1] = i + 64 < n ? in[i + 64] : 0;  // wrong: the tile has 65 elements
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < n) out[i] = t[l] + t[l + 1] + t[l + 2];
}

kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void halo_behind(global float *out, global const float *in, int n) {
  local float t[66];
  int i = get_global_id(0), l = get_local_id(0);
  if (i < n) t[l + 1] = in[i];
  if (l == 0 && i > 0 && i < n) t[0] = in[i - 1];
  if ((l == 63 || i == n - 1) && i < n) t[l + 2] = in[i + 1];  // wrong: i + 1 < n
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i > 0 && i < n - 1) out[i] = t[l] + t[l + 1] + t[l + 2];
}

kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void sum_without_barrier(global float *partial, global const float *in, int n) {
  local float t[128];
  int i = get_global_id(0), l = get_local_id(0);
  t[l] = i < n ? in[i] : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int d = 64; d > 0; d >>= 1)
    if (l < d) t[l] += t[l + d];  // wrong: no barrier between the steps
  if (l == 0) partial[get_group_id(0)] = t[0];
}

kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void product_one_barrier(global float *c, global const float *a, global const float *b, int m, int n, int k) {
  local float as[16][16], bs[16][16];
  int x = get_global_id(0), y = get_global_id(1), lx = get_local_id(0), ly = get_local_id(1);
  float sum = 0;
  for (int t = 0; t < k; t += 16) {
    as[ly][lx] = y < m && t + lx < k ? a[y * k + t + lx] : 0;
    bs[ly][lx] = x < n && t + ly < k ? b[(t + ly) * n + x] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < 16; ++i) sum += as[ly][i] * bs[i][lx];  // wrong: no barrier behind it
  }
  if (x < n && y < m) c[y * n + x] = sum;
}

kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void scan_in_place(global int *out, global const int *in, int n) {
  local int t[128];
  int i = get_global_id(0), l = get_local_id(0);
  t[l] = i < n ? in[i] : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int d = 1; d < 128; d <<= 1) {
    if (l >= d) t[l] += t[l - d];  // wrong: no barrier between read and write
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (i < n) out[i] = t[l];
}

kernel void total_of_groups(global int *total, global const int *in, int n) {
  int i = get_global_id(0);
  if (i < n) total[0] += in[i];  // wrong: not atomic
}

kernel void histogram(global int *bins, global const uchar *in, int n) {
  int i = get_global_id(0);
  if (i < n) bins[in[i] & 31]++;  // wrong: not atomic
}

kernel void smooth_in_place(global float *x, int n) {
  int i = get_global_id(0);
  if (i > 0 && i < n - 1) x[i] = (x[i - 1] + x[i] + x[i + 1]) / 3;  // wrong: neighbours are replaced meanwhile
}

kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void returns_before_barrier(global float *out, global const float *in, int n) {
  local float t[64];
  int i = get_global_id(0), l = get_local_id(0);
  if (i >= n) return;
  t[l] = in[i];
  barrier(CLK_LOCAL_MEM_FENCE);  // wrong: some work items have returned
  out[i] = t[l ^ 1];
}

kernel void unset_votes(global int *out, global const int *in, int n) {
  int i = get_global_id(0);
  int votes[8];
  if (i >= n) return;
  for (int k = 0; k < 4; ++k) votes[(in[i] + k) & 7] = k;
  out[i] = votes[(in[i] + 5) & 7];  // wrong: only four of eight are set
}

kernel void sum_in_rounds(global int *out, global const int *in) {
  local int sums[128];
  int l = get_local_id(0);
  sums[l] = in[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int d = get_local_size(0) / 2; d > 0; d /= 2) {
    if (l < d) sums[l] += sums[l + d]; // wrong
  }
  if (l == 0) out[get_group_id(0)] = sums[0];
}

kernel void differences(global float *out, global const float *in, int n) {
  int i = get_global_id(0);
  if (i < n) out[i] = in[i] - in[i - 1]; // wrong
}

kernel void last_large(global int *out, global const int *in, int n) {
  int i = get_global_id(0), place;
  if (i >= n) return;
  for (int k = 0; k < n; ++k)
    if (in[k] > 1000000) place = k; // wrong
  out[i] = place;
}

kernel void right_saxpy(global float *y, global const float *x, float a, int n) {
  int i = get_global_id(0);
  if (i < n) y[i] += a * x[i];
}

kernel void right_exact(global float *out, global const float *a, global const float *b) {
  int i = get_global_id(0);
  out[i] = a[i] * b[i];
}

kernel void right_rows(global float *out, global const float *in, int w, int h) {
  int x = get_global_id(0), y = get_global_id(1);
  out[y * w + x] = in[(h - 1 - y) * w + x];
}

kernel void right_square(global float *out, global const float *in, int n) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x < n && y < n) out[x * n + y] = in[y * n + x];
}

kernel void right_pairs(global float *out, global const float *in, int n) {
  int i = get_global_id(0);
  if (2 * i < n) out[i] = in[2 * i] + (2 * i + 1 < n ? in[2 * i + 1] : 0);
}

kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void right_transpose(global float *b, global const float *a, int w, int h) {
  local float t[16][17];
  int x = get_global_id(0), y = get_global_id(1), lx = get_local_id(0), ly = get_local_id(1);
  if (x < w && y < h) t[ly][lx] = a[y * w + x];
  barrier(CLK_LOCAL_MEM_FENCE);
  int tx = get_group_id(1) * 16 + lx, ty = get_group_id(0) * 16 + ly;
  if (tx < h && ty < w) b[ty * h + tx] = t[lx][ly];
}

kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void right_product(global float *c, global const float *a, global const float *b, int m, int n, int k) {
  local float as[16][16], bs[16][16];
  int x = get_global_id(0), y = get_global_id(1), lx = get_local_id(0), ly = get_local_id(1);
  float sum = 0;
  for (int t = 0; t < k; t += 16) {
    as[ly][lx] = y < m && t + lx < k ? a[y * k + t + lx] : 0;
    bs[ly][lx] = x < n && t + ly < k ? b[(t + ly) * n + x] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < 16; ++i) sum += as[ly][i] * bs[i][lx];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (x < n && y < m) c[y * n + x] = sum;
}

kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void right_halo(global float *out, global const float *in, int n) {
  local float t[66];
  int i = get_global_id(0), l = get_local_id(0);
  t[l + 1] = i < n ? in[i] : 0;
  if (l == 0) t[0] = i > 0 && i <= n ? in[i - 1] : 0;
  if (l == 63) t[65] = i + 1 < n ? in[i + 1] : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < n) out[i] = (t[l] + t[l + 1] + t[l + 2]) / 3;
}

kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void right_sum(global float *partial, global const float *in, int n) {
  local float s[64];
  int i = get_global_id(0), l = get_local_id(0);
  s[l] = i < n ? in[i] : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int d = 32; d > 0; d >>= 1) {
    if (l < d) s[l] += s[l + d];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (l == 0) partial[get_group_id(0)] = s[0];
}

kernel void right_histogram(global int *bins, global const uchar *in, int n) {
  local int own[32];
  int i = get_global_id(0), l = get_local_id(0);
  for (int k = l; k < 32; k += get_local_size(0)) own[k] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < n) atomic_inc(&own[in[i] & 31]);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int k = l; k < 32; k += get_local_size(0)) atomic_add(&bins[k], own[k]);
}

kernel void right_heat(global float *out, global const float *in, int w, int h, int d) {
  int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
  if (x < 1 || y < 1 || z < 1 || x >= w - 1 || y >= h - 1 || z >= d - 1) return;
  int at = (z * h + y) * w + x;
  out[at] = in[at] + in[at - 1] + in[at + 1] + in[at - w] + in[at + w] + in[at - w * h] + in[at + w * h];
}

kernel void right_pitched(global uchar4 *out, global const uchar4 *in, int pitch, int width, int height, float gain) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x < width && y < height) out[y * pitch + x] = convert_uchar4_sat(convert_float4(in[y * pitch + x]) * gain);
}

kernel void right_strided(global float *out, global const float *in, int n) {
  for (int i = get_global_id(0); i < n; i += get_global_size(0)) out[i] = sqrt(in[i]);
}

kernel void right_image(global float *out, global const float *in, int w, int h) {
  int i = get_global_id(0);
  if (i >= w * h) return;
  int x = i % w, y = i / w;
  out[i] = in[y * w + min(x + 1, w - 1)] + in[max(y - 1, 0) * w + x];
}

kernel void right_clamped(global float *out, global const float *in, int w, int h) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x >= w || y >= h) return;
  float sum = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx) sum += in[clamp(y + dy, 0, h - 1) * w + clamp(x + dx, 0, w - 1)];
  out[y * w + x] = sum / 9;
}

typedef struct { char kind; float weight; short2 at; uchar tail; } item;
kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void right_records(global float *out, global item *items, global const float *in) {
  local item t[64];
  local float3 v[64];
  int l = get_local_id(0), i = get_global_id(0);
  item own = {l, in[i], (short2)(l, i), 3};
  t[l] = own;
  v[l] = vload3(i, in);
  barrier(CLK_LOCAL_MEM_FENCE);
  item other = t[63 - l];
  items[i] = other;
  vstore3(v[63 - l] * 2 + other.weight * other.tail, i, out);
}

kernel void right_search(global int *out, global const char *text, global const char *word, int n, int m) {
  int i = get_global_id(0);
  if (i + m > n) return;
  int k = 0;
  while (k < m && text[i + k] == word[k]) ++k;
  out[i] = k == m;
}

kernel void right_grey(global uchar *out, global const uchar *in, int w, int h) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x >= w || y >= h) return;
  int i = (y * w + x) * 3;
  out[y * w + x] = (in[i] * 77 + in[i + 1] * 150 + in[i + 2] * 29) >> 8;
}

kernel void right_prefix(global int *out, global const int *in, int n) {
  local int sums[256];
  int l = get_local_id(0), i = get_global_id(0);
  sums[l] = i < n ? in[i] : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int d = 1; d < get_local_size(0); d *= 2) {
    int before = l >= d ? sums[l - d] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    sums[l] += before;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (i < n) out[i] = sums[l];
}
