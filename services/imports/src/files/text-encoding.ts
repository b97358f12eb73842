import { isAscii } from 'node:buffer'

/**
 * In a text with a character for each byte: a character of several bytes in UTF-8 (RFC 3629), else a byte that is none.
 */
const BEYOND_ASCII =
  /[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2}|[\x80-\xff]/g
/** The start of a character whose other bytes may follow. */
const INCOMPLETE = /[\xc2-\xf4][\x80-\xbf]{0,2}$/
/** Bytes that Windows-1252 does not have. */
const NOT_WINDOWS = /[\x81\x8d\x8f\x90\x9d]/

/** Where the first byte is that is not UTF-8, in a text with a character for each byte. */
export function firstBadByte(bytes: string): number | undefined {
  for (const { 0: found, index } of bytes.matchAll(BEYOND_ASCII)) if (found.length === 1) return index
  return undefined
}

/**
 * Finds the encoding of a text while it is `passed` on, for `encoding()` after its end: by the byte order mark, else
 * Windows-1252, which spreadsheets write in western countries, when more of its bytes beyond ASCII speak against UTF-8
 * than for it. A few bad bytes in a text that is UTF-8 are damage, and those rows are refused.
 */
export function encodingDetector() {
  let start = Buffer.alloc(0)
  let rest = ''
  let good = 0
  let bad = 0
  let isWindows = true
  const count = (bytes: string) => {
    for (const [found] of bytes.matchAll(BEYOND_ASCII)) {
      if (found.length > 1) good++
      else {
        bad++
        isWindows &&= !NOT_WINDOWS.test(found)
      }
    }
  }
  return {
    async *passed(text: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
      for await (const chunk of text) {
        if (start.length < 3) start = Buffer.concat([start, chunk.subarray(0, 3)])
        if (rest !== '' || !isAscii(chunk)) {
          const bytes = rest + chunk.toString('latin1')
          rest = INCOMPLETE.exec(bytes)?.[0] ?? ''
          count(bytes.slice(0, bytes.length - rest.length))
        }
        yield chunk
      }
    },
    /** As TextDecoder names it. */
    encoding() {
      count(rest)
      const mark = start.toString('latin1')
      if (mark.startsWith('\xff\xfe')) return 'utf-16le'
      if (mark.startsWith('\xfe\xff')) return 'utf-16be'
      return bad > good && isWindows && !mark.startsWith('\xef\xbb\xbf') ? 'windows-1252' : 'utf-8'
    },
  }
}

/** Turns a text into UTF-8. A byte order mark stays with UTF-8 and goes with UTF-16. */
export async function* inUtf8(bytes: AsyncIterable<Buffer>, encoding: string): AsyncGenerator<Buffer> {
  if (encoding === 'utf-8') {
    yield* bytes
    return
  }
  const decoder = new TextDecoder(encoding)
  for await (const chunk of bytes) yield Buffer.from(decoder.decode(chunk, { stream: true }))
  yield Buffer.from(decoder.decode())
}
