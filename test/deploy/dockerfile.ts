/** Checks a Dockerfile: what a linter finds, and the project's rules for images. Works on texts. */

interface Instruction {
  readonly name: string;
  readonly text: string;
  readonly line: number;
}

interface Stage {
  readonly name: string;
  /** Image or stage it stands on, build arguments filled in. */
  readonly from: string;
  readonly instructions: readonly Instruction[];
}

const KNOWN = new Set(
  "FROM ARG RUN COPY ENV USER WORKDIR VOLUME EXPOSE STOPSIGNAL HEALTHCHECK ENTRYPOINT CMD LABEL SHELL".split(
    " ",
  ),
);
const EXEC_FORM = new Set(["CMD", "ENTRYPOINT", "VOLUME"]);

/** Stages that become images, and whether they may run as root. */
export type Images = Readonly<Record<string, { readonly root: boolean }>>;

/** Returns one sentence per fault, with its line. */
export function dockerfileFaults(source: string, images: Images): string[] {
  const instructions = parse(source);
  const stages = split(instructions);
  const names = new Set(stages.map(({ name }) => name));
  return [
    ...instructions.flatMap(wordingFaults),
    ...stages.flatMap((stage) => baseFaults(stage, names)),
    ...copyFaults(instructions, names),
    ...foreignFaults(instructions, stages),
    ...Object.entries(images).flatMap(([name, { root }]) => imageFaults(stages, name, root)),
  ];
}

/** Instructions with continued lines joined; comments left out. */
function parse(source: string): Instruction[] {
  const found: Instruction[] = [];
  let open: { text: string; line: number } | undefined;
  for (const [index, raw] of source.split("\n").entries()) {
    const text = raw.trim();
    if (text === "" || text.startsWith("#")) continue;
    const continued = text.endsWith("\\");
    const part = continued ? text.slice(0, -1).trim() : text;
    open = open === undefined ? { text: part, line: index + 1 } : { ...open, text: `${open.text} ${part}` };
    if (continued) continue;
    const [name = "", ...rest] = open.text.split(/\s+/);
    found.push({ name, text: rest.join(" "), line: open.line });
    open = undefined;
  }
  return found;
}

function split(instructions: readonly Instruction[]): Stage[] {
  const defaults = new Map<string, string>();
  const stages: { name: string; from: string; instructions: Instruction[] }[] = [];
  for (const each of instructions) {
    const argument = each.name === "ARG" ? /^(\w+)=(\S+)$/.exec(each.text) : null;
    if (argument !== null && stages.length === 0) defaults.set(argument[1]!, argument[2]!);
    if (each.name === "FROM") {
      const [, from = "", name = ""] = /^(\S+)(?:\s+AS\s+(\S+))?$/i.exec(each.text) ?? [];
      stages.push({
        name,
        from: from.replace(/\$\{(\w+)\}/g, (_, key: string) => defaults.get(key) ?? ""),
        instructions: [],
      });
    }
    stages.at(-1)?.instructions.push(each);
  }
  return stages;
}

function wordingFaults({ name, text, line }: Instruction): string[] {
  const faults: string[] = [];
  if (!KNOWN.has(name)) faults.push(`line ${line}: unknown or unwanted instruction ${name}`);
  if (EXEC_FORM.has(name) && !isStringList(text))
    faults.push(`line ${line}: ${name} must be a JSON list, or a shell stands between and swallows signals`);
  if (name === "HEALTHCHECK" && !isStringList(/\bCMD\s+(.*)$/.exec(text)?.[1] ?? ""))
    faults.push(`line ${line}: HEALTHCHECK needs CMD with a JSON list`);
  if (name === "RUN") faults.push(...runFaults(text, line));
  if (name === "ENV" && /\b\w*(TOKEN|PASSWORD|SECRET)\w*=/.test(text))
    faults.push(`line ${line}: a secret must not lie in an image`);
  if (name === "WORKDIR" && !text.startsWith("/")) faults.push(`line ${line}: WORKDIR must be absolute`);
  return faults;
}

function runFaults(text: string, line: number): string[] {
  const faults: string[] = [];
  if (/\bsudo\b/.test(text)) faults.push(`line ${line}: no sudo in a build`);
  if (/\bnpm (i|install)\b/.test(text))
    faults.push(`line ${line}: npm ci keeps to the lockfile, npm install doesn't`);
  if (/\b(curl|wget)\b/.test(text))
    faults.push(`line ${line}: a download without a hash gives other bytes tomorrow`);
  if (!/\bapt-get install\b/.test(text)) return faults;
  if (!/\bapt-get update\b/.test(text))
    faults.push(`line ${line}: apt-get install without update uses a stale list`);
  for (const wanted of ["--no-install-recommends", " -y", "rm -rf /var/lib/apt/lists"])
    if (!text.includes(wanted)) faults.push(`line ${line}: apt-get install without ${wanted.trim()}`);
  return faults;
}

function baseFaults({ from, instructions }: Stage, stages: ReadonlySet<string>): string[] {
  if (stages.has(from)) return [];
  const line = instructions[0]!.line;
  if (/@sha256:[0-9a-f]{64}$/.test(from)) return [];
  const tag = from.split(":")[1];
  if (tag === undefined || !/^\d+\.\d+/.test(tag))
    return [`line ${line}: base ${from || "(none)"} must be named by full version or digest`];
  return [];
}

function copyFaults(instructions: readonly Instruction[], stages: ReadonlySet<string>): string[] {
  return instructions.flatMap(({ name, text, line }) => {
    const from = name === "COPY" ? /--from=(\S+)/.exec(text)?.[1] : undefined;
    return from !== undefined && !stages.has(from) ? [`line ${line}: there is no stage ${from}`] : [];
  });
}

/** What is copied out of a base as it is must be the same bytes at each build. */
function foreignFaults(instructions: readonly Instruction[], stages: readonly Stage[]): string[] {
  const foreign = stages.filter(
    (stage) => stage.instructions.length === 1 && !stage.from.includes("@sha256:"),
  );
  const names = new Set(foreign.map(({ name }) => name));
  return instructions.flatMap(({ name, text, line }) => {
    const from = name === "COPY" ? /--from=(\S+)/.exec(text)?.[1] : undefined;
    return from !== undefined && names.has(from)
      ? [`line ${line}: ${from} is copied from as it is: name its base by digest`]
      : [];
  });
}

function imageFaults(stages: readonly Stage[], name: string, root: boolean): string[] {
  const chain: Instruction[] = [];
  for (let at = stages.find((each) => each.name === name); at !== undefined; ) {
    chain.unshift(...at.instructions);
    const from = at.from;
    at = stages.find((each) => each.name === from);
  }
  if (chain.length === 0) return [`there is no stage ${name}`];
  const last = (instruction: string) => chain.findLast((each) => each.name === instruction)?.text;
  const faults: string[] = [];
  const user = last("USER") ?? "root";
  if (root !== (user === "root"))
    faults.push(`image ${name} runs as ${user}; ${root ? "root is meant" : "root isn't needed"}`);
  if (!root && !/^[1-9]\d*:[1-9]\d*$/.test(user))
    faults.push(`image ${name}: USER must be numbers, as runAsNonRoot can't check a name`);
  if (last("HEALTHCHECK") === undefined) faults.push(`image ${name} has no HEALTHCHECK`);
  if (last("ENTRYPOINT") === undefined) faults.push(`image ${name} has no ENTRYPOINT`);
  if (chain.some(({ name: each, text }) => each === "COPY" && /^\.\s/.test(text)))
    faults.push(`image ${name} holds the whole checkout`);
  return faults;
}

function isStringList(text: string): boolean {
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) && list.every((each) => typeof each === "string");
  } catch {
    return false;
  }
}
