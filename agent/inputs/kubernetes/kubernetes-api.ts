/**
 * Requests from the Kubernetes API what the path of a log doesn't contain: labels, node and owner of a pod. If the node
 * is known its pods are watched; other pods are requested by name. A late or refused answer delays nothing; the fields
 * are added when the file is opened next.
 */

import type { Clock } from "#proto/kit/clock.ts";
import type { Logger } from "#proto/kit/log.ts";
import { type ApiServerAddress, askApi } from "./api-server.ts";
import { PodWatch, podFields } from "./pod-watch.ts";

const ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";
/** Characters of one pod. */
const ANSWER_MAX = 1_048_576;
/** Pods in the cache; the oldest are requested again. */
const PODS_MAX = 1_000;
/** Pods that are requested at a time; files of others wait. */
const REQUESTS_MAX = 8;
/** Time that an answer may take: the lines of the pod wait for it. */
const ANSWER_MS = 30_000;
/** A pod that was not found is requested again after this time. */
const FAILED_MS = 60_000;

export interface KubernetesApiOptions extends ApiServerAddress {
  /** Node whose pods are watched; empty: none are. */
  readonly node: string;
  readonly log: Logger;
  readonly clock: Clock;
}

interface Known {
  readonly fields: Record<string, unknown> | null;
  readonly atMs: number;
}

/** Returns the address of the API server for a process in a pod, or null outside of one. */
export function apiOfPod(env: NodeJS.ProcessEnv): ApiServerAddress | null {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = env;
  if (host === undefined) return null;
  return { address: `${host.includes(":") ? `[${host}]` : host}:${port ?? "443"}`, account: ACCOUNT };
}

export class KubernetesApi {
  readonly #options: KubernetesApiOptions;
  readonly #pods = new Map<string, Known>();
  readonly #requests = new Map<string, Promise<void>>();
  readonly #stop = new AbortController();
  readonly #watch: PodWatch | undefined;

  constructor(options: KubernetesApiOptions) {
    this.#options = options;
    const { node } = options;
    this.#watch = node === "" ? undefined : new PodWatch({ ...options, node });
  }

  /** Returns the known fields of the pod at `path`; requests them where they are missing or old. */
  fieldsOf(path: string): Readonly<Record<string, unknown>> {
    const pod = podOfPath(path);
    if (pod === null) return {};
    const key = `${pod.namespace}/${pod.pod}`;
    const watched = this.#watch?.fieldsOf(key);
    if (watched !== undefined) return watched;
    if (this.#watch?.isListing === true) return {};
    const known = this.#pods.get(key);
    const isStale = known?.fields === null && this.#options.clock.now() - known.atMs > FAILED_MS;
    const isDue = (known === undefined || isStale) && !this.#requests.has(key);
    if (isDue && this.#requests.size < REQUESTS_MAX && !this.#stop.signal.aborted) {
      const task = this.#request(key, pod).finally(() => this.#requests.delete(key));
      this.#requests.set(key, task);
    }
    return known?.fields ?? {};
  }

  /** True while the pod at `path`, or those of the node, are requested. */
  awaits(path: string): boolean {
    const pod = podOfPath(path);
    if (pod === null) return false;
    if (this.#watch?.isListing === true) return true;
    const key = `${pod.namespace}/${pod.pod}`;
    return this.#requests.has(key) || (this.#requests.size >= REQUESTS_MAX && !this.#pods.has(key));
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all([this.#watch?.stop(), ...this.#requests.values()]);
  }

  async #request(key: string, { namespace, pod }: PodPath): Promise<void> {
    let fields: Known["fields"] = null;
    try {
      const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod)}`;
      const signal = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(ANSWER_MS)]);
      fields = podFields(await askApi(this.#options, path, { signal, maxLength: ANSWER_MAX }));
    } catch (error) {
      if (!this.#stop.signal.aborted)
        this.#options.log.info(
          { pod: key, reason: (error as Error).message },
          "the Kubernetes API does not return a pod",
        );
    }
    const [oldest] = this.#pods.keys();
    if (this.#pods.size >= PODS_MAX && oldest !== undefined) this.#pods.delete(oldest);
    this.#pods.set(key, { fields, atMs: this.#options.clock.now() });
  }
}

/** A container of a pod. */
export interface PodPath {
  readonly namespace: string;
  readonly pod: string;
  /** Empty if the path doesn't contain it. */
  readonly uid: string;
  readonly container: string;
  /** Id of the container at its runtime; empty if the path doesn't hold it. */
  readonly containerId: string;
}

/** /var/log/containers/<pod>_<namespace>_<container>-<64 hexadecimal digits>.log; names as the API has them (RFC 1123). */
const CONTAINERS =
  /\/([a-z0-9][a-z0-9.-]{0,252})_([a-z0-9][a-z0-9-]{0,62})_([a-z0-9][a-z0-9-]{0,62})-([0-9a-f]{64})\.log(?:$|[.-])/;
/** /var/log/pods/<namespace>_<pod>_<uid>/<container>/<restarts>.log */
const PODS =
  /\/([a-z0-9][a-z0-9-]{0,62})_([a-z0-9][a-z0-9.-]{0,252})_([a-z0-9][a-z0-9-]{0,62})\/([a-z0-9][a-z0-9-]{0,62})\/\d+\.log(?:$|[.-])/;
/** /var/lib/docker/containers/<id>/<id>-json.log */
const DOCKER = /\/([0-9a-f]{64})\/\1-json\.log(?:$|[.-])/;

/** Returns the pod whose log is at `path`, or null. */
export function podOfPath(path: string): PodPath | null {
  const pods = PODS.exec(path);
  if (pods !== null) {
    const [, namespace = "", pod = "", uid = "", container = ""] = pods;
    return { namespace, pod, uid, container, containerId: "" };
  }
  const containers = CONTAINERS.exec(path);
  if (containers === null) return null;
  const [, pod = "", namespace = "", container = "", containerId = ""] = containers;
  return { namespace, pod, uid: "", container, containerId };
}

/** Returns the fields of events of the log at `path`; empty if the path names no pod. */
export function containerFields(path: string): Record<string, unknown> {
  const pod = podOfPath(path);
  const dockerId = DOCKER.exec(path)?.[1];
  if (dockerId !== undefined) return { container: { id: dockerId } };
  if (pod === null) return {};
  return {
    kubernetes: {
      namespace: pod.namespace,
      pod: { name: pod.pod, ...(pod.uid === "" ? {} : { uid: pod.uid }) },
      container: { name: pod.container },
    },
    ...(pod.containerId === "" ? {} : { container: { id: pod.containerId } }),
  };
}
