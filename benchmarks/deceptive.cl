// fault: race: (i + 1) % n -> i % (n - 1)
kernel void rotate_right(global const int *a, global int *o, int n) {
  int i = get_global_id(0);
  if (i < n) o[(i + 1) % n] = a[i];
}
// fault: bounds: i < n - 1 -> i < n
kernel void differences(global const float *a, global float *o, int n) {
  int i = get_global_id(0);
  if (i < n - 1) o[i] = a[i + 1] - a[i];
}
// fault: bounds: i >= 2 && i < n -> i < n
kernel void look_back(global const int *a, global int *o, int n) {
  int i = get_global_id(0);
  if (i >= 2 && i < n) o[i] = a[i] - a[i - 2];
}
// fault: bounds: x < w && y < h -> x < h && y < w
kernel void brighten(global uchar *image, int w, int h) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x < w && y < h) image[y * w + x] = add_sat(image[y * w + x], (uchar)9);
}
// fault: race: y * w + x] = v -> y * h + x] = v
kernel void invert(global const int *a, global int *o, int w, int h) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x >= w || y >= h) return;
  int v = -a[y * w + x];
  o[y * w + x] = v;
}
// fault: bounds: (2 * h + y) * w -> (2 * w + y) * h
kernel void luma(global const uchar *rgb, global uchar *grey, int w, int h) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x < w && y < h)
    grey[y * w + x] = (rgb[y * w + x] + 2 * rgb[(h + y) * w + x] + rgb[(2 * h + y) * w + x]) / 4;
}
// fault: race: (z * h + y) * w -> (z * w + y) * h
kernel void volume(global const float *a, global float *o, int w, int h, int d) {
  int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2), from = (d * y + z) * w + x;
  if (x < w && y < h && z < d) o[(z * h + y) * w + x] = a[from] * 2;
}
// fault: bounds: x < w / 2 -> x <= w / 2
kernel void halve(global const uchar *a, global uchar *o, int w, int h) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x < w / 2 && y < h / 2) o[y * (w / 2) + x] = a[2 * y * w + 2 * x];
}
// fault: bounds: i < n / 2 -> i <= n / 2
kernel void pairs(global const int *a, global int *o, int n) {
  int i = get_global_id(0);
  if (i < n / 2) o[i] = a[2 * i] + a[2 * i + 1];
}
// fault: race: n / 2 + i -> n / 4 + i
kernel void split_halves(global const int *a, global int *o, int n) {
  int i = get_global_id(0);
  if (i < n / 2) {
    o[i] = a[2 * i];
    o[n / 2 + i] = a[2 * i + 1];
  }
}
// fault: race: barrier(CLK_LOCAL_MEM_FENCE); // second -> // second
kernel void running_sum(global const int *a, global int *o, local int *t) {
  int l = get_local_id(0), m = get_local_size(0), g = get_global_id(0), v = a[g];
  for (int s = 1; s < m; s <<= 1) {
    t[l] = v;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l >= s) v += t[l - s];
    barrier(CLK_LOCAL_MEM_FENCE); // second
  }
  o[g] = v;
}
// fault: race: (r & 1) * 64 -> (r & 1) * 32
kernel void two_buffers(global const int *a, global int *o, int rounds) {
  local int t[128];
  int l = get_local_id(0) & 63, v = a[get_global_id(0)];
  if (get_local_size(0) > 64) return;
  for (int r = 0; r < rounds; r++) {
    t[(r & 1) * 64 + l] = v;
    barrier(CLK_LOCAL_MEM_FENCE);
    v += t[(r & 1) * 64 + (l ^ 1)];
  }
  o[get_global_id(0)] = v;
}
// fault: divergence: r < rounds -> r < rounds + (int)(get_local_id(0) & 1)
kernel void rounds_of_barriers(global int *a, int rounds) {
  for (int r = 0; r < rounds; r++) {
    a[get_global_id(0)] += r;
    barrier(CLK_GLOBAL_MEM_FENCE);
  }
}
// fault: divergence: (get_group_id(0) & 1) -> (get_global_id(0) & 1)
kernel void odd_groups(global int *a, local int *t) {
  int l = get_local_id(0);
  t[l] = a[get_global_id(0)];
  if ((get_group_id(0) & 1)) barrier(CLK_LOCAL_MEM_FENCE);
  a[get_global_id(0)] = t[l] + 1;
}
// fault: bounds: == 0) t[get_local_size(0)] -> == 0) t[get_global_size(0)]
// open: bounds
kernel void halo_argument(global const int *a, global int *o, local int *t) {
  int l = get_local_id(0), g = get_global_id(0);
  t[l] = a[g];
  if (l == 0) t[get_local_size(0)] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  o[g] = t[l] + t[l + 1];
}
// fault: bounds: t[63 - -> t[64 -
kernel void reverse_tile(global int *a) {
  local int t[64];
  int l = get_local_id(0), g = get_global_id(0);
  if (get_local_size(0) > 64) return;
  t[63 - l] = a[g];
  barrier(CLK_LOCAL_MEM_FENCE);
  a[g] = t[63 - l];
}
// fault: bounds: (i + n - 1) % n -> (i - 1) % n
kernel void ring_before(global const int *a, global int *o, int n) {
  int i = get_global_id(0);
  if (i < n) o[i] = a[(i + n - 1) % n];
}
// fault: bounds: i + 1 < n -> i < n - 1u
kernel void unsigned_guard(global const uint *a, global uint *o, uint n) {
  uint i = get_global_id(0);
  if (i + 1 < n) o[i] = a[i + 1];
}
// fault: bounds: (char)(i & 0x7f) -> (char)(i & 0xff)
kernel void char_index(global const int *a, global int *o, int n) {
  int i = get_global_id(0);
  if (i < n) o[i] = a[(char)(i & 0x7f) < n ? (char)(i & 0x7f) : 0];
}
// fault: race: (uchar)i : 256 -> (uchar)(i / 2) : 256
kernel void byte_index(global int *o) {
  int i = get_global_id(0);
  if (i < 512) o[i < 256 ? (uchar)i : 256 + (uchar)i] = i;
}
// fault: bounds: i * 4 + 3 < n -> i * 4 < n
kernel void fours(global const float *a, global float *o, int n) {
  int i = get_global_id(0);
  if (i * 4 + 3 < n) vstore4(vload4(i, a) * 2, i, o);
}
// fault: race: o[i] -> o[i / 2]
kernel void float4_items(global const float4 *a, global float4 *o, int n) {
  int i = get_global_id(0);
  if (i < n) o[i] = a[i].wzyx;
}
// fault: race: short *o -> char *o
kernel void narrow(global const int *a, global short *o, int n) {
  int i = get_global_id(0);
  if (i < n) *(global short *)(o + i) = a[i];
}
// fault: race: atomic_add(&count[v & 15], 1) -> count[v & 15] += 1
kernel void count_low_bits(global const int *a, global int *count, int n) {
  int i = get_global_id(0);
  if (i < n) {
    int v = a[i];
    atomic_add(&count[v & 15], 1);
  }
}
// fault: race: atomic_add(total, t[0]) -> *total += t[0]
kernel void total(global const int *a, global int *total, local int *t) {
  int l = get_local_id(0);
  t[l] = a[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int s = 1; s < (int)get_local_size(0); s *= 2) {
    if (l % (2 * s) == 0 && l + s < (int)get_local_size(0)) t[l] += t[l + s];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (l == 0) atomic_add(total, t[0]);
}
// fault: race: get_global_id(0)] = t -> get_local_id(0)] = t
kernel void of_groups(global const int *a, global int *o) {
  int t = a[get_global_id(0)] * 2;
  o[get_global_id(0)] = t;
}
// fault: race: if (l == 0) -> if (l % 32 == 0)
kernel void one_of_group(global const int *a, global int *o) {
  int l = get_local_id(0);
  if (l == 0) o[get_group_id(0)] = a[get_global_id(0)];
}
// fault: bounds: p = n - 1 - i -> p = n - i
kernel void backwards(global const int *a, global int *o, int n) {
  int i = get_global_id(0), p = n - 1 - i;
  if (i < n) o[i] = a[p];
}
// fault: race: (i ^ 1) -> (i | 1)
kernel void swap_neighbours(global const int *a, global int *o, int n) {
  int i = get_global_id(0);
  if ((i ^ 1) < n) o[(i ^ 1)] = i < n ? a[i] : 0;
}
// fault: race: i < n; i += m -> i < n; i += m - 1
kernel void strided(global int *a, int n) {
  int m = get_global_size(0);
  for (int i = get_global_id(0); i < n; i += m) a[i] += i;
}
// fault: bounds: k < cols -> k <= cols
kernel void row_sums(global const float *a, global float *o, int rows, int cols) {
  int r = get_global_id(0);
  if (r >= rows) return;
  float s = 0;
  for (int k = 0; k < cols; k++) s += a[r * cols + k];
  o[r] = s;
}
// fault: race: z * 2 + 1] = -> z * 2 + 2] =
kernel void minimum_maximum(global const int *a, global int *o, int n) {
  int z = get_global_id(0);
  if (z >= n) return;
  int low = a[z], high = a[z];
  if (z + 1 < n) { low = min(low, a[z + 1]); high = max(high, a[z + 1]); }
  if (z + 1 < n) o[z * 2 + 1] = high;
  o[z * 2] = low;
}
// fault: bounds: >> 26 -> >> 25
// open: race
kernel void hashed(global const uint *a, global uint *o) {
  local uint t[64];
  uint l = get_local_id(0);
  t[l & 63] = l & 63;
  barrier(CLK_LOCAL_MEM_FENCE);
  o[get_global_id(0)] = t[(a[get_global_id(0)] * 2654435769u) >> 26];
}
// fault: bounds: i > 0 && i < n -> i < n
kernel void unsigned_before(global const uint *a, global uint *o, uint n) {
  uint i = get_global_id(0);
  if (i > 0 && i < n) o[i] = a[i - 1];
}
// fault: bounds: 0x7f -> 0xff
kernel void ushort_to_char(global const ushort *a, global ushort *o, int n) {
  int i = get_global_id(0);
  char c = i & 0x7f;
  if (i < n && n > 256) o[i] = a[c];
}
// fault: bounds: ids[r + 1] -> ids[r + 2]
// open: bounds
kernel void lengths_of_rows(global const int *ids, global int *o, int rows) {
  int r = get_global_id(0);
  if (r < rows) o[r] = ids[r + 1] - ids[r];
}
// fault: uninitialised: (get_sub_group_size() - 1) -> 15
// open: uninitialised
kernel void last_of_sub_group(global const int *a, global int *o) {
  int v = a[get_global_id(0)];
  o[get_global_id(0)] = sub_group_broadcast(v, (get_sub_group_size() - 1));
}
// fault: race: barrier(CLK_LOCAL_MEM_FENCE); // before -> // before
// open: bounds
kernel void before_local(global int *o, local int *s) {
  local int t[64];
  int l = get_local_id(0);
  if (get_local_size(0) > 64) return;
  t[l] = l;
  s[l] = 2 * l;
  barrier(CLK_LOCAL_MEM_FENCE); // before
  o[get_global_id(0)] = t[l] + (l > 0 ? s[l - 1] : 0);
}
// fault: bounds: j < n -> j <= n
kernel void gather_guarded(global const int *ids, global const int *a, global int *o, int n) {
  int i = get_global_id(0);
  if (i < n) {
    int j = ids[i];
    if (j >= 0 && j < n) o[i] = a[j];
  }
}
// fault: race: 2 * i + 3] -> 2 * i + 4]
kernel void odd_from_even(global int *a, int n) {
  int i = get_global_id(0);
  if (i < n / 2 - 2) a[2 * i + 3] = a[2 * i] + a[2 * i + 2];
}
// fault: race: o[i] -> o[(uchar)i]
kernel void numbers(global int *o) {
  int i = get_global_id(0);
  o[i] = i;
}
// fault: uninitialised: (v, 0) -> (v, 1)
kernel void first_of_sub_group(global const int *a, global int *o, int n) {
  int i = get_global_id(0), v = 0;
  if (i < n) v = a[i];
  int w = sub_group_broadcast(v, 0);
  if (i < n) o[i] = w;
}
// fault: race: o[i] -> o[i / 2 * 2]
kernel void groups_by_size_t(global int *o, int n) {
  size_t i = get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (i < n) o[i] = get_global_id(0);
}
