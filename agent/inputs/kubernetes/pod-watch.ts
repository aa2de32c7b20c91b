/**
 * Keeps the fields of the pods of one node: a list in pages, then a watch that continues from the last resource
 * version (Kubernetes API concepts, "Efficient detection of changes"). Only metadata is requested. The fields of an
 * ended pod are kept until their space is needed, because its log is still read. Whoever may make a pod chooses its
 * labels and names.
 */

import type { Clock } from "#proto/kit/clock.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import type { Logger } from "#proto/kit/log.ts";
import { ApiRefusal, type ApiServerAddress, askApi, openApi } from "./api-server.ts";

/** A pod as the API returns it, or its metadata alone; its members aren't checked. */
interface Pod {
  readonly metadata?: unknown;
  readonly spec?: unknown;
}

/** Characters of a pod's fields as JSON: they are in each message of its logs, and in the agent's memory. */
const FIELDS_MAX = 16_384;

/** Longer than any name that the API takes. */
const NAME_MAX = 512;

/** Ten times the pods that a node has by default. */
const PODS_MAX = 1_000;
/** Pods of one page of the list, and characters of it and of one event: several times the largest objects in use. */
const PAGE_PODS = 50;
const PAGE_MAX = 8_388_608;
const EVENT_MAX = 2_097_152;
/** Maximum characters of a name, a version or a list's continuation token. */
const TEXT_MAX = 4_096;
/** Pages and time of a list: lines of containers wait for the first one. */
const PAGES_MAX = 100;
const LIST_MS = 60_000;
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

export interface PodWatchOptions extends ApiServerAddress {
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

  /** Returns the fields of the pod `key` (namespace/name); undefined if it isn't known. */
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
        // A server that ends each watch at once must not be called in a tight loop.
        await clock.sleep(PAUSE_MS, signal);
      } catch (error) {
        this.#isTried = true;
        if (signal.aborted) return;
        const isGone = error instanceof ApiRefusal && error.status === GONE;
        // The server has forgotten the changes since then, or they can't be read: everything is listed again.
        if (isGone || error instanceof SyntaxError) version = undefined;
        if (!isGone) this.#note(error as Error);
        await clock.sleep(pauseMs, signal);
        pauseMs = Math.min(PAUSE_MAX_MS, pauseMs * 2);
      }
    }
  }

  /** Reads all pods of the node. Returns the resource version that a watch begins at. */
  async #list(): Promise<string> {
    const signal = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(LIST_MS)]);
    let next = "";
    for (let pages = 0; pages < PAGES_MAX; pages++) {
      const path = `${this.#path()}&limit=${PAGE_PODS}${next === "" ? "" : `&continue=${encodeURIComponent(next)}`}`;
      const page = await askApi(this.#options, path, { signal, accept: AS_LIST, maxLength: PAGE_MAX });
      for (const pod of Array.isArray(page["items"]) ? page["items"].filter(isObject) : []) this.#put(pod);
      const metadata = isObject(page["metadata"]) ? page["metadata"] : {};
      next = textAt(metadata, "continue") ?? "";
      if (next !== "") continue;
      this.#wasLogged = false;
      return textAt(metadata, "resourceVersion") ?? "0";
    }
    throw new Error(`its list of pods has more than ${PAGES_MAX} pages`);
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
        const event: unknown = JSON.parse(line);
        const { type, object } = isObject(event) ? event : {};
        const pod = isObject(object) ? object : {};
        if (type === "ERROR") throw new ApiRefusal(Number(pod["code"] ?? 0));
        if (type === "ADDED" || type === "MODIFIED") this.#put(pod);
        const reached = isObject(pod["metadata"]) ? textAt(pod["metadata"], "resourceVersion") : undefined;
        if (reached !== undefined) yield reached;
      }
    }
  }

  #path(): string {
    const selector = encodeURIComponent(`spec.nodeName=${this.#options.node}`);
    return `/api/v1/pods?fieldSelector=${selector}`;
  }

  #put(pod: JsonObject): void {
    const metadata = isObject(pod["metadata"]) ? pod["metadata"] : {};
    const [namespace, name] = [textAt(metadata, "namespace"), textAt(metadata, "name")];
    if (namespace === undefined || name === undefined) return;
    const key = `${namespace}/${name}`;
    this.#pods.delete(key);
    this.#pods.set(key, podFields(pod, this.#options.node));
    const [oldest] = this.#pods.keys();
    if (this.#pods.size > PODS_MAX && oldest !== undefined) this.#pods.delete(oldest);
  }

  /** The first failure is logged for the operator, repeated ones aren't. */
  #note({ message }: Error): void {
    const { log, node } = this.#options;
    const facts = { node, reason: message };
    const text = "the pods of this node can't be watched; until then each is requested by its name";
    if (this.#wasLogged) log.debug(facts, text);
    else log.warn(facts, text);
    this.#wasLogged = true;
  }
}

/** Returns a member that is a text, of a length that names and versions have. */
function textAt(object: JsonObject, name: string): string | undefined {
  const value = object[name];
  return typeof value === "string" && value.length <= TEXT_MAX ? value : undefined;
}

/**
 * Returns uid, labels, node and owner as fields below `kubernetes`; labels are left out where they are too large. Dots in the
 * names of labels become "_": `app` and `app.kubernetes.io/name` can't both be fields of one index.
 */
export function podFields(pod: Pod, node?: string): Record<string, unknown> {
  const { uid, labels, ownerReferences } = objectOf(pod.metadata);
  const nodeName = node ?? objectOf(pod.spec)["nodeName"];
  const owner: unknown = Array.isArray(ownerReferences) ? ownerReferences[0] : undefined;
  const fields = {
    ...(isShort(uid) && { pod: { uid } }),
    ...(isShort(nodeName) && { node: { name: nodeName } }),
    ...(isObject(owner) && { owner: { kind: shortText(owner["kind"]), name: shortText(owner["name"]) } }),
  };
  const named = labelsOf(labels);
  const isLarge = named === undefined || JSON.stringify(named).length > FIELDS_MAX;
  return isLarge ? fields : { labels: named, ...fields };
}

function labelsOf(labels: unknown): JsonObject | undefined {
  if (!isObject(labels)) return undefined;
  const texts = Object.entries(labels).filter(([, value]) => typeof value === "string");
  return Object.fromEntries(texts.map(([name, value]) => [name.replaceAll(".", "_"), value]));
}

function isShort(value: unknown): value is string {
  return typeof value === "string" && value.length <= NAME_MAX;
}

function shortText(value: unknown): string {
  return isShort(value) ? value : "";
}

function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}
