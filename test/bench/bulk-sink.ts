/** A search interface that says its version, takes bulk requests, counts their documents and keeps nothing. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

const NEWLINE = 0x0a;
/** Of a document: action and source. */
const LINES = 2;

export class BulkSink {
  /** Documents taken. */
  documents = 0;
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => this.#take(request, response));
  }

  static async start(): Promise<BulkSink> {
    const sink = new BulkSink();
    const { promise, resolve } = Promise.withResolvers<void>();
    sink.#server.listen(0, "127.0.0.1", resolve);
    await promise;
    return sink;
  }

  /** host:port. */
  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): Promise<void> {
    this.#server.closeAllConnections();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.close(() => resolve());
    return promise;
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    let lines = 0;
    request.on("data", (chunk: Buffer) => {
      for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) lines++;
    });
    request.on("end", () => {
      if (request.method !== "POST") {
        response.setHeader("content-type", "application/json");
        response.end(VERSION);
        return;
      }
      const documents = lines / LINES;
      this.documents += documents;
      const items = Array.from(
        { length: documents },
        () => ITEMS[isFiltered(request) ? "filtered" : "whole"],
      );
      const took = isFiltered(request) ? "" : '"took":3,';
      response.setHeader("content-type", "application/json");
      response.end(`{${took}"errors":false,"items":[${items.join(",")}]}`);
    });
  }
}

/** What shippers ask first. */
const VERSION = '{"version":{"number":"7.17.0"},"tagline":"You Know, for Search"}';

/** What a search engine answers for each document. */
const ITEMS = {
  filtered: '{"index":{"status":201}}',
  whole:
    '{"index":{"_index":"logs-2026.01.01","_type":"_doc","_id":"AAAAAAAAAAAAAAAAAAAA","_version":1,"result":"created","_shards":{"total":2,"successful":1,"failed":0},"_seq_no":1,"_primary_term":1,"status":201}}',
};

function isFiltered(request: IncomingMessage): boolean {
  return request.url?.includes("filter_path=") === true;
}
