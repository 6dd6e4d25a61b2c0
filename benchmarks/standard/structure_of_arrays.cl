// fault: bounds: p[5 * n + i] += 1 -> p[5 * n + i + 1] += 1
kernel void structure_of_arrays(global float *p, float dt, int n) {
    int i = get_global_id(0);
    if (i < n) {
        p[i] += dt * p[3 * n + i];
        p[n + i] += dt * p[4 * n + i];
        p[2 * n + i] += dt * p[5 * n + i];
        p[3 * n + i] += 1;
        p[4 * n + i] += 1;
        p[5 * n + i] += 1;
    }
}
