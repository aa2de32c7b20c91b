/** Filter dns: addresses of names, and names of addresses. */

import { isIP } from "node:net";
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from "node:worker_threads";
import { defineFilter, type FilterContext } from "#hub/pipeline/plugins/filter.ts";
import type {
  NameQuestion,
  NameThreadOptions,
  NameThreadStart,
} from "#hub/pipeline/plugins/filters/dns/lookup-thread.ts";
import { CachedNames, type NameAnswer, type Names } from "#hub/pipeline/plugins/host-names.ts";
import { type Event, valueText } from "#proto/event.ts";
import { type FieldReference, fieldReference } from "#proto/field-reference.ts";
import { list, oneOf, optional, options } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";

const SYSTEM_HOSTS = ["/etc/hosts"];

/** Longest name there can be (RFC 1035). */
const MAX_NAME = 253;

export const dnsFilter = defineFilter({
  name: "dns",
  description: "replaces names by their addresses, or addresses by their names",
  options: options({
    resolve: list("fields with names to resolve to addresses"),
    reverse: list("fields with addresses to resolve to names"),
    action: oneOf(["append", "replace"], "append: both values as a list; replace: the value found", "append"),
    nameserver: optional(
      Type.Union([Type.Array(Type.String()), Type.Record(Type.String(), Type.Unknown()), Type.String()], {
        description: "name servers, with :port if it isn't 53; default: the system's",
      }),
    ),
    timeout: Type.Number({
      default: 0.5,
      minimum: 0.01,
      description: "timeout of a try, s; the pipeline's thread waits for it",
    }),
    max_retries: Type.Integer({
      default: 2,
      minimum: 0,
      description: "number of retries after a timeout",
    }),
    hit_cache_size: Type.Integer({
      default: 10_000,
      minimum: 0,
      description: "number of cached answers; 0: none",
    }),
    hit_cache_ttl: Type.Number({ default: 60, minimum: 0, description: "how long an answer is kept, s" }),
    failed_cache_size: Type.Integer({
      default: 10_000,
      minimum: 0,
      description: "number of cached failures, so that a timeout is waited for only once; 0: none",
    }),
    failed_cache_ttl: Type.Number({ default: 5, minimum: 0, description: "how long a failure is kept, s" }),
    hostsfile: optional(list("hosts files that are read first; default: /etc/hosts")),
    tag_on_timeout: list("tags of events whose name server didn't answer in time", ["_dnstimeout"]),
  }),
  create(values, context) {
    const names = namesOf(values, context);
    const resolve = values.resolve.map(fieldReference);
    const reverse = values.reverse.map(fieldReference);
    const isReplace = values.action === "replace";
    return {
      apply(event) {
        let matched = true;
        for (const [fields, ask] of [
          [resolve, forward],
          [reverse, backward],
        ] as const) {
          for (const field of fields) {
            const answer = askField(event, field, (value) => ask(names, value));
            if (answer === undefined) continue;
            if (answer.kind === "found") store(event, field, answer.value, isReplace);
            else matched = false;
            if (answer.kind !== "timeout") continue;
            for (const tag of values.tag_on_timeout) event.tag(tag);
            return false;
          }
        }
        return matched;
      },
    };
  },
});

interface Options {
  readonly nameserver?: string | readonly string[] | Readonly<Record<string, unknown>>;
  readonly timeout: number;
  readonly max_retries: number;
  readonly hit_cache_size: number;
  readonly hit_cache_ttl: number;
  readonly failed_cache_size: number;
  readonly failed_cache_ttl: number;
  readonly hostsfile?: readonly string[];
}

function namesOf(values: Options, { names, clock, resolvePath }: FilterContext): Names {
  const asked =
    names ??
    new ThreadedNames({
      servers: serversOf(values.nameserver),
      timeoutMs: values.timeout * 1000,
      tries: values.max_retries + 1,
      hostsFiles: values.hostsfile?.map(resolvePath) ?? SYSTEM_HOSTS,
    });
  return new CachedNames(
    asked,
    { size: values.hit_cache_size, ttlMs: values.hit_cache_ttl * 1000 },
    { size: values.failed_cache_size, ttlMs: values.failed_cache_ttl * 1000 },
    () => clock.monotonic(),
  );
}

/** A table has the servers under `address`. */
function serversOf(value: Options["nameserver"]): readonly string[] {
  if (value === undefined) return [];
  if (typeof value === "string") return [value];
  const listed: unknown = Array.isArray(value) ? value : (value as { address?: unknown }).address;
  return [listed]
    .flat()
    .filter((each) => each !== undefined)
    .map(valueText);
}

/** Undefined: the field holds nothing that can be asked for. */
function askField(
  event: Event,
  field: FieldReference,
  ask: (value: string) => NameAnswer | undefined,
): NameAnswer | undefined {
  const value = event.get(field);
  const only: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
  return typeof only === "string" && only !== "" ? ask(only) : undefined;
}

function forward(names: Names, value: string): NameAnswer | undefined {
  if (isIP(value) !== 0) return { kind: "found", value };
  return value.length > MAX_NAME || /[\s\0]/.test(value) ? { kind: "missing" } : names.resolve(value);
}

function backward(names: Names, value: string): NameAnswer | undefined {
  return isIP(value) === 0 ? { kind: "missing" } : names.reverse(value);
}

function store(event: Event, field: FieldReference, answer: string, isReplace: boolean): void {
  const before = event.get(field);
  if (isReplace) event.set(field, Array.isArray(before) ? [answer] : answer);
  else event.set(field, [...(Array.isArray(before) ? before : [before]), answer]);
}

/** Time beyond the limit of all tries that the thread needs to start and to answer, ms. */
const GRACE_MS = 1_000;

/** The first question waits for the thread to start. ms */
const START_MS = 10_000;

class ThreadedNames implements Names {
  readonly #options: NameThreadOptions;
  /** Counts answers; the thread wakes the waiting one with it. */
  readonly #signal = new Int32Array(new SharedArrayBuffer(4));
  #port: MessagePort | undefined;
  #asked = 0;

  constructor(options: NameThreadOptions) {
    this.#options = options;
  }

  resolve(name: string): NameAnswer {
    return this.#ask({ kind: "resolve", text: name });
  }

  reverse(address: string): NameAnswer {
    return this.#ask({ kind: "reverse", text: address });
  }

  #ask(question: Omit<NameQuestion, "id">): NameAnswer {
    const isFirst = this.#port === undefined;
    const port = this.#open();
    const id = ++this.#asked;
    const { timeoutMs, tries } = this.#options;
    const untilMs = performance.now() + timeoutMs * tries + (isFirst ? START_MS : GRACE_MS);
    port.postMessage({ ...question, id } satisfies NameQuestion);
    for (;;) {
      const seen = Atomics.load(this.#signal, 0);
      // Late answers to queries that were given up are ignored.
      for (let answer = next(port); answer !== undefined; answer = next(port)) {
        if (answer.id === id) return answer.answer;
      }
      const leftMs = untilMs - performance.now();
      if (leftMs <= 0) return { kind: "timeout" };
      Atomics.wait(this.#signal, 0, seen, leftMs);
    }
  }

  /** The thread ends with the one that asks; it keeps no process alive. */
  #open(): MessagePort {
    if (this.#port !== undefined) return this.#port;
    const { port1, port2 } = new MessageChannel();
    const start: NameThreadStart = { port: port2, signal: this.#signal, options: this.#options };
    const worker = new Worker(new URL("./dns/lookup-thread.ts", import.meta.url), {
      workerData: start,
      transferList: [port2],
    });
    worker.on("error", () => {
      this.#port = undefined;
    });
    worker.unref();
    port1.unref();
    this.#port = port1;
    return port1;
  }
}

function next(port: MessagePort): { id: number; answer: NameAnswer } | undefined {
  return receiveMessageOnPort(port)?.message as { id: number; answer: NameAnswer } | undefined;
}
