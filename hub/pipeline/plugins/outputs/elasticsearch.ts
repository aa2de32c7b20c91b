/**
 * Output elasticsearch: documents in this installation's search engine, through the log, or in another one over HTTP.
 */

import { defineOutput, type OutputContext, type Refusal, type Shaper } from "#hub/pipeline/plugins/output.ts";
import { compileDocument } from "#hub/pipeline/plugins/outputs/elasticsearch/document-template.ts";
import {
  type ActionOf,
  compileAction,
  ELASTICSEARCH_OPTIONS,
  type ElasticsearchOptions,
  hostUrls,
  isAnonymousAt,
  isRemote,
} from "#hub/pipeline/plugins/outputs/elasticsearch/options.ts";
import { RemoteWriter } from "#hub/pipeline/plugins/outputs/elasticsearch/remote-writer.ts";
import type { Event } from "#proto/event.ts";
import { compileFormat } from "#proto/format.ts";

/** Letters that no index has in its name. */
const NO_INDEX = /[A-Z\\/*?"<>| ,#]/;

const NO_ILM =
  "write index => with the alias or data stream, and make policy, template and first index over _ilm/policy, _index_template and PUT";

/** Options that only another installation heeds. */
const REMOTE_ONLY = [
  "pipeline",
  "routing",
  "version",
  "version_type",
  "script",
  "upsert",
  "template",
] as const;

export const elasticsearchOutput = defineOutput({
  name: "elasticsearch",
  description:
    "stores each event as a document: in this installation through its log, exactly once, or on other hosts over HTTP",
  options: ELASTICSEARCH_OPTIONS,
  create(values, context) {
    checkOptions(values, context);
    const actionOf = compileAction(values);
    return isRemote(values)
      ? remoteShaper(values, actionOf, context)
      : localShaper(values, actionOf, context);
  },
  writer: (values, context) => (isRemote(values) ? new RemoteWriter(values, context) : undefined),
});

function localShaper(values: ElasticsearchOptions, actionOf: ActionOf, { report }: OutputContext): Shaper {
  const { index = "" } = values;
  if (compileFormat(index).isConstant && NO_INDEX.test(index))
    report(
      "error",
      "index",
      `"${index}" can't be the name of an index`,
      index.startsWith("<") ? "write dates as %{+yyyy.MM.dd}" : "use lower-case letters, digits, - _ and .",
    );
  for (const name of REMOTE_ONLY) {
    if ((values[name] ?? "") !== "")
      report(
        "warning",
        name,
        `${name} has no effect on documents of this installation`,
        'leave it out, or send them over HTTP: hosts => ["localhost:9200"] remote => true',
      );
  }
  return {
    route(event) {
      const action = actionOf(event);
      if ("refused" in action) return action;
      const isUpsert = action.name === "update" && values.doc_as_upsert;
      return { index: action.index, id: action.id, action: isUpsert ? "upsert" : action.name };
    },
  };
}

/** The record's target is the action, its body the line after it; nothing for delete. */
function remoteShaper(values: ElasticsearchOptions, actionOf: ActionOf, { report }: OutputContext): Shaper {
  if (values.script_type === "inline" && compileFormat(values.script).fields.length > 0)
    report(
      "warning",
      "script",
      "what events hold becomes part of the script, so that their senders can run code",
      `write params.${values.script_var_name}.FIELD in it instead of %{FIELD}`,
    );
  const update = compileUpdate(values, report);
  return {
    shape(event) {
      const action = actionOf(event);
      if ("refused" in action) return action;
      const body = action.name === "delete" ? "" : action.name === "update" ? update(event) : event.toJson();
      if (typeof body !== "string") return body;
      return { target: JSON.stringify(action), body: Buffer.from(body) };
    },
  };
}

type UpdateBody = (event: Event) => string | Refusal;

function compileUpdate(values: ElasticsearchOptions, report: OutputContext["report"]): UpdateBody {
  const { doc_as_upsert, scripted_upsert } = values;
  const script = values.script === "" ? undefined : compileScript(values);
  const upsert = values.upsert === "" ? undefined : compileDocument(values.upsert);
  if (values.upsert !== "" && upsert === undefined)
    report(
      "error",
      "upsert",
      "this isn't a JSON object",
      'write: upsert => \'{"name": "%{name}", "count": %{count}}\'',
    );
  return (event) => {
    const members = [script === undefined ? `"doc":${event.toJson()}` : `"script":${script(event)}`];
    if (script !== undefined && scripted_upsert) members.push('"scripted_upsert":true,"upsert":{}');
    else if (doc_as_upsert)
      members.push(script === undefined ? '"doc_as_upsert":true' : `"upsert":${event.toJson()}`);
    else if (upsert !== undefined) {
      const document = upsert(event);
      if (document === undefined) return { refused: "upsert makes no JSON object of the event" };
      members.push(`"upsert":${JSON.stringify(document)}`);
    }
    return `{${members.join(",")}}`;
  };
}

function compileScript(values: ElasticsearchOptions): (event: Event) => string {
  const { script_lang, script_var_name, script_type } = values;
  const script = compileFormat(values.script);
  const language = script_type === "indexed" || script_lang === "" ? {} : { lang: script_lang };
  return (event) => {
    const source = script(event);
    const head = JSON.stringify({
      ...(script_type === "indexed" ? { id: source } : { source }),
      ...language,
    });
    return `${head.slice(0, -1)},"params":{${JSON.stringify(script_var_name)}:${event.toJson()}}}`;
  };
}

function checkOptions(values: ElasticsearchOptions, { report, signInPort }: OutputContext): void {
  if (signInPort !== undefined && isAnonymousAt(values, signInPort))
    report(
      "error",
      (values.pipeline ?? "") === "" ? "hosts" : "pipeline",
      "documents would go over HTTP to this hub, which requires sign-in",
      "write api_key =>, or user => and password =>",
    );
  if (values.ilm_enabled === "true")
    report("error", "ilm_enabled", "this output creates no policy and no rollover alias", NO_ILM);
  if (values.script_type === "file")
    report(
      "error",
      "script_type",
      "scripts in files of the servers aren't there since version 6",
      "write inline or indexed",
    );
  const { action } = values;
  if (compileFormat(action).isConstant && !/^(?:index|create|update|delete)$/.test(action))
    report("error", "action", `"${action}" isn't an action`, "write index, create, update or delete");
  else if (/^(?:update|delete)$/.test(action) && (values.document_id ?? "") === "")
    report("error", "action", `${action} needs to know the document`, 'write: document_id => "%{id}"');
  if (hostUrls(values).length > 0) return;
  if (values.hosts.length > 0)
    report(
      "error",
      "hosts",
      "no address is given",
      'write hosts => ["host:9200"], or leave it out for this hub',
    );
  else if (values.remote)
    report("error", "remote", "there is nobody to send to", 'name the addresses: hosts => ["host:9200"]');
}
