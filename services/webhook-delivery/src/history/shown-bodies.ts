/** What of a body is shown. */
export interface ShownBody {
  readonly body: string
  readonly truncated: boolean
}

/** The beginning of a text whose JSON takes at most `bytes` bytes. */
export function cutTo(text: string, bytes: number): ShownBody {
  if (jsonBytes(text) <= bytes) return { body: text, truncated: false }
  // Each character takes a byte at least, and the quotes two. A part is written once, since a text may be long.
  let [least, most, left] = [0, Math.min(text.length, bytes), bytes - 2]
  while (least < most) {
    const middle = Math.ceil((least + most) / 2)
    const more = jsonBytes(text.slice(least, middle)) - 2
    if (more <= left) [least, left] = [middle, left - more]
    else most = middle - 1
  }
  // Half of a surrogate pair is no character.
  const end = least < text.length && isHighSurrogate(text.charCodeAt(least - 1)) ? least - 1 : least
  return { body: text.slice(0, end), truncated: end < text.length }
}

/** The bytes of a value in a JSON body. */
export const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff
