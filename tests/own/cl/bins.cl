// Counts in shared local memory by atomics, then added to the whole.
kernel void bins(global const uchar *in, global uint *out, uint n) {
    local uint part[64];
    uint l = get_local_id(0), size = get_local_size(0);
    for (uint i = l; i < 64; i += size) part[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_global_id(0); i < n; i += get_global_size(0)) atomic_inc(&part[in[i] & 63]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = l; i < 64; i += size)
        if (part[i]) atomic_add(&out[i], part[i]);
}
