/** Sends the console's requests and measures them. */

import { msg } from "@lit/localize";
import type { ConsoleCall } from "./requests.ts";

export interface ConsoleAnswer {
  /** HTTP status; 0 if the hub couldn't be reached. */
  readonly status: number;
  readonly statusText: string;
  readonly tookMs: number;
  readonly sizeBytes: number;
  readonly contentType: string;
  readonly text: string;
  /** Deprecations and the like that the hub sent along. */
  readonly warning: string | undefined;
}

/** A browser sends no body with GET; as a parameter it may be this long, below what servers take as an address. */
const MAX_SOURCE = 6_000;
/** Operations that are the same by POST. */
const SAME_BY_POST =
  /\/(_search|_msearch|_count|_mget|_analyze|_validate\/query|_field_caps|_explain(\/[^/]+)?|_search\/scroll|_search_shards)$/;

/** Returns the call as a browser can make it; undefined if it can't. */
export function forBrowser(call: ConsoleCall): ConsoleCall | undefined {
  const { method, path, body, contentType } = call;
  if (body === undefined || (method !== "GET" && method !== "HEAD")) return call;
  const source = new URLSearchParams({
    source: body,
    source_content_type: contentType ?? "application/json",
  });
  const text = source.toString();
  if (text.length <= MAX_SOURCE)
    return {
      method,
      path: `${path}${path.includes("?") ? "&" : "?"}${text}`,
      body: undefined,
      contentType: undefined,
    };
  if (method === "GET" && SAME_BY_POST.test(path.replace(/\?.*$/, ""))) return { ...call, method: "POST" };
  return undefined;
}

export class ConsoleClient {
  readonly #fetch: typeof fetch;
  readonly #base: string;

  constructor(fetcher: typeof fetch = (...call) => fetch(...call), base = "/es") {
    this.#fetch = fetcher;
    this.#base = base;
  }

  /** Sends a request. An error's status is an answer too; throws only where `signal` was aborted. */
  async send(call: ConsoleCall, signal: AbortSignal): Promise<ConsoleAnswer> {
    const startMs = performance.now();
    const made = forBrowser(call);
    if (made === undefined)
      return failed(
        msg("A browser sends no body with GET, and this one is too long for the address. Write POST."),
      );
    const init: RequestInit = { method: made.method, signal };
    if (made.body !== undefined) init.body = made.body;
    if (made.contentType !== undefined) init.headers = { "content-type": made.contentType };
    try {
      const response = await this.#fetch(`${this.#base}${made.path}`, init);
      const bytes = await response.arrayBuffer();
      return {
        status: response.status,
        statusText: response.statusText,
        tookMs: performance.now() - startMs,
        sizeBytes: bytes.byteLength,
        contentType: response.headers.get("content-type") ?? "",
        text: new TextDecoder().decode(bytes),
        warning: response.headers.get("warning") ?? undefined,
      };
    } catch (error) {
      if (signal.aborted) throw error;
      return failed(`${msg("The hub can't be reached.")} ${msg("Is it running?")}`);
    }
  }

  /** Returns the address of the search interface for other programs; the dashboard's own if that is unknown. */
  async address(origin: string): Promise<string> {
    try {
      const response = await this.#fetch(`${this.#base}/_nodes/http`);
      const { nodes } = (await response.json()) as {
        nodes?: Record<string, { http?: { publish_address?: string } }>;
      };
      const place = Object.values(nodes ?? {})[0]?.http?.publish_address;
      return place === undefined ? `${origin}${this.#base}` : `${new URL(origin).protocol}//${place}`;
    } catch {
      return `${origin}${this.#base}`;
    }
  }
}

function failed(text: string): ConsoleAnswer {
  return { status: 0, statusText: "", tookMs: 0, sizeBytes: 0, contentType: "", text, warning: undefined };
}
