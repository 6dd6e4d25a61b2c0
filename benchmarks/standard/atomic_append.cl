// fault: race: atomic_inc(count) -> (*count)++
// open: bounds race
kernel void atomic_append(global int *out, global int *count, global const int *in, int n) {
    int i = get_global_id(0);
    if (i < n && in[i] > 0)
        out[atomic_inc(count)] = in[i];
}
