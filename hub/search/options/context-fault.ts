/** Errors of a search's combination of options, which 6.x finds on the shards and reports as faults of the server. */

import { AppError } from "#proto/kit/errors.ts";
import { answersAs } from "./request-version.ts";

const CONTEXT = "search_context_exception";
const PHASE = "query_phase_execution_exception";

/** Returns the error for options that can't be used together or on a field; its type is the one of 6.x. */
export function contextFault(message: string, type: typeof CONTEXT | typeof PHASE = CONTEXT): AppError {
  return new AppError("request_invalid", message, answersAs(700) ? {} : { data: { type } });
}

/** Returns whether the current request is answered in a version for which an error is one of all shards. */
export function isContextFault({ code, data: { type } }: AppError): boolean {
  return !answersAs(700) && (code === "window_too_large" || type === CONTEXT || type === PHASE);
}
