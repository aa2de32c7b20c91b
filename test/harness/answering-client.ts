/** A client of a search cluster or hub that is a function. */

import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import type { TestContext } from "node:test";
import { ClusterClient } from "#hub/import/cluster-client.ts";
import { listen } from "./listen.ts";

interface Answer {
  readonly status: number;
  readonly body: object;
}

/**
 * Returns a client whose requests get what `answer` returns for their path, body and method; undefined resets the
 * connection. It is closed when the test ends.
 */
export async function answeringClient(
  t: TestContext,
  answer: (path: string, body: string, method: string) => Answer | undefined,
): Promise<ClusterClient> {
  const server = createServer((request, response) => {
    void text(request).then((sent) => {
      const given = answer(request.url ?? "", sent, request.method ?? "");
      if (given === undefined) request.socket.destroy();
      else response.writeHead(given.status).end(JSON.stringify(given.body));
    });
  });
  const url = await listen(t, server);
  const client = new ClusterClient({ url, headers: {}, signal: new AbortController().signal });
  t.after(() => client.close());
  return client;
}
