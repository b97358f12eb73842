import { TOPICS } from '@backoffice/contracts/events.ts'
import { consumersOf, type ServiceName } from '@backoffice/contracts/services.ts'
import { createApp } from '@backoffice/http/app.ts'
import { operation } from '@backoffice/http/operation.ts'
import { created } from '@backoffice/http/reply.ts'
import { outboxRecord, publish } from '@backoffice/postgres/outbox.ts'
import type { Component } from '@backoffice/runtime/component.ts'
import { v7 as uuidv7 } from 'uuid'
import { z } from 'zod'
import { runService } from '../run-service.ts'
import { type ServiceConfig, serviceConfig } from '../service-config.ts'

/*
 * Runs in the place of the service that the argument names, with that service's row and migrations and with components
 * of its own. Tells the test over IPC what starts, what stops and what is consumed.
 */
const name = process.argv[2] as ServiceName
// `runService` adds the consumer of workspaces by itself.
const ownConsumers = consumersOf(name).filter((consumer) => !consumer.name.endsWith('.workspaces'))
const consumers = process.argv.includes('--no-consumer') ? [] : ownConsumers
const say = (said: string) => process.send?.(said)

const telling = <C extends Component>(component: C): C => ({
  ...component,
  async start() {
    say(`start ${component.name}`)
    await component.start?.()
  },
  async stop() {
    await component.stop?.()
    say(`stop ${component.name}`)
  },
})

/** Publishes an event. */
const createTag = operation({
  operationId: 'createTag',
  method: 'POST',
  path: '/v1/tags',
  summary: 'Create a tag',
  scope: 'product::create',
  responses: { 201: z.strictObject({ id: z.string() }) },
  handle: ({ inWorkspace, now }) =>
    inWorkspace(async (tx) => {
      const tag = { id: uuidv7(), name: 'Ankara', slug: 'ankara' }
      await publish(tx, [outboxRecord(TOPICS.catalogEvents, 'tag.created', tag.id, tag)], now)
      return created({ id: tag.id })
    }),
})

// The tests are gone.
process.on('disconnect', () => process.exit(1))

const POOLS = { worker: { role: 'worker', poolSize: 2 } } as const
const config = serviceConfig(name) as unknown as z.ZodType<ServiceConfig>

await runService(name as 'gateway', config as ReturnType<typeof serviceConfig<'gateway'>>, POOLS, (context) => {
  const { worker } = context.pools
  const app = createApp({ logger: context.logger, trustRequestId: false })
  app.get('/v1/products', async () => ({ service: name }))
  const addRoutes = (service: typeof app) => void service.get('/files', async () => 'a file')
  return {
    ...(name === 'gateway' ? { app } : { operations: [createTag], worker, addRoutes }),
    components: [telling({ name: 'component' })],
    consumers: consumers.map((consumer) =>
      telling(
        context.consume(
          {
            ...consumer,
            schema: z.unknown(),
            async handle(records) {
              for (const { topic, key } of records) say(`consumed ${key} of ${topic}`)
              return undefined
            },
          },
          worker,
        ),
      ),
    ),
    workers: [telling({ name: 'worker' })],
  }
})
