/** Memory that a host's thread shares with the front, which sees there whether the thread is alive. */

/** Words of 32 bits. */
export const BUSY_WORDS = 2;
/** Counts the turns of the thread's event loop, several a second. */
export const TURNS = 0;
/** 1 while a commit is under way, which may wait long for a slow disk. */
export const COMMITTING = 1;

/** Returns the shared memory of one thread. */
export function newPulse(): SharedArrayBuffer {
  return new SharedArrayBuffer(BUSY_WORDS * Int32Array.BYTES_PER_ELEMENT);
}
