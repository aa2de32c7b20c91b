import assert from "node:assert/strict";
import { test } from "node:test";
import { consentBody, signInBody } from "#hub/auth/provider/prompt-pages.ts";
import { scopesOf } from "#hub/auth/provider/scopes.ts";
import { languageOf, sayIn } from "./page-language.ts";

const HEADERS: readonly (readonly [string | undefined, string])[] = [
  [undefined, "en"],
  ["", "en"],
  ["de-DE,de;q=0.9,en;q=0.8", "de"],
  ["en-US,en;q=0.9,de;q=0.8", "en"],
  ["fr, de;q=0.5, en;q=0.4", "de"],
  ["en;q=0.1, DE-at;q=0.2", "de"],
  ["de;q=0, fr", "en"],
  ["*", "en"],
  [";;;,=,q=q", "en"],
];

test("the language is the one that the browser prefers", () => {
  for (const [header, language] of HEADERS) assert.equal(languageOf(header), language, header);
});

test("sign-in and consent are German where preferred, and their values stay escaped", () => {
  const form = { path: "/p", token: "t", clientName: "A <b> & {1}", say: sayIn("de") };
  const signIn = signInBody(form, "", "").text;
  assert.match(signIn, /<button>Anmelden<\/button>/);
  assert.match(signIn, /weiter zu A &lt;b&gt; &amp; \{1\}/);
  assert.match(signIn, /<button class="plain">Abbrechen<\/button>/);
  const scopes = scopesOf("https://hub.example", []);
  const consent = consentBody(form, scopes, "example.com", "ann").text;
  assert.match(consent, /Ihre Logs durchsuchen.*Logs hinzufügen.*Pipelines und Alarme ändern/s);
  assert.match(consent, /<button class="plain">Ablehnen<\/button>/);
  assert.match(consent, /Sie sind als ann angemeldet.*example\.com/);
  assert.match(signInBody({ ...form, say: sayIn("en") }, "", "").text, /<button>Sign in<\/button>/);
});

test("the focus is on the first missing field: the name, or the password after a wrong one", () => {
  const form = { path: "/p", token: "t", clientName: "c", say: sayIn("en") };
  assert.match(signInBody(form, "", "").text, /name="name" [^>]* autofocus>/);
  const again = signInBody(form, "ada", "Name or password is wrong.").text;
  assert.match(again, /name="password" [^>]* autofocus>/);
  assert.equal(again.split("autofocus").length, 2);
});
