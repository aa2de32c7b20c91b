/** The search interface's operations, from the hub's OpenAPI description, for completing paths. */

export interface Endpoint {
  /** In capitals. */
  readonly methods: readonly string[];
  /** `{index}` matches any segment. */
  readonly segments: readonly string[];
  /** Names of its query parameters. */
  readonly parameters: readonly string[];
  /** One sentence. */
  readonly summary: string;
}

interface Parameter {
  readonly name?: string;
  readonly in?: string;
  readonly $ref?: string;
}

interface Operation {
  readonly summary?: string;
  readonly parameters?: readonly Parameter[];
}

/** The parts of an OpenAPI description that are read. */
export interface Description {
  readonly paths?: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components?: { readonly parameters?: Readonly<Record<string, Parameter>> };
}

const PREFIX = "/es";

/** Returns the operations that are offered. */
export function readEndpoints({ paths = {}, components = {} }: Description): Endpoint[] {
  const known = components.parameters ?? {};
  const endpoints: Endpoint[] = [];
  for (const [path, operations] of Object.entries(paths)) {
    if (!path.startsWith(`${PREFIX}/`)) continue;
    const bySummary = new Map<string, string[]>();
    for (const [method, { summary = "" }] of Object.entries(operations))
      if (!summary.startsWith("Not offered"))
        bySummary.set(summary, [...(bySummary.get(summary) ?? []), method.toUpperCase()]);
    const segments = path.slice(PREFIX.length + 1).split("/");
    for (const [summary, methods] of bySummary)
      endpoints.push({
        methods,
        segments,
        summary,
        parameters: parameterNames(operations[methods[0]!.toLowerCase()]!, known),
      });
  }
  return endpoints;
}

function parameterNames(
  { parameters = [] }: Operation,
  known: Readonly<Record<string, Parameter>>,
): string[] {
  return parameters
    .map((one) => (one.$ref === undefined ? one : (known[one.$ref.split("/").at(-1)!] ?? {})))
    .filter((one) => one.in === "query" && one.name !== undefined)
    .map(({ name }) => name!);
}

/** Returns true if the first segments of an endpoint's path are `segments`. */
export function matchesStart({ segments: own }: Endpoint, segments: readonly string[]): boolean {
  return segments.length <= own.length && segments.every((segment, index) => fits(own[index]!, segment));
}

function fits(pattern: string, segment: string): boolean {
  if (!pattern.startsWith("{")) return pattern === segment;
  if (pattern === "{type}") return segment === "_doc";
  return pattern === "{index}" ? !segment.startsWith("_") || segment === "_all" : segment !== "";
}
