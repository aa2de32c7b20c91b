/** `--print-schema` and `--print-settings`: the settings as a schema and as a reference. */

import { INPUTS } from "#agent/inputs/all.ts";
import { inputSchema } from "#agent/settings/input-settings.ts";
import { COMMON_INPUT_PROPERTIES, SETTINGS_SCHEMA } from "#agent/settings/schema.ts";
import { Type } from "#proto/kit/schema.ts";
import { describeSettings } from "#proto/kit/settings/reference.ts";

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

const INTRODUCTION = `Keys are written dotted or nested, in the file and in each input. \`\${NAME}\` and \`\${NAME:default}\` are replaced by values of the
environment, \`-E key=value\` on the command line overrides the file. Durations are numbers of seconds or texts such as
\`200ms\`, \`5m\`, \`2h\`; sizes are bytes or texts such as \`256kb\`, \`1mb\`. Exactly one output is enabled; without any
it is the hub of this machine.
`;

/** Returns the reference of all settings as Markdown. */
export function settingsReference(): string {
  const inputs = INPUTS.map(
    ({ type, summary, schema }) => `\n## Input ${type}\n\n${summary}\n\n${describeSettings(schema)}`,
  );
  const common = describeSettings(Type.Object(COMMON_INPUT_PROPERTIES));
  return `# agent.yml\n\n${INTRODUCTION}\n${describeSettings(SETTINGS_SCHEMA)}\n## Every input\n\n${common}${inputs.join("")}`;
}
