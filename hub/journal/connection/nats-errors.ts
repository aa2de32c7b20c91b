/** Classifies errors of the NATS client: retry, wait for space, or report to the caller. */

import { JetStreamApiError } from "@nats-io/jetstream";
import { errors } from "@nats-io/transport-node";
import { AppError } from "#proto/kit/errors.ts";

/** JetStream API error codes that the hub distinguishes, from `server/errors.json` of nats-server. */
const CODE = {
  noPeers: 10005,
  insufficientResources: 10023,
  insufficientStorage: 10047,
  storeFailed: 10077,
  wrongLastSequence: 10071,
  /** Another conditional message of the subject is in flight. That may last for longer than a call has. */
  wrongLastSequenceUnknown: 10164,
  /** The stream's queue is full. */
  tooManyRequests: 10167,
  messageTooLarge: 10054,
  noMessage: 10037,
  /** Another hub created it at the same moment, with its own identity. */
  nameInUse: 10058,
  streamNotFound: 10059,
  consumerNotFound: 10014,
  duplicateInProcess: 10158,
  systemUnavailable: 10008,
  notLeader: 10009,
  streamOffline: 10118,
} as const;

/** `retry`: the same call may succeed at once or later. `full`: it succeeds once there is space. `fatal`: it never succeeds. */
export type Verdict = "retry" | "full" | "fatal";

/** Classifies an error of a publish or of a JetStream API call. */
export function judge(error: unknown): Verdict {
  if (error instanceof JetStreamApiError) {
    const { code, status } = error;
    if (code === CODE.storeFailed || code === CODE.insufficientResources || code === CODE.insufficientStorage)
      return "full";
    if (isInProcess(error)) {
      return "retry"; // the first copy is not stored yet, so this is not a success
    }
    if (code === CODE.nameInUse) return "retry";
    if (code === CODE.tooManyRequests) return "retry";
    if (code === CODE.noPeers) return "retry"; // a starting cluster has not found all of its servers yet
    if (code === CODE.streamNotFound || code === CODE.consumerNotFound) return "retry"; // it is recreated
    return status >= 500 ? "retry" : "fatal";
  }
  if (isClosed(error) || isTooLarge(error)) return "fatal";
  // A missing stream or a leader election looks like JetStreamNotEnabled or no responders; both are temporary.
  return isFaultOfTransport(error) ? "retry" : "fatal";
}

/** Converts `error` to the error that callers of the log get; `what` names the call, such as "publish to raw.7.…". */
export function toJournalError(error: unknown, what: string): AppError {
  if (error instanceof AppError) return error;
  const cause = { cause: error };
  const why = error instanceof Error ? error.message : String(error);
  if (isConflict(error))
    return new AppError("journal_conflict", `${what}: it was changed concurrently`, cause);
  if (isTooLarge(error)) return new AppError("request_too_large", `${what}: ${why}`, cause);
  if (isClosed(error)) return new AppError("closed", `${what}: the connection to NATS was closed`, cause);
  if (isTimeout(error)) return new AppError("timeout", `${what}: NATS did not answer in time`, cause);
  if (judge(error) === "full")
    return new AppError("journal_full", `${what}: the log is full (${why})`, cause);
  if (judge(error) === "retry")
    return new AppError("unavailable", `${what}: NATS is not available (${why})`, cause);
  return new AppError("internal", `${what}: ${why}`, cause);
}

export function isConflict(error: unknown): boolean {
  return hasCode(error, CODE.wrongLastSequence, CODE.wrongLastSequenceUnknown);
}

/** True where an earlier copy of the message isn't stored yet. */
export function isInProcess(error: unknown): boolean {
  const says =
    error instanceof JetStreamApiError && /duplicate message id is in process/i.test(error.message);
  return says || hasCode(error, CODE.duplicateInProcess);
}

/** True for the error of a server whose cluster has no leader. */
export function isLeaderless(error: unknown): boolean {
  return hasCode(error, CODE.systemUnavailable, CODE.notLeader, CODE.streamOffline);
}

export function isMissingMessage(error: unknown): boolean {
  return hasCode(error, CODE.noMessage);
}

export function isMissingStream(error: unknown): boolean {
  return hasCode(error, CODE.streamNotFound);
}

/** The client's own timeout, or that of a deadline signal. */
export function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === "TimeoutError";
}

function isTooLarge(error: unknown): boolean {
  if (hasCode(error, CODE.messageTooLarge)) return true;
  return error instanceof errors.InvalidArgumentError && error.message.includes("max_payload");
}

function isClosed(error: unknown): boolean {
  return error instanceof errors.ClosedConnectionError || error instanceof errors.DrainingConnectionError;
}

function isFaultOfTransport(error: unknown): boolean {
  if (error instanceof errors.TimeoutError || error instanceof errors.NoRespondersError) return true;
  if (error instanceof errors.RequestError || error instanceof errors.ConnectionError) return true;
  return error instanceof Error && error.name === "JetStreamNotEnabled"; // the package doesn't export the class
}

function hasCode(error: unknown, ...codes: readonly number[]): boolean {
  return error instanceof JetStreamApiError && codes.includes(error.code);
}
