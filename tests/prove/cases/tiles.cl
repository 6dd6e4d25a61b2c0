kernel void tiles(global float *out, global const float *in, int w, int h, local float *tile) {
    int x = get_global_id(0), y = get_global_id(1);
    if (x < w && y < h)
        tile[get_local_id(1) * 17 + get_local_id(0)] = in[y * w + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    x = get_group_id(1) * 16 + get_local_id(0);
    y = get_group_id(0) * 16 + get_local_id(1);
    if (x < h && y < w)
        out[y * h + x] = tile[get_local_id(0) * 17 + get_local_id(1)];
}
