// fault: bounds: out[x * h + y] -> out[x * w + y]
kernel void transpose(global float *out, global const float *in, int w, int h) {
    int x = get_global_id(0), y = get_global_id(1);
    if (x < w && y < h)
        out[x * h + y] = in[y * w + x];
}
