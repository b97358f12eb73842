/**
 * A text as rules compare it: without regard to case in any script (`STRASSE` and `straße`, the four letters i of Turkish) and
 * to the way it is encoded (composed or not, full width, ligatures, non-breaking spaces); accents count. Control characters
 * become spaces, so no folded text has a line break. Defined for every text, never empty unless that is; folding twice changes
 * nothing (OP-110).
 */
export const fold = (text: string): string =>
  lowest(text.toWellFormed().normalize('NFKC'))
    .replaceAll('ς', 'σ')
    .replace(/i\u0307+/g, 'i')
    .normalize('NFKC')
    .replace(/\p{Cc}/gu, ' ')

/** By way of the upper case, which several lower-case letters share: ß has none of its own, ſ has that of s. */
const lowest = (text: string): string => text.toLowerCase().toUpperCase().toLowerCase()
