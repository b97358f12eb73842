import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { LIMITS } from '@backoffice/contracts/limits.ts'
import kafkajs, { CompressionTypes } from 'kafkajs'
import { ungzip, unlz4, unsnappy, unzstd } from './kafka-codecs.ts'
import type { OutgoingRecord } from './kafka-connection.ts'
import { replacingUnreadable } from './unreadable-batches.ts'

/** Larger requests are compressed, in a thread: kafkajs' checksums block the event loop for 18 ms per megabyte. */
const COMPRESSED_FROM_BYTES = 64 * 1024
/** A request that would shrink more is not compressed: compressed bytes limit a fetch, but memory holds all. */
const MAX_COMPRESSION_RATIO = 16
/** More than that no producer of ours writes. A few bytes of others may stand for all memory of the process. */
const MAX_BYTES = MAX_COMPRESSION_RATIO * LIMITS.recordBytes
const compress = promisify(gzip)

/**
 * Replaces the gzip codec of kafkajs, which uses a slower level and does not limit how far a request shrinks. The other
 * codecs are only read: producers outside and settings of brokers use them, and kafkajs would end the member, as it
 * would for a batch that cannot be read.
 */
export function installCompression(): void {
  const codecs = kafkajs.CompressionCodecs
  // kafkajs asks for it when it decodes, not when it encodes.
  Object.assign(codecs, { [CompressionTypes.None]: readBy(async (bytes) => bytes) })
  codecs[CompressionTypes.Snappy] = readBy(async (bytes) => unsnappy(bytes, MAX_BYTES))
  codecs[CompressionTypes.LZ4] = readBy(async (bytes) => unlz4(bytes, MAX_BYTES))
  codecs[CompressionTypes.ZSTD] = readBy((bytes) => unzstd(bytes, MAX_BYTES))
  codecs[CompressionTypes.GZIP] = () => ({
    async compress({ buffer }: { readonly buffer: Buffer }) {
      // The fastest level: it costs less than the checksums.
      const compressed = await compress(buffer, { level: 1 })
      return compressed.length * MAX_COMPRESSION_RATIO < buffer.length ? compress(buffer, { level: 0 }) : compressed
    },
    decompress: replacingUnreadable((bytes) => ungzip(bytes, MAX_BYTES)),
  })
}

const readBy = (decompress: (bytes: Buffer) => Promise<Buffer>) => () => ({
  compress: () => Promise.reject(new Error('this codec is only read')),
  decompress: replacingUnreadable(decompress),
})

/** The compression of a request with these records. */
export function compressionOf(records: readonly OutgoingRecord[]): CompressionTypes {
  const bytes = records.reduce((sum, { value }) => sum + (value?.length ?? 0), 0)
  return bytes < COMPRESSED_FROM_BYTES ? CompressionTypes.None : CompressionTypes.GZIP
}
