// fault: bounds: clamp(y + dy, 0, h - 1) -> clamp(y + dy, 0, h)
kernel void convolution(global float *out, global const float *in, constant float *k, int w, int h) {
    const int r = 2;
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= w || y >= h)
        return;
    float sum = 0;
    for (int dy = -r; dy <= r; dy++)
        for (int dx = -r; dx <= r; dx++)
            sum += in[clamp(y + dy, 0, h - 1) * w + clamp(x + dx, 0, w - 1)] * k[(dy + r) * (2 * r + 1) + dx + r];
    out[y * w + x] = sum;
}
