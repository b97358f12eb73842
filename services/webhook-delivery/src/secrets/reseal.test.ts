import { spawn } from 'node:child_process'
import { createHmac, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { SecretKeys, sealSecret } from '@backoffice/secrets/secret-box.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { endpointDirectory } from '../endpoints/endpoint-directory.ts'
import { anEvent, type CreatedEndpoint, testKeys, webhookDelivery } from '../testing/webhooks-api.ts'
import { resealSecrets } from './reseal.ts'
import { secretOwner } from './signing-secret.ts'

const { send, admin, workerUrl, createEndpointAt, startReplica } = await webhookDelivery()
const worker = openDatabase({ url: workerUrl, applicationName: 'reseal' })
afterAll(() => worker.stop?.())

const NEW = `new:${Buffer.alloc(32, 9).toString('base64')}`
const OLD = `test:${Buffer.alloc(32, 1).toString('base64')}`
/** The keys of a service during a change of keys: the new key seals, both open. */
const bothKeys = SecretKeys.parse(`${NEW},${OLD}`)
const newKeys = SecretKeys.parse(NEW)
const caller = aCaller()

beforeEach(async () => {
  await admin`delete from endpoint`
})

const rotate = async (id: string, overlap_seconds = 0) =>
  (await send<CreatedEndpoint>(caller, 'POST', `/v1/webhooks/${id}/secret/rotate`, { overlap_seconds })).body.secret

/** The secrets of the caller's endpoints, newest first, opened with these keys. */
async function openedWith(keys: SecretKeys): Promise<Map<string, string[]>> {
  const targets = (await endpointDirectory(keys).of(worker.sql, [caller.workspaceId])).get(caller.workspaceId)
  return new Map(
    (targets?.subscribedTo('any.event') ?? []).map(({ id, signing }) => [
      id,
      signing?.keys.map(({ key }) => `whsec_${key.toString('base64')}`) ?? [],
    ]),
  )
}

/** Sealed rows as they are stored. */
const stored = () => admin`
  select id, secret_key_id, sealed_secret from endpoint
  union all select id, secret_key_id, sealed_secret from previous_secret order by id`

/** Many endpoints, inserted directly with new secrets. */
async function manyEndpoints(count: number): Promise<void> {
  const rows = Array.from({ length: count }, () => {
    const id = randomUUID()
    const { keyId, sealed } = sealSecret(testKeys, Buffer.alloc(32, 5), secretOwner(caller.workspaceId, id))
    return { id, keyId, sealed: sealed.toString('base64') }
  })
  await admin`
    insert into endpoint (
      workspace_id, id, url, enabled_events, secret_key_id, sealed_secret, created_at, updated_at
    )
    select ${caller.workspaceId}, id, 'https://example.com', '{*}', "keyId", decode(sealed, 'base64'), now(), now()
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as row (id uuid, "keyId" text, sealed text)`
}

/** Runs the command; resolves with its output and exit code. */
function reseal(keys: string) {
  const child = spawn(process.execPath, [fileURLToPath(new URL('reseal.ts', import.meta.url))], {
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      WORKER_DATABASE_URL: workerUrl,
      WEBHOOK_SECRET_KEYS: keys,
    },
  })
  whenDone(() => void child.kill('SIGKILL'))
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
  const ended = once(child, 'close').then(([code]) => ({ code, output: output.trim() }))
  return { ended, kill: () => child.kill('SIGKILL') }
}

test('afterwards a process that has only the new key opens every secret, current and previous', async () => {
  const { id, secret: first } = await createEndpointAt(caller, 'https://example.com')
  const second = await rotate(id, 3600)
  const other = await createEndpointAt(caller, 'https://example.com')
  expect(await resealSecrets(worker.sql, bothKeys)).toEqual({ resealed: 3, left: 0 })
  const opened = await openedWith(newKeys)
  expect(opened.get(id)).toEqual([second, first])
  expect(opened.get(other.id)).toEqual([other.secret])
})

test('afterwards a process opens the secrets of endpoints that it has read without the former key', async () => {
  const { id } = await createEndpointAt(caller, 'https://example.com')
  const directory = endpointDirectory(newKeys)
  const signing = async () =>
    (await directory.of(worker.sql, [caller.workspaceId])).get(caller.workspaceId)?.get(id)?.signing
  expect(await signing()).toBeUndefined()
  await resealSecrets(worker.sql, bothKeys)
  expect(await signing()).toBeDefined()
})

test('running it again changes nothing', async () => {
  await createEndpointAt(caller, 'https://example.com')
  await resealSecrets(worker.sql, bothKeys)
  const before = await stored()
  expect(await resealSecrets(worker.sql, bothKeys)).toEqual({ resealed: 0, left: 0 })
  expect(await stored()).toEqual(before)
})

test('a service that has only the new key signs with the secret as it was', async () => {
  const receiver = await startReceiver()
  const { secret } = await createEndpointAt(caller, receiver.url)
  await resealSecrets(worker.sql, bothKeys)
  const replica = await startReplica({ keys: newKeys })
  await replica.publish(anEvent(caller))
  const request = await eventually('the delivery', () => receiver.requests[0])
  const hmac = createHmac('sha256', Buffer.from(secret.replace('whsec_', ''), 'base64'))
  hmac.update(`${request.headers['webhook-id']}.${request.headers['webhook-timestamp']}.`).update(request.body)
  expect(request.headers['webhook-signature']).toBe(`v1,${hmac.digest('hex')}`)
  await replica.stop()
})

test('a secret rotated between reading and writing stays what the rotation made it', async () => {
  const { id } = await createEndpointAt(caller, 'https://example.com')
  const rotated = sealSecret(testKeys, Buffer.alloc(32, 6), secretOwner(caller.workspaceId, id))
  let resealing: Promise<unknown> = Promise.resolve()
  await admin.begin(async (tx) => {
    await tx`update endpoint set sealed_secret = ${rotated.sealed} where id = ${id}`
    resealing = resealSecrets(worker.sql, bothKeys)
    await eventually('it waits for the rotation', async () => {
      const waiting = await admin`
        select from pg_stat_activity
        where datname = current_database() and application_name = 'reseal' and wait_event_type = 'Lock'`
      return waiting.length > 0
    })
  })
  expect(await resealing).toEqual({ resealed: 0, left: 1 })
  expect(await openedWith(testKeys)).toEqual(new Map([[id, [`whsec_${Buffer.alloc(32, 6).toString('base64')}`]]]))
  expect(await resealSecrets(worker.sql, bothKeys)).toEqual({ resealed: 1, left: 0 })
})

test('while secrets are rotated none is lost, and the last answered is the one that signs (50 rounds)', async () => {
  const { id } = await createEndpointAt(caller, 'https://example.com')
  for (let round = 0; round < 50; round++) {
    const [secret] = await Promise.all([rotate(id, round % 2), resealSecrets(worker.sql, bothKeys)])
    expect((await openedWith(bothKeys)).get(id)?.[0]).toBe(secret)
  }
})

test('two runs at once reseal each secret once', async () => {
  await manyEndpoints(1000)
  const runs = await Promise.all([resealSecrets(worker.sql, bothKeys), resealSecrets(worker.sql, bothKeys)])
  expect(runs.map(({ left }) => left)).toEqual([0, 0])
  expect(runs.reduce((sum, { resealed }) => sum + resealed, 0)).toBe(1000)
  expect((await openedWith(newKeys)).size).toBe(1000)
})

test('a secret that does not open is left and counted; the others are resealed', async () => {
  const { id } = await createEndpointAt(caller, 'https://example.com')
  await manyEndpoints(10)
  await admin`update endpoint set sealed_secret = sealed_secret || '\\x00' where id = ${id}`
  expect(await resealSecrets(worker.sql, bothKeys)).toEqual({ resealed: 10, left: 1 })
})

test('the command killed in the middle has lost nothing, and finishes when run again, printing counts only', async () => {
  await manyEndpoints(1000)
  const killed = reseal(`${NEW},${OLD}`)
  await admin.begin(async (tx) => {
    // Blocks a batch in the middle, so that the command still runs when it is killed.
    await tx`
      select from endpoint where id = (select id from endpoint order by id offset 500 limit 1) for update`
    await eventually('some are resealed', async () => {
      const [row] = await admin`select count(*) from endpoint where secret_key_id = 'new'`
      return Number(row?.count) === 400
    })
    killed.kill()
    await killed.ended
  })
  const again = await reseal(`${NEW},${OLD}`).ended
  expect(again.code).toBe(0)
  // PostgreSQL may finish the batch that the killed process waited for.
  expect(again.output).toMatch(/^secrets resealed: (400|600), left under another key: 0$/)
  expect(new Set([...(await openedWith(newKeys)).values()].flat())).toEqual(
    new Set([`whsec_${Buffer.alloc(32, 5).toString('base64')}`]),
  )
})

test('the command refuses to run without a key that secrets are sealed with, and says which', async () => {
  await createEndpointAt(caller, 'https://example.com')
  const { code, output } = await reseal(NEW).ended
  expect([code, output]).toEqual([1, 'WEBHOOK_SECRET_KEYS lacks keys that stored secrets use: test'])
})
