/** Cuts a file into the events of a shipper's input: lines, joined ones, JSON of a line. */

type Json = Readonly<Record<string, unknown>>;

/** An event of the input. `offset`: where its first line begins, bytes. */
export interface Line {
  readonly text: string;
  readonly offset: number;
  readonly isJoined: boolean;
  /** What the line holds, where the input decodes JSON. */
  readonly json?: unknown;
}

interface Multiline {
  readonly pattern: string;
  readonly negate?: boolean;
  readonly match: "after" | "before";
}

/** Cuts a file as an input's configuration says: joined lines, without excluded and empty ones. */
export function eventLines(bytes: Buffer, input: Json): Line[] {
  const multiline = input["multiline"] as Multiline | undefined;
  const joined = multiline === undefined ? linesOf(bytes) : joinedLines(linesOf(bytes), multiline);
  const excluded = ((input["exclude_lines"] ?? []) as readonly string[]).map(expression);
  const included = ((input["include_lines"] ?? []) as readonly string[]).map(expression);
  const isJson = Object.keys(input).some((name) => name.startsWith("json"));
  return joined
    .filter(
      ({ text }) =>
        text !== "" &&
        !excluded.some((each) => each.test(text)) &&
        (included.length === 0 || included.some((each) => each.test(text))),
    )
    .map((line) => (isJson ? { ...line, json: JSON.parse(line.text) as unknown } : line));
}

function linesOf(bytes: Buffer): Line[] {
  const lines: Line[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(0x0a, at);
    const stop = end < 0 ? bytes.length : end;
    lines.push({ text: bytes.toString("utf8", at, stop).replace(/\r$/, ""), offset: at, isJoined: false });
    at = stop + 1;
  }
  return lines;
}

function joinedLines(lines: readonly Line[], { pattern, negate = false, match }: Multiline): Line[] {
  const test = expression(pattern);
  const joined: Line[] = [];
  let isOpen = false;
  for (const line of lines) {
    const belongs = test.test(line.text) !== negate;
    const last = joined.at(-1);
    if (last !== undefined && (match === "after" ? belongs : isOpen))
      joined[joined.length - 1] = { ...last, text: `${last.text}\n${line.text}`, isJoined: true };
    else joined.push(line);
    isOpen = belongs;
  }
  return joined;
}

function expression(pattern: string): RegExp {
  return new RegExp(pattern.replace(/^\(\?i\)/, ""), pattern.startsWith("(?i)") ? "i" : "");
}
