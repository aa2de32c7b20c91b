/** `--print-schema` and `--print-settings`: the settings as a schema and as a reference. */

import { Type } from "typebox";
import { inputSchema } from "#agent/config.ts";
import { INPUTS } from "#agent/inputs/all.ts";
import { SETTINGS_SCHEMA } from "#agent/settings.ts";
import { describeSettings } from "#proto/kit/settings.ts";

/** Returns the schema of agent.yml with the inputs' own settings in it. */
export function fullSchema(): object {
  const inputs = INPUTS.map((plugin) => {
    const { properties } = inputSchema(plugin);
    return Type.Object(
      { ...properties, type: Type.Literal(plugin.type, { description: plugin.summary }) },
      { additionalProperties: false },
    );
  });
  const { properties } = SETTINGS_SCHEMA;
  return Type.Object(
    { ...properties, "shipper.inputs": Type.Array(Type.Union(inputs), { description: "What to read." }) },
    { additionalProperties: false },
  );
}

/** Returns the reference of all settings as Markdown. */
export function settingsReference(): string {
  const inputs = INPUTS.map(
    (plugin) => `\n## Input ${plugin.type}\n${plugin.summary}\n\n${describeSettings(inputSchema(plugin))}`,
  );
  return `# agent.yml\n\n${describeSettings(SETTINGS_SCHEMA)}${inputs.join("")}`;
}
