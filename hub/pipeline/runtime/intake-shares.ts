/** What senders to all inputs share: connections, bytes, and the reasons why some are refused. */

import type { IntakeShares } from "#hub/pipeline/plugins/input.ts";
import { PROXIES_OWNER } from "#hub/pipeline/plugins/inputs/stream/connection-place.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { FairShares } from "#proto/kit/fair-shares.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { TrustedProxies } from "#proto/kit/net/trusted-proxies.ts";
import { MIB } from "#proto/kit/units.ts";

/** Connections to all inputs, as many as to the HTTP API. */
const MAX_CONNECTIONS = 8_192;
/** Bytes that senders to all inputs hold. */
const MAX_INTAKE_BYTES = 256 * MIB;
/** Shortest time between two warnings of refused connections, ms. */
const WARNING_MS = 60_000;

/** Returns what senders share; refused connections are logged to `log`. */
export function intakeShares(log: Logger, clock: Clock, proxies: TrustedProxies): IntakeShares {
  const remedy = "send it again a little later";
  const connections = new FairShares({
    limit: MAX_CONNECTIONS,
    what: "connections are open",
    remedy,
    everybody: PROXIES_OWNER,
  });
  let warnedMs = Number.NEGATIVE_INFINITY;
  return {
    proxies,
    connections,
    bytes: new FairShares({ limit: MAX_INTAKE_BYTES, what: "bytes are being taken", remedy }),
    onRefused: (address, reason) => {
      if (clock.monotonic() - warnedMs < WARNING_MS) return;
      warnedMs = clock.monotonic();
      log.warn(
        { err: reason, address, open: connections.heldBy(address), limit: MAX_CONNECTIONS },
        `an input refuses connections from ${address}, which has ${connections.heldBy(address)} of the ${MAX_CONNECTIONS} that all inputs take, of which an address alone gets half: let senders share connections, name them with proxy_protocol behind a load balancer, or spread them over several hubs`,
      );
    },
  };
}
