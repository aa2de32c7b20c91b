/** A search cluster that gives the answers which were recorded from a real one. */

import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { text } from "node:stream/consumers";
import type { TestContext } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { listen } from "./listen.ts";

interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly status: number;
  /** The bytes of the answer: its numbers may be longer than a double. */
  readonly answer: string;
}

export interface RecordedCluster {
  readonly url: string;
  /** Requests so far, as "METHOD path". */
  readonly requests: readonly string[];
  /** Answers to requests that `fails` names are 500 from now on. */
  failOn(fails: (request: string) => boolean): void;
}

/** Serves the exchanges of a file until the test ends. A request that wasn't recorded gets 501. */
export async function recordedCluster(t: TestContext, file: string): Promise<RecordedCluster> {
  const exchanges = JSON.parse(readFileSync(file, "utf8")) as Exchange[];
  const requests: string[] = [];
  let fails = (_request: string): boolean => false;
  const server: Server = createServer((request, response) => {
    void text(request).then((body) => {
      const name = `${request.method} ${request.url}`;
      requests.push(name);
      const sent = body === "" ? undefined : (JSON.parse(body) as unknown);
      const found = exchanges.find(
        (each) => `${each.method} ${each.path}` === name && isDeepStrictEqual(each.body, sent),
      );
      const status = fails(name) ? 500 : (found?.status ?? 501);
      response.writeHead(status, { "content-type": "application/json" });
      response.end(status === found?.status ? found.answer : "{}");
    });
  });
  const url = await listen(t, server);
  return { url, requests, failOn: (which) => (fails = which) };
}
