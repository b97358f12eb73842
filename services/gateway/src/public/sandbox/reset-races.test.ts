import { eventually } from '@backoffice/testing/eventually.ts'
import { expect, it } from 'vitest'
import { testGateway } from '../../testing/test-gateway.ts'

const gateway = await testGateway()
const { admin, send, database } = gateway

interface Reset {
  readonly workspace: string
}

/** A live workspace, and its sandbox with a key. */
async function aPair() {
  const pair = { name: 'Pair', sandbox: true }
  const { body } = await admin<{ id: string; sandbox: { id: string } }>('POST', '/workspaces', pair)
  const sandbox = body.sandbox.id
  const { body: key } = await createKey(sandbox)
  return { live: body.id, sandbox, keyId: key.id, key: key.key }
}
const createKey = (workspace: string) =>
  admin<{ id: string; key: string }>('POST', `/workspaces/${workspace}/keys`, { name: 'key', scopes: ['*'] })

const waiting = () => database.admin`
  select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`

/** Sends a request while a reset of the sandbox is under way; the reset ends once the request waits, or is answered. */
async function duringReset<Answer>(
  { sandbox, keyId, key }: Awaited<ReturnType<typeof aPair>>,
  ask: () => Promise<Answer>,
) {
  const started = await database.admin.begin(async (tx) => {
    await tx`select from api_key where id = ${keyId} for update`
    const reset = send<Reset>(key, 'POST', '/v1/sandbox/reset', { body: { workspace: sandbox } })
    await eventually('the reset is under way', async () => (await waiting()).length === 1)
    const answer = ask()
    await Promise.race([answer, eventually('the request waits', async () => (await waiting()).length === 2)])
    return { reset, answer }
  })
  const { status, body } = await started.reset
  expect(status).toBe(202)
  return { next: body.workspace, answer: await started.answer }
}

const refusalOf = async (key: string) => (await send(key, 'GET', '/v1/products')).body.error?.message
const typesOf = async (workspace: string) => {
  const rows = await database.admin<{ type: string }[]>`
    select type from outbox where workspace_id = ${workspace} order by id`
  return rows.map(({ type }) => type)
}

it('a live workspace that is deleted during a reset takes the new sandbox with it', async () => {
  const pair = await aPair()
  const { next, answer } = await duringReset(pair, () => admin('DELETE', `/workspaces/${pair.live}`))
  expect(answer.status).toBe(202)
  await expect.poll(() => refusalOf(pair.key)).toBe('The workspace of the API key has been deleted')
  expect(await typesOf(next)).toEqual(['workspace.deleted'])
  const notes = await database.admin`
    select from workspace_deletion join deleted_workspace on id = workspace_id where parent = ${pair.live}`
  expect(notes).toHaveLength(3)
})

it('a live workspace that is suspended during a reset has the new sandbox suspended, until both are resumed', async () => {
  const pair = await aPair()
  const { next, answer } = await duringReset(pair, () => admin('POST', `/workspaces/${pair.live}/suspend`))
  expect(answer.status).toBe(200)
  await expect.poll(() => refusalOf(pair.key)).toBe('The workspace of the API key is suspended')
  await admin('POST', `/workspaces/${pair.live}/resume`)
  expect(await typesOf(next)).toEqual(['workspace.suspended', 'workspace.resumed'])
})

it('a key, settings and a session of support are refused during a reset, not given to the former sandbox', async () => {
  for (const ask of [
    createKey,
    (id: string) => admin('PUT', `/workspaces/${id}/settings`, { cart_price_seconds: 60 }),
    (id: string) => admin('POST', `/workspaces/${id}/support-sessions`),
  ]) {
    const pair = await aPair()
    const { answer } = await duringReset<unknown>(pair, () => ask(pair.sandbox))
    expect(answer).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } })
  }
})

it('a key is not rotated during a reset, which moves it: the request is to be sent again, and succeeds then', async () => {
  const pair = await aPair()
  const rotate = () => admin('POST', `/keys/${pair.keyId}/rotate`)
  const { answer } = await duringReset(pair, rotate)
  expect(answer).toMatchObject({
    status: 503,
    body: { error: { message: 'The key was changed at the same time; send the request again' } },
  })
  expect((await rotate()).status).toBe(201)
})
