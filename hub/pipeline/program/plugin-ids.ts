/**
 * The part of a plugin's id that stands for its options, where none is written: inputs keep their positions by it, so that it must
 * be the same after an upgrade. A hash of all options, defaults included, as they were when plugins got ids; options that came
 * later count only where they are written, and a default that has changed counts as it was. test/compat/plugin-ids.json has the
 * hash of each plugin without options.
 */

import { createHash } from "node:crypto";
import type { OptionValues } from "#hub/pipeline/language/plugin-options.ts";
import type { PluginNode } from "#hub/pipeline/language/syntax-tree.ts";

const ECS = "ecs_compatibility";
const TLS = [
  "ssl_certificate_authorities",
  "ssl_verification_mode",
  "ssl_supported_protocols",
  "ssl_cipher_suites",
];
const HTTP = ["cookies", "follow_redirects", ...TLS];

/** Options with a default that were added later, by plugin. */
const LATER: Readonly<Record<string, readonly string[]>> = {
  "input beats": ["codec"],
  "input syslog": ["codec"],
  "input http_poller": HTTP,
  "output http": HTTP,
  "output redis": TLS,
  "output elasticsearch": ["script_type"],
  "output opensearch": ["script_type"],
  "output email": ["debug"],
};

/** Defaults as they were when plugins got ids, where they have changed since, by plugin. */
const FORMER: Readonly<Record<string, OptionValues>> = {
  "output stdout": { codec: "json_lines" },
};

/** Plugins that had ecs_compatibility from the start. */
const WITH_ECS = ["input http", "input relp", "input syslog", "input tcp", "input udp"];

/** Returns 8 hexadecimal digits. `kind`: "input", "output" or "filter". */
export function optionsHash(kind: string, node: PluginNode, values: OptionValues): string {
  const plugin = `${kind} ${node.name}`;
  const hadEcs = kind === "filter" || WITH_ECS.includes(plugin);
  const later = new Set([...(LATER[plugin] ?? []), ...(hadEcs ? [] : [ECS])]);
  const former = { ...FORMER[plugin] };
  for (const { name } of node.attributes) {
    later.delete(name);
    delete former[name];
  }
  const counted = Object.fromEntries(
    Object.entries({ ...values, ...former }).filter(([name]) => !later.has(name)),
  );
  return createHash("sha256").update(writtenOptions(counted)).digest("hex").slice(0, 8);
}

/** Returns the options as text, without their positions in the file. */
export function writtenOptions(values: OptionValues): string {
  return JSON.stringify(values, (key, value: unknown) =>
    key.toLowerCase().endsWith("range") ? undefined : value,
  );
}
