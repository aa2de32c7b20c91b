/** The frame of pages that work without a script (sign-in, consent, set-up, errors), and HTML as tagged templates. */

import { createHash } from "node:crypto";
import { languageOf, type PageLanguage } from "./page-language.ts";

/** HTML that is safe to send. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Returns the template as HTML. Texts and numbers are escaped, HTML and lists of it are inserted as they are. */
export function html(
  parts: TemplateStringsArray,
  ...values: (Html | readonly Html[] | string | number)[]
): Html {
  let text = parts[0] ?? "";
  values.forEach((value, index) => {
    text += render(value) + (parts[index + 1] ?? "");
  });
  return new Html(text);
}

/** Empty HTML, for branches of a template. */
export const NOTHING = new Html("");

function render(value: Html | readonly Html[] | string | number): string {
  if (value instanceof Html) return value.text;
  if (Array.isArray(value)) return value.map((each: Html) => each.text).join("");
  const text = typeof value === "number" ? String(value) : (value as string);
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? "");
}

const STYLE = `
:root{color-scheme:light dark;--ground:#eef3f2;--panel:#fff;--ink:#12201f;--soft:#475957;--line:#d7e1e0;--control:#7d918f;--accent:#0a6a63;--on-accent:#fff;--focus:#0b7f96;--bad:#bb2a1b;--head:#0d2a2a;--head-mark:#5fd6c6}
@media (prefers-color-scheme:dark){:root{--ground:#0b1213;--panel:#111a1b;--ink:#e2ebea;--soft:#a8bab8;--line:#223132;--control:#5c7475;--accent:#4fc7b8;--on-accent:#06211e;--focus:#6fd3ff;--bad:#ff8577}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:grid;place-items:center;padding:24px;background:var(--ground);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
main{width:100%;max-width:420px;background:var(--panel);border:1px solid var(--line);border-radius:8px;overflow:hidden}
.mark{display:flex;align-items:center;gap:10px;margin:0;padding:12px 32px;background:var(--head);color:#fff;font-weight:600}
.mark svg{width:24px;height:24px;fill:none;stroke:var(--head-mark);stroke-width:2.4;stroke-linecap:round}
.body{padding:28px 32px 24px}
h1{margin:0 0 8px;font-size:22px;line-height:1.25}
p{margin:0 0 16px;overflow-wrap:anywhere}
.soft{color:var(--soft);font-size:14px}
.bad{color:var(--bad);font-weight:550}
ul{margin:0 0 20px;padding:0 0 0 20px}
li{margin:0 0 8px;overflow-wrap:anywhere}
label{display:block;margin:0 0 4px;font-weight:550}
input{width:100%;margin:0 0 16px;padding:10px 12px;font:inherit;color:inherit;background:var(--panel);border:1px solid var(--control);border-radius:5px}
button{width:100%;margin:0 0 8px;padding:11px 16px;font:inherit;font-weight:600;border-radius:5px;border:1px solid var(--accent);background:var(--accent);color:var(--on-accent);cursor:pointer}
button.plain{background:transparent;color:var(--accent)}
:focus-visible{outline:3px solid var(--focus);outline-offset:2px}
a{color:var(--accent)}
dl{margin:0 0 16px}dt{color:var(--soft);font-size:14px}dd{margin:0 0 8px;font-family:ui-monospace,monospace;font-size:14px;overflow-wrap:anywhere}
`;

/** The product's logo, as on the dashboard. */
const MARK = html`<svg viewBox="0 0 24 24" aria-hidden="true">
    <path d="M3 7.2c3 0 3-2.2 6-2.2s3 2.2 6 2.2 3-2.2 6-2.2" />
    <path d="M3 12.6c3 0 3-2.2 6-2.2s3 2.2 6 2.2 3-2.2 6-2.2" opacity=".72" />
    <path d="M3 18c3 0 3-2.2 6-2.2s3 2.2 6 2.2 3-2.2 6-2.2" opacity=".45" />
  </svg>`;

const STYLE_HASH = createHash("sha256").update(STYLE).digest("base64");

/**
 * Headers of every page and redirect of this part. There is no form-action: browsers also apply it to the redirects
 * after a form, and those may lead to a client over unknown hosts. All content of the pages is escaped instead.
 */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  "cache-control": "no-store",
  "content-security-policy": `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; base-uri 'none'; frame-ancestors 'none'`,
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

/**
 * Returns a whole page. Its own meta element loosens no-referrer to same-origin: under no-referrer browsers send
 * "Origin: null" with a form, which checks of the Origin must refuse.
 */
export function page(title: string, body: Html, language: PageLanguage = "en"): string {
  // The style must reach the browser byte for byte, or its hash in the policy is wrong.
  const frame = html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="same-origin">
<title>${title} – Tailrace</title>
<style>`.text;
  const rest = html`</style>
</head>
<body>
<main>
<p class="mark">${MARK}Tailrace</p>
<div class="body">
${body}
</div>
</main>
</body>
</html>
`.text;
  return frame + STYLE + rest;
}

/** A page as the answer of a route. */
export interface PageAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** Returns a page with its headers. `acceptLanguage`: the request's header of that name. */
export function pageAnswer(
  status: number,
  title: string,
  body: Html,
  acceptLanguage: string | undefined,
): PageAnswer {
  return {
    status,
    headers: { ...PAGE_HEADERS, "content-type": "text/html; charset=utf-8" },
    text: page(title, body, languageOf(acceptLanguage)),
  };
}
