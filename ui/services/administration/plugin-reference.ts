/**
 * The plugins of pipelines with their options, read from the reference under `docs/`, which is generated from their
 * schemas.
 */

export const PLUGIN_KINDS = ["input", "filter", "output", "codec"] as const;
export type PluginKind = (typeof PLUGIN_KINDS)[number];

export interface PluginOption {
  readonly name: string;
  /** `text`, `flag`, or the values it takes, each between backticks. */
  readonly kind: string;
  readonly meaning: string;
}

export interface PluginFacts {
  readonly about: string;
  readonly options: readonly PluginOption[];
}

export type PluginReference = Readonly<
  Record<
    PluginKind,
    {
      /** Options of all plugins of the kind. */
      readonly common: readonly PluginOption[];
      readonly plugins: Readonly<Record<string, PluginFacts>>;
    }
  >
>;

const ROW = /^\| `([^`]+)` \| (.*?) \| (.*?) \| (.*) \|$/;

/** Returns the plugins of the reference's text. */
export function readPluginReference(markdown: string): PluginReference {
  const found: Record<PluginKind, GrowingKind> = {
    input: none(),
    filter: none(),
    output: none(),
    codec: none(),
  };
  let kind = found.input;
  let plugin: Growing | undefined;
  for (const line of markdown.split("\n")) {
    const [, heading] = /^## (\w+)s$/.exec(line) ?? [];
    const [, name] = /^### (\S+)$/.exec(line) ?? [];
    const row = ROW.exec(line);
    if (heading !== undefined) {
      kind = found[PLUGIN_KINDS.find((one) => one === heading.toLowerCase()) ?? "input"];
      plugin = undefined;
    } else if (name !== undefined) plugin = kind.plugins[name] = { about: "", options: [] };
    else if (row !== null) {
      const [, option, type, , meaning] = row as unknown as [string, string, string, string, string];
      (plugin?.options ?? kind.common).push({
        name: option,
        kind: type.replaceAll("\\|", "|"),
        meaning: meaning.replaceAll("\\|", "|"),
      });
    } else if (plugin !== undefined && plugin.about === "" && /^[A-Z]/.test(line)) plugin.about = line;
  }
  return found;
}

interface Growing {
  about: string;
  readonly options: PluginOption[];
}

interface GrowingKind {
  readonly common: PluginOption[];
  readonly plugins: Record<string, Growing>;
}

function none(): GrowingKind {
  return { common: [], plugins: {} };
}

/** The build copies it beside the page, for editors alone. */
export const REFERENCE_FILE = "plugins.json";

/** Loads the reference, a file beside the page. Throws if it can't be loaded. */
export async function loadPluginReference(): Promise<PluginReference> {
  const response = await fetch(`/${REFERENCE_FILE}`);
  if (!response.ok) throw new Error(`${REFERENCE_FILE}: ${response.status}`);
  return (await response.json()) as PluginReference;
}
