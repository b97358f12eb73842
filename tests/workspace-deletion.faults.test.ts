import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SERVICE_NAMES } from '@backoffice/contracts/services.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { startKafka } from '@backoffice/testing/servers/kafka.ts'
import { afterAll, expect, it } from 'vitest'
import { adminOf, filledPair } from './testing/filled-workspace.ts'
import { importsOf, productRows } from './testing/imports.ts'
import { aProduct } from './testing/products.ts'
import { startReplica } from './testing/replica.ts'
import { startStack } from './testing/stack.ts'
import { filesNaming, lastingRowsNaming, rowsNaming } from './testing/workspace-rows.ts'

const WITHIN_MS = 150_000
const directory = mkdtempSync(join(tmpdir(), 'backoffice-deletion-'))
const kafka = await startKafka({ directory })
afterAll(async () => {
  await kafka.stop()
  rmSync(directory, { recursive: true, force: true })
})
// Replicas have the topics of the stack only where no prefix is in the way.
const stack = await startStack({
  KAFKA_BROKERS: kafka.brokers.join(','),
  KAFKA_PREFIX: '',
  WEBHOOK_RETRY_DELAYS: '0s,1s,1s,1s,1s,1s',
})
const receiver = await startReceiver()
const admin = adminOf(stack)

const isCompleted = (id: string) => async () => {
  const answer = await admin<{ completed: boolean }>('GET', `/admin/v1/workspaces/${id}/deletion`).catch(
    () => undefined,
  )
  return answer?.body.completed
}

it('kills of every service during a deletion, beside second replicas, leave nothing of it, and all of the other', async () => {
  const [deleted, kept] = [await filledPair(stack, receiver.url, 40), await filledPair(stack, receiver.url)]
  const imports = importsOf(stack, deleted.live)
  const { body } = await imports.upload('products', productRows(2500).replaceAll('SKU-', 'LARGE-'))
  await imports.atRest(body.id)
  await imports.start(body.id)
  await imports.atRest(body.id, WITHIN_MS)
  const before = await lastingRowsNaming(stack, kept.live.id)
  await Promise.all([startReplica(stack, 'catalog'), startReplica(stack, 'collections')])

  expect((await admin('DELETE', `/admin/v1/workspaces/${deleted.live.id}`)).status).toBe(202)
  for (const service of SERVICE_NAMES) {
    stack.kill(service)
    await eventually(`${service} is back`, async () => {
      const { url } = stack.description().services[service] ?? {}
      return fetch(`${url}/openapi.json`).then(
        () => true,
        () => false,
      )
    })
  }
  await eventually('the check finds nothing left', isCompleted(deleted.live.id), WITHIN_MS)
  for (const { id } of [deleted.live, deleted.sandbox])
    expect([await rowsNaming(stack, id), filesNaming(stack, id)]).toEqual([{}, []])
  expect(await lastingRowsNaming(stack, kept.live.id)).toEqual(before)
})

it('a deletion while requests, an import and deliveries are under way leaves nothing', async () => {
  const { live, sandbox } = await filledPair(stack, receiver.url)
  receiver.answerWith((response) => response.writeHead(500).end())
  const imports = importsOf(stack, live)
  const { body } = await imports.upload('products', productRows(2500).replaceAll('SKU-', 'UNDER-WAY-'))
  await imports.atRest(body.id)
  await imports.start(body.id)
  await imports.until(body.id, 'is applied in part', ({ processed_rows: rows }) => rows > 0)
  let refused = 0
  const writing = Array.from({ length: 8 }, async () => {
    while (refused < 20) {
      const { status } = await live.api('POST', '/v1/products', aProduct({ name: 'Plate' }))
      if (status === 401) refused++
    }
  })
  expect((await admin('DELETE', `/admin/v1/workspaces/${live.id}`)).status).toBe(202)
  await Promise.all(writing)
  // Batches of the import that were on their topic are applied late; the passes of the first minutes find what they
  // wrote.
  await eventually(
    'nothing is left',
    async () => {
      const rows = await Promise.all([live, sandbox].map(({ id }) => rowsNaming(stack, id)))
      return rows.every((each) => Object.keys(each).length === 0) && (await isCompleted(live.id)())
    },
    WITHIN_MS,
  )
  const attempts = receiver.requests.length
  const other = await filledPair(stack, (await startReceiver()).url)
  expect((await other.live.api('GET', '/v1/products')).status).toBe(200)
  expect(receiver.requests.length).toBe(attempts)
})
