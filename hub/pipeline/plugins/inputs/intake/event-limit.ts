/** Limits the events of an intake request: all are created before the log accepts them. */

import { AppError } from "#proto/kit/errors.ts";

/** Senders bring some thousands at a time; each takes about a kilobyte. */
const MAX_EVENTS = 250_000;

/** Throws request_too_large. */
export function checkEvents(count: number): void {
  if (count > MAX_EVENTS)
    throw new AppError("request_too_large", `a request may bring ${MAX_EVENTS} events; send fewer at a time`);
}
