import { expect, it } from 'vitest'
import { testConsole } from '../../testing/test-console.ts'
import { testGateway } from '../../testing/test-gateway.ts'

const gateway = await testGateway({ rateLimit: { perSecond: 1000, burst: 1000 } })
const { admin, database } = gateway

interface Reset {
  readonly workspace: string
  readonly former_workspace: string
  readonly completed?: boolean
  readonly error: { readonly code: string; readonly message: string }
}

/** A live workspace with a key, and its sandbox with a key of some scopes. */
async function aPair(scopes = ['*']) {
  const { body: live } = await admin<{ id: string; sandbox: { id: string } }>('POST', '/workspaces', {
    name: 'Pair',
    sandbox: true,
  })
  const keyOf = async (id: string) =>
    (await admin<{ key: string }>('POST', `/workspaces/${id}/keys`, { name: 'key', scopes })).body.key
  return { live: live.id, sandbox: live.sandbox.id, liveKey: await keyOf(live.id), key: await keyOf(live.sandbox.id) }
}
const reset = (key: string, workspace: string) =>
  gateway.send<Reset>(key, 'POST', '/v1/sandbox/reset', { body: { workspace } })
const workspaceOf = async (key: string) =>
  (await gateway.send<{ workspace?: { id: string } }>(key, 'GET', '/v1/me')).body.workspace?.id
/** Whether the database announces changes of workspaces, keys and sessions. */
const announcements = async (are: 'enable' | 'disable') => {
  for (const table of ['workspace', 'api_key', 'settings', 'console_session'])
    await database.admin.unsafe(`alter table ${table} ${are} trigger announce`)
}
const deletions = (...ids: string[]) => database.admin<{ key: string; livemode: boolean }[]>`
  select key, livemode from outbox where type = 'workspace.deleted' and workspace_id = any(${ids})`

it('a reset gives the keys of a sandbox an empty workspace, and every service deletes the former one', async () => {
  const { live, sandbox, liveKey, key } = await aPair()
  await admin('PUT', `/workspaces/${sandbox}/settings`, { cart_price_seconds: 60 })
  const { status, body } = await reset(key, sandbox)
  expect([status, body]).toMatchObject([
    202,
    { former_workspace: sandbox, workspace: expect.not.stringMatching(sandbox) },
  ])
  await expect.poll(() => workspaceOf(key)).toBe(body.workspace)
  expect(await workspaceOf(liveKey)).toBe(live)
  expect(await deletions(live, sandbox, body.workspace)).toEqual([{ key: sandbox, livemode: false }])
  expect(await database.admin`select livemode from deleted_workspace where workspace_id = ${sandbox}`).toEqual([
    { livemode: false },
  ])
  const shown = (await admin<{ sandbox: { id: string }; settings: object }>('GET', `/workspaces/${live}`)).body
  expect(shown.sandbox.id).toBe(body.workspace)
  expect((await admin<object>('GET', `/workspaces/${body.workspace}`)).body).toMatchObject({
    livemode: false,
    name: 'Pair',
    live_workspace: live,
    settings: { cart_price_seconds: 60 },
  })
  const { items } = (await admin<{ items: { action: string }[] }>('GET', `/audit?workspace=${body.workspace}`)).body
  expect(items.map(({ action }) => action)).toEqual(['workspace.reset'])

  const long = await gateway.send(key, 'POST', '/v1/sandbox/reset', { body: { workspace: 'x'.repeat(20_000) } })
  expect(long.status).toBe(413)
  const read = await gateway.send<Reset>(key, 'GET', '/v1/sandbox/reset')
  expect(read.body).toMatchObject({ ...body, completed: false })
})

it('who resets the sandbox in the console stays logged in', async () => {
  const { sandbox, key } = await aPair()
  const browser = testConsole(gateway)
  await browser.login(key)
  const ask = { body: { workspace: sandbox } }
  const { status, body } = await browser.send<Reset>('POST', '/console/api/v1/sandbox/reset', ask)
  expect(status).toBe(202)
  const shown = async () =>
    (await browser.send<{ workspace: { workspace: object } | null }>('GET', '/console/session')).body.workspace
      ?.workspace
  await expect.poll(shown).toMatchObject({ id: body.workspace })
})

it('a browser that asks before the reset is announced stays logged in', async () => {
  const { sandbox, key } = await aPair()
  const browser = testConsole(gateway)
  await browser.login(key)
  await announcements('disable')
  try {
    const { body } = await reset(key, sandbox)
    const shown = await browser.send('GET', '/console/session')
    expect(shown.body).toMatchObject({ workspace: { workspace: { id: body.workspace } } })
    expect(shown.headers).not.toHaveProperty('set-cookie')
  } finally {
    await announcements('enable')
  }
})

it('a reset by a session of support is its act, not that of the merchant', async () => {
  const { sandbox } = await aPair()
  const { body: session } = await admin<{ id: string; token: string }>(
    'POST',
    `/workspaces/${sandbox}/support-sessions`,
  )
  const { status, body } = await gateway.send<Reset>(session.token, 'POST', '/v1/sandbox/reset', {
    body: { workspace: sandbox },
    headers: { 'support-reason': 'the merchant asked for it' },
  })
  expect(status).toBe(202)
  expect((await admin('GET', `/audit?workspace=${body.workspace}`)).body).toMatchObject({
    items: [{ who: 'support', actor: `support session ${session.id}`, action: 'workspace.reset' }],
  })
})

it('a suspended sandbox is not reset, by a session of support either, and the refusal names what to do', async () => {
  const { live, sandbox } = await aPair()
  const { body: session } = await admin<{ token: string }>('POST', `/workspaces/${sandbox}/support-sessions`)
  await admin('POST', `/workspaces/${live}/suspend`)
  const { status, headers, body } = await gateway.send<Reset>(session.token, 'POST', '/v1/sandbox/reset', {
    body: { workspace: sandbox },
    headers: { 'support-reason': 'the merchant asked for it' },
  })
  expect([status, headers['error-reason'], body.error.message]).toEqual([
    409,
    'state_forbids',
    'workspace: is suspended; reset it once it is resumed',
  ])
  expect(await deletions(sandbox)).toEqual([])
})

it('a repeated reset, and five at once, make one', async () => {
  const { sandbox, key } = await aPair()
  const answers = await Promise.all(Array.from({ length: 5 }, () => reset(key, sandbox)))
  const done = answers.filter(({ status }) => status === 202)
  expect(done.length).toBeGreaterThan(0)
  const [{ body }] = done as [(typeof done)[0]]
  for (const { status } of answers) expect([202, 401, 409]).toContain(status)
  for (const answer of done) expect(answer.body).toEqual(body)
  await expect.poll(() => workspaceOf(key)).toBe(body.workspace)
  expect(await reset(key, sandbox)).toMatchObject({ status: 202, body })
  expect(await deletions(sandbox, body.workspace)).toHaveLength(1)
  expect(await workspaceOf(key)).toBe(body.workspace)
})

it('a sandbox is not reset while five former ones are in the first hour of their deletion, and nothing is applied', async () => {
  const { sandbox, key } = await aPair()
  let present = sandbox
  for (let resets = 0; resets < 5; resets++) {
    present = (await reset(key, present)).body.workspace
    await expect.poll(() => workspaceOf(key)).toBe(present)
  }
  const { status, headers, body } = await reset(key, present)
  expect([status, headers['error-reason'], body.error.message]).toEqual([
    409,
    'limit_reached',
    'the sandbox has 5 former workspaces in the first hour of their deletion; reset it again later',
  ])
  expect(await deletions(present)).toEqual([])
  expect(await workspaceOf(key)).toBe(present)
  await database.admin`update deleted_workspace set passes_made = 5 where workspace_id = ${sandbox}`
  expect((await reset(key, present)).status).toBe(202)
})

it('no live workspace is reset, no other one, and none by a key without the scope', async () => {
  const [mine, other] = [await aPair(), await aPair(['sale', 'workspace::read'])]
  const live = await reset(mine.liveKey, mine.live)
  expect([live.status, live.headers['error-reason']]).toEqual([403, 'sandbox_only'])
  for (const id of [mine.live, other.sandbox, other.live]) {
    const refused = await reset(mine.key, id)
    expect([refused.status, refused.body.error.message]).toEqual([
      409,
      `workspace: must be the sandbox of the key, ${mine.sandbox}`,
    ])
  }
  expect((await reset(other.key, other.sandbox)).status).toBe(403)
  expect((await gateway.send(mine.key, 'GET', '/v1/sandbox/reset')).status).toBe(404)
  expect(await deletions(mine.live, mine.sandbox, other.live, other.sandbox)).toEqual([])
})

it('the key of an app does not go along, and resets nothing', async () => {
  const { sandbox, key } = await aPair()
  const id = crypto.randomUUID()
  await database.admin`
    insert into api_key (workspace_id, id, app_key_id, kind, key_hash, name, scopes, created_at, activated_at)
    select workspace_id, ${id}, ${id}, 'app', sha256(key_hash), name, scopes, created_at, now()
    from api_key where workspace_id = ${sandbox}`
  const { body } = await reset(key, sandbox)
  const kinds =
    await database.admin`select kind, workspace_id from api_key where workspace_id in (${sandbox}, ${body.workspace}) order by kind`
  expect(kinds).toEqual([
    { kind: 'app', workspace_id: sandbox },
    { kind: 'workspace', workspace_id: body.workspace },
  ])
})
