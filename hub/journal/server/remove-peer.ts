/** Takes a server out of the JetStream cluster for good: it doesn't count for the majority, and others get its replicas. */

import { connect, type NatsConnection } from "@nats-io/transport-node";
import { type NatsTarget, targetOptions } from "#hub/journal/connection/connection.ts";
import { toJournalError } from "#hub/journal/connection/nats-errors.ts";
import { AppError } from "#proto/kit/errors.ts";
import { SYSTEM_USER } from "./server-config.ts";

/** Answered by the leader alone. Source: nats-server, server/jetstream_api.go, JSApiRemoveServer. */
const SUBJECT = "$JS.API.SERVER.REMOVE";
const TIMEOUT_MS = 10_000;
/** Every server answers whose name has the request's in it. Source: nats-server, server/events.go, serverPingReqSubj. */
const PING = "$SYS.REQ.SERVER.PING";
/** Time in which a server that runs answers. */
const PING_MS = 3_000;
/** err_code of a name that no server of the cluster has. */
const NOT_MEMBER = 10_044;

interface Answer {
  readonly success?: boolean;
  readonly error?: { readonly err_code?: number; readonly description?: string };
}

interface Statistics {
  readonly server?: { readonly name?: string };
}

/** Returns false where no server has that name. Throws unavailable, timeout. */
export async function removePeer(target: NatsTarget, name: string): Promise<boolean> {
  const what = `removal of the server ${name}`;
  const answer = await asSystem(target, what, async (nats) => {
    const reply = await nats.request(SUBJECT, JSON.stringify({ peer: name }), { timeout: TIMEOUT_MS });
    return reply.json<Answer>();
  });
  if (answer.success === true) return true;
  if (answer.error?.err_code === NOT_MEMBER) return false;
  throw new AppError(
    "unavailable",
    `${what} was refused by NATS: ${answer.error?.description ?? "no reason"}`,
  );
}

/** Returns whether a server of that name answers. Throws unavailable, timeout. */
export function isPeerUp(target: NatsTarget, name: string): Promise<boolean> {
  const what = `question whether the server ${name} runs`;
  return asSystem(target, what, async (nats) => {
    const parts = JSON.stringify({ server_name: name });
    for await (const answer of await nats.requestMany(PING, parts, { strategy: "timer", maxWait: PING_MS }))
      if (answer.json<Statistics>().server?.name === name) return true;
    return false;
  });
}

/** Runs `run` with a connection to the servers' own account. Throws unavailable, timeout. */
async function asSystem<T>(
  { token, ...target }: NatsTarget,
  what: string,
  run: (nats: NatsConnection) => Promise<T>,
): Promise<T> {
  const options = targetOptions({ ...target, user: SYSTEM_USER, password: token ?? "" });
  try {
    const nats = await connect({ ...options, servers: [...target.servers], reconnect: false });
    try {
      return await run(nats);
    } finally {
      await nats.close();
    }
  } catch (error) {
    throw toJournalError(error, what);
  }
}
