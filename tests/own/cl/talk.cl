// What printf takes.
kernel void talk(global const float *x, int n) {
    int i = get_global_id(0);
    if (i < n) printf("item %d has %f\n", i, x[i]);
    if (i == 0) printf("vector %v4d char %c long %ld hex %#x\n", (int4)(7, 8, 9, -1), 'q', (long)n << 33, n * 0x1001);
}
