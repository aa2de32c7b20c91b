/** Takes a server out of the JetStream cluster for good: it doesn't count for the majority, and others get its replicas. */

import { connect } from "@nats-io/transport-node";
import { type NatsTarget, targetOptions } from "#hub/journal/connection/connection.ts";
import { toJournalError } from "#hub/journal/connection/nats-errors.ts";
import { AppError } from "#proto/kit/errors.ts";
import { SYSTEM_USER } from "./server-config.ts";

/** Answered by the leader alone. Source: nats-server, server/jetstream_api.go, JSApiRemoveServer. */
const SUBJECT = "$JS.API.SERVER.REMOVE";
const TIMEOUT_MS = 10_000;
/** err_code of a name that no server of the cluster has. */
const NOT_MEMBER = 10_044;

interface Answer {
  readonly success?: boolean;
  readonly error?: { readonly err_code?: number; readonly description?: string };
}

/** Returns false where no server has that name. Throws unavailable, timeout. */
export async function removePeer({ token, ...target }: NatsTarget, name: string): Promise<boolean> {
  const options = targetOptions({ ...target, user: SYSTEM_USER, password: token ?? "" });
  const what = `removal of the server ${name}`;
  let answer: Answer;
  try {
    const nats = await connect({ ...options, servers: [...target.servers], reconnect: false });
    try {
      const reply = await nats.request(SUBJECT, JSON.stringify({ peer: name }), { timeout: TIMEOUT_MS });
      answer = reply.json<Answer>();
    } finally {
      await nats.close();
    }
  } catch (error) {
    throw toJournalError(error, what);
  }
  if (answer.success === true) return true;
  if (answer.error?.err_code === NOT_MEMBER) return false;
  throw new AppError(
    "unavailable",
    `${what} was refused by NATS: ${answer.error?.description ?? "no reason"}`,
  );
}
