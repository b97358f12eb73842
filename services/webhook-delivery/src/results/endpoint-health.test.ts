import { openDatabase } from '@backoffice/postgres/database.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, test } from 'vitest'
import type { Attempt } from '../sending/attempt.ts'
import { webhookDelivery } from '../testing/webhooks-api.ts'
import { heardFrom, noteHealth } from './endpoint-health.ts'

const { createEndpointAt, workerUrl } = await webhookDelivery()
const worker = openDatabase({ url: workerUrl, applicationName: 'health' })
whenDone(() => worker.stop?.())

const START = Date.parse('2026-03-01T12:00:00.000Z')
const at = (seconds: number) => new Date(START + seconds * 1000)

/** Attempts of an endpoint as they end: the second after the start, the status of the answer, and the delivery's. */
async function anEndpoint() {
  const caller = aCaller()
  const { id } = await createEndpointAt(caller, 'https://example.com/hook')
  const job = { target: { id, workspaceId: caller.workspaceId }, resend: undefined }
  const attempt = ([seconds, status, delivery = 'PENDING']: Ended) => {
    const failure = status < 300 ? null : { class: 'status', message: `${status}` }
    const exchange = { durationMs: 0, response: { status }, failure }
    return { job, startedAt: at(seconds), exchange, status: failure ? delivery : 'DELIVERED' } as unknown as Attempt
  }
  return {
    attempts: (...ended: Ended[]) => ended.map(attempt),
    /** Returns how many rows are written. */
    note: async (...ended: Ended[]) => (await noteHealth(worker.sql, ended.map(attempt))).count,
  }
}
type Ended = [seconds: number, status: number, delivery?: Attempt['status']]

test('a row is written when something changes, and otherwise once in ten seconds', async () => {
  const { note } = await anEndpoint()
  expect(await note([0, 200])).toBe(1)
  expect(await note([1, 200], [2, 200])).toBe(0)
  expect(await note([10.5, 200])).toBe(1)
  expect(await note([11, 500])).toBe(1)
  expect(await note([12, 500], [13, 502])).toBe(0)
  expect(await note([14, 410])).toBe(1)
  expect(await note([15, 410])).toBe(0)
  expect(await note([16, 500, 'FAILED'])).toBe(1)
  expect(await note([17, 200])).toBe(1)
  expect(await note([18, 200])).toBe(0)
})

test('of attempts that end together those after the last success count as failing, whatever their order', async () => {
  const { attempts } = await anEndpoint()
  const [heard] = heardFrom(attempts([4, 503], [1, 410], [3, 500, 'FAILED'], [2, 200]))
  expect(heard).toMatchObject({
    succeeded_at: at(2),
    failing_since: at(3),
    failed_at: at(4),
    given_up_at: at(3),
    is_gone: false,
    failure: { error_class: 'status', response_status: 503 },
  })
})
