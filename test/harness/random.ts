/** A seeded random generator. */

/** Returns a generator of numbers in [0, 1), the same for the same seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Returns a seed of the moment, or that of TAILRACE_SEED, to repeat a run. */
export function chooseSeed(): number {
  return Number(process.env["TAILRACE_SEED"] ?? Date.now() % 1_000_000_000);
}
