import { createHash, randomUUID } from 'node:crypto'
import { TOPICS } from '@backoffice/contracts/events.ts'
import { outboxRecord, publish } from '@backoffice/postgres/outbox.ts'
import { z } from 'zod'
import { operation } from '../operation.ts'
import { created } from '../reply.ts'

const Stored = z.strictObject({
  id: z.string(),
  name: z.string(),
  declared_type: z.string(),
  template: z.string().optional(),
  size: z.number(),
  sha256: z.string(),
})
export type Stored = z.output<typeof Stored>

/** What an operation that takes a file has seen of the bytes under way: tests look in while a request goes on. */
export const seen = { bytes: 0, failures: [] as string[] }

/** POST /v1/files: reads a file of at most 5 MiB and writes one record to the outbox, which is what tests see of it. */
export const storeFile = operation({
  operationId: 'storeFile',
  method: 'POST',
  path: '/v1/files',
  summary: 'Store a file',
  scope: 'product::create',
  body: z.strictObject({ template: z.string().max(20).optional() }),
  upload: { member: 'file', maxBytes: 5 * 1024 * 1024, example: 'file' },
  responses: { 201: Stored },
  async handle({ body, file, now, inWorkspace }) {
    const hash = createHash('sha256')
    seen.bytes = 0
    try {
      for await (const chunk of file.content) {
        hash.update(chunk)
        seen.bytes += chunk.length
      }
    } catch (error) {
      seen.failures.push(String(error))
      throw error
    }
    const sha256 = hash.digest('hex')
    return inWorkspace(async (tx) => {
      const id = randomUUID()
      await publish(tx, [outboxRecord(TOPICS.catalogEvents, 'tag.created', id, { id, name: 'a', slug: 'a' })], now)
      return created({ id, name: file.name, declared_type: file.declaredType, size: seen.bytes, sha256, ...body })
    })
  },
})

/** POST /v1/refusals: refuses without reading the file. */
export const refuseFile = operation({
  operationId: 'refuseFile',
  method: 'POST',
  path: '/v1/refusals',
  summary: 'Refuse a file',
  scope: 'product::create',
  upload: { member: 'file', maxBytes: 5 * 1024 * 1024, example: 'file' },
  responses: { 201: Stored },
  handle: async () => {
    throw new Error('refused before it was read')
  },
})
