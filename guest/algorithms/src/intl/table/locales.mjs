// The locales that there is data for, the first one of each language before its others.
export const LOCALES = [
  "en-US", "en-GB", "en-CA", "en-AU", "en-NZ", "en-IE", "en-IN", "en-ZA", "sv-SE", "de-DE", "de-AT", "de-CH", "fr-FR", "fr-CA", "fr-CH",
  "es-ES", "es-MX", "it-IT", "nl-NL", "da-DK", "nb-NO", "ja-JP", "pt-BR", "pt-PT",
];
