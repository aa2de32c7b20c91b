/** Where a host of shards is: a thread of this hub by its number, or one of another hub. */

/** A thread of a hub. */
export interface HubThread {
  /** Id of the hub. */
  readonly hub: string;
  readonly thread: number;
}

/** A thread of the hub at work by its number, or a thread of any hub. */
export type HostAddress = number | HubThread;

/** Returns a name that tells addresses apart. */
export function addressKey(address: HostAddress): string {
  return typeof address === "number" ? String(address) : `${address.hub}/${address.thread}`;
}
