// fault: race: out[get_group_id(0)] = sum -> out[0] = sum
kernel void reduce_subgroup(global float *out, global const float *in, int n) {
    local float part[64];
    int i = get_global_id(0), l = get_local_id(0);
    float sum = sub_group_reduce_add(i < n ? in[i] : 0.0f);
    if (get_sub_group_local_id() == 0)
        part[get_sub_group_id()] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0) {
        sum = 0;
        for (int s = 0; s < (int)get_num_sub_groups(); s++)
            sum += part[s];
        out[get_group_id(0)] = sum;
    }
}
