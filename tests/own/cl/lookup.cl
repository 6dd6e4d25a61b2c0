// Tables of the program: constant data that the kernel finds through relocations.
constant float WAVE[16] = {0.0f, 0.38f, 0.71f, 0.92f, 1.0f, 0.92f, 0.71f, 0.38f, 0.0f, -0.38f, -0.71f, -0.92f, -1.0f, -0.92f, -0.71f, -0.38f};
constant int STEP[8][3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {10, 11, 12}, {13, 14, 15}, {16, 17, 18}, {19, 20, 21}, {22, 23, 24}};
kernel void lut(global const uint *in, global float *out, constant int *scale) {
    int i = get_global_id(0);
    uint k = in[i];
    out[i] = WAVE[k & 15] * scale[k & 3] + STEP[(k >> 4) & 7][k % 3];
}
