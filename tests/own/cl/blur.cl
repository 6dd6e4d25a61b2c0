// Windows over a line and over a picture.
kernel void smooth(global const float *in, constant float *weights, global float *out, int taps) {
    int at = get_global_id(0);
    float sum = 0.0f;
    for (int t = 0; t < taps; t++) sum = fma(in[at + t], weights[t], sum);
    out[at] = sum;
}

kernel void box3(global const uchar *in, global uchar *out, int width, int height) {
    int x = get_global_id(0), y = get_global_id(1);
    uint sum = 0, count = 0;
    __attribute__((opencl_unroll_hint(1)))
    for (int dy = -1; dy <= 1; dy++)
        __attribute__((opencl_unroll_hint(1)))
        for (int dx = -1; dx <= 1; dx++) {
            int sx = x + dx, sy = y + dy;
            if (sx < 0 || sy < 0 || sx >= width || sy >= height) continue;
            sum += in[sy * width + sx];
            count++;
        }
    out[y * width + x] = (uchar)(sum / count);
}
