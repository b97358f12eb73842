import { parentPort, workerData } from 'node:worker_threads'
import { usedMemory } from '@backoffice/testing/used-memory.ts'
import { S3Storage } from '../s3-storage.ts'
import type { S3Server } from '../storage-settings.ts'

/*
 * Puts a file into a bucket and reads it, in a thread whose memory is that of nothing else, and so little that it is
 * measured soon. Answers with the bytes of both and the most bytes of buffers meanwhile.
 */
const { server, bucket, file } = workerData as { server: S3Server; bucket: string; file: string }

const storage = new S3Storage(bucket, bucket, server)
const usedBytes = () => usedMemory().arrayBuffers
const before = usedBytes()
let most = before
const measure = () => {
  most = Math.max(most, usedBytes())
}
const watch = setInterval(measure, 500)
const size = await storage.put('large.csv', file, 'text/csv')
let read = 0
let measured = 0
for await (const chunk of await storage.read('large.csv')) {
  read += chunk.length
  if (read < measured) continue
  measure()
  measured += 4 * 1024 * 1024
}
clearInterval(watch)
await storage.stop()
parentPort?.postMessage({ size, read, used: most - before })
