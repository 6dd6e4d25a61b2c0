// Kernels that tell races from their look-alikes; what is expected of each stands in test_race_kernels.py.

// The last item reads a counter while others may still count: its own increment hides nothing.
kernel void counted(global int *count, global int *out)
{
    atomic_inc(count);
    if (get_local_id(0) == get_local_size(0) - 1)
        out[0] = count[0];
}

// One item clears what all count down.
kernel void cleared(global int *count)
{
    if (get_global_id(0) == 0)
        count[0] = 0;
    atomic_dec(count);
}

// The same with a barrier between: clean.
kernel void cleared_before(global int *count)
{
    if (get_local_id(0) == 0)
        count[get_group_id(0)] = 0;
    barrier(CLK_GLOBAL_MEM_FENCE);
    atomic_dec(count + get_group_id(0));
}

// A group initialises what another counts: the barrier is its own group's.
kernel void other_group(global int *count)
{
    if (get_global_id(0) == 0)
        count[0] = 5;
    barrier(CLK_GLOBAL_MEM_FENCE);
    atomic_add(count, 2);
}

// An exchange that never succeeds only reads, and so does an atomic load.
kernel void never_equal(global int *place, global int *out)
{
    out[get_global_id(0)] = place[0];
    atomic_cmpxchg(place, 77, 78);
}

kernel void loads(volatile global atomic_int *place, global int *out)
{
    int i = get_global_id(0);
    out[i] = atomic_load_explicit(place, memory_order_relaxed, memory_scope_device) + ((global int *)place)[0];
}

// But it reads: another's plain store beside it is a race.
kernel void tried_and_stored(global int *place, global int *out)
{
    int i = get_local_id(0);
    if (i == 0)
        place[0] = 9;
    else
        out[i] = atomic_cmpxchg(place, 77, 78);
}

// Sums of floats: the plain load is a guess that the exchange checks.
kernel void float_sum(volatile global float *sum, global const float *in)
{
    float value = in[get_global_id(0)];
    union { unsigned bits; float number; } old, next;
    do {
        old.number = *sum;
        next.number = old.number + value;
    } while (atomic_cmpxchg((volatile global unsigned *)sum, old.bits, next.bits) != old.bits);
}

kernel void local_sum(global float *out, global const float *in)
{
    local float sum;
    if (get_local_id(0) == 0)
        sum = 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    float value = in[get_global_id(0)];
    unsigned seen = as_uint(sum);
    for (;;) {
        unsigned before = atomic_cmpxchg((volatile local unsigned *)&sum, seen, as_uint(as_float(seen) + value));
        if (before == seen)
            break;
        seen = before;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        out[get_group_id(0)] = sum;
}

// The loaded value is not the one that is compared with: no guess.
kernel void used_guess(volatile global int *place, global int *out)
{
    out[get_global_id(0)] = *place;
    int seen = 3;
    for (;;) {
        int before = atomic_cmpxchg(place, seen, seen + 1);
        if (before == seen)
            break;
        seen = before;
    }
}

// Barriers that fence the other memory.
kernel void shared_unfenced(global int *out, local int *tile)
{
    int i = get_local_id(0), n = get_local_size(0);
    tile[i] = 3 * i;
    barrier(CLK_GLOBAL_MEM_FENCE);
    out[get_global_id(0)] = tile[n - 1 - i];
}

kernel void global_unfenced(global int *out, global int *tile)
{
    int i = get_local_id(0), n = get_local_size(0), first = get_group_id(0) * n;
    tile[first + i] = 3 * i;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[first + i] = tile[first + n - 1 - i];
}

kernel void both_fenced(global int *out, global int *tile, local int *more)
{
    int i = get_local_id(0), n = get_local_size(0), first = get_group_id(0) * n;
    tile[first + i] = 3 * i;
    more[i] = i;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    out[first + i] = tile[first + n - 1 - i] + more[n - 1 - i];
}

kernel void fenced_apart(global int *out, global int *tile, local int *more)
{
    int i = get_local_id(0), n = get_local_size(0), first = get_group_id(0) * n;
    tile[first + i] = 3 * i;
    more[i] = i;
    barrier(CLK_GLOBAL_MEM_FENCE);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[first + i] = tile[first + n - 1 - i] + more[n - 1 - i];
}

// One item takes what another group has published; a barrier hands it on to the rest.
kernel void handed_on(global int *data, volatile global int *ready, global int *out)
{
    int i = get_local_id(0), n = get_local_size(0);
    if (get_group_id(0) == 0) {
        data[i] = 7 * i + 1;
        barrier(CLK_GLOBAL_MEM_FENCE);
        mem_fence(CLK_GLOBAL_MEM_FENCE);
        if (i == 0)
            atomic_xchg(ready, 1);
        return;
    }
    if (i == 0) {
        while (atomic_or(ready, 0) == 0)
            ;
        mem_fence(CLK_GLOBAL_MEM_FENCE);
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
    out[i] = data[n - 1 - i];
}

// Lanes of one thread: in step here, in any order at another width.
kernel void neighbour(global int *data)
{
    int i = get_local_id(0);
    if (i > 0)
        data[i] = data[i - 1];
}

kernel void reversed(global int *out, local int *tile)
{
    int i = get_local_id(0);
    tile[i] = i + 1;
    out[i] = tile[get_local_size(0) - 1 - i];
}

kernel void all_add(global int *data)
{
    data[0] = data[0] + 1;
}

kernel void own_place(global int *data)
{
    int i = get_global_id(0);
    data[i] = data[i] + 1;
    data[i] = 2 * data[i];
}

kernel void same_value(global int *data, global int *out)
{
    data[0] = 4;
    out[get_global_id(0)] = data[0];
}

kernel void halves(global int *data, local int *tile)
{
    int i = get_local_id(0);
    tile[i] = data[i] + 1;
    for (int step = get_local_size(0) / 2; step > 0; step /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (i < step)
            tile[i] += tile[i + step];
    }
    if (i == 0)
        data[get_local_size(0)] = tile[0];
}
