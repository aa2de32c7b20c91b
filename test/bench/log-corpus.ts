/**
 * Documents as the default pipeline makes them of real logs: access logs, sign-ins, Java and JSON applications, a kernel.
 * Blocks of documents come from their number alone, so that a corpus can be made in parts and is the same everywhere.
 */

import { randomFrom } from "#test/harness/random.ts";

/** Documents that are made together. */
export const BLOCK_DOCS = 1000;

/** Seven days in ms: the time that a corpus of any size spans. */
const SPAN_MS = 7 * 86_400_000;
export const CORPUS_START_MS = Date.UTC(2025, 5, 9);
/** Shippers are late by up to so much: times only nearly ascend. */
const JITTER_MS = 4_000;

/** Clients that the access logs know; a few send most requests. */
const CLIENTS = 40_000;

export const CORPUS_MAPPING = {
  properties: {
    "@timestamp": { type: "date" },
    message: { type: "text" },
    host: { properties: { name: { type: "keyword" } } },
    log: {
      properties: {
        level: { type: "keyword" },
        offset: { type: "long" },
        file: { properties: { path: { type: "keyword" } } },
      },
    },
    http: {
      properties: {
        request: { properties: { method: { type: "keyword" } } },
        response: {
          properties: {
            status_code: { type: "long" },
            body: { properties: { bytes: { type: "long" } } },
          },
        },
      },
    },
    source: {
      properties: {
        address: { type: "keyword" },
        geo: { properties: { location: { type: "geo_point" } } },
      },
    },
  },
};

/** Mapping of `nestedOf`. */
export const NESTED_MAPPING = {
  properties: {
    steps: {
      type: "nested",
      properties: { name: { type: "keyword" }, took: { type: "long" } },
    },
  },
};

/** A step of a request. */
export interface Step {
  readonly name: string;
  readonly took: number;
}

const STEPS = ["accept", "route", "query", "render", "send"];

/** Returns the steps of document `number`: one to five, the same in every corpus. */
export function nestedOf(number: number): Step[] {
  const random = new Source(number);
  return STEPS.slice(0, 1 + random.below(STEPS.length)).map((name) => ({ name, took: random.skewed(1000) }));
}

/** One document, as columns of the reference see it. */
export interface CorpusDocument {
  readonly id: string;
  readonly json: string;
  readonly timeMs: number;
  readonly message: string;
  readonly host: string;
  readonly status: number | null;
  readonly lat: number | null;
  readonly lon: number | null;
}

/** Returns the documents of block `block` of a corpus of `total` documents. */
export function corpusBlock(block: number, total: number): CorpusDocument[] {
  const random = new Source(block);
  const from = block * BLOCK_DOCS;
  const stepMs = SPAN_MS / total;
  return Array.from({ length: Math.min(BLOCK_DOCS, total - from) }, (_, at) =>
    documentOf(
      from + at,
      Math.floor(CORPUS_START_MS + (from + at) * stepMs + random.below(JITTER_MS)),
      random,
    ),
  );
}

function documentOf(number: number, timeMs: number, random: Source): CorpusDocument {
  const kind = random.below(100);
  const host = `${kind < 60 ? "web" : "app"}-${String(random.skewed(24)).padStart(2, "0")}`;
  const made =
    kind < 60
      ? access(timeMs, random)
      : kind < 72
        ? signIn(timeMs, random)
        : application(kind, timeMs, random);
  const id = Buffer.alloc(15, 7);
  id.writeUIntBE(number, 8, 6);
  const { client } = made;
  const json = JSON.stringify({
    "@timestamp": new Date(timeMs).toISOString(),
    message: made.message,
    host: { name: host },
    log: {
      file: { path: made.file },
      offset: number * 97,
      ...(made.level === undefined ? {} : { level: made.level }),
    },
    ...(client === undefined
      ? {}
      : {
          http: {
            request: { method: made.method },
            response: { status_code: made.status, body: { bytes: made.bytes } },
          },
          source: { address: client.address, geo: { location: { lat: client.lat, lon: client.lon } } },
        }),
  });
  return {
    id: id.toString("base64url"),
    json,
    timeMs,
    message: made.message,
    host,
    status: made.status ?? null,
    lat: client?.lat ?? null,
    lon: client?.lon ?? null,
  };
}

interface Made {
  readonly message: string;
  readonly file: string;
  readonly level?: string;
  readonly method?: string;
  readonly status?: number;
  readonly bytes?: number;
  readonly client?: Client;
}

interface Client {
  readonly address: string;
  readonly lat: number;
  readonly lon: number;
}

const clients: Client[] = [];

function clientNumber(number: number): Client {
  if (clients.length === 0) {
    const random = new Source(-1);
    for (let each = 0; each < CLIENTS; each++) {
      clients.push({
        address: `${1 + random.below(222)}.${random.below(256)}.${random.below(256)}.${1 + random.below(254)}`,
        lat: random.below(1_300_000) / 10_000 - 60,
        lon: random.below(3_600_000) / 10_000 - 180,
      });
    }
  }
  return clients[number]!;
}

const METHODS = ["GET", "GET", "GET", "GET", "GET", "GET", "POST", "POST", "PUT", "HEAD"];
const STATUSES = [200, 200, 200, 200, 200, 304, 302, 404, 401, 500, 503];
const PATHS = [
  "/",
  "/index.html",
  "/api/v1/orders",
  "/api/v1/orders/",
  "/static/app.js",
  "/images/logo.png",
  "/login",
  "/search?q=",
  "/robots.txt",
  "/products/",
];
const AGENTS = [
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Safari/537.36",
  "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1",
  "curl/8.5.0",
  "Googlebot/2.1 (+http://www.google.com/bot.html)",
  "python-requests/2.32.3",
];
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

function access(timeMs: number, random: Source): Made {
  const client = clientNumber(random.skewed(CLIENTS));
  const method = random.pick(METHODS);
  const status = STATUSES[random.skewed(STATUSES.length)]!;
  const bytes = 200 + random.skewed(120_000);
  const base = PATHS[random.skewed(PATHS.length)]!;
  const path = base.endsWith("/") || base.endsWith("=") ? base + random.below(2 ** 31).toString(36) : base;
  const agent = AGENTS[random.skewed(AGENTS.length)]!;
  const time = new Date(timeMs).toISOString();
  const clock = `${time.slice(8, 10)}/${MONTHS[Number(time.slice(5, 7)) - 1]}/${time.slice(0, 4)}:${time.slice(11, 19)} +0000`;
  return {
    message: `${client.address} - - [${clock}] "${method} ${path} HTTP/1.1" ${status} ${bytes} "-" "${agent}"`,
    file: "/var/log/nginx/access.log",
    method,
    status,
    bytes,
    client,
  };
}

const USERS = ["root", "admin", "oracle", "test", "deploy", "ubuntu", "guest", "jürgen", "søren", "zoë"];

function signIn(timeMs: number, random: Source): Made {
  const time = new Date(timeMs).toISOString();
  const { address } = clientNumber(random.skewed(CLIENTS));
  const user = random.pick(USERS);
  const head = `${MONTHS[Number(time.slice(5, 7)) - 1]} ${time.slice(8, 10)} ${time.slice(11, 19)} bastion sshd[${1000 + random.below(30_000)}]:`;
  const message = random.pick([
    `${head} Failed password for invalid user ${user} from ${address} port ${1024 + random.below(60_000)} ssh2`,
    `${head} pam_unix(sshd:auth): authentication failure; logname= uid=0 euid=0 tty=ssh ruser= rhost=${address} user=${user}`,
    `${head} Accepted publickey for ${user} from ${address} port ${1024 + random.below(60_000)} ssh2: RSA SHA256:${random.hex(20)}`,
    `${head} Connection closed by ${address} port ${1024 + random.below(60_000)} [preauth]`,
  ]);
  return { message, file: "/var/log/auth.log", level: "info" };
}

const LEVELS = ["INFO", "INFO", "INFO", "INFO", "DEBUG", "DEBUG", "WARN", "ERROR"];
const CLASSES = [
  "com.shop.order.OrderService",
  "com.shop.cart.CartController",
  "org.apache.kafka.clients.NetworkClient",
  "com.shop.pay.Gateway",
];
const CITIES = ["München", "東京", "São Paulo", "Łódź", "Lyon", "Boston", "北京", "Köln"];

function application(kind: number, timeMs: number, random: Source): Made {
  const level = random.pick(LEVELS);
  const time = new Date(timeMs).toISOString();
  if (kind < 82) {
    const message = random.pick([
      `${time} ${level} [worker-${random.below(16)}] ${random.pick(CLASSES)} - order ${random.hex(8)}-${random.hex(4)} accepted for customer ${random.below(200_000)} total=${random.below(50_000) / 100}`,
      `${time} ${level} [worker-${random.below(16)}] ${random.pick(CLASSES)} - payment declined by gateway, code ${random.below(90)}, retry in ${random.below(5000)} ms`,
      `${time} ${level} [http-${random.below(32)}] ${random.pick(CLASSES)} - slow query took ${random.below(9000)} ms: SELECT * FROM orders WHERE id = ${random.below(1e7)}`,
    ]);
    return { message, file: "/var/log/shop/shop.log", level: level.toLowerCase() };
  }
  if (kind < 92) {
    const message = `level=${level.toLowerCase()} trace_id=${random.hex(32)} span_id=${random.hex(16)} msg="request completed" city="${random.pick(CITIES)}" duration_ms=${random.below(3000)}`;
    return { message, file: "/var/log/edge/edge.log", level: level.toLowerCase() };
  }
  const message = `081109 ${time.slice(11, 19).replaceAll(":", "")} ${random.below(900)} ${level} dfs.DataNode$PacketResponder: Received block blk_${random.below(2 ** 31)} of size ${random.below(67_108_864)} from /10.250.${random.below(256)}.${random.below(256)}`;
  return { message, file: "/var/log/hadoop/hdfs.log", level: level.toLowerCase() };
}

/** Chance of one block. */
class Source {
  readonly #next: () => number;

  constructor(block: number) {
    this.#next = randomFrom(Math.imul(block + 2, 0x9e3779b1));
  }

  below(limit: number): number {
    return Math.floor(this.#next() * limit);
  }

  /** Small numbers most often, as few clients send most requests. */
  skewed(limit: number): number {
    return Math.floor(limit * this.#next() ** 3);
  }

  pick<T>(values: readonly T[]): T {
    return values[this.below(values.length)]!;
  }

  hex(digits: number): string {
    let text = "";
    while (text.length < digits)
      text += this.below(2 ** 32)
        .toString(16)
        .padStart(8, "0");
    return text.slice(0, digits);
  }
}
