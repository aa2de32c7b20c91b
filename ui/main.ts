/** Starts the dashboard: the language first, as texts are made when their modules are loaded. */

import { startLanguage } from "./services/language.ts";
import { startTheme } from "./theme.ts";

startTheme();
await startLanguage();
await import("./app.ts");
document.querySelector(".boot")?.replaceWith(document.createElement("tr-app"));
