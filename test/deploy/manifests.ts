/** Checks Kubernetes manifests: each object against its schema, and what they say of each other. */

import { parseAllDocuments } from "yaml";
import { schemaFault } from "#proto/kit/schema.ts";
import { schemaOf } from "./manifest-schemas.ts";

type Labels = Readonly<Record<string, string>>;

interface Port {
  readonly name?: string;
  readonly containerPort: number;
}

interface Probe {
  readonly httpGet?: { readonly port: string | number };
  readonly tcpSocket?: { readonly port: string | number };
}

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly args?: readonly string[];
  readonly ports?: readonly Port[];
  readonly restartPolicy?: string;
  readonly resources: Readonly<Record<"requests" | "limits", Labels | undefined>>;
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly startupProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly volumeMounts?: readonly { readonly name: string }[];
}

interface Pod {
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly serviceAccountName: string;
  readonly terminationGracePeriodSeconds: number;
  readonly affinity?: {
    readonly podAntiAffinity: {
      readonly requiredDuringSchedulingIgnoredDuringExecution: readonly {
        readonly topologyKey: string;
        readonly labelSelector: { readonly matchLabels: Labels };
      }[];
    };
  };
  readonly volumes?: readonly Readonly<{
    name: string;
    configMap?: { name: string };
    hostPath?: { path: string };
  }>[];
}

/** An object, as far as the rules below look at it. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data?: Labels;
  readonly roleRef?: { readonly kind: string; readonly name: string };
  readonly spec?: {
    readonly replicas?: number;
    readonly serviceName?: string;
    readonly clusterIP?: string;
    readonly selector?: Labels & { readonly matchLabels?: Labels };
    readonly maxUnavailable?: number;
    readonly podSelector?: { readonly matchLabels?: Labels };
    readonly template?: { readonly metadata: { readonly labels: Labels }; readonly spec: Pod };
    readonly ports?: readonly { readonly targetPort?: string | number; readonly port: number }[];
    readonly volumeClaimTemplates?: readonly { readonly metadata: { readonly name: string } }[];
  };
}

/** Returns the objects of a YAML text. Throws with the line of a syntax error. */
export function parseManifests(text: string): Manifest[] {
  return parseAllDocuments(text).map((document) => {
    if (document.errors[0] !== undefined) throw document.errors[0];
    return document.toJS() as Manifest;
  });
}

/** Returns one sentence per fault of the objects, taken together. */
export function manifestFaults(manifests: readonly Manifest[]): string[] {
  const faults = manifests.flatMap(schemaFaults);
  // What is misshapen can't be compared with the others.
  if (faults.length > 0) return faults;
  const twice = manifests.map(nameOf).filter((name, index, names) => names.indexOf(name) !== index);
  return [
    ...twice.map((name) => `${name} is there twice`),
    ...manifests.flatMap((each) => podFaults(each, manifests)),
    ...manifests.flatMap((each) => selectorFaults(each, manifests)),
  ];
}

function schemaFaults(manifest: Manifest): string[] {
  const schema = schemaOf(manifest.apiVersion, manifest.kind);
  if (schema === undefined)
    return [`${nameOf(manifest)}: no schema for ${manifest.apiVersion} ${manifest.kind}`];
  const fault = schemaFault(schema, manifest);
  if (fault === undefined) return [];
  const { kind, path, property, message } = fault;
  const where = [nameOf(manifest), ...path].join("/");
  return [`${where}: ${kind === "unknown" ? `unknown field ${property}` : message}`];
}

function podFaults(manifest: Manifest, all: readonly Manifest[]): string[] {
  const pod = manifest.spec?.template?.spec;
  if (pod === undefined) return [];
  const name = nameOf(manifest);
  const has = (kind: string, wanted: string): boolean =>
    all.some((each) => each.kind === kind && each.metadata.name === wanted);
  const volumes = [
    ...(pod.volumes ?? []).map((each) => each.name),
    ...(manifest.spec?.volumeClaimTemplates ?? []).map((each) => each.metadata.name),
  ];
  const faults: string[] = [];
  if (!has("ServiceAccount", pod.serviceAccountName))
    faults.push(`${name}: no ServiceAccount ${pod.serviceAccountName}`);
  for (const { configMap } of pod.volumes ?? [])
    if (configMap !== undefined && !has("ConfigMap", configMap.name))
      faults.push(`${name}: no ConfigMap ${configMap.name}`);
  if (manifest.kind === "StatefulSet" && !has("Service", manifest.spec?.serviceName ?? ""))
    faults.push(`${name}: no Service ${manifest.spec?.serviceName} for its names`);
  for (const container of [...(pod.initContainers ?? []), ...pod.containers])
    faults.push(
      ...containerFaults(container, volumes).map((fault) => `${name}, container ${container.name}: ${fault}`),
    );
  return faults;
}

function containerFaults(container: Container, volumes: readonly string[]): string[] {
  const faults: string[] = [];
  const { resources, securityContext, volumeMounts = [], ports = [], image } = container;
  for (const { name } of volumeMounts) if (!volumes.includes(name)) faults.push(`no volume ${name}`);
  for (const kind of ["startupProbe", "livenessProbe", "readinessProbe"] as const) {
    const port = container[kind]?.httpGet?.port ?? container[kind]?.tcpSocket?.port;
    if (typeof port === "string" && !ports.some((each) => each.name === port))
      faults.push(`${kind} asks port ${port}, which it hasn't`);
  }
  if (resources.limits?.["memory"] === undefined) faults.push("no memory limit");
  if (resources.requests?.["memory"] === undefined) faults.push("no memory request");
  if (!/:\d/.test(image)) faults.push(`image ${image} has no version`);
  if (securityContext["privileged"] === true) return faults;
  const dropped = (securityContext["capabilities"] as { drop?: string[] } | undefined)?.drop;
  if (securityContext["allowPrivilegeEscalation"] !== false) faults.push("may gain privileges");
  if (securityContext["readOnlyRootFilesystem"] !== true) faults.push("may write to its image");
  if (!dropped?.includes("ALL")) faults.push("keeps capabilities");
  return faults;
}

/** Selectors must meet pods, and ports that the pods have. */
function selectorFaults(manifest: Manifest, all: readonly Manifest[]): string[] {
  const { spec, kind } = manifest;
  const name = nameOf(manifest);
  const labels = spec?.selector?.matchLabels ?? spec?.podSelector?.matchLabels ?? spec?.selector;
  if (labels === undefined || kind === "Role") return [];
  const owned = spec?.template;
  if (owned !== undefined) {
    return matches(labels as Labels, owned.metadata.labels)
      ? []
      : [`${name}: its selector misses its own pods`];
  }
  const pods = all.flatMap((each) => each.spec?.template ?? []);
  const met = pods.filter((pod) => matches(labels as Labels, pod.metadata.labels));
  if (met.length === 0) return [`${name}: its selector meets no pod`];
  if (kind !== "Service") return [];
  const ports = met.flatMap(({ spec: pod }) =>
    [...(pod.initContainers ?? []), ...pod.containers].flatMap((container) => container.ports ?? []),
  );
  return (spec?.ports ?? [])
    .map(({ targetPort, port }) => targetPort ?? port)
    .filter((wanted) => !ports.some((each) => each.name === wanted || each.containerPort === wanted))
    .map((wanted) => `${name}: no container has port ${wanted}`);
}

function matches(selector: Labels, labels: Labels): boolean {
  return Object.entries(selector).every(([key, value]) => labels[key] === value);
}

function nameOf({ kind, metadata }: Manifest): string {
  return `${kind} ${metadata?.name}`;
}
