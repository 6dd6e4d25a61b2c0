//opts -cl-std=CL2.0

//! wgall 2x32 i32:64:-99:99 i32:64 nopocl
kernel void wgall(global const int *a, global int *o) {
    int i = get_global_id(0), v = a[i];
    o[i] = work_group_reduce_add(v) + work_group_reduce_min(v) * 3 + work_group_scan_inclusive_max(v) + work_group_scan_exclusive_add(v) + work_group_broadcast(v, 5) + work_group_all(v > -100) + work_group_any(v > 98);
}

//! wgf 2x32 f32:64:-9:9 f32:64 nopocl
kernel void wgf(global const float *a, global float *o) {
    int i = get_global_id(0);
    o[i] = work_group_reduce_max(a[i]) + work_group_scan_inclusive_add(a[i]);
}

//! wgl 1x16 i64:16 i64:16 nopocl
kernel void wgl(global const long *a, global long *o) {
    int i = get_global_id(0);
    o[i] = work_group_reduce_add(a[i]) ^ work_group_scan_exclusive_min(a[i]);
}
