/** The language of pages that work without a script: English, or German if the browser prefers it. */

export type PageLanguage = "en" | "de";

/** Returns a text in the page's language; `{0}`, `{1}` … are replaced by the values. */
export type Say = (english: string, ...values: readonly string[]) => string;

const GERMAN: Readonly<Record<string, string>> = {
  "Sign in": "Anmelden",
  "to continue to {0}": "weiter zu {0}",
  Name: "Name",
  Password: "Passwort",
  Allow: "Erlauben",
  Refuse: "Ablehnen",
  Cancel: "Abbrechen",
  "Allow {0}?": "{0} erlauben?",
  "You are signed in as {0}. If you allow it, your browser goes back to {1}.":
    "Sie sind als {0} angemeldet. Wenn Sie es erlauben, kehrt Ihr Browser zu {1} zurück.",
  "wants to do this for you, until you withdraw it:": "möchte dies für Sie tun, bis Sie es zurücknehmen:",
  "Search your logs": "Ihre Logs durchsuchen",
  "Add logs": "Logs hinzufügen",
  "Change indices, dashboards, pipelines and alerts": "Indizes, Übersichten, Pipelines und Alarme ändern",
  "This request can't go on": "Diese Anfrage kann nicht fortfahren",
  "The application that sent you here made a mistake, or the page was open for too long. Go back and start again. If it happens again, show this to the operator of the application.":
    "Die Anwendung, die Sie hierher geschickt hat, hat einen Fehler gemacht, oder die Seite war zu lange offen. Gehen Sie zurück, und beginnen Sie von vorn. Geschieht es wieder, zeigen Sie dies dem Betreiber der Anwendung.",
  Error: "Fehler",
  Reason: "Grund",
  "It was open for too long, or its address was opened in another browser":
    "Sie war zu lange offen, oder ihre Adresse wurde in einem anderen Browser geöffnet",
  "Name or password is wrong.": "Name oder Passwort ist falsch.",
  "This page can't go on": "Diese Seite kann nicht fortfahren",
  "Go back to the application and start again.": "Gehen Sie zur Anwendung zurück, und beginnen Sie von vorn.",
  "Request refused": "Anfrage abgelehnt",
  "Make the first administrator": "Ersten Administrator anlegen",
  "This link works once.": "Dieser Link gilt einmal.",
  "Password, 10 characters or more": "Passwort, mindestens 10 Zeichen",
  "Create and sign in": "Anlegen und anmelden",
  "Set up": "Einrichten",
  "Link over": "Link abgelaufen",
  "This link is over": "Dieser Link gilt nicht mehr",
  "This link was used or is too old. Start the hub again for a new one, or run tailrace-hub user add.":
    "Dieser Link wurde benutzt oder ist zu alt. Starten Sie den Hub neu für einen neuen, oder führen Sie tailrace-hub user add aus.",
  "This can't go on": "So geht es nicht weiter",
  "Sign-in failed": "Anmeldung gescheitert",
  "You aren't signed in": "Sie sind nicht angemeldet",
  Connected: "Verbunden",
  "{0} is connected.": "{0} ist verbunden.",
  "Not connected": "Nicht verbunden",
  "Back to the dashboard": "Zurück zur Oberfläche",
  "Too many requests": "Zu viele Anfragen",
  "Your network has begun too many sign-ins. Try again in {0} s.":
    "Aus Ihrem Netz wurden zu viele Anmeldungen begonnen. Versuchen Sie es in {0} s erneut.",
};

/** Returns the preferred language of an Accept-Language header (RFC 9110 section 12.5.4); English if it names neither. */
export function languageOf(header: string | undefined): PageLanguage {
  const wanted = (header ?? "")
    .split(",")
    .map((part) => {
      const [tag = "", ...parameters] = part
        .trim()
        .toLowerCase()
        .split(/\s*;\s*/);
      const quality = parameters.find((each) => each.startsWith("q="));
      return {
        language: tag.split("-")[0]!,
        quality: quality === undefined ? 1 : Number(quality.slice(2)) || 0,
      };
    })
    .filter(({ language, quality }) => quality > 0 && (language === "de" || language === "en"))
    .toSorted((a, b) => b.quality - a.quality);
  return wanted[0]?.language === "de" ? "de" : "en";
}

/** Returns the translation into `language`; a text without one stays English. */
export function sayIn(language: PageLanguage): Say {
  return (english, ...values) => {
    const text = language === "de" ? (GERMAN[english] ?? english) : english;
    return text.replaceAll(/\{(\d)\}/g, (_, at: string) => values[Number(at)] ?? "");
  };
}
