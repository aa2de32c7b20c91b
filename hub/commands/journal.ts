/** `tailrace-hub journal`: shows how full the log's streams are, and what the agents have not sent yet. */

import { loadCommandSettings } from "#hub/node/settings/reach-file.ts";
import { printableJson } from "#proto/kit/printable.ts";
import { overridesOf, PLACE_OPTIONS, parseOptions, usageError } from "./arguments.ts";
import { addressOf, askedHub, askHub } from "./running-hub.ts";
import { mib, table } from "./terminal.ts";

export interface JournalCommand {
  readonly name: "journal";
  readonly json: boolean;
  readonly config: string | undefined;
  readonly overrides: readonly string[];
}

interface Stream {
  readonly messages: number;
  readonly bytes: number;
  readonly max_bytes: number;
  readonly fill: number;
  /** Set instead of all other fields if the log could not be queried. */
  readonly error?: string;
}

interface Agent {
  readonly name: string;
  readonly health: string;
  readonly lag_bytes: number;
}

const OPTIONS = { ...PLACE_OPTIONS, json: { type: "boolean" } } as const;

/** Parses the arguments after `journal`. Throws usage_invalid. */
export function parseJournalCommand(args: readonly string[]): JournalCommand {
  const { values, positionals } = parseOptions(args, OPTIONS);
  const [extra] = positionals;
  if (extra !== undefined) throw usageError(`unexpected argument "${extra}"`);
  return {
    name: "journal",
    json: values.json === true,
    config: values.config,
    overrides: overridesOf(values),
  };
}

/** Queries the hub and returns the tables. Throws unavailable, unauthenticated, forbidden. */
export async function runJournalCommand(command: JournalCommand, env: NodeJS.ProcessEnv): Promise<string> {
  const settings = loadCommandSettings({ file: command.config, overrides: command.overrides }, env);
  const dashboard = addressOf(settings, "dashboard");
  const hub = askedHub(settings, env);
  const { streams } = await askHub<{ streams: Record<string, Stream> }>(`${dashboard}/api/status`, hub);
  const agents = await askHub<Agent[]>(`${dashboard}/api/agents`, hub);
  if (command.json) return `${printableJson({ streams, agents })}\n`;
  return `${streamTable(streams)}\n${agentTable(agents)}`;
}

function streamTable(streams: Readonly<Record<string, Stream>>): string {
  const rows = Object.entries(streams).map(([name, { messages, bytes, max_bytes: limit, fill, error }]) =>
    error === undefined
      ? [name, String(messages), mib(bytes), mib(limit), `${(fill * 100).toFixed(1)} %`]
      : [name, error],
  );
  return table(["STREAM", "MESSAGES", "MIB", "LIMIT", "FILL"], rows);
}

function agentTable(agents: readonly Agent[]): string {
  if (agents.length === 0) return "no agent is known\n";
  const rows = agents.map(({ name, health, lag_bytes: lag }) => [name, health, mib(lag)]);
  return table(["AGENT", "HEALTH", "MIB BEHIND"], rows);
}
