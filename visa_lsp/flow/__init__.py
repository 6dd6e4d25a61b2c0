"""Where control goes in a body, and what its instructions read and write: once, for everybody who asks.

The room knows rows and values of the program, no text and no machine. Bound text and resolved programs are both made into
``Step``s first (``steps``, ``program_steps``); everything behind that sees steps only:

* ``structure``: which of the appendix's structured words belong together;
* ``graph``: basic blocks, kinds of edges, subroutines, dominators; ``loops``: natural loops and their depth;
  ``divergence``: blocks that some of the lanes run while others wait;
* ``storage``, ``accesses``: where variables lie, and which bytes of them an instruction reads and writes;
* ``masks``: sets of bytes of many variables as one integer; ``liveness``, ``reaching``: what is read later, what was
  written before; ``values``: whose values may become part of which variable; ``usage``: what is read or written at all;
* ``registers``: how many registers a body takes at each step, by the rules of life of ``pressure``; ``pointers``: what
  indirect operands may touch;
* ``solve``: the only place where something is repeated until it no longer changes.

Invariants. Every step is in exactly one block. An access covers at least the bytes that the instruction may touch
(``possible``) and at most those that it touches whenever all its lanes run (``certain``); so a variable that is called dead
is dead, and a definition that is said not to arrive does not. A write kills only what it certainly overwrites: a guarded
write kills nothing, a masked write kills nothing where some lanes wait elsewhere. Nothing here judges: what is an error
is for rules to say.
"""
