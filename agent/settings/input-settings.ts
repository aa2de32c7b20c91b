/** Inputs of agent.yml, each checked by its plugin. */

import { createHash } from "node:crypto";
import type { Static, TObject } from "typebox";
import { idleSettings } from "#agent/contract/idle-settings.ts";
import { type InputPlugin, settingAtFault } from "#agent/contract/input.ts";
import { INPUTS } from "#agent/inputs/all.ts";
import { AppError } from "#proto/kit/errors.ts";
import { didYouMean } from "#proto/kit/nearest.ts";
import { Type } from "#proto/kit/schema.ts";
import { checkValue } from "#proto/kit/settings/settings.ts";
import type { PlaceOf } from "#proto/kit/settings/yaml.ts";
import { COMMON_INPUT_PROPERTIES } from "./schema.ts";

/** An input of the settings, checked. */
export interface InputSettings {
  readonly id: string;
  readonly plugin: InputPlugin;
  /** Validated by the plugin's schema, defaults filled in. */
  readonly options: Static<TObject>;
  /** {"fields": {}, "tags": []} as UTF-8; empty for none. */
  readonly fieldsJson: Uint8Array;
  /** A sentence for each setting that is given and has no effect. */
  readonly warnings: readonly string[];
}

/** The fields go into each batch. */
const FIELDS_BYTES_MAX = 64 * 1_024;

/** Returns the schema of an input: the common settings and the plugin's own. */
export function inputSchema(plugin: InputPlugin): TObject {
  return Type.Object(
    { ...COMMON_INPUT_PROPERTIES, ...plugin.schema.properties },
    { additionalProperties: false },
  );
}

/** Checks `shipper.inputs`; returns those that are enabled. `placeOf`: of what is in the list. Throws settings_invalid. */
export function checkInputs(inputs: readonly Record<string, unknown>[], placeOf: PlaceOf): InputSettings[] {
  const checked: InputSettings[] = [];
  const ids = new Set<string>();
  for (const [index, input] of inputs.entries()) {
    const key = `shipper.inputs.${index}`;
    const type = String(input["type"]);
    const plugin = INPUTS.find((each) => each.type === type);
    if (plugin === undefined) {
      const types = INPUTS.map((each) => each.type);
      throw new AppError(
        "settings_invalid",
        `${placeOf([`${index}`, "type"])}: ${key}: unknown input type "${type}"${ownTypeFor(type) ?? didYouMean(type, types)}; there are ${types.join(", ")}`,
      );
    }
    const settings = checkInput(plugin, input, key, (path) => placeOf([`${index}`, ...path]));
    if (settings === null) continue;
    if (ids.has(settings.id)) {
      throw new AppError(
        "settings_invalid",
        `${placeOf([`${index}`, "id"])}: ${key}: there is another input with the id "${settings.id}"; give each its own`,
      );
    }
    ids.add(settings.id);
    checked.push(settings);
  }
  if (checked.length === 0) {
    throw new AppError(
      "settings_invalid",
      `${placeOf([])}: no input is enabled; set enabled: true in one of shipper.inputs`,
    );
  }
  return checked;
}

/** Types of other shippers, with the type here that reads the same source. */
const OTHER_TYPES: Readonly<Record<string, string>> = {
  redis: "kvstore",
  filestream: "log",
  file: "log",
  docker: "container",
  unix: "syslog with protocol: unix",
};

function ownTypeFor(type: string): string | undefined {
  return Object.hasOwn(OTHER_TYPES, type) ? `; write ${OTHER_TYPES[type]}` : undefined;
}

function checkInput(
  plugin: InputPlugin,
  input: Record<string, unknown>,
  key: string,
  placeOf: PlaceOf,
): InputSettings | null {
  const schema = inputSchema(plugin);
  const given = dotted(input, schema);
  const all = checkValue(schema, given, key, placeOf) as Record<string, unknown>;
  const { type, id, enabled, fields, tags, ...options } = all;
  try {
    plugin.validate(options);
  } catch (error) {
    if (error instanceof AppError)
      throw new AppError(error.code, `${placeOf(named(error, schema))}: ${key}: ${error.message}`, {
        cause: error,
      });
    throw error;
  }
  if (enabled !== true) return null;
  const fieldsJson = fieldsOf(fields as object, tags as string[]);
  if (fieldsJson.length > FIELDS_BYTES_MAX) {
    throw new AppError(
      "settings_invalid",
      `${placeOf(["fields"])}: ${key}: fields and tags have ${fieldsJson.length} bytes, at most 64 KiB are allowed`,
    );
  }
  const made = createHash("sha256").update(JSON.stringify(options)).digest("hex").slice(0, 8);
  const warnings = idleSettings(schema, Object.keys(given), all).map(
    ([setting, reason]) => `${placeOf([setting])}: ${key}: ${reason}`,
  );
  return {
    id: typeof id === "string" ? id : `${String(type)}-${made}`,
    plugin,
    options,
    fieldsJson,
    warnings,
  };
}

/** Returns the path of the setting at fault; of the input where the error names none of its settings. */
function named(error: AppError, schema: TObject): string[] {
  const setting = settingAtFault(error);
  return setting !== undefined && setting in schema.properties ? [setting] : [];
}

/** Returns `input` with nested settings (tls: {key: …}) as the dotted ones the schema names. */
function dotted(input: Record<string, unknown>, schema: TObject): Record<string, unknown> {
  const known = Object.keys(schema.properties);
  const flat: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(input)) {
    const nested =
      value !== null && typeof value === "object" && known.some((name) => name.startsWith(`${key}.`));
    if (!nested) flat[key] = value;
    else for (const [name, inner] of Object.entries(value)) flat[`${key}.${name}`] = inner;
  }
  return flat;
}

function fieldsOf(fields: object, tags: readonly string[]): Uint8Array {
  const parts = {
    ...(Object.keys(fields).length === 0 ? {} : { fields }),
    ...(tags.length === 0 ? {} : { tags }),
  };
  return Object.keys(parts).length === 0 ? new Uint8Array() : Buffer.from(JSON.stringify(parts));
}
