/** Counts the parts of a protobuf message before it is decoded: two bytes may encode an object. */

import protobuf from "protobufjs";
import { AppError } from "#proto/kit/errors.ts";

/** Messages within messages that are read: requests of logs are known to have some 200,000. */
const MAX_PARTS = 500_000;
/** Deepest nesting of messages: values of values that are followed, and what is around them. */
const MAX_DEPTH = 100;

/** Wire type of what has its length before it (protobuf.dev/programming-guides/encoding). */
const SIZED = 2;

/**
 * Throws request_too_large if a message of a type has too many parts, parsing where these are nested too deep or cut.
 */
export function checkProtobuf(type: protobuf.Type, bytes: Uint8Array): void {
  const reader = protobuf.Reader.create(bytes);
  /** Messages that are open: their types and ends. */
  const open: { readonly type: protobuf.Type; readonly end: number }[] = [{ type, end: bytes.length }];
  let parts = 0;
  while (open.length > 0) {
    const { type: inner, end } = open.at(-1)!;
    if (reader.pos >= end) {
      open.pop();
      continue;
    }
    const tag = reader.uint32();
    const field = inner.fieldsById[tag >>> 3]?.resolve().resolvedType;
    if ((tag & 7) !== SIZED || !(field instanceof protobuf.Type)) {
      reader.skipType(tag & 7);
      continue;
    }
    if (++parts > MAX_PARTS)
      throw new AppError(
        "request_too_large",
        `a request may have ${MAX_PARTS} parts; send fewer events at a time`,
      );
    const length = reader.uint32();
    if (open.length >= MAX_DEPTH || reader.pos + length > end)
      throw new AppError("parsing", "the parts of a request are nested too deeply, or truncated");
    open.push({ type: field, end: reader.pos + length });
  }
}
