// fault: race: barrier(CLK_LOCAL_MEM_FENCE); // halved -> // halved
kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void reduce_static(global float *out, global const float *in, int n) {
    local float sums[256];
    int l = get_local_id(0), i = get_global_id(0);
    sums[l] = i < n ? in[i] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = 128; s > 0; s /= 2) {
        if (l < s)
            sums[l] += sums[l + s];
        barrier(CLK_LOCAL_MEM_FENCE); // halved
    }
    if (l == 0)
        out[get_group_id(0)] = sums[0];
}
