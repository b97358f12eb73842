/**
 * Finds the encoding of a text while it is `passed` on, for `encoding()` after its end: by the byte order mark, else
 * UTF-8 if every byte fits it, else Windows-1252, which spreadsheets write in western countries.
 */
export function encodingDetector() {
  const utf8 = new TextDecoder('utf-8', { fatal: true })
  let isUtf8 = true
  let start = Buffer.alloc(0)
  const decode = (chunk?: Buffer) => {
    try {
      utf8.decode(chunk, { stream: chunk !== undefined })
    } catch {
      isUtf8 = false
    }
  }
  return {
    async *passed(text: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
      for await (const chunk of text) {
        if (start.length < 2) start = Buffer.concat([start, chunk.subarray(0, 2)])
        if (isUtf8) decode(chunk)
        yield chunk
      }
    },
    /** As TextDecoder names it. */
    encoding() {
      if (start[0] === 0xff && start[1] === 0xfe) return 'utf-16le'
      if (start[0] === 0xfe && start[1] === 0xff) return 'utf-16be'
      if (isUtf8) decode()
      return isUtf8 ? 'utf-8' : 'windows-1252'
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
