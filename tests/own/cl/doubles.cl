#pragma OPENCL EXTENSION cl_khr_fp64 : enable
// Double precision, on devices that have it.
kernel void horner(global const double *x, global double *y, global const double *c, int n) {
    int i = get_global_id(0);
    double s = 0;
    for (int k = 0; k < n; k++) s = fma(s, x[i], c[k]);
    y[i] = s > 100.0 ? s / x[i] : sqrt(fabs(s));
}
