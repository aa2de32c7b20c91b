/** Requests as curl commands, and curl commands as requests. */

import type { ConsoleCall } from "./requests.ts";

/** Returns a command for a shell; `base` is the interface's address without a slash at its end. */
export function toCurl({ method, path, body, contentType }: ConsoleCall, base: string): string {
  const parts = [method === "HEAD" ? "curl -I" : `curl -X ${method}`, quote(`${base}${path}`)];
  if (contentType !== undefined) parts.push(`-H ${quote(`content-type: ${contentType}`)}`);
  if (body !== undefined) parts.push(`--data-binary ${quote(body)}`);
  return parts.join(" ");
}

/** Returns the request of a curl command as the console writes it, or undefined where the text is none. */
export function fromCurl(text: string): string | undefined {
  const words = shellWords(text.trim().replace(/^\$\s+/, ""));
  if (words[0] !== "curl") return undefined;
  let method: string | undefined;
  let address: string | undefined;
  const data: string[] = [];
  for (let index = 1; index < words.length; index++) {
    const word = words[index]!;
    const joined = /^-X(.+)$/.exec(word);
    if (joined !== null) method = joined[1]!;
    else if (word === "-X" || word === "--request") method = words[++index];
    else if (/^(-d|--data|--data-raw|--data-binary|--json)$/.test(word)) data.push(words[++index] ?? "");
    else if (/^(-H|--header|-u|--user|-o|--output|--cacert|-A)$/.test(word)) index++;
    else if (word === "-I" || word === "--head") method = "HEAD";
    else if (!word.startsWith("-")) address ??= word;
  }
  if (address === undefined) return undefined;
  const path = address.replace(/^(https?:\/\/)?[^/]*:?\d*(?=\/|$)/, "") || "/";
  const head = `${(method ?? (data.length > 0 ? "POST" : "GET")).toUpperCase()} ${path}`;
  return data.length === 0 ? head : `${head}\n${data.join("\n").trim()}`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Words as a shell cuts them; quotes may be inside of a word. */
function shellWords(text: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  const pieces = text.matchAll(/'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|\\\r?\n|\\([\s\S])|(\s+)|([^\s'"\\]+)/g);
  for (const [whole, single, double, escaped, space, bare] of pieces) {
    if (space !== undefined || /^\\\r?\n$/.test(whole)) {
      if (word !== undefined) words.push(word);
      word = undefined;
      continue;
    }
    word = (word ?? "") + (single ?? double?.replaceAll(/\\(["\\$`])/g, "$1") ?? escaped ?? bare ?? "");
  }
  if (word !== undefined) words.push(word);
  return words;
}
