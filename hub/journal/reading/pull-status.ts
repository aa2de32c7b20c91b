/** The meaning of a status message for a pull; codes and texts as in nats-server's consumer.go, 2.9 to 2.12. */

/**
 * `alive`: nothing changes; `over`: the pull has expired; `too-large`: the next message has more bytes than the pull allows;
 * `lost`: the consumer is gone or can't be read any further.
 */
export type PullStatus = "alive" | "over" | "too-large" | "lost";

export function pullStatus(code: number, description: string): PullStatus {
  if (code === 100) return "alive"; // heartbeat
  if (code === 408 || code === 404) return "over";
  if (code !== 409) return "lost";
  // From 2.10 on: the previous pull got all its messages with fewer bytes than it allowed. It ended with the last of them.
  if (/batch completed/i.test(description)) return "alive";
  return /exceeds maxbytes/i.test(description) ? "too-large" : "lost";
}
