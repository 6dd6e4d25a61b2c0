// What work items of a sub-group tell each other.
kernel void team_sums(global const int *in, global int4 *out) {
    int i = get_global_id(0), v = in[i];
    out[i] = (int4)(sub_group_reduce_add(v), sub_group_scan_exclusive_add(v), sub_group_reduce_max(v), sub_group_broadcast(v, 2));
}
__attribute__((intel_reqd_sub_group_size(16)))
kernel void swap16(global const uint *in, global uint *out) {
    int i = get_global_id(0);
    uint v = in[i], l = get_sub_group_local_id();
    out[i] = intel_sub_group_shuffle(v, 15 - l) * 3 + intel_sub_group_shuffle_xor(v, 6);
}
__attribute__((intel_reqd_sub_group_size(16)))
kernel void block16(global const uint *in, global uint *out) {
    uint at = get_group_id(0) * 64;
    uint4 v = intel_sub_group_block_read4(in + at);
    intel_sub_group_block_write4(out + at, v.wzyx + (uint)get_sub_group_local_id());
}
