/** A small JSON client for tests. */

/** An answer as it came. */
export interface Answer<T> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: T;
}

/** Time a request may take, ms. */
const TIMEOUT_MS = 60_000;

/** Asks and returns the answer whatever its status; a body that isn't JSON comes back as text. */
export async function request<T = unknown>(method: string, url: string, body?: unknown): Promise<Answer<T>> {
  const response = await fetch(url, {
    method,
    signal: AbortSignal.timeout(TIMEOUT_MS),
    ...(body === undefined
      ? {}
      : {
          headers: { "content-type": typeof body === "string" ? "application/x-ndjson" : "application/json" },
          body: typeof body === "string" ? body : JSON.stringify(body),
        }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: parse(text) as T };
}

/** Asks and returns the body; throws with status and body unless the status is 2xx. */
export async function ask<T = unknown>(method: string, url: string, body?: unknown): Promise<T> {
  const answer = await request<T>(method, url, body);
  if (answer.status >= 200 && answer.status < 300) return answer.body;
  throw new Error(`${method} ${url} answered ${answer.status}: ${JSON.stringify(answer.body).slice(0, 500)}`);
}

/** Returns the value of a metric in the text format, summed over its labels; undefined where it isn't there. */
export async function readMetric(url: string, name: string): Promise<number | undefined> {
  const text = await ask<string>("GET", url);
  const rows = [...text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)`, "gm"))];
  return rows.length === 0 ? undefined : rows.reduce((sum, row) => sum + Number(row[1]), 0);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
