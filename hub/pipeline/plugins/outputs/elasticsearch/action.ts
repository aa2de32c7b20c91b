/** What is to be done to which document: an event in the words of the bulk interface. */

import type { Refusal } from "#hub/pipeline/plugins/output.ts";
import { type Event, isHash, valueText } from "#proto/event.ts";
import { fieldReference } from "#proto/field-reference.ts";
import { compileFormat } from "#proto/format.ts";
import type { ElasticsearchOptions } from "./options.ts";

/** Longer ids are refused by the servers. Bytes. */
const MAX_ID_BYTES = 512;

const ACTIONS = ["index", "create", "update", "delete"] as const;

const DATA_STREAM = fieldReference("[data_stream]");

/** The line before a document. */
export interface BulkAction {
  readonly name: (typeof ACTIONS)[number];
  readonly index: string;
  /** Empty: none is given. */
  readonly id: string;
  /** Further members of the line. */
  readonly members: Readonly<Record<string, unknown>>;
}

export type ActionOf = (event: Event) => BulkAction | Refusal;

/** Returns what finds an event's action. */
export function compileAction(values: ElasticsearchOptions): ActionOf {
  const index = compileIndex(values);
  const id = compileFormat(values.document_id ?? "");
  const action = values.data_stream === "true" ? () => "create" : compileFormat(values.action);
  const members = compileMembers(values);
  return (event) => {
    const written = action(event);
    const name = ACTIONS.find((known) => known === written);
    if (name === undefined)
      return { refused: `"${written.slice(0, 200)}" is no action: ${ACTIONS.join(", ")}` };
    const documentId = id(event);
    const isUsable = Buffer.byteLength(documentId) <= MAX_ID_BYTES;
    if ((documentId === "" || !isUsable) && (name === "update" || name === "delete"))
      return { refused: `${name} needs a document_id of 1 to ${MAX_ID_BYTES} bytes` };
    // A document is rather kept under an id of its own than not at all.
    return { name, index: index(event), id: isUsable ? documentId : "", members: members(event, name) };
  };
}

function compileIndex(values: ElasticsearchOptions): (event: Event) => string {
  const { data_stream_type: type, data_stream_dataset: dataset, data_stream_namespace: namespace } = values;
  if (values.data_stream !== "true") {
    const format = compileFormat(values.index ?? "logs-%{+yyyy.MM.dd}");
    return (event) => format(event).toLowerCase();
  }
  return (event) => {
    const own = values.data_stream_auto_routing ? event.get(DATA_STREAM) : undefined;
    const field = (name: string, fallback: string): string =>
      isHash(own) && own[name] !== undefined ? valueText(own[name]) : fallback;
    return [field("type", type), field("dataset", dataset), field("namespace", namespace)]
      .join("-")
      .toLowerCase();
  };
}

function compileMembers(
  values: ElasticsearchOptions,
): (event: Event, name: string) => Record<string, unknown> {
  const formats = (["routing", "pipeline", "version"] as const).flatMap((name) => {
    const text = values[name];
    return text === undefined || text === "" ? [] : [[name, compileFormat(text)] as const];
  });
  const { version_type, retry_on_conflict } = values;
  return (event, name) => {
    const members: Record<string, unknown> = {};
    for (const [member, format] of formats) {
      // An ingest pipeline whose name is empty is none.
      const value = format(event);
      if (value !== "") members[member] = value;
    }
    if (version_type !== undefined) members["version_type"] = version_type;
    if (name === "update") members["retry_on_conflict"] = retry_on_conflict;
    return members;
  };
}
