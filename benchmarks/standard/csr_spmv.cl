// fault: race: y[row] = sum -> y[row / 2] = sum
// open: bounds
kernel void csr_spmv(global float *y, global const float *values, global const int *columns, global const int *starts,
                     global const float *x, int rows) {
    int row = get_global_id(0);
    if (row < rows) {
        float sum = 0;
        for (int j = starts[row]; j < starts[row + 1]; j++)
            sum += values[j] * x[columns[j]];
        y[row] = sum;
    }
}
