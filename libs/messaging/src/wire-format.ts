const MAGIC_BYTE = 0
const HEADER_BYTES = 5

/**
 * Reads the JSON of a record in Confluent wire format. The registry is not asked: the reader's own schema says what it
 * needs, and members it does not know are not its business. Throws when the bytes are something else.
 */
export function decodeRecord(bytes: Buffer): unknown {
  if (bytes[0] !== MAGIC_BYTE || bytes.length < HEADER_BYTES) throw new Error('not in Confluent wire format')
  return JSON.parse(bytes.toString('utf8', HEADER_BYTES))
}
