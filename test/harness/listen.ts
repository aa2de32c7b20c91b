/** Servers of tests on a port that the system chose. */

import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";

/** Starts `server` on loopback until the test ends and returns its base URL. */
export async function listen(t: TestContext, server: Server): Promise<string> {
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
