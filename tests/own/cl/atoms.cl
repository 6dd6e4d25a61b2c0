// Atomics of global memory; which order they run in changes nothing that is kept.
kernel void cells(global int *c, global const int *v) {
    int x = v[get_global_id(0)];
    atomic_add(c, x);
    atomic_sub(c + 1, x);
    atomic_min(c + 2, x);
    atomic_max(c + 3, x);
    atomic_and(c + 4, x | 0xff00);
    atomic_or(c + 5, x & 0xff);
    atomic_xor(c + 6, x);
    atomic_inc(c + 7);
    atomic_min((volatile global uint *)c + 8, (uint)x);
    atomic_cmpxchg(c + 9, 5, 6);
}
kernel void floats(volatile global float *sum, global const float *v) {
    float x = v[get_global_id(0)];
    union { uint u; float f; } old, new;
    uint seen = atomic_or((volatile global uint *)sum, 0u);
    do {
        old.u = seen;
        new.f = old.f + x;
        seen = atomic_cmpxchg((volatile global uint *)sum, old.u, new.u);
    } while (seen != old.u);
}
