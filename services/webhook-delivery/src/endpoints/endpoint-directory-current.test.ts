import { setTimeout as pause } from 'node:timers/promises'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { afterAll, expect, test } from 'vitest'
import { testKeys, webhookDelivery } from '../testing/webhooks-api.ts'
import { currentTargets, endpointDirectory } from './endpoint-directory.ts'

const { send, workerUrl, createEndpointAt } = await webhookDelivery()
const worker = openDatabase({ url: workerUrl, applicationName: 'worker' })
afterAll(() => worker.stop?.())
const directory = endpointDirectory(testKeys)

/** The directory's current version of an endpoint. */
async function aTarget() {
  const caller = aCaller()
  const { id } = await createEndpointAt(caller, 'https://example.com')
  const target = (await directory.of(worker.sql, [caller.workspaceId])).get(caller.workspaceId)?.get(id)
  if (target === undefined) throw new Error('the directory lacks the endpoint')
  return { caller, target, path: `/v1/webhooks/${id}` }
}

test('an endpoint is told as it is when asked for or was up to 5 ms before, and not at all once it is deleted', async () => {
  const current = currentTargets(worker.sql, directory)
  const { caller, target, path } = await aTarget()
  expect(await current(target)).toBe(target)
  await send(caller, 'PUT', path, { url: 'https://example.com/moved' })
  await pause(5)
  expect((await current(target))?.url.href).toBe('https://example.com/moved')
  await send(caller, 'DELETE', path)
  await pause(5)
  expect(await current(target)).toBeUndefined()
})

test('all who ask while a query is under way share the next one', async () => {
  const asked: number[] = []
  const current = currentTargets(worker.sql, {
    of(sql, ids) {
      asked.push(ids.length)
      return directory.of(sql, ids)
    },
  })
  const targets = [(await aTarget()).target, (await aTarget()).target]
  const first = targets.map(current)
  await Promise.resolve()
  const rest = Array.from({ length: 50 }, () => targets.map(current)).flat()
  expect(await Promise.all([...first, ...rest])).toHaveLength(102)
  expect(asked).toEqual([2, 100])
})

test('a query that fails fails those who asked with it, and nobody after them', async () => {
  let isAway = true
  const current = currentTargets(worker.sql, {
    of: (sql, ids) => (isAway ? Promise.reject(new Error('away')) : directory.of(sql, ids)),
  })
  const { target } = await aTarget()
  const answers = await Promise.allSettled([current(target), current(target)])
  expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  isAway = false
  expect(await current(target)).toBe(target)
})
