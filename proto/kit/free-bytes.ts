/**
 * Gives memory of large messages back at once. They live outside of the heap, which is small and full of what stays: that
 * the collector finds them by reading through all of it, several times a second, costs more than what they are made for.
 */

/** Smaller ones are left to the collector: they go with the young. */
const LARGE_BYTES = 32 * 1024;

/**
 * Frees bytes that nobody will look at again; they are empty from now on, and so is every view of their memory. Those that
 * are a part of larger memory, or of memory that threads share, stay.
 */
export function freeBytes({ buffer, byteLength }: Uint8Array): void {
  if (byteLength < LARGE_BYTES || byteLength !== buffer.byteLength) return;
  if (buffer instanceof ArrayBuffer && !buffer.detached) buffer.transfer(0);
}
