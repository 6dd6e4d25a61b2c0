//! at_i 2x32 i32:64:-50:50 i32:16:-9:9
kernel void at_i(global const int *a, global int *o) {
    int v = a[get_global_id(0)];
    atomic_add(o, v);
    atomic_sub(o + 1, v);
    atomic_min(o + 2, v);
    atomic_max(o + 3, v);
    atomic_and(o + 4, v | 0xff0);
    atomic_or(o + 5, v & 0xff);
    atomic_xor(o + 6, v);
    atomic_inc(o + 7);
    atomic_dec(o + 8);
    atomic_min((global uint *)o + 9, (uint)v);
    atomic_max((global uint *)o + 10, (uint)v);
}

//! at_l 2x32 u32:64 u32:8 local:64
kernel void at_l(global const uint *a, global uint *o, local uint *l) {
    int i = get_local_id(0);
    if (i < 8) l[i] = i == 2 ? 0xffffffff : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint v = a[get_global_id(0)];
    atomic_add(l, v);
    atomic_inc(l + 1);
    atomic_min(l + 2, v);
    atomic_max(l + 3, v);
    atomic_xor(l + 4, v);
    atomic_or(l + 5, v);
    atomic_cmpxchg(l + 6, 0u, 7u);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < 8) atomic_add(o + i, l[i]);
}
