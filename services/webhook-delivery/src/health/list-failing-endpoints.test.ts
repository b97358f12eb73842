import { PLATFORM } from '@backoffice/contracts/app.ts'
import type { FailingEndpoint } from '@backoffice/contracts/endpoint-state.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { serviceClient } from '@backoffice/testing/service-client.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { beforeEach, expect, test } from 'vitest'
import type { z } from 'zod'
import { webhookDelivery } from '../testing/webhooks-api.ts'
import { listFailingEndpoints } from './list-failing-endpoints.ts'

const { db, workerUrl, createEndpointAt, admin } = await webhookDelivery()
let statements: string[] = []
const worker = openDatabase({
  url: workerUrl,
  applicationName: 'test worker',
  onStatement: (text) => void statements.push(text),
})
whenDone(() => worker.stop?.())
const send = serviceClient(db, [listFailingEndpoints({ worker })])
const operator = aCaller({ workspaceId: PLATFORM, keyId: 'operator', scopes: [] })

interface Listed {
  readonly total: number
  readonly has_next_page: boolean
  readonly items: z.output<typeof FailingEndpoint>[]
}
const list = async (query = '', caller = operator) =>
  (await send<Listed>(caller, 'GET', `/internal/failing-endpoints${query}`)).body
const idsIn = ({ items }: Listed) => items.map(({ id }) => id)

beforeEach(() => admin`delete from endpoint`)

/** An endpoint of a workspace of its own, in a state since a day of March. */
async function anEndpoint(state: string, reason: string | null, day: number) {
  const caller = aCaller()
  const { id } = await createEndpointAt(caller, 'https://shop.example.com/hooks')
  const since = `2026-03-0${day}T00:00:00Z`
  await admin`
    update endpoint_health set state = ${state}, reason = ${reason}, since = ${since}, failing_since = ${since},
      last_failed_at = ${since}, last_failure = '{"error_class": "status", "response_status": 503}'
    where endpoint_id = ${id}`
  return { id, caller }
}

test('endpoints of all workspaces are listed, the disabled ones first, each state the longest first', async () => {
  await anEndpoint('ACTIVE', null, 1)
  await anEndpoint('DISABLED', 'requested', 1)
  const late = await anEndpoint('FAILING', 'no_success', 3)
  const early = await anEndpoint('FAILING', 'gone', 2)
  const disabled = await anEndpoint('DISABLED', 'no_success', 4)
  const body = await list()
  expect([body.total, idsIn(body)]).toEqual([3, [disabled.id, early.id, late.id]])
  expect(body.items[0]).toEqual({
    ...{ id: disabled.id, workspace: disabled.caller.workspaceId, url: 'https://shop.example.com/hooks', app: null },
    ...{ state: 'DISABLED', reason: 'no_success', since: '2026-03-04T00:00:00.000Z' },
    ...{ failing_since: '2026-03-04T00:00:00.000Z', last_success_at: null },
    last_failure: { at: '2026-03-04T00:00:00.000Z', error_class: 'status', response_status: 503 },
  })
  expect(idsIn(await list('?state=FAILING'))).toEqual([early.id, late.id])
  expect(idsIn(await list(`?limit=1&after=${disabled.id}`))).toEqual([early.id])
  expect(idsIn(await list('?limit=1&page=3'))).toEqual([late.id])
  expect(await list('', disabled.caller)).toMatchObject({ total: 0, items: [] })
})

test('a page begins at its place in an index, and counting reads nothing else', async () => {
  const { id } = await anEndpoint('FAILING', 'no_success', 2)
  await admin`
    insert into endpoint (workspace_id, id, url, enabled_events, secret_key_id, sealed_secret, created_at, updated_at, made_by)
    select gen_random_uuid(), gen_random_uuid(), url, enabled_events, secret_key_id, sealed_secret, created_at, updated_at, made_by
    from endpoint cross join generate_series(1, 4000)`
  await admin`
    update endpoint_health set state = 'FAILING', reason = 'no_success', since = now() where hashtext(endpoint_id::text) % 20 = 0`
  await admin`vacuum analyze endpoint, endpoint_health`
  statements = []
  await list(`?limit=2&after=${id}`)
  const [count, page] = ['select count', 'limit'].map((part) => statements.find((text) => text.includes(part)) ?? '')
  const planOf = async (text = '') => {
    const rows = await worker.sql.unsafe(`explain (generic_plan) ${text}`)
    return rows.map((row) => row['QUERY PLAN']).join('\n')
  }
  expect(await planOf(count)).toMatch(/^Aggregate[\s\S]*using endpoint_health_worst/)
  expect(await planOf(count)).not.toContain('on endpoint ')
  expect(await planOf(page)).toMatch(/Index Cond: \(ROW\(.*since.*\) > ROW\(/)
  expect(await planOf(page)).not.toContain('Seq Scan')
})
