/** What the kernel asks of the host. */

/**
 * Reserves space in the buffer structure at `buffer` for at least `extra` bytes beyond those in use, keeping them. The
 * address changes. Throws through the kernel where memory is at its limit; the kernel calls it before it changes
 * anything.
 */
export declare function grow(buffer: usize, extra: u32): void;
