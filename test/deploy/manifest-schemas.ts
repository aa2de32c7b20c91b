/**
 * Schemas of the Kubernetes objects that the manifests use, after the API's reference for 1.29
 * (kubernetes.io/docs/reference/kubernetes-api). Strict: a field that stands in none of them is a fault, so that a
 * misspelt one is found. A new field of a manifest is added here after a look at the reference.
 */

import type { TProperties, TSchema } from "typebox";
import { Type } from "#proto/kit/schema.ts";

const text = Type.String({ minLength: 1 });
const flag = Type.Boolean();
const count = Type.Integer({ minimum: 0 });
const texts = Type.Array(text);
const labels = Type.Record(Type.String({ pattern: "^[a-z0-9A-Z][-a-z0-9A-Z_./]*$" }), Type.String());
const selector = object({ matchLabels: labels });
/** resource.Quantity */
const quantity = Type.String({ pattern: "^[0-9]+(\\.[0-9]+)?(m|k|M|G|T|Ki|Mi|Gi|Ti)?$" });
/** A DNS label: names of objects, containers, ports and volumes. */
const name = Type.String({ pattern: "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$" });
const portNumber = Type.Integer({ minimum: 1, maximum: 65_535 });
const portOrName = Type.Union([portNumber, name]);

/** An object with no other properties; those in `required` must be there. */
function object(properties: TProperties, required: readonly string[] = []): TSchema {
  const optional = Object.entries(properties).map(([key, schema]) => [
    key,
    required.includes(key) ? schema : Type.Optional(schema),
  ]);
  return Type.Object(Object.fromEntries(optional) as TProperties, { additionalProperties: false });
}

const metadata = object({ name, namespace: name, labels, annotations: labels }, ["name"]);
const capabilities = object({ add: texts, drop: texts });
const seccompProfile = object({
  type: Type.Union([Type.Literal("RuntimeDefault"), Type.Literal("Localhost")]),
});
const securityContext = object({
  allowPrivilegeEscalation: flag,
  capabilities,
  privileged: flag,
  readOnlyRootFilesystem: flag,
  runAsGroup: count,
  runAsNonRoot: flag,
  runAsUser: count,
  seccompProfile,
});
const podSecurityContext = object({
  fsGroup: count,
  fsGroupChangePolicy: Type.Union([Type.Literal("OnRootMismatch"), Type.Literal("Always")]),
  runAsGroup: count,
  runAsNonRoot: flag,
  runAsUser: count,
  seccompProfile,
});
const probe = object({
  httpGet: object({ path: text, port: portOrName }, ["port"]),
  tcpSocket: object({ port: portOrName }, ["port"]),
  exec: object({ command: texts }),
  initialDelaySeconds: count,
  periodSeconds: Type.Integer({ minimum: 1 }),
  timeoutSeconds: Type.Integer({ minimum: 1 }),
  failureThreshold: Type.Integer({ minimum: 1 }),
});
const environment = object(
  {
    name: Type.String({ pattern: "^[A-Za-z_][A-Za-z0-9_]*$" }),
    value: Type.String(),
    valueFrom: object({
      fieldRef: object({ fieldPath: text }),
      secretKeyRef: object({ name, key: text }, ["name", "key"]),
    }),
  },
  ["name"],
);
const amounts = object({ cpu: quantity, memory: quantity });
const container = object(
  {
    name,
    image: text,
    imagePullPolicy: Type.Union(["Always", "IfNotPresent", "Never"].map((each) => Type.Literal(each))),
    command: texts,
    args: texts,
    env: Type.Array(environment),
    ports: Type.Array(object({ name, containerPort: portNumber, protocol: text }, ["containerPort"])),
    resources: object({ requests: amounts, limits: amounts }),
    restartPolicy: Type.Literal("Always"),
    securityContext,
    startupProbe: probe,
    livenessProbe: probe,
    readinessProbe: probe,
    volumeMounts: Type.Array(
      object({ name, mountPath: text, subPath: text, readOnly: flag }, ["name", "mountPath"]),
    ),
  },
  ["name", "image", "resources", "securityContext"],
);
const items = Type.Array(object({ key: text, path: text }, ["key", "path"]));
const volume = object(
  {
    name,
    configMap: object({ name, items }, ["name"]),
    secret: object({ secretName: name, defaultMode: count, items }, ["secretName"]),
    hostPath: object({ path: text, type: text }, ["path"]),
    emptyDir: object({ sizeLimit: quantity, medium: text }),
  },
  ["name"],
);
const antiAffinity = object({
  requiredDuringSchedulingIgnoredDuringExecution: Type.Array(
    object({ topologyKey: text, labelSelector: selector }, ["topologyKey", "labelSelector"]),
  ),
});
const pod = object(
  {
    affinity: object({ podAntiAffinity: antiAffinity }),
    automountServiceAccountToken: flag,
    containers: Type.Array(container, { minItems: 1 }),
    enableServiceLinks: flag,
    initContainers: Type.Array(container),
    priorityClassName: text,
    securityContext: podSecurityContext,
    serviceAccountName: name,
    terminationGracePeriodSeconds: count,
    tolerations: Type.Array(object({ key: text, operator: text, effect: text })),
    volumes: Type.Array(volume),
  },
  ["containers", "serviceAccountName", "terminationGracePeriodSeconds"],
);
const template = object({ metadata: object({ labels, annotations: labels }, ["labels"]), spec: pod }, [
  "metadata",
  "spec",
]);
const claim = object({
  metadata,
  apiVersion: Type.Literal("v1"),
  kind: Type.Literal("PersistentVolumeClaim"),
  status: Type.Unknown(),
  spec: object(
    {
      accessModes: Type.Array(Type.Literal("ReadWriteOnce")),
      storageClassName: text,
      resources: object({ requests: object({ storage: quantity }, ["storage"]) }, ["requests"]),
    },
    ["accessModes", "resources"],
  ),
});
const policyPort = object({
  port: portOrName,
  protocol: Type.Union([Type.Literal("TCP"), Type.Literal("UDP")]),
});
const peers = Type.Array(object({ podSelector: selector, namespaceSelector: selector }));
const keep = Type.Union([Type.Literal("Retain"), Type.Literal("Delete")]);

/** Properties of a kind beside apiVersion, kind and metadata, and those of them that it must have. */
type Kind = readonly [properties: TProperties, required: readonly string[]];

const ROLE: Kind = [
  {
    rules: Type.Array(
      object({ apiGroups: Type.Array(Type.String()), resources: texts, verbs: texts }, [
        "apiGroups",
        "resources",
        "verbs",
      ]),
    ),
  },
  ["rules"],
];
const ROLE_BINDING: Kind = [
  {
    roleRef: object({ apiGroup: text, kind: text, name }, ["apiGroup", "kind", "name"]),
    subjects: Type.Array(object({ apiGroup: text, kind: text, name, namespace: name }, ["kind", "name"])),
  },
  ["roleRef", "subjects"],
];

/** apiVersion/kind → its schema, without apiVersion, kind and metadata. */
const KINDS: Readonly<Record<string, Kind>> = {
  "v1/Namespace": [{}, []],
  "v1/ServiceAccount": [{ automountServiceAccountToken: flag }, []],
  "v1/ConfigMap": [{ data: Type.Record(text, Type.String()) }, []],
  "v1/Service": [
    {
      spec: object(
        {
          clusterIP: Type.Literal("None"),
          publishNotReadyAddresses: flag,
          selector: labels,
          type: Type.Union(["ClusterIP", "NodePort", "LoadBalancer"].map((each) => Type.Literal(each))),
          ports: Type.Array(
            object({ name, port: portNumber, targetPort: portOrName, protocol: text }, ["port"]),
          ),
        },
        ["selector", "ports"],
      ),
    },
    ["spec"],
  ],
  "apps/v1/DaemonSet": [
    {
      spec: object(
        {
          selector,
          template,
          updateStrategy: object({
            type: text,
            rollingUpdate: object({
              maxUnavailable: Type.Union([count, Type.String({ pattern: "^\\d+%$" })]),
            }),
          }),
        },
        ["selector", "template"],
      ),
    },
    ["spec"],
  ],
  "apps/v1/StatefulSet": [
    {
      spec: object(
        {
          persistentVolumeClaimRetentionPolicy: object({ whenDeleted: keep, whenScaled: keep }),
          podManagementPolicy: Type.Union([Type.Literal("OrderedReady"), Type.Literal("Parallel")]),
          replicas: count,
          selector,
          serviceName: name,
          template,
          volumeClaimTemplates: Type.Array(claim),
        },
        ["selector", "template", "serviceName"],
      ),
    },
    ["spec"],
  ],
  "policy/v1/PodDisruptionBudget": [
    { spec: object({ maxUnavailable: count, minAvailable: count, selector }, ["selector"]) },
    ["spec"],
  ],
  "networking.k8s.io/v1/NetworkPolicy": [
    {
      spec: object(
        {
          podSelector: selector,
          policyTypes: Type.Array(Type.Union([Type.Literal("Ingress"), Type.Literal("Egress")])),
          ingress: Type.Array(object({ from: peers, ports: Type.Array(policyPort) })),
          egress: Type.Array(object({ to: peers, ports: Type.Array(policyPort) })),
        },
        ["podSelector", "policyTypes"],
      ),
    },
    ["spec"],
  ],
  "networking.k8s.io/v1/Ingress": [
    {
      spec: object({
        ingressClassName: name,
        tls: Type.Array(object({ hosts: texts, secretName: name })),
        rules: Type.Array(
          object({
            host: text,
            http: object({
              paths: Type.Array(
                object({
                  path: text,
                  pathType: text,
                  backend: object({ service: object({ name, port: object({ name, number: portNumber }) }) }),
                }),
              ),
            }),
          }),
        ),
      }),
    },
    ["spec"],
  ],
  "rbac.authorization.k8s.io/v1/Role": ROLE,
  "rbac.authorization.k8s.io/v1/ClusterRole": ROLE,
  "rbac.authorization.k8s.io/v1/RoleBinding": ROLE_BINDING,
  "rbac.authorization.k8s.io/v1/ClusterRoleBinding": ROLE_BINDING,
};

/** Returns the schema of an object, or undefined for a kind that no manifest should use. */
export function schemaOf(apiVersion: string, kind: string): TSchema | undefined {
  const found = KINDS[`${apiVersion}/${kind}`];
  if (found === undefined) return undefined;
  const [properties, required] = found;
  const all = { apiVersion: Type.Literal(apiVersion), kind: Type.Literal(kind), metadata, ...properties };
  return object(all, ["apiVersion", "kind", "metadata", ...required]);
}
