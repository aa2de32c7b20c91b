/** Makes an agent.yml from the configuration of another shipper. */

import { parseDocument } from "yaml";
import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { type AgentDraft, renderDraft } from "./shippers/agent-draft.ts";
import { fromFilebeat } from "./shippers/filebeat.ts";
import { fromPromtail } from "./shippers/promtail.ts";

/** Largest configuration. */
const MAX_CHARS = 1024 * 1024;

/** Limit for the expansion of a file's aliases, see `maxAliasCount` of the package yaml. */
const MAX_ALIASES = 100;

/** Returns the text of agent.yml. Throws request_invalid for a file that isn't a configuration of Filebeat or Promtail. */
export function importShipperConfig(text: string, file: string): string {
  if (text.length > MAX_CHARS)
    throw new AppError("request_invalid", `${file}: a configuration has at most ${MAX_CHARS} characters`);
  const document = parseDocument(text, { logLevel: "error" });
  const [fault] = document.errors;
  if (fault !== undefined) throw new AppError("request_invalid", `${file} isn't YAML: ${fault.message}`);
  const config: unknown = document.toJS({ maxAliasCount: MAX_ALIASES });
  if (!isObject(config)) throw new AppError("request_invalid", `${file} holds no settings`);
  return renderDraft(draftOf(config, file));
}

function draftOf(config: JsonObject, file: string): AgentDraft {
  if (config["scrape_configs"] !== undefined) return fromPromtail(config);
  if (Object.keys(config).some((key) => key === "filebeat" || key.startsWith("filebeat.")))
    return fromFilebeat(config);
  throw new AppError(
    "request_invalid",
    `${file} has neither scrape_configs (Promtail) nor filebeat: other shippers' configurations aren't read`,
  );
}
