/**
 * Settings of the agent made from those of another shipper, as text: a setting without a counterpart becomes a comment at
 * its position.
 */

import { stringify } from "yaml";
import type { JsonObject } from "#proto/kit/json.ts";
import { printable } from "#proto/kit/printable.ts";

/** An input, with the settings of its original that it lacks. */
export interface DraftInput {
  readonly settings: JsonObject;
  readonly remarks: readonly string[];
}

export interface AgentDraft {
  /** The source: "filebeat.yml of Filebeat". */
  readonly origin: string;
  readonly settings: JsonObject;
  readonly inputs: readonly DraftInput[];
  /** Remarks on the file as a whole. */
  readonly remarks: readonly string[];
}

const WIDTH = 100;

/** Returns agent.yml. */
export function renderDraft({ origin, settings, inputs, remarks }: AgentDraft): string {
  const lines = [
    `# Made from ${origin}. Look at each comment, then: tailrace-agent test config -c agent.yml`,
  ];
  for (const remark of remarks) lines.push(...comment(remark, ""));
  if (Object.keys(settings).length > 0) lines.push(stringify(settings).trimEnd());
  lines.push(inputs.length === 0 ? "shipper.inputs: []" : "shipper.inputs:");
  for (const input of inputs) {
    for (const remark of input.remarks) lines.push(...comment(remark, "  "));
    const text = stringify([input.settings], { lineWidth: 0 }).trimEnd();
    lines.push(...text.split("\n").map((line) => `  ${line}`));
  }
  lines.push(
    "# Where the hub is; an enrolled agent has this already (tailrace-agent enroll).",
    "output.pipeline:",
    '  servers: ["nats://127.0.0.1:4222"]',
  );
  return `${lines.join("\n")}\n`;
}

function comment(text: string, indent: string): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of printable(text).replace(/\s+/g, " ").split(" ")) {
    if (line !== "" && line.length + word.length > WIDTH) {
      lines.push(line);
      line = "";
    }
    line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line].map((each) => `${indent}# ${each}`);
}

/** Returns a setting as one line, for a remark. */
export function shortly(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
