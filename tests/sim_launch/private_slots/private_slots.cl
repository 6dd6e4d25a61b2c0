// Every work item keeps 40 numbers of its own over a barrier: threads whose private memory overlaps read those of others.
kernel void private_slots(global int *out)
{
    volatile int s[40];
    int id = get_local_id(0);
    for (int i = 0; i < 40; i++)
        s[i] = id * 41 + i;
    barrier(CLK_LOCAL_MEM_FENCE);
    int sum = 0;
    for (int i = 0; i < 40; i++)
        sum = sum * 3 + s[39 - i];
    out[id] = sum;
}
