// fault: bounds: sums[l + s] -> sums[l + s + 1]
kernel void reduce_local(global float *out, global const float *in, local float *sums, int n) {
    int l = get_local_id(0), i = get_global_id(0);
    sums[l] = i < n ? in[i] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = get_local_size(0) / 2; s > 0; s >>= 1) {
        if (l < s)
            sums[l] += sums[l + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0)
        out[get_group_id(0)] = sums[0];
}
