// fault: bounds: z < batches -> z <= batches
kernel void batched(global float *out, global const float *in, int w, int h, int batches) {
    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    if (x < w && y < h && z < batches)
        out[(z * h + y) * w + x] = 2 * in[(z * h + y) * w + x];
}
