// One number out of a group's many.
kernel void total(global const int *in, global int *out, local int *part, uint n) {
    uint l = get_local_id(0), size = get_local_size(0);
    int sum = 0;
    for (uint i = get_global_id(0); i < n; i += get_global_size(0)) sum += in[i];
    part[l] = sum;
    for (uint step = size / 2; step; step /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < step) part[l] += part[l + step];
    }
    if (l == 0) out[get_group_id(0)] = part[0];
}

kernel void ends(global const int *in, global int2 *out) {
    local int low, high;
    if (get_local_id(0) == 0) {
        low = INT_MAX;
        high = INT_MIN;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    int v = in[get_global_id(0)];
    atomic_min(&low, v);
    atomic_max(&high, v);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) out[get_group_id(0)] = (int2)(low, high);
}

kernel void running(global const int *in, global int *out) {
    local int part[2][64];
    int l = get_local_id(0), size = get_local_size(0), now = 0;
    part[0][l] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 1; d < size; d *= 2) {
        part[1 - now][l] = l >= d ? part[now][l] + part[now][l - d] : part[now][l];
        now = 1 - now;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[get_global_id(0)] = part[now][l];
}
