/**
 * The thread that queries name servers: requests and answers pass through a message port, and a shared counter wakes
 * the calling thread.
 */

import { promises as dns } from "node:dns";
import { readFileSync } from "node:fs";
import { type MessagePort, workerData } from "node:worker_threads";
import type { NameAnswer } from "#hub/pipeline/plugins/host-names.ts";

export interface NameThreadOptions {
  /** Addresses, with `:port` where it isn't 53; empty: those of the system. */
  readonly servers: readonly string[];
  /** Limit of one try. */
  readonly timeoutMs: number;
  readonly tries: number;
  /** Files of names, as /etc/hosts, asked first. */
  readonly hostsFiles: readonly string[];
}

export interface NameThreadStart {
  readonly port: MessagePort;
  readonly signal: Int32Array;
  readonly options: NameThreadOptions;
}

export interface NameQuestion {
  readonly id: number;
  readonly kind: "resolve" | "reverse";
  readonly text: string;
}

const { port, signal, options } = workerData as NameThreadStart;
const hosts = readHosts(options.hostsFiles);
const resolver = new dns.Resolver({ timeout: options.timeoutMs, tries: options.tries });
if (options.servers.length > 0) resolver.setServers([...options.servers]);

port.on("message", (question: NameQuestion) => {
  void answer(question).then((found) => {
    port.postMessage({ id: question.id, answer: found });
    Atomics.add(signal, 0, 1);
    Atomics.notify(signal, 0);
  });
});

async function answer({ kind, text }: NameQuestion): Promise<NameAnswer> {
  const known = kind === "resolve" ? hosts.addresses.get(text.toLowerCase()) : hosts.names.get(text);
  if (known !== undefined) return { kind: "found", value: known };
  try {
    const [value] = kind === "resolve" ? await addresses(text) : await resolver.reverse(text);
    return value === undefined ? { kind: "missing" } : { kind: "found", value };
  } catch (error) {
    const { code } = error as { code?: string };
    return code === "ETIMEOUT" || code === "ECONNREFUSED" ? { kind: "timeout" } : { kind: "missing" };
  }
}

async function addresses(name: string): Promise<string[]> {
  try {
    return await resolver.resolve4(name);
  } catch (error) {
    if ((error as { code?: string }).code !== "ENODATA") throw error;
    return resolver.resolve6(name);
  }
}

/** A file that can't be read has no names. */
function readHosts(files: readonly string[]): { addresses: Map<string, string>; names: Map<string, string> } {
  const found = { addresses: new Map<string, string>(), names: new Map<string, string>() };
  for (const file of files) {
    for (const line of readText(file).split("\n")) {
      const [address, ...names] = line.replace(/#.*/, "").trim().split(/\s+/);
      if (address === undefined || address === "" || names.length === 0) continue;
      if (!found.names.has(address)) found.names.set(address, names[0]!);
      for (const name of names.map((each) => each.toLowerCase())) {
        if (!found.addresses.has(name)) found.addresses.set(name, address);
      }
    }
  }
  return found;
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
