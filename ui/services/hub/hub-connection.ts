/** The one connection of a tab to its hub, opened when it is first needed. */

import { HubSocket } from "./hub-socket.ts";
import type { Fetcher } from "./json-call.ts";
import { SocketCalls } from "./socket-calls.ts";

export interface HubConnection {
  readonly socket: HubSocket;
  readonly calls: SocketCalls;
}

let connection: HubConnection | undefined;

/** Returns the tab's connection. */
export function hubConnection(): HubConnection {
  if (connection === undefined) {
    const socket = new HubSocket();
    connection = { socket, calls: new SocketCalls(socket, (address, init) => fetch(address, init)) };
  }
  return connection;
}

/** Sends a request over the tab's connection. */
export const hubFetch: Fetcher = (address, init) => hubConnection().calls.fetch(address, init);
