/**
 * Limits the requests with which strangers begin a sign-in or an authorization, as most store a record, and those that end a
 * sign-in, each of which may exchange a code.
 */

import type { ApiRequest } from "#hub/api/http/request.ts";
import type { ApiResponse } from "#hub/api/http/route.ts";
import { networkOf, RateLimit } from "#hub/auth/accounts/throttle.ts";
import { html, pageAnswer } from "#hub/auth/web/page.ts";
import { languageOf, sayIn } from "#hub/auth/web/page-language.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { toAppError } from "#proto/kit/errors.ts";

/** Requests of one kind and network per minute. */
const FLOWS_PER_MINUTE = 300;

export class FlowLimit {
  readonly #flows: RateLimit;

  constructor(clock: Clock) {
    this.#flows = new RateLimit(clock, FLOWS_PER_MINUTE);
  }

  /** Counts a request. Returns the page that refuses it if its network has reached the limit. */
  refusalOf({ ip, headers }: Pick<ApiRequest, "ip" | "headers">): ApiResponse | undefined {
    const network = networkOf(ip);
    try {
      this.#flows.check(network);
    } catch (error) {
      return refusal(String(toAppError(error).data["retryAfterSeconds"]), headers["accept-language"]);
    }
    this.#flows.count(network);
    return undefined;
  }
}

function refusal(seconds: string, language: string | undefined): ApiResponse {
  const say = sayIn(languageOf(language));
  const body = html`<h1>${say("Too many requests")}</h1>
<p>${say("Your network has begun too many sign-ins. Try again in {0} s.", seconds)}</p>`;
  const page = pageAnswer(429, say("Too many requests"), body, language);
  return { ...page, headers: { ...page.headers, "retry-after": seconds } };
}
