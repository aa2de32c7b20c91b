/** Stores that speak Elasticsearch's interface: Elasticsearch from 6 on, and a hub. */

import type { SearchResponse } from "#hub/search/phases/contract.ts";
import { ask } from "#test/harness/http.ts";
import { type AccessCase, answerOf } from "../access-cases.ts";
import { ACCESS_MAPPING } from "../access-corpus.ts";
import { askText } from "./ask-text.ts";
import { INDEX, type Store } from "./store.ts";

/** Indices have no types from this version on, and histograms name the kind of their interval. */
const TYPELESS = 7;

interface Options {
  readonly name: string;
  /** Of the interface. */
  readonly url: string;
  /** 6 for 6.5.4. */
  readonly major: number;
  readonly pids: () => readonly number[];
  /** What the store says itself where it's left out. */
  readonly diskBytes?: () => number;
  readonly close: () => Promise<void>;
}

/** Asks a server who it is. */
export async function identify(url: string): Promise<{ readonly version: string; readonly major: number }> {
  const { version } = await ask<{ version: { number: string } }>("GET", url);
  return { version: version.number, major: Number.parseInt(version.number, 10) };
}

export function searchInterface({ name, url, major, pids, diskBytes, close }: Options): Store {
  const index = `${url}/${INDEX}`;
  const typed = major < TYPELESS;
  const send = async (body: string): Promise<void> => {
    const { errors } = await ask<{ errors: boolean }>("POST", `${index}${typed ? "/_doc" : ""}/_bulk`, body);
    if (errors) throw new Error(`${name} refused documents`);
  };
  const create = async (): Promise<void> => {
    await ask("DELETE", `${index}?ignore_unavailable=true`);
    await ask("PUT", index, {
      settings: { number_of_shards: 1, number_of_replicas: 0 },
      mappings: typed ? { _doc: ACCESS_MAPPING } : ACCESS_MAPPING,
    });
  };
  return {
    name,
    format: "bulk",
    pids,
    create,
    send,
    refresh: async () => void (await ask("POST", `${index}/_refresh`)),
    diskBytes: async () => diskBytes?.() ?? (await storeBytes(index)),
    question: (about) => ({
      // An answer from the cache of whole requests would measure nothing.
      ask: () =>
        askText(
          `${index}/_search?request_cache=false&track_total_hits=true`,
          bodyFor(about, typed),
          "application/json",
        ),
      read: async (answer) => answerOf(about, responseOf(answer)),
    }),
    close: async () => {
      await ask("DELETE", `${index}?ignore_unavailable=true`);
      await close();
    },
  };
}

async function storeBytes(index: string): Promise<number> {
  const stats = await ask<{ _all: { total: { store: { size_in_bytes: number } } } }>(
    "GET",
    `${index}/_stats/store`,
  );
  return stats._all.total.store.size_in_bytes;
}

function bodyFor({ body }: AccessCase, typed: boolean): string {
  return JSON.stringify(body, (key, value: unknown) =>
    key === "date_histogram" && !typed ? { field: "@timestamp", calendar_interval: "hour" } : value,
  );
}

/** The part that `answerOf` reads; totals are objects from version 7 on. */
function responseOf(answer: string): SearchResponse {
  const { hits, aggregations } = JSON.parse(answer) as {
    hits: { total: number | { value: number } };
    aggregations?: SearchResponse["aggregations"];
  };
  const total = typeof hits.total === "number" ? hits.total : hits.total.value;
  return { total, aggregations } as SearchResponse;
}
