/**
 * Folds a text for comparison (OP-110): ignores case in every script (the four letters i of Turkish) and encoding (full
 * width, ligatures, non-breaking spaces); accents count. Control characters become spaces, so it has no line break.
 * Accepts every text, is idempotent, and only folds an empty text to an empty one.
 */
export const fold = (text: string): string => (PRINTABLE_ASCII.test(text) ? text.toLowerCase() : foldAny(text))

/** Most SKUs, slugs and ids; nothing of them changes but their case. */
const PRINTABLE_ASCII = /^[ -~]*$/

const foldAny = (text: string): string =>
  lowerCase(text.toWellFormed().normalize('NFKC'))
    .replaceAll('ς', 'σ')
    .replace(/i\u0307+/g, 'i')
    .normalize('NFKC')
    .replace(/\p{Cc}/gu, ' ')

/** Through the upper case, which several lower-case letters share: ß becomes SS, ſ becomes S. */
const lowerCase = (text: string): string => text.toLowerCase().toUpperCase().toLowerCase()
