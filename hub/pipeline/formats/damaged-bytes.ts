/** Explains why bytes of a binary format can't be read. */

/** What the runtime throws where a number is read past the end of a buffer. */
const BEHIND_END: readonly unknown[] = ["ERR_OUT_OF_RANGE", "ERR_BUFFER_OUT_OF_BOUNDS"];

/** Returns the reason; reading past the end has one of its own. */
export function damageReason(error: RangeError): string {
  return BEHIND_END.includes((error as NodeJS.ErrnoException).code)
    ? "the bytes end within a value"
    : error.message;
}
