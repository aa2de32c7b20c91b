/** The result of one operation, as the shard sends it to the operation's sender. */

import { AppError, type ErrorCode, isErrorCode } from "#proto/kit/errors.ts";
import type { tailrace } from "#proto/messages.ts";

/** One result, or that of `count` operations in a row. */
export type ItemResult = tailrace.DocItemResult.$Properties;

/** Results of operations one by one. */
export function eachResult(results: readonly ItemResult[]): ItemResult[] {
  return results.flatMap((each) => {
    // A decoded message has its zeros on its prototype, where a copy doesn't see them.
    const { count, version, seqNo, ...result } = each;
    const numbers = { ...(typeof version === "number" && { version }) };
    if (typeof seqNo !== "number")
      return Array.from({ length: count || 1 }, () => ({ ...result, ...numbers }));
    return Array.from({ length: count || 1 }, (_, nth) => ({ ...result, ...numbers, seqNo: seqNo + nth }));
  });
}

/** Appends the result of an operation. It joins the last one if that and it are results of operations in a row. */
export function addResult(results: ItemResult[], next: ItemResult): void {
  const last = results.at(-1);
  const count = last?.count || 1;
  const isJoined =
    last !== undefined &&
    !last.errorCode &&
    !next.errorCode &&
    last.result === next.result &&
    last.version === next.version &&
    last.primaryTerm === next.primaryTerm &&
    typeof last.seqNo === "number" &&
    next.seqNo === last.seqNo + count;
  if (isJoined) results[results.length - 1] = { ...last, count: count + 1 };
  else results.push(next);
}

/** Longest id, bytes. */
export const MAX_ID_BYTES = 512;

/** Errors that concern one operation; all others stop the shard. */
const ITEM_ERRORS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "mapping_parse",
  "mapping_strict",
  "version_conflict",
  "document_missing",
  "request_invalid",
]);

/** An id of `length` bytes that no document can have. */
export function idError(length: number): AppError {
  return new AppError(
    "request_invalid",
    length === 0
      ? "an id is missing"
      : `id is too long, must be no longer than ${MAX_ID_BYTES} bytes but was: ${length}`,
  );
}

/** The result of an operation that failed. Throws what makes the shard unusable. */
export function itemError(error: unknown): ItemResult {
  if (!(error instanceof AppError) || !ITEM_ERRORS.has(error.code)) throw error;
  const cause = error.data["caused_by"] as { readonly type: string; readonly reason: string } | undefined;
  return {
    errorCode: error.code,
    // A message may quote half of a surrogate pair, which the wire's UTF-8 can't hold.
    errorReason: error.message.toWellFormed(),
    ...(cause !== undefined && { causeType: cause.type, causeReason: cause.reason.toWellFormed() }),
  };
}

/** Returns the error of a failed operation as its sender gets it. `data`: where it happened. */
export function resultError(
  { errorCode, errorReason, causeType, causeReason }: ItemResult,
  data: Readonly<Record<string, unknown>>,
): AppError {
  const code = isErrorCode(errorCode ?? "") ? (errorCode as ErrorCode) : "internal";
  const cause = causeType ? { caused_by: { type: causeType, reason: causeReason } } : {};
  return new AppError(code, errorReason ?? "", { data: { ...data, ...cause } });
}
