/** An hour of logs of an invented web shop: requests and service logs. Deterministic by seed. */

import { randomFrom } from "./random.ts";
import { accessTime } from "./sequence-log.ts";

export interface ShopLogs {
  /** Requests, Combined Log Format. */
  readonly access: string;
  /** Events of the services, a JSON object a line with `level`, `service`, `trace.id` … */
  readonly services: string;
  readonly lines: number;
}

export interface ShopOptions {
  /** End of the hour, ms since 1970-01-01 UTC. */
  readonly endMs: number;
  /** Requests; the services say half as much. */
  readonly requests: number;
  readonly seed?: number;
}

const SPAN_MS = 60 * 60_000;
/** Part of the hour in which payments fail. */
const INCIDENT = { from: 0.62, to: 0.68 } as const;
const PATHS = [
  "/",
  "/",
  "/cart",
  "/checkout",
  "/shop/item/4711",
  "/shop/item/815",
  "/shop/search?q=lamp",
  "/api/orders",
  "/login",
];
const AGENTS = [
  "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0",
  "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 Version/19.0 Mobile Safari/604.1",
  "curl/8.9.1",
];
/** City and its place, for lines with a `client.geo.location`. */
const PLACES: readonly (readonly [city: string, lat: number, lon: number])[] = [
  ["Berlin", 52.52, 13.4],
  ["Paris", 48.86, 2.35],
  ["London", 51.51, -0.13],
  ["New York", 40.71, -74.01],
  ["San Francisco", 37.77, -122.42],
  ["São Paulo", -23.55, -46.63],
  ["Tokyo", 35.68, 139.69],
  ["Sydney", -33.87, 151.21],
  ["Mumbai", 19.08, 72.88],
  ["Nairobi", -1.29, 36.82],
];

/** Makes the hour's logs. */
export function shopLogs({ endMs, requests, seed = 7 }: ShopOptions): ShopLogs {
  const random = randomFrom(seed);
  const startMs = endMs - SPAN_MS;
  let access = "";
  let services = "";
  let lines = requests;
  for (let request = 0; request < requests; request++) {
    const part = warp((request + random()) / requests);
    const isIncident = part > INCIDENT.from && part < INCIDENT.to;
    const atMs = startMs + part * SPAN_MS;
    access += accessLine(random, atMs, isIncident);
    if (request % 2 === 1 && !isIncident) continue;
    services += `${JSON.stringify(serviceEvent(random, atMs, isIncident))}\n`;
    lines++;
  }
  return { access, services, lines };
}

/** More requests at some times than at others, as on any site; stays within [0, 1). */
function warp(part: number): number {
  return part + 0.03 * Math.sin(part * 4 * Math.PI) + 0.004 * Math.sin(part * 26 * Math.PI);
}

function accessLine(random: () => number, atMs: number, isIncident: boolean): string {
  const status = isIncident && random() < 0.35 ? 502 : random() < 0.03 ? 404 : 200;
  const client = `198.51.100.${1 + Math.floor(random() * 250)}`;
  const path = PATHS[Math.floor(random() * PATHS.length)]!;
  const agent = AGENTS[Math.floor(random() ** 2 * AGENTS.length)]!;
  const sizeBytes = 200 + Math.floor(random() * 30_000);
  return `${client} - - [${accessTime(new Date(atMs))}] "GET ${path} HTTP/1.1" ${status} ${sizeBytes} "-" "${agent}"\n`;
}

function serviceEvent(random: () => number, atMs: number, isIncident: boolean): Record<string, unknown> {
  const order = 1_000 + Math.floor(random() * 9_000);
  const [city, lat, lon] = PLACES[Math.floor(random() ** 1.6 * PLACES.length)]!;
  const common = {
    "@timestamp": new Date(atMs).toISOString(),
    trace: {
      id: Math.floor(random() * 2 ** 48)
        .toString(16)
        .padStart(12, "0"),
    },
    client: { geo: { city_name: city, location: { lat, lon } } },
  };
  const chance = random();
  if (isIncident && chance < 0.75)
    return {
      ...common,
      level: "error",
      service: "payment",
      message: `order ${order} not paid: upstream timed out after 3000 ms`,
      duration_ms: 3_000 + Math.floor(random() * 90),
    };
  if (chance < 0.04)
    return {
      ...common,
      level: "error",
      service: "cart",
      message: `cart ${order} is gone: session expired`,
      duration_ms: 12,
    };
  if (chance < 0.13)
    return {
      ...common,
      level: "warn",
      service: "stock",
      message: `item ${order % 97} is nearly sold out: ${order % 5} left`,
      duration_ms: 7,
    };
  if (chance < 0.3)
    return {
      ...common,
      level: "debug",
      service: "search",
      message: `index warmed in ${20 + (order % 60)} ms`,
      duration_ms: 20 + (order % 60),
    };
  return {
    ...common,
    level: "info",
    service: chance < 0.65 ? "checkout" : "payment",
    message: `order ${order} paid, ${(order / 100).toFixed(2)} EUR`,
    duration_ms: 30 + Math.floor(random() ** 3 * 800),
  };
}
