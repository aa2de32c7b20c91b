/** Bounds what senders without a sign-in can write to the audit log. */

import { networkOf, RateLimit } from "#hub/auth/accounts/throttle.ts";
import type { AuditAction, AuditSink } from "#hub/auth/audit/audit.ts";
import type { Clock } from "#proto/kit/clock.ts";
import type { Logger } from "#proto/kit/log.ts";

/** Refused events of one kind and network per minute; more than one person causes. */
const REFUSALS_PER_MINUTE = 60;
/** Events that need no credential; those of request_refused are limited where they are made. */
const STRANGERS: ReadonlySet<AuditAction> = new Set(["sign_in", "token_refused"]);

/** Returns a sink that leaves out refusals beyond the limit, and logs that once per network and minute. */
export function boundedAudit(audit: AuditSink, clock: Clock, log: Logger): AuditSink {
  const kept = new RateLimit(clock, REFUSALS_PER_MINUTE);
  const warned = new RateLimit(clock, 1);
  return (event) => {
    const { action, outcome, ip = "" } = event;
    const network = networkOf(ip);
    const name = `${action}|${network}`;
    if (outcome === "ok" || !STRANGERS.has(action) || kept.allows(name)) audit(event);
    else if (warned.allows(name))
      log.warn(
        { action, network },
        "the audit log leaves out further refusals of this network for a minute: it is sending too many requests",
      );
  };
}
