import { promisify } from 'node:util'
import { gzip, unzip } from 'node:zlib'
import kafkajs, { CompressionTypes } from 'kafkajs'
import type { OutgoingRecord } from './kafka-connection.ts'

/**
 * Requests from so many bytes on are compressed, in a thread: kafkajs computes checksums of what it sends byte by byte, about 18 ms for
 * each megabyte, in which requests wait.
 */
const COMPRESSED_FROM_BYTES = 64 * 1024
/** What would shrink further is sent as it is: consumers fetch by compressed bytes, and hold what these become. */
const MOST_SHRINKING = 16
const [compress, decompress] = [promisify(gzip), promisify(unzip)]

/** Replaces the codec of kafkajs, which compresses more than the fastest level does and bounds nothing. */
export function installCompression(): void {
  kafkajs.CompressionCodecs[CompressionTypes.GZIP] = () => ({
    async compress({ buffer }: { readonly buffer: Buffer }) {
      // The fastest level: it costs less than the checksums.
      const compressed = await compress(buffer, { level: 1 })
      return compressed.length * MOST_SHRINKING < buffer.length ? compress(buffer, { level: 0 }) : compressed
    },
    decompress: (bytes: Buffer) => decompress(bytes),
  })
}

/** The compression of a request with these records. */
export function compressionOf(records: readonly OutgoingRecord[]): CompressionTypes {
  const bytes = records.reduce((sum, { value }) => sum + (value?.length ?? 0), 0)
  return bytes < COMPRESSED_FROM_BYTES ? CompressionTypes.None : CompressionTypes.GZIP
}
