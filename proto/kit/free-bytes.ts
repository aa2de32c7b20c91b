/**
 * Frees the memory of large messages immediately. That memory is outside of the heap, whose objects are few and
 * long-lived. To find it, the garbage collector would scan the whole heap several times a second, which would cost more
 * than the work itself.
 */

/** Smaller ones are left to the collector, which frees them with its young generation. */
const LARGE_BYTES = 32 * 1024;

/**
 * Frees bytes or numbers that are not read again; they and every view of their memory become empty. Bytes that
 * are a part of larger memory, or of memory shared by threads, are kept.
 */
export function freeBytes({ buffer, byteLength }: ArrayBufferView): void {
  if (byteLength < LARGE_BYTES || byteLength !== buffer.byteLength) return;
  if (buffer instanceof ArrayBuffer && !buffer.detached) buffer.transfer(0);
}
