kernel void halves(global const int *x, global int *y, int n) {
    local int t[64];
    int l = get_local_id(0), i = get_group_id(0) * 128 + l;
    t[l] = (i < n ? x[i] : 0) + (i + 64 < n ? x[i + 64] : 0);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0)
        y[get_group_id(0)] = t[0] + t[63];
}
