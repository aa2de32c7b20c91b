/** One request whose whole answer is taken as text. */

const TIMEOUT_MS = 120_000;

/** Posts and resolves with the answer. Throws with its beginning unless the status is 2xx. */
export async function askText(url: string, body: string, contentType: string): Promise<string> {
  const response = await fetch(url, {
    method: "POST",
    signal: AbortSignal.timeout(TIMEOUT_MS),
    headers: { "content-type": contentType },
    body,
  });
  const text = await response.text();
  if (response.ok) return text;
  throw new Error(`${new URL(url).host} answered ${response.status}: ${text.slice(0, 300)}`);
}
