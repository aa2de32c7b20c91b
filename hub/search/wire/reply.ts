/** Replies of hosts: a value, and the warnings that making it raised. */

import { warnDeprecated } from "#hub/search/options/request-version.ts";
import { decodeValue } from "./value-reader.ts";
import { encodeSteps } from "./value-writer.ts";

/** Encodes a reply, in steps. */
export function replySteps(value: unknown, warnings: Iterable<string>): Generator<void, Uint8Array> {
  return encodeSteps({ value, warnings: [...warnings] });
}

/** Returns the value of a reply. Its warnings become those of the current request. Throws data_corrupt. */
export function readReply<T>(bytes: Uint8Array): T {
  const { value, warnings } = decodeValue(bytes) as { value: T; warnings: readonly string[] };
  for (const warning of warnings) warnDeprecated(warning);
  return value;
}
