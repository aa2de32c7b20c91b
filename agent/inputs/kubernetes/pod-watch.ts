/**
 * Keeps the fields of the pods of one node: a list in pages, then a watch that goes on from the last resource version
 * (Kubernetes API concepts, "Efficient detection of changes"). Metadata alone is asked for. A pod that ends keeps its
 * fields until its place is needed, as its log is still read.
 */

import type { Clock } from "#proto/kit/clock.ts";
import { isObject } from "#proto/kit/json.ts";
import type { Logger } from "#proto/kit/log.ts";
import { ApiRefusal, type ApiServerPlace, askApi, openApi } from "./api-server.ts";

/** Ten times the pods that a node has by default. */
const PODS_MAX = 1_000;
/** Pods of one page of the list, and characters of it and of one event: several times the largest objects in use. */
const PAGE_PODS = 50;
const PAGE_MAX = 8_388_608;
const EVENT_MAX = 2_097_152;
/** Fields of a pod; larger ones would take the agent's memory. */
const FIELDS_MAX = 16_384;
/** Time after which the server ends a watch, so that a new token is used; and silence after which it counts as dead. */
const WATCH_S = 300;
const SILENCE_MS = 330_000;
/** Pause after a failure: doubled up to a minute. */
const PAUSE_MS = 1_000;
const PAUSE_MAX_MS = 60_000;
/** The object's metadata without specification and status. */
const AS_LIST = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json";
const AS_EVENTS = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json";
const GONE = 410;

export interface PodWatchOptions extends ApiServerPlace {
  /** Node whose pods are kept. */
  readonly node: string;
  readonly log: Logger;
  readonly clock: Clock;
}

type Fields = Readonly<Record<string, unknown>>;

export class PodWatch {
  readonly #options: PodWatchOptions;
  /** By namespace/name; those that changed last are last. */
  readonly #pods = new Map<string, Fields>();
  readonly #stop = new AbortController();
  #task: Promise<void> | undefined;
  /** True once the first list was read, or can't be. */
  #isTried = false;
  #wasLogged = false;

  constructor(options: PodWatchOptions) {
    this.#options = options;
  }

  /** True until the first list has been read or refused. */
  get isListing(): boolean {
    return !this.#isTried && !this.#stop.signal.aborted;
  }

  /** Returns the fields of the pod `key` (namespace/name); undefined where it isn't known. */
  fieldsOf(key: string): Fields | undefined {
    this.#task ??= this.#run();
    return this.#pods.get(key);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#task;
  }

  async #run(): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#stop;
    let version: string | undefined;
    let pauseMs = PAUSE_MS;
    while (!signal.aborted) {
      try {
        version ??= await this.#list();
        this.#isTried = true;
        for await (const next of this.#watch(version)) {
          version = next;
          pauseMs = PAUSE_MS;
        }
        // A server that ends each watch at once must not be asked in a loop.
        await clock.sleep(PAUSE_MS, signal);
      } catch (error) {
        this.#isTried = true;
        if (signal.aborted) return;
        const isGone = error instanceof ApiRefusal && error.status === GONE;
        // What happened meanwhile is no longer known there, or can't be read: everything is listed anew.
        if (isGone || error instanceof SyntaxError) version = undefined;
        if (!isGone) this.#note(error as Error);
        await clock.sleep(pauseMs, signal);
        pauseMs = Math.min(PAUSE_MAX_MS, pauseMs * 2);
      }
    }
  }

  /** Reads all pods of the node. Returns the resource version that a watch begins at. */
  async #list(): Promise<string> {
    let next = "";
    for (;;) {
      const path = `${this.#path()}&limit=${PAGE_PODS}${next === "" ? "" : `&continue=${encodeURIComponent(next)}`}`;
      const options = { signal: this.#stop.signal, accept: AS_LIST, maxLength: PAGE_MAX };
      const page = (await askApi(this.#options, path, options)) as PodList;
      for (const pod of page.items ?? []) this.#put(pod);
      next = page.metadata?.continue ?? "";
      if (next !== "") continue;
      this.#wasLogged = false;
      return page.metadata?.resourceVersion ?? "0";
    }
  }

  /** Takes changes until the server ends the watch; yields each resource version. Throws ApiRefusal with 410. */
  async *#watch(version: string): AsyncGenerator<string> {
    const path = `${this.#path()}&watch=1&allowWatchBookmarks=true&timeoutSeconds=${WATCH_S}&resourceVersion=${encodeURIComponent(version)}`;
    const options = { signal: this.#stop.signal, accept: AS_EVENTS, timeoutMs: SILENCE_MS };
    let rest = "";
    for await (const piece of await openApi(this.#options, path, options)) {
      const lines = (rest + piece).split("\n");
      rest = lines.pop()!;
      if (rest.length > EVENT_MAX) throw new ApiRefusal(GONE);
      for (const line of lines) {
        if (line.trim() === "") continue;
        const { type, object } = JSON.parse(line) as WatchEvent;
        if (type === "ERROR") throw new ApiRefusal(object?.code ?? 0);
        if (type === "ADDED" || type === "MODIFIED") this.#put(object ?? {});
        const reached = object?.metadata?.resourceVersion;
        if (reached !== undefined) yield reached;
      }
    }
  }

  #path(): string {
    const selector = encodeURIComponent(`spec.nodeName=${this.#options.node}`);
    return `/api/v1/pods?fieldSelector=${selector}`;
  }

  #put(pod: Pod): void {
    const { namespace, name } = pod.metadata ?? {};
    if (namespace === undefined || name === undefined) return;
    const key = `${namespace}/${name}`;
    const { labels, ...fields } = podFields(pod, this.#options.node);
    const isLarge = JSON.stringify({ labels, ...fields }).length > FIELDS_MAX;
    this.#pods.delete(key);
    this.#pods.set(key, isLarge || !isObject(labels) ? fields : { labels, ...fields });
    const [oldest] = this.#pods.keys();
    if (this.#pods.size > PODS_MAX && oldest !== undefined) this.#pods.delete(oldest);
  }

  /** The first failure is for the operator, those that follow are not. */
  #note({ message }: Error): void {
    const { log, node } = this.#options;
    const facts = { node, reason: message };
    const text = "the pods of this node can't be watched; each is asked for by its name meanwhile";
    if (this.#wasLogged) log.debug(facts, text);
    else log.warn(facts, text);
    this.#wasLogged = true;
  }
}

interface PodList {
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string };
  readonly items?: readonly Pod[];
}

interface WatchEvent {
  readonly type: string;
  readonly object?: Pod & { readonly code?: number };
}

/** A pod as the API returns it, or its metadata alone. */
export interface Pod {
  readonly metadata?: {
    readonly namespace?: string;
    readonly name?: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly ownerReferences?: readonly { readonly kind?: string; readonly name?: string }[];
  };
  readonly spec?: { readonly nodeName?: string };
}

/** Returns uid, labels, node and owner as fields below `kubernetes`. */
export function podFields({ metadata, spec }: Pod, node = spec?.nodeName): Record<string, unknown> {
  const owner = metadata?.ownerReferences?.[0];
  return {
    ...(metadata?.uid === undefined ? {} : { pod: { uid: metadata.uid } }),
    ...(metadata?.labels === undefined ? {} : { labels: metadata.labels }),
    ...(node === undefined ? {} : { node: { name: node } }),
    ...(owner === undefined ? {} : { owner: { kind: owner.kind ?? "", name: owner.name ?? "" } }),
  };
}
