import { promisify } from 'node:util'
import { unzip, zstdDecompress } from 'node:zlib'

/*
 * Snappy and LZ4 are read here: libraries in C cannot be part of a bundled program, and the one for LZ4 in JavaScript
 * neither checks what it reads nor knows checksums of blocks.
 */

const [readGzip, readZstd] = [promisify(unzip), promisify(zstdDecompress)]
/** All of them throw a RangeError for more than `atMost` bytes. */
export const ungzip = (bytes: Buffer, atMost: number) => readGzip(bytes, { maxOutputLength: atMost })
export const unzstd = (bytes: Buffer, atMost: number) => readZstd(bytes, { maxOutputLength: atMost })

/** What the frames of Java's clients begin with (xerial). */
const SNAPPY_FRAMES = Buffer.from([0x82, ...Buffer.from('SNAPPY\0')])
const SNAPPY_HEADER_BYTES = 16

/** Reads snappy, one block or frames of them. Throws a RangeError for other bytes. */
export function unsnappy(bytes: Buffer, atMost: number): Buffer {
  if (!bytes.subarray(0, SNAPPY_FRAMES.length).equals(SNAPPY_FRAMES)) return snappyBlock(bytes, atMost)
  const blocks: Buffer[] = []
  let left = atMost
  for (let at = SNAPPY_HEADER_BYTES; at < bytes.length; ) {
    const end = at + 4 + bytes.readUInt32BE(at)
    const block = snappyBlock(bytes.subarray(at + 4, end), left)
    blocks.push(block)
    left -= block.length
    at = end
  }
  return Buffer.concat(blocks)
}

/** The bytes of a copy's distance, by the last two bits of its tag. */
const DISTANCE_BYTES = [0, 1, 2, 4] as const

function snappyBlock(bytes: Buffer, atMost: number): Buffer {
  let [at, length] = [0, 0]
  for (let factor = 1, more = true; more; factor *= 128) {
    const byte = bytes.readUInt8(at++)
    length += (byte & 127) * factor
    more = byte > 127
  }
  const output = new Output(length, Math.min(length, atMost))
  while (at < bytes.length) {
    const tag = bytes.readUInt8(at++)
    const [high, distanceBytes] = [tag >> 2, DISTANCE_BYTES[(tag & 3) as 0 | 1 | 2 | 3]]
    if (distanceBytes === 0) {
      const sizeBytes = Math.max(0, high - 59)
      const size = (sizeBytes === 0 ? high : bytes.readUIntLE(at, sizeBytes)) + 1
      output.add(bytes, at + sizeBytes, size)
      at += sizeBytes + size
    } else {
      const distance = bytes.readUIntLE(at, distanceBytes)
      at += distanceBytes
      if (distanceBytes === 1) output.repeat(((high >> 3) << 8) + distance, (high & 7) + 4)
      else output.repeat(distance, high + 1)
    }
  }
  if (output.length !== length) throw new RangeError('the block ends early')
  return output.bytes()
}

const LZ4_MAGIC = 0x184d2204
/** Bits of the byte of flags, which follows the magic number of an LZ4 frame. */
const LZ4 = { dictionary: 1, contentSize: 8, blockChecksum: 16 } as const
const LZ4_FLAGS_AT = 4
const UNCOMPRESSED = 2 ** 31

/** Reads a frame of LZ4. Does not compare its checksums. Throws a RangeError for other bytes. */
export function unlz4(bytes: Buffer, atMost: number): Buffer {
  if (bytes.readUInt32LE(0) !== LZ4_MAGIC) throw new RangeError('the bytes are no frame of LZ4')
  const flags = bytes.readUInt8(LZ4_FLAGS_AT)
  const output = new Output(4 * bytes.length, atMost)
  let at = LZ4_FLAGS_AT + 3 + (flags & LZ4.contentSize ? 8 : 0) + (flags & LZ4.dictionary ? 4 : 0)
  for (let size = bytes.readUInt32LE(at); size !== 0; size = bytes.readUInt32LE(at)) {
    const [from, length] = [at + 4, size % UNCOMPRESSED]
    if (size >= UNCOMPRESSED) output.add(bytes, from, length)
    else addLz4Block(output, bytes.subarray(from, from + length))
    at = from + length + (flags & LZ4.blockChecksum ? 4 : 0)
  }
  return output.bytes()
}

function addLz4Block(output: Output, block: Buffer): void {
  let at = 0
  const sizeOf = (bits: number): number => {
    let size = bits
    for (let byte = bits === 15 ? 255 : 0; byte === 255; size += byte) byte = block.readUInt8(at++)
    return size
  }
  while (at < block.length) {
    const token = block.readUInt8(at++)
    const literals = sizeOf(token >> 4)
    output.add(block, at, literals)
    at += literals
    // The last sequence has literals only.
    if (at >= block.length) return
    const distance = block.readUInt16LE(at)
    at += 2
    output.repeat(distance, sizeOf(token & 15) + 4)
  }
}

/** What has been read so far: later bytes repeat earlier ones. Throws a RangeError for more than `atMost` bytes. */
class Output {
  length = 0
  readonly #atMost: number
  #buffer: Buffer

  constructor(expectedBytes: number, atMost: number) {
    this.#buffer = Buffer.allocUnsafe(Math.min(expectedBytes, atMost))
    this.#atMost = atMost
  }

  bytes(): Buffer {
    return this.#buffer.subarray(0, this.length)
  }

  add(bytes: Buffer, from: number, size: number): void {
    if (from + size > bytes.length) throw new RangeError('the bytes end early')
    this.#makeRoom(size)
    bytes.copy(this.#buffer, this.length, from, from + size)
    this.length += size
  }

  /** Adds `size` bytes that came `distance` bytes before, the first of which may be among the last. */
  repeat(distance: number, size: number): void {
    if (distance < 1 || distance > this.length) throw new RangeError('the bytes repeat what is not there')
    this.#makeRoom(size)
    const [from, end] = [this.length - distance, this.length + size]
    // What has been copied is there to be copied as well.
    while (this.length < end) {
      const copied = Math.min(this.length - from, end - this.length)
      this.#buffer.copyWithin(this.length, from, from + copied)
      this.length += copied
    }
  }

  #makeRoom(bytes: number): void {
    const needed = this.length + bytes
    if (needed > this.#atMost) throw new RangeError(`the bytes are more than ${this.#atMost}`)
    if (needed > this.#buffer.length) this.#buffer = Buffer.concat([this.#buffer], Math.min(2 * needed, this.#atMost))
  }
}
