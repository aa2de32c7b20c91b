/**
 * Access logs of a fleet of web servers: the combined line and the fields that were parsed from it, 401 bytes of JSON a
 * document. Clients and paths follow Zipf's law. Blocks come from their number alone.
 */

import { randomFrom } from "#test/harness/random.ts";
import { BLOCK_DOCS, type CorpusDocument } from "./log-corpus.ts";

export const ACCESS_START_MS = Date.UTC(2026, 2, 2);
/** One day in ms: the time that a corpus of any size spans. */
const SPAN_MS = 86_400_000;
/** Shippers are late by up to so much: times only nearly ascend. */
const JITTER_MS = 2_000;

export const ACCESS_CLIENTS = 50_000;
const PATHS = 5_000;
const HOSTS = 20;
const SERVICES = 30;
const MOST_BYTES = 60_000;
const MOST_MS = 2_000;

const keyword = { type: "keyword" };

export const ACCESS_MAPPING = {
  properties: {
    "@timestamp": { type: "date" },
    message: { type: "text" },
    client: keyword,
    method: keyword,
    path: keyword,
    proto: keyword,
    status: { type: "long" },
    bytes: { type: "long" },
    referer: keyword,
    agent: keyword,
    host: keyword,
    service: keyword,
    level: keyword,
    ms: { type: "long" },
  },
};

const METHODS = ["GET", "GET", "GET", "GET", "GET", "GET", "POST", "POST", "PUT", "DELETE"];
const STATUSES = [200, 200, 200, 200, 200, 200, 204, 301, 304, 400, 401, 404, 404, 500, 503];
const PROTOCOLS = ["HTTP/1.1", "HTTP/1.1", "HTTP/2.0"];
const REFERRERS = ["-", "-", "-", "-", "https://shop.example/"];
const AGENTS = [
  "Mozilla/5.0 (X11; Linux) Firefox/140.0",
  "Mozilla/5.0 Chrome/138.0",
  "Mozilla/5.0 (iPhone) Safari/604",
  "curl/8.5.0",
  "Googlebot/2.1",
  "Wget/1.25",
];
const WORDS = ["cart", "order", "item", "user", "find", "img", "css", "me", "top", "list"];
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** Returns the documents of block `block` of a corpus of `total` documents. */
export function accessBlock(block: number, total: number): CorpusDocument[] {
  const next = randomFrom(Math.imul(block + 7, 0x9e3779b1));
  const from = block * BLOCK_DOCS;
  return Array.from({ length: Math.min(BLOCK_DOCS, total - from) }, (_, at) => {
    const timeMs = ACCESS_START_MS + Math.floor(((from + at) * SPAN_MS) / total + next() * JITTER_MS);
    return documentOf(from + at, timeMs, next);
  });
}

function documentOf(number: number, timeMs: number, next: () => number): CorpusDocument {
  const below = (limit: number): number => Math.floor(next() * limit);
  const pick = <T>(values: readonly T[]): T => values[below(values.length)]!;
  const status = pick(STATUSES);
  const fields = {
    client: clientOf(zipf(CLIENT_WEIGHTS, next())),
    method: pick(METHODS),
    path: pathOf(zipf(PATH_WEIGHTS, next())),
    proto: pick(PROTOCOLS),
    status,
    bytes: Math.floor(MOST_BYTES * next() ** 3),
    referer: pick(REFERRERS),
    agent: AGENTS[Math.floor(AGENTS.length * next() ** 2)]!,
    host: `web-${String(below(HOSTS)).padStart(2, "0")}`,
    service: `svc-${String(below(SERVICES)).padStart(2, "0")}`,
    level: status >= 500 ? "error" : status >= 400 ? "warn" : "info",
    ms: Math.floor(MOST_MS * next() ** 4),
  };
  const { client, method, path, proto, bytes, referer, agent } = fields;
  const time = new Date(timeMs).toISOString();
  const clock = `${time.slice(8, 10)}/${MONTHS[Number(time.slice(5, 7)) - 1]}/${time.slice(0, 4)}:${time.slice(11, 19)} +0000`;
  const message = `${client} - - [${clock}] "${method} ${path} ${proto}" ${status} ${bytes} "${referer}" "${agent}"`;
  const id = Buffer.alloc(15, 7);
  id.writeUIntBE(number, 8, 6);
  return {
    id: id.toString("base64url"),
    json: JSON.stringify({ "@timestamp": time, message, ...fields }),
    timeMs,
    message,
    host: fields.host,
    status,
    lat: null,
    lon: null,
  };
}

/** A number below 2^32 that looks random. */
function mixed(number: number): number {
  return Math.floor(randomFrom(number)() * 2 ** 32);
}

function clientOf(number: number): string {
  const bits = mixed(number);
  return `${1 + ((bits >>> 24) % 222)}.${(bits >>> 16) & 255}.${(bits >>> 8) & 255}.${1 + (bits % 254)}`;
}

function pathOf(number: number): string {
  const bits = mixed(number + ACCESS_CLIENTS);
  const word = (at: number): string => WORDS[(bits >>> at) % WORDS.length]!;
  return `/${word(0)}/${word(8)}/${number.toString(36)}`;
}

const CLIENT_WEIGHTS = weights(ACCESS_CLIENTS);
const PATH_WEIGHTS = weights(PATHS);

/** Sums of 1 / rank. */
function weights(count: number): Float64Array {
  const sums = new Float64Array(count);
  for (let rank = 0, sum = 0; rank < count; rank++) sums[rank] = sum += 1 / (rank + 1);
  return sums;
}

/** Returns the rank at a share of the sum, 0 to 1. */
function zipf(sums: Float64Array, share: number): number {
  const wanted = share * sums.at(-1)!;
  let low = 0;
  let high = sums.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sums[middle]! > wanted) high = middle;
    else low = middle + 1;
  }
  return low;
}
