/** What the path of a container's log tells of its pod, as the kubelet lays logs out. */

/** A container of a pod. */
export interface PodPath {
  readonly namespace: string;
  readonly pod: string;
  /** Empty where the path doesn't tell. */
  readonly uid: string;
  readonly container: string;
  /** Id of the container at its runtime; empty where the path doesn't tell. */
  readonly containerId: string;
}

/** /var/log/containers/<pod>_<namespace>_<container>-<64 hexadecimal digits>.log */
const CONTAINERS = /\/([^/_]+)_([^/_]+)_([^/]+)-([0-9a-f]{64})\.log(?:$|[.-])/;
/** /var/log/pods/<namespace>_<pod>_<uid>/<container>/<restarts>.log */
const PODS = /\/([^/_]+)_([^/_]+)_([^/_]+)\/([^/]+)\/\d+\.log(?:$|[.-])/;
/** /var/lib/docker/containers/<id>/<id>-json.log */
const DOCKER = /\/([0-9a-f]{64})\/\1-json\.log(?:$|[.-])/;

/** Returns the pod whose log lies at `path`, or null. */
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

/** Returns the fields of events of the log at `path`; empty where it tells nothing. */
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
