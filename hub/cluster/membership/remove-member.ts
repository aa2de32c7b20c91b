/** Removes a hub that won't come back from the cluster: its record, and its part of the store. */

import { AppError } from "#proto/kit/errors.ts";
import type { StateBucket } from "#proto/kit/state-bucket.ts";
import type { MemberDirectory } from "./member-directory.ts";
import { memberKey } from "./member-record.ts";

export interface RemovalDeps {
  readonly bucket: Pick<StateBucket, "delete">;
  readonly directory: Pick<MemberDirectory, "all" | "refresh">;
  /** node.name of this hub. */
  readonly own: string;
  /**
   * Removes the server of that name from the store; false if there is none. Undefined: the store isn't the hubs' own. Throws
   * unavailable, timeout.
   */
  readonly removeServer: ((name: string) => Promise<boolean>) | undefined;
  /** Returns whether the server of that name answers. Throws unavailable, timeout. */
  readonly isServerUp: (name: string) => Promise<boolean>;
}

/** What was removed. */
export interface Removal {
  readonly member: boolean;
  /** A server that stored the log. */
  readonly server: boolean;
}

/**
 * Removes the hub with that node.name: its record first, so that a hub that comes back at that moment keeps its server. If
 * the server can't be removed then, a further call does it. Throws request_invalid for this hub or a live one; not_found;
 * journal_conflict if it comes back; unavailable, timeout.
 */
export async function removeMember(
  { bucket, directory, own, removeServer, isServerUp }: RemovalDeps,
  name: string,
): Promise<Removal> {
  if (name === own)
    throw new AppError("request_invalid", `${name} is this hub: stop it, then ask another one to remove it`);
  await directory.refresh();
  const found = directory.all().filter(({ record }) => record.name === name);
  if (found.some(({ record }) => record.state === "live"))
    throw new AppError(
      "request_invalid",
      `the hub ${name} runs, or was lost less than 10 s ago: stop it first, and don't start it again`,
    );
  for (const { record, revision } of found) await bucket.delete(memberKey(record.id), revision);
  // A hub that stops or starts has no record, though its server runs.
  if (found.length === 0 && removeServer !== undefined && (await isServerUp(name)))
    throw new AppError(
      "request_invalid",
      `the server of the hub ${name} runs: stop the hub first, and don't start it again`,
    );
  const server = (await removeServer?.(name)) ?? false;
  if (found.length === 0 && !server)
    throw new AppError("not_found", `no hub of the cluster is named ${name}`);
  return { member: found.length > 0, server };
}
