/** Records that a batch had, and that nobody can read. */
export interface UnreadableBatch {
  readonly firstOffset: string
  readonly lastOffset: string
  readonly reason: string
}

/** More of them kafkajs (2.2.4) cannot take from a batch: it passes each as an argument of one call. */
const MAX_RECORDS = 100_000

/** What a batch has before its compressed records, and where. */
const HEADER_BYTES = 61
const [LENGTH_AT, EPOCH_AT, MAGIC_AT, CODEC_AT, LAST_OFFSET_AT, COUNT_AT] = [8, 12, 16, 22, 23, 57]
/** Bytes of a batch before its length ends: the length counts what follows. */
const NOT_COUNTED_BYTES = 12
const MAGIC = 2
const CODEC_BITS = 7

/** An epoch of its leader that no batch has: brokers write it over whatever a producer has sent. */
const REPLACED = -(2 ** 31)

/** The answer has been changed, and is to be decoded again. */
class BatchReplaced extends Error {}

type Decompress = (bytes: Buffer) => Promise<Buffer>

/** A codec's `decompress` for kafkajs: of a batch that cannot be read, one record remains, which says why. */
export const replacingUnreadable =
  (decompress: Decompress): Decompress =>
  async (bytes) => {
    const header = headerOf(bytes)
    try {
      const records = header?.readInt32BE(COUNT_AT) ?? 0
      if (records > MAX_RECORDS) throw new RangeError(`it has ${records} records, more than ${MAX_RECORDS}`)
      return await decompress(bytes)
    } catch (error) {
      if (header === undefined || isOfMemory(error) || !replace(header, bytes, error)) throw error
      throw new BatchReplaced('a batch cannot be read', { cause: error })
    }
  }

/** The process lacks memory: the batch may be read later. */
const OF_MEMORY = /Z_MEM_ERROR|ZSTD_error_memory_allocation|ERR_MEMORY_ALLOCATION_FAILED|ERR_ZLIB_INITIALIZATION_FAILED/
const isOfMemory = (error: unknown) =>
  OF_MEMORY.test(String((error as { code?: unknown }).code)) || /allocation failed/.test(String(error))

/** The header before compressed records, in the same memory; undefined when these are of an older format. */
function headerOf(bytes: Buffer): Buffer | undefined {
  const from = bytes.byteOffset - HEADER_BYTES
  if (from < 0) return undefined
  const header = Buffer.from(bytes.buffer, from, HEADER_BYTES)
  const hasLength = header.readInt32BE(LENGTH_AT) === HEADER_BYTES - NOT_COUNTED_BYTES + bytes.length
  return hasLength && header.readInt8(MAGIC_AT) === MAGIC ? header : undefined
}

/** Replaces the records by one that is not compressed, has the last offset and its value is the reason. */
function replace(header: Buffer, bytes: Buffer, error: unknown): boolean {
  const lastOffset = varint(header.readInt32BE(LAST_OFFSET_AT))
  const reason = Buffer.from(error instanceof Error ? error.message : String(error)).subarray(0, bytes.length - 20)
  // Its attributes, its time and no key; no headers.
  const record = [Buffer.from([0, 0]), lastOffset, varint(-1), varint(reason.length), reason, varint(0)]
  const encoded = Buffer.concat(record)
  const whole = Buffer.concat([varint(encoded.length), encoded])
  if (whole.length > bytes.length) return false
  whole.copy(bytes)
  header.writeInt32BE(REPLACED, EPOCH_AT)
  header.writeUInt8(header.readUInt8(CODEC_AT) & ~CODEC_BITS, CODEC_AT)
  header.writeInt32BE(1, COUNT_AT)
  return true
}

/** Encodes a number as a zigzag varint, as Kafka's records have numbers. */
function varint(number: number): Buffer {
  const bytes: number[] = []
  let rest = number < 0 ? -2 * number - 1 : 2 * number
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128)
  return Buffer.from([...bytes, rest])
}

interface Protocol {
  readonly response: { decode(answer: Buffer): Promise<unknown> }
}

/** Decodes an answer again after each batch of it that was replaced. */
export const decodingReplaced = <Known extends object>(protocol: Known): Known => {
  const { response } = protocol as Known & Protocol
  const decode = async (answer: Buffer): Promise<unknown> => {
    for (;;) {
      try {
        return await response.decode(answer)
      } catch (error) {
        if (!(error instanceof BatchReplaced)) throw error
      }
    }
  }
  return { ...protocol, response: { ...response, decode } }
}

interface Message {
  readonly offset: string
  readonly value: Buffer | null
}

/** The batch that a record stands for; undefined for a record that a producer has sent. */
export function unreadableBatchOf(message: Message): UnreadableBatch | undefined {
  const { batchContext } = message as Message & { batchContext?: { partitionLeaderEpoch: number; firstOffset: string } }
  if (batchContext?.partitionLeaderEpoch !== REPLACED) return undefined
  const { offset: lastOffset, value } = message
  return { firstOffset: batchContext.firstOffset, lastOffset, reason: String(value ?? '') }
}
