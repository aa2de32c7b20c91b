/** The frame of the pages that work without a script: sign-in, consent, set-up, errors. */

import { createHash } from "node:crypto";
import type { FastifyReply } from "fastify";
import { type Html, html } from "./html.ts";
import { languageOf, type PageLanguage } from "./page-language.ts";

const STYLE = `
:root{color-scheme:light dark;--ground:#f4f5f7;--panel:#fff;--ink:#16202b;--soft:#51606f;--line:#c9d1d9;--accent:#0b5fbd;--on-accent:#fff;--bad:#a51d1d}
@media (prefers-color-scheme:dark){:root{--ground:#0f151b;--panel:#18212a;--ink:#e8edf2;--soft:#a3b1bf;--line:#3a4754;--accent:#6db3f8;--on-accent:#08131d;--bad:#ff9a94}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:grid;place-items:center;padding:24px;background:var(--ground);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
main{width:100%;max-width:420px;padding:32px;background:var(--panel);border:1px solid var(--line);border-radius:12px}
.mark{margin:0 0 24px;font-weight:650;letter-spacing:.02em;color:var(--soft)}
h1{margin:0 0 8px;font-size:22px;line-height:1.25}
p{margin:0 0 16px;overflow-wrap:anywhere}
.soft{color:var(--soft);font-size:14px}
.bad{color:var(--bad);font-weight:550}
ul{margin:0 0 20px;padding:0 0 0 20px}
li{margin:0 0 8px;overflow-wrap:anywhere}
label{display:block;margin:0 0 4px;font-weight:550}
input{width:100%;margin:0 0 16px;padding:10px 12px;font:inherit;color:inherit;background:var(--ground);border:1px solid var(--line);border-radius:8px}
button{width:100%;margin:0 0 8px;padding:11px 16px;font:inherit;font-weight:600;border-radius:8px;border:1px solid var(--accent);background:var(--accent);color:var(--on-accent);cursor:pointer}
button.plain{background:transparent;color:var(--accent)}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
dl{margin:0 0 16px}dt{color:var(--soft);font-size:14px}dd{margin:0 0 8px;font-family:ui-monospace,monospace;font-size:14px;overflow-wrap:anywhere}
`;

const STYLE_HASH = createHash("sha256").update(STYLE).digest("base64");

/**
 * Headers of every page and redirect here. No form-action: browsers apply it to the redirects after a form too, and
 * the way back to a client may lead over hosts that nobody knows here; what pages show is escaped instead.
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
<p class="mark">Tailrace</p>
${body}
</main>
</body>
</html>
`.text;
  return frame + STYLE + rest;
}

/** Sends a page with its headers. */
export function sendPage(reply: FastifyReply, status: number, title: string, body: Html): FastifyReply {
  return reply
    .code(status)
    .headers(PAGE_HEADERS)
    .type("text/html; charset=utf-8")
    .send(page(title, body, languageOf(reply.request.headers["accept-language"])));
}
