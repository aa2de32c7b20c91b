/** Input `container`: the log files of container runtimes, with the pod fields from their paths. */

import type { Static } from "typebox";
import { defineInput, type InputContext } from "#agent/contract/input.ts";
import { type FileContent, FileInput } from "#agent/inputs/files/file-input.ts";
import { fileProperties, validateFileSettings } from "#agent/inputs/files/file-settings.ts";
import { apiOfPod, containerFields, KubernetesApi } from "#agent/inputs/kubernetes/kubernetes-api.ts";
import { ContainerFormat } from "#agent/lines/container-format.ts";
import { compileExpression } from "#agent/lines/expression.ts";
import { jsonDecoderOf, jsonProperties } from "#agent/lines/json-line.ts";
import { multilineOf, multilineProperties } from "#agent/lines/multiline.ts";
import { Type } from "#proto/kit/schema.ts";

const schema = Type.Object(
  {
    ...fileProperties,
    paths: Type.Array(Type.String(), {
      minItems: 1,
      default: ["/var/log/containers/*.log"],
      description: "Path patterns of the runtime's log files.",
    }),
    symlinks: Type.Boolean({
      default: true,
      description: "Follow symbolic links: /var/log/containers holds nothing else.",
    }),
    format: Type.Union([Type.Literal("auto"), Type.Literal("docker"), Type.Literal("cri")], {
      default: "auto",
      description: "docker (json-file), cri, or auto: recognised line by line.",
    }),
    stream: Type.Union([Type.Literal("all"), Type.Literal("stdout"), Type.Literal("stderr")], {
      default: "all",
      description: "Stream to read.",
    }),
    include_lines: Type.Array(Type.String(), {
      default: [],
      description: "Regular expressions; only events that match one are sent.",
    }),
    exclude_lines: Type.Array(Type.String(), {
      default: [],
      description: "Regular expressions; events that match one are dropped.",
    }),
    "kubernetes.api": Type.Boolean({
      default: false,
      description:
        "Get labels, node and owner of each pod from the Kubernetes API; needs the right to get pods, with kubernetes.node also to list and watch them.",
    }),
    "kubernetes.node": Type.String({
      default: "",
      description:
        "Name of this node, for kubernetes.api: its pods are listed once and then watched. Empty: each pod is requested individually.",
    }),
    ...multilineProperties,
    ...jsonProperties,
  },
  { additionalProperties: false },
);

type Settings = Static<typeof schema>;

/** Simultaneously open events of both streams must fit into one message with everything between them. */
const SPAN_SHARE = 4;

export const containerInput = defineInput({
  type: "container",
  summary:
    "Reads the logs of containers (Docker json-file, CRI), joins partial lines, also across a rotation, and adds the pod's fields from the path.",
  heldSlots: 0,
  schema,
  validate(settings) {
    validateFileSettings(settings);
    formatOptions(settings, () => undefined);
  },
  create: (settings, context) => {
    const place = settings["kubernetes.api"] ? apiOfPod(process.env) : null;
    if (settings["kubernetes.api"] && place === null)
      context.log.warn("kubernetes.api is set, but this isn't a pod; fields come from paths only");
    const { clock, log } = context;
    const node = settings["kubernetes.node"];
    const api = place === null ? null : new KubernetesApi({ ...place, node, log, clock });
    return new FileInput(settings, contentOf(settings, context, api), context);
  },
});

function formatOptions(settings: Settings, onFiltered: () => void, fieldsJson?: Uint8Array) {
  return {
    format: settings.format,
    stream: settings.stream,
    multiline: multilineOf(settings),
    json: jsonDecoderOf(settings, fieldsJson),
    include: settings.include_lines.map((text) => compileExpression("include_lines", text)),
    exclude: settings.exclude_lines.map((text) => compileExpression("exclude_lines", text)),
    onFiltered,
  };
}

function contentOf(settings: Settings, context: InputContext, api: KubernetesApi | null): FileContent {
  const { id, metrics, fieldsJson } = context;
  const options = formatOptions(settings, () => metrics.filtered.inc({ input: id }), fieldsJson);
  const own = (fieldsJson.length === 0 ? {} : JSON.parse(Buffer.from(fieldsJson).toString())) as object;
  return {
    inputType: "container",
    createFormat: (_path, maxBytes) => new ContainerFormat(options, Math.floor(maxBytes / SPAN_SHARE)),
    fieldsOf: (path) => {
      const { kubernetes, ...others } = containerFields(path) as { kubernetes?: { pod: object } };
      const more = api?.fieldsOf(path) as { pod?: object } | undefined;
      const pod = { pod: { ...kubernetes?.pod, ...more?.pod } };
      const all = kubernetes === undefined ? {} : { kubernetes: { ...kubernetes, ...more, ...pod } };
      return Buffer.from(JSON.stringify({ ...own, ...others, ...all }));
    },
    awaitsFields: api === null ? null : (path) => api.awaits(path),
    wideText: false,
    joinsRotated: true,
    stop: () => api?.stop() ?? Promise.resolve(),
  };
}
