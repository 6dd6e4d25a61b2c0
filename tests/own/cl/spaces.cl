// Pointers that may lead anywhere, ids in three dimensions.
__attribute__((noinline)) int taken(int *p, int n) {
    int s = 0;
    for (int i = 0; i < n; i++) s += p[i] * (i + 1);
    return s;
}
kernel void anywhere(global int *g, local int *l, global int *out, int n, int which) {
    int i = get_global_id(0), li = get_local_id(0), own[4] = {i, 2, 3, n};
    l[li] = g[i] * 2;
    barrier(CLK_LOCAL_MEM_FENCE);
    int *p = which == 0 ? g : which == 1 ? (int *)l : own;
    out[i] = taken(p, n);
}
kernel void where3(global uint *out) {
    uint x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    uint at = (get_group_id(2) * get_num_groups(1) + get_group_id(1)) * get_num_groups(0) + get_group_id(0);
    uint flat = (get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0);
    uint many = get_local_size(0) * get_local_size(1) * get_local_size(2);
    out[at * many + flat] = x + y * 100 + z * 10000 + get_global_offset(0) * 1000000 + get_work_dim() * 10000000;
}
