/**
 * Copies of few bytes. `memory.copy` calls out of the kernel, which takes longer than they do.
 */

/** From this many bytes on the call is worth it. */
const LONG_BYTES: u32 = 512;

/**
 * Copies `count` bytes between addresses that don't overlap. Reads up to 15 bytes after those of `from` and writes as many
 * after those of `to`.
 */
export function copyShort(to: usize, from: usize, count: u32): void {
  if (count > LONG_BYTES) memory.copy(to, from, count);
  else copyUpwards(to, from, count);
}

/** Like copyShort; what is copied may be read again where `to` is at least 16 bytes after `from`. */
export function copyUpwards(to: usize, from: usize, count: u32): void {
  for (let index: u32 = 0; index < count; index += 16) v128.store(to + index, v128.load(from + index));
}
