// One product and one sum per work item, with a bound.
kernel void saxpy(global float *y, global const float *x, float a, int n) {
    int i = get_global_id(0);
    if (i < n) y[i] = mad(a, x[i], y[i]);
}
