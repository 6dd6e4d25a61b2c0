"""Control flow and data flow of a body: computed once, for all rooms.

The room knows rows and values of the program, no text and no machine. Bound text and resolved programs are both
converted to ``Step``s first (``steps``, ``program_steps``); all analyses work on steps only:

* ``structured_words``: matching of the appendix's structured words;
* ``graph``: basic blocks, kinds of edges, subroutines, dominators; ``loops``: natural loops and their depth;
  ``divergence``: blocks that a part of the lanes runs while others wait;
* ``storage``, ``bit_accesses``: the places of variables, and the bytes of them that an instruction reads and writes;
* ``masks``: sets of bytes of many variables as one integer; ``liveness``: later reads;
  ``value_flow``: flow of values between variables; ``usage``: variables read or written anywhere;
* ``register_use``: the number of registers at each step, by the live ranges of ``pressure``; ``pointers``: the variables
  that indirect operands may touch;
* ``solve``: the only fixpoint loop.

Invariants. Every step is in exactly one block. The ``possible`` bytes of an access include all that the instruction may
touch; the ``certain`` ones are touched whenever all its lanes run. So a variable reported dead is dead. A write kills only the bytes that it certainly overwrites: a guarded write
kills nothing, nor does a masked write while some lanes wait elsewhere. Rules decide what is an error.
"""
