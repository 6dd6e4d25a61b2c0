// Integrate an array of particle structures under gravity and drag, bouncing
// off the ground; dead particles are re-spawned at the emitter.
typedef struct {
    float3 pos;
    float3 vel;
    float  mass;
    float  life;
    uint   flags;
    uint   seed;
} Particle;

#define FLAG_BOUNCED 1u
#define FLAG_STATIC  2u

__kernel void update_particles(__global Particle *particles,
                               const uint count,
                               const float3 gravity,
                               const float3 emitter,
                               const float drag,
                               const float dt)
{
    const uint i = get_global_id(0);
    if (i >= count || (particles[i].flags & FLAG_STATIC))
        return;

    Particle p = particles[i];
    p.life -= dt;
    if (p.life <= 0.0f) {
        p.seed = p.seed * 1664525u + 1013904223u;
        p.pos = emitter;
        p.vel = (float3)(0.0f, 1.0f + (p.seed >> 8) * (1.0f / 16777216.0f), 0.0f);
        p.life = 5.0f;
        p.flags &= ~FLAG_BOUNCED;
    } else {
        p.vel += (gravity - p.vel * (drag / p.mass)) * dt;
        p.pos += p.vel * dt;
        if (p.pos.y < 0.0f) {
            p.pos.y = -p.pos.y;
            p.vel.y *= -0.6f;
            p.flags |= FLAG_BOUNCED;
        }
    }
    particles[i] = p;
}
