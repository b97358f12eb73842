// @ts-expect-error -- it has no types of its own
import KafkajsDecoder from 'kafkajs/src/protocol/decoder.js'

interface Header {
  readonly key: string
  readonly value: Buffer
}
type Headers = Record<string, Buffer | Buffer[]>

/**
 * Lets kafkajs (2.2.4) read a record with very many headers. It folds them into an object which it copies for each:
 * with ten thousand the process would stand still for minutes, and so would the next one that reads the record.
 */
export function readManyHeaders(): void {
  const { prototype }: { prototype: { readVarIntArray(read: unknown): Header[] } } = KafkajsDecoder
  const readAll = prototype.readVarIntArray
  prototype.readVarIntArray = function (read) {
    const headers = readAll.call(this, read)
    // What kafkajs calls next.
    return Object.assign(headers, { reduce: () => byName(headers) })
  }
}

/** The values of a name that is there several times are an array. */
function byName(headers: readonly Header[]): Headers {
  const values = new Map<string, Buffer | Buffer[]>()
  for (const { key, value } of headers) {
    const before = values.get(key)
    if (Array.isArray(before)) before.push(value)
    else values.set(key, before === undefined ? value : [before, value])
  }
  return Object.fromEntries(values)
}
