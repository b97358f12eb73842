import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { expect, it } from 'vitest'
import { adminOf, filledPair } from './testing/filled-workspace.ts'
import { sharedStack } from './testing/stack.ts'
import { kafkaPrefixOf } from './testing/stack-process.ts'
import { filesNaming, lastingRowsNaming, rowsNaming } from './testing/workspace-rows.ts'

const stack = await sharedStack()
const receiver = await startReceiver()
const admin = adminOf(stack)
const kept = await filledPair(stack, receiver.url)

interface Deletion {
  readonly completed: boolean
  readonly services: readonly { service: string; rows: number | null; files: number | null }[]
}

it('the deletion of a workspace leaves no row and no file of it and of its sandbox in any service, and touches no other', async () => {
  const deleted = await filledPair(stack, receiver.url)
  const ids = [deleted.live.id, deleted.sandbox.id]
  for (const id of ids) {
    const schemas = Object.keys(await rowsNaming(stack, id)).map((table) => table.split('.')[0])
    expect([...new Set(schemas)].toSorted()).toEqual([
      'apps',
      'catalog',
      'collections',
      'gateway',
      'imports',
      'orders',
      'webhook_delivery',
    ])
    expect(filesNaming(stack, id)).not.toEqual([])
  }
  const before = await Promise.all([kept.live.id, kept.sandbox.id].map((id) => lastingRowsNaming(stack, id)))
  const path = `/admin/v1/workspaces/${deleted.live.id}`

  expect((await admin('DELETE', path)).status).toBe(202)
  await expect.poll(async () => (await deleted.live.api('GET', '/v1/products')).status).toBe(401)
  let last: Deletion | undefined
  await eventually('the check finds nothing left', async () => {
    last = (await admin<Deletion>('GET', `${path}/deletion`)).body
    return last.completed
  }).catch((error: Error) => {
    throw new Error(`${error.message}: ${JSON.stringify(last)}`)
  })
  for (const id of ids) expect([await rowsNaming(stack, id), filesNaming(stack, id)]).toEqual([{}, []])

  const after = await Promise.all([kept.live.id, kept.sandbox.id].map((id) => lastingRowsNaming(stack, id)))
  expect(after).toEqual(before)
  for (const { api } of [kept.live, kept.sandbox])
    expect((await api<{ total: number }>('GET', '/v1/products')).body.total).toBe(33)
  expect(filesNaming(stack, kept.live.id)).not.toEqual([])

  await promisify(execFile)(process.execPath, ['services/collections/src/products/rebuild.ts'], {
    env: {
      ...process.env,
      WORKER_DATABASE_URL: stack.description().postgres,
      KAFKA_BROKERS: stack.description().kafka.join(),
      KAFKA_PREFIX: kafkaPrefixOf(stack.directory),
    },
  })
  for (const id of ids) expect(await rowsNaming(stack, id)).toEqual({})
  const acts = await admin<{ items: { action: string }[] }>(
    'GET',
    `/admin/v1/audit?target=workspaces/${deleted.live.id}`,
  )
  expect(acts.body.items[0]?.action).toBe('workspace.deleted')
})

it('a reset of a sandbox leaves no row and no file of it, its key an empty one, and the live workspace as it was', async () => {
  const { live, sandbox } = kept
  const before = await lastingRowsNaming(stack, live.id)
  const path = '/v1/sandbox/reset'
  const { status, body } = await sandbox.api<{ workspace: string }>('POST', path, { workspace: sandbox.id })
  expect(status).toBe(202)
  const products = async () => (await sandbox.api<{ total: number }>('GET', '/v1/products')).body.total
  await eventually('the sandbox is empty', async () => (await products()) === 0)
  await eventually('every service has deleted it', async () => {
    const read = await sandbox.api<{ completed: boolean }>('GET', path)
    return read.body.completed
  })
  expect([await rowsNaming(stack, sandbox.id), filesNaming(stack, sandbox.id)]).toEqual([{}, []])
  expect(await lastingRowsNaming(stack, live.id)).toEqual(before)
  expect(Object.keys(await rowsNaming(stack, body.workspace)).filter((table) => !table.startsWith('gateway.'))).toEqual(
    [],
  )
  expect(filesNaming(stack, live.id)).not.toEqual([])
})
