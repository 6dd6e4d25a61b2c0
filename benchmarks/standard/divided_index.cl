// fault: race: out[x * h + y] -> out[x + y]
kernel void divided_index(global float *out, global const float *in, int w, int h) {
    int i = get_global_id(0);
    if (i < w * h) {
        int x = i % w, y = i / w;
        out[x * h + y] = in[i];
    }
}
