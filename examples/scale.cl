// visa-lsp compile examples/scale.cl -o built      what Intel's compiler makes of it
// visa-lsp run examples/scale.cl                   run it with a launch that is made up

kernel void scale(global float *data, float factor, int n) {
    int i = get_global_id(0);
    if (i < n)
        data[i] = factor * data[i];
}
