// The kernels of `python -m benchmarks.run`: plain OpenCL C as people write it.

kernel void saxpy(global const float *x, global float *y, float a) {
  size_t i = get_global_id(0);
  y[i] = a * x[i] + y[i];
}

kernel void histogram(global const uchar *data, global uint *bins, uint count) {
  local uint mine[256];
  mine[get_local_id(0)] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = get_global_id(0); i < count; i += get_global_size(0))
    atomic_inc(&mine[data[i]]);
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_add(&bins[get_local_id(0)], mine[get_local_id(0)]);
}

kernel void mandelbrot(global int *out, float left, float top, float step, int most) {
  int x = get_global_id(0), y = get_global_id(1);
  float re = left + x * step, im = top + y * step, a = 0.0f, b = 0.0f;
  int n = 0;
  while (n < most && a * a + b * b <= 4.0f) {
    float t = a * a - b * b + re;
    b = 2.0f * a * b + im;
    a = t;
    n++;
  }
  out[y * get_global_size(0) + x] = n;
}

kernel void matmul(global const float *a, global const float *b, global float *c, int n) {
  local float as[16][16], bs[16][16];
  int x = get_global_id(0), y = get_global_id(1), i = get_local_id(0), j = get_local_id(1);
  float sum = 0.0f;
  for (int t = 0; t < n; t += 16) {
    as[j][i] = a[y * n + t + i];
    bs[j][i] = b[(t + j) * n + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 16; k++)
      sum = fma(as[j][k], bs[k][i], sum);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[y * n + x] = sum;
}

kernel void nbody(global const float4 *bodies, global float4 *forces, int count, float soft) {
  local float4 tile[64];
  float4 me = bodies[get_global_id(0)], force = (float4)(0.0f);
  for (int t = 0; t < count; t += 64) {
    tile[get_local_id(0)] = bodies[t + get_local_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 64; k++) {
      float4 d = tile[k] - me;
      float r = native_rsqrt(fma(d.x, d.x, fma(d.y, d.y, fma(d.z, d.z, soft))));
      force += d * (tile[k].w * r * r * r);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  forces[get_global_id(0)] = force;
}

kernel void transpose(global const float *in, global float *out, int n) {
  local float tile[16][17];
  int x = get_group_id(0) * 16, y = get_group_id(1) * 16, i = get_local_id(0), j = get_local_id(1);
  tile[j][i] = in[(y + j) * n + x + i];
  barrier(CLK_LOCAL_MEM_FENCE);
  out[(x + j) * n + y + i] = tile[i][j];
}
