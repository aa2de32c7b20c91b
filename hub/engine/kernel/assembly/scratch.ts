/** Working memory of one instance, which no other instance writes. */

/** Address of the structure that SCRATCH_… describes. */
export let scratch: usize = 0;

/** Gives this instance its structure; once, before anything else. */
export function useScratch(address: usize): void {
  scratch = address;
}
