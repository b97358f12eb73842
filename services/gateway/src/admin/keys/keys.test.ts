import { openDatabase } from '@backoffice/postgres/database.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { describe, expect, test } from 'vitest'
import type { z } from 'zod'
import { hashOf } from '../../credentials/secret-text.ts'
import { testGateway, unknownKey } from '../../testing/test-gateway.ts'
import { echo } from '../../testing/test-upstream.ts'
import type { IssuedKey, Key } from './key.ts'

interface Listed {
  readonly items: readonly z.output<typeof Key>[]
}

const gateway = await testGateway()
const statusWith = async (key: string) => (await gateway.send(key, 'GET', '/v1/products')).status

describe('creating', () => {
  test('a key is answered once, as declared, and opens /v1', async () => {
    const { workspaceId } = await gateway.aKey()
    const answer = await gateway.admin<Record<string, unknown>>('POST', `/workspaces/${workspaceId}/keys`, {
      name: 'Shop',
      scopes: ['product', 'sale::read'],
    })
    expect(answer.status).toBe(201)
    expect(answer.body).toEqual({
      id: expect.any(String),
      name: 'Shop',
      kind: 'workspace',
      scopes: ['product', 'sale::read'],
      livemode: true,
      created_at: expect.any(String),
      expires_at: null,
      key: expect.stringMatching(/^sk_live_/),
    })
    expect(await statusWith(String(answer.body.key))).toBe(200)
  })

  test('a sandbox gets test keys', async () => {
    const { key } = await gateway.aKey(['*'], true)
    expect(key).toMatch(/^sk_test_/)
    expect(await statusWith(key)).toBe(200)
  })

  test('the key is kept nowhere: neither in the database nor in the list, the audit log or the process log', async () => {
    const { workspaceId, id, key } = await gateway.aKey()
    await statusWith(key)
    const [row] = await gateway.database.admin`select * from api_key where id = ${id}`
    const everything = JSON.stringify([
      row,
      (await gateway.admin('GET', `/workspaces/${workspaceId}/keys`)).body,
      (await gateway.admin('GET', '/audit')).body,
      gateway.log,
    ])
    expect(everything).toContain(id)
    expect(everything).not.toContain(key.slice(-49))
    expect(row?.key_hash.toString('hex')).toBe(hashOf(key))
  })

  test('one Idempotency-Key makes one key, which the second answer names (OP-301)', async () => {
    const { workspaceId } = await gateway.aKey()
    const create = () =>
      gateway.admin('POST', `/workspaces/${workspaceId}/keys`, { name: 'Once', scopes: ['product'] }, undefined, {
        'idempotency-key': 'key-once',
      })
    const statuses = (await Promise.all(Array.from({ length: 4 }, create))).map(({ status }) => status).sort()
    expect(statuses).toEqual([201, 409, 409, 409])
    const rows = await gateway.database.admin`select id from api_key where name = 'Once'`
    expect(rows).toHaveLength(1)
    const { body, headers } = await create()
    expect(body.error.message).toContain(`Idempotency-Key: was used to make key ${rows[0]?.id}`)
    expect(headers['error-reason']).toBe('answer_not_kept')
  })

  test('keys created at once are all different and all work', async () => {
    const { workspaceId } = await gateway.aKey()
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        gateway.admin<IssuedKey>('POST', `/workspaces/${workspaceId}/keys`, { name: `${index}`, scopes: ['*'] }),
      ),
    )
    expect(new Set(answers.map(({ body }) => body.key)).size).toBe(20)
    expect(await Promise.all(answers.map(({ body }) => statusWith(body.key)))).toEqual(Array(20).fill(200))
    const listed = await gateway.admin<{ total: number }>('GET', `/workspaces/${workspaceId}/keys`)
    expect(listed.body.total).toBe(21)
  })

  test.each([
    [{ name: 'a', scopes: ['product', 'products'] }, 'scopes[1]'],
    [{ name: 'a', scopes: ['product::write'] }, 'scopes[0]'],
    [{ name: 'a', scopes: [] }, 'scopes'],
    [{ name: ' ', scopes: ['*'] }, 'name'],
    [{ scopes: ['*'] }, 'name'],
    [{ name: 'a', scopes: ['*'], kind: 'app' }, 'kind'],
  ])('refuses %j, naming %s', async (body, path) => {
    const { workspaceId } = await gateway.aKey()
    const answer = await gateway.admin('POST', `/workspaces/${workspaceId}/keys`, body)
    expect(answer).toMatchObject({ status: 400, body: { error: { code: 'bad_request' } } })
    expect(answer.body.error.message).toContain(`${path}: `)
  })

  test.each(['POST', 'GET'])('%s for a workspace that does not exist is not_found', async (method) => {
    const path = '/workspaces/0198c2f1-a3b4-7c5d-8e9f-0123456789ab/keys'
    const answer = await gateway.admin(method, path, method === 'POST' ? { name: 'a', scopes: ['*'] } : undefined)
    expect(answer).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } })
  })
})

describe('expiry', () => {
  const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString()
  const create = async (expires_at: unknown) => {
    const { workspaceId } = await gateway.aKey()
    return gateway.admin<IssuedKey>('POST', `/workspaces/${workspaceId}/keys`, { name: 'a', scopes: ['*'], expires_at })
  }

  test('a key works until its expiry, to the second, also from memory', async () => {
    const expiresAt = inSeconds(60)
    const { body } = await create(expiresAt)
    expect(body.expires_at).toBe(expiresAt)
    await gateway.letTimePass(50_000)
    expect(await statusWith(body.key)).toBe(200)
    await gateway.letTimePass(10_000)
    expect(await gateway.send(body.key, 'GET', '/v1/products')).toMatchObject({
      status: 401,
      body: { error: { code: 'invalid_api_key', message: 'The API key has expired' } },
    })
  })

  test('null is no expiry; any offset is taken', async () => {
    expect((await create(null)).body.expires_at).toBeNull()
    expect((await create('2999-01-01T02:00:00+02:00')).body.expires_at).toBe('2999-01-01T00:00:00.000Z')
  })

  test('now or before is unprocessable, what is no date-time bad_request', async () => {
    for (const seconds of [0, -1]) {
      const answer = await create(inSeconds(seconds))
      expect(answer).toMatchObject({ status: 422, body: { error: { code: 'unprocessable' } } })
      expect(answer.body).toMatchObject({ error: { message: 'expires_at: must lie in the future' } })
    }
    for (const wrong of ['tomorrow', '2999-01-01', 1_900_000_000]) expect((await create(wrong)).status).toBe(400)
  })

  test('a rotated key expires when the old one would have, and an expired key cannot be rotated', async () => {
    const { body } = await create(inSeconds(60))
    const rotated = await gateway.admin<IssuedKey>('POST', `/keys/${body.id}/rotate`, { overlap_seconds: 3600 })
    expect(rotated.body.expires_at).toBe(body.expires_at)
    await gateway.letTimePass(60_000)
    expect([await statusWith(body.key), await statusWith(rotated.body.key)]).toEqual([401, 401])
    expect((await gateway.admin('POST', `/keys/${rotated.body.id}/rotate`)).status).toBe(409)
  })
})

describe('last use', () => {
  const lastUsed = async ({ workspaceId }: { workspaceId: string }) =>
    (await gateway.admin<Listed>('GET', `/workspaces/${workspaceId}/keys`)).body.items.map((item) => item.last_used_at)
  const isWrite = (text: string) => text.includes('last_used_at = ')

  test('requests cost no statement; all keys used are written with one, and without a use with none', async () => {
    const keys = [await gateway.aKey(), await gateway.aKey(), await gateway.aKey()]
    await gateway.uses.write()
    gateway.takeWorkerStatements()
    for (const { key } of keys) for (let count = 0; count < 5; count++) await statusWith(key)
    expect(gateway.takeWorkerStatements().filter(isWrite)).toEqual([])
    await gateway.uses.write()
    await gateway.uses.write()
    expect(gateway.takeWorkerStatements().filter(isWrite).length).toBe(1)
    const at = new Date(gateway.now()).toISOString()
    for (const key of keys) expect(await lastUsed(key)).toEqual([at])
  })

  test('is null before the first use, and a refused request is none', async () => {
    const key = await gateway.aKey()
    await gateway.admin('DELETE', `/keys/${key.id}`)
    await statusWith(key.key)
    await gateway.uses.write()
    expect(await lastUsed(key)).toEqual([null])
  })

  test('never goes back when a replica writes later what it saw earlier', async () => {
    const key = await gateway.aKey()
    const earlier = new Date(gateway.now() - 60_000)
    await statusWith(key.key)
    await gateway.uses.write()
    gateway.uses.note(key.id, earlier)
    await gateway.uses.write()
    expect(await lastUsed(key)).toEqual([new Date(gateway.now()).toISOString()])
  })

  test('is kept while the database refuses it, and written when the process stops', async () => {
    const key = await gateway.aKey()
    await statusWith(key.key)
    const { admin } = gateway.database
    await admin`alter table api_key add constraint refuse check (last_used_at is null) not valid`
    await expect(gateway.uses.write()).rejects.toThrow(/refuse/)
    await admin`alter table api_key drop constraint refuse`
    await gateway.uses.stop?.()
    expect(await lastUsed(key)).toEqual([new Date(gateway.now()).toISOString()])
  })

  test('writing it, also an earlier use, makes no replica look keys up again', async () => {
    const { id, key } = await gateway.aKey()
    await statusWith(key)
    const announced: string[] = []
    const { unlisten } = await gateway.database.admin.listen('gateway_workspace_changed', (one) => announced.push(one))
    await gateway.uses.write()
    gateway.uses.note(id, new Date(gateway.now() - 60_000))
    await gateway.uses.write()
    const other = await gateway.aKey()
    await gateway.admin('DELETE', `/keys/${other.id}`)
    await eventually('the revocation is announced', () => announced.length > 0)
    await unlisten()
    expect(announced).toEqual([other.workspaceId])
  })
})

describe('revoking', () => {
  test('a key in use is refused as soon as the change is announced', async () => {
    const { id, key } = await gateway.aKey()
    expect(await statusWith(key)).toBe(200)
    expect((await gateway.admin('DELETE', `/keys/${id}`)).status).toBe(204)
    await eventually('the key is refused', async () => (await statusWith(key)) === 401)
  })

  test('a key is refused within 5 s when the announcement is lost', async () => {
    const { id, key } = await gateway.aKey()
    expect(await statusWith(key)).toBe(200)
    await gateway.database.admin.begin(async (tx) => {
      await tx`set local session_replication_role = replica`
      await tx`update api_key set revoked_at = now() - interval '1 day' where id = ${id}`
    })
    gateway.passTime(4_000)
    expect(await statusWith(key)).toBe(200)
    gateway.passTime(1_000)
    expect(await statusWith(key)).toBe(401)
  })

  test('what was announced while the listening connection was lost is in force when it is back', async () => {
    const { id, key } = await gateway.aKey()
    expect(await statusWith(key)).toBe(200)
    await gateway.database.admin.begin(async (tx) => {
      await tx`set local session_replication_role = replica`
      await tx`update api_key set revoked_at = now() - interval '1 day' where id = ${id}`
    })
    await gateway.database
      .admin`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query like 'listen %'`
    await eventually('the key is refused', async () => (await statusWith(key)) === 401)
  })

  test('revoking again is no error and keeps the time of the first', async () => {
    const { workspaceId, id } = await gateway.aKey()
    const revokedAt = async () =>
      (await gateway.admin<Listed>('GET', `/workspaces/${workspaceId}/keys`)).body.items[0]?.revoked_at
    await gateway.admin('DELETE', `/keys/${id}`)
    const first = await revokedAt()
    gateway.passTime(1_000)
    expect((await gateway.admin('DELETE', `/keys/${id}`)).status).toBe(204)
    expect(first).toEqual(expect.any(String))
    expect(await revokedAt()).toBe(first)
  })

  test('revoking and rotating need none of the connections for lists', async () => {
    const lists = openDatabase({ url: gateway.database.workerUrl, applicationName: 'test lists' })
    await lists.stop?.()
    const { workspaceId, id } = await gateway.aKey()
    const busy = await testGateway({ database: gateway.database, lists })
    expect((await busy.admin('GET', `/workspaces/${workspaceId}/keys`)).status).toBeGreaterThanOrEqual(500)
    const rotated = await busy.admin<IssuedKey>('POST', `/keys/${id}/rotate`)
    expect(rotated.status).toBe(201)
    expect((await busy.admin('DELETE', `/keys/${rotated.body.id}`)).status).toBe(204)
    const session = await busy.admin<{ id: string }>('POST', `/workspaces/${workspaceId}/support-sessions`, {
      reason: 'Test',
    })
    expect((await busy.admin('DELETE', `/support-sessions/${session.body.id}`)).status).toBe(204)
  })

  test('a key that does not exist is not_found, an id that is none bad_request', async () => {
    expect((await gateway.admin('DELETE', '/keys/0198c2f1-a3b4-7c5d-8e9f-0123456789ab')).status).toBe(404)
    expect((await gateway.admin('DELETE', '/keys/sk_live')).status).toBe(400)
  })
})

test('the clock of the database ends keys: that of a gateway, a month ahead, ends none too early and revokes at once', async () => {
  const { id, key, workspaceId } = await gateway.aKey()
  const body = { name: 'Hour', scopes: ['*'], expires_at: new Date(Date.now() + 3_600_000).toISOString() }
  const ahead = await testGateway({ database: gateway.database })
  ahead.passTime(30 * 86_400_000)
  const hour = await ahead.admin<IssuedKey>('POST', `/workspaces/${workspaceId}/keys`, body)
  expect(hour.status).toBe(201)
  expect((await ahead.send(hour.body.key, 'GET', '/v1/products')).status).toBe(200)
  const overlapping = await ahead.admin<IssuedKey>('POST', `/keys/${hour.body.id}/rotate`, { overlap_seconds: 60 })
  expect((await ahead.send(hour.body.key, 'GET', '/v1/products')).status).toBe(200)
  await gateway.letTimePass(60_000)
  await eventually('the overlap is over', async () => (await statusWith(hour.body.key)) === 401)
  expect(await statusWith(overlapping.body.key)).toBe(200)
  expect(await statusWith(key)).toBe(200)
  expect((await ahead.admin('DELETE', `/keys/${id}`)).status).toBe(204)
  await eventually('the key is refused', async () => (await statusWith(key)) === 401)
})

describe('rotating', () => {
  const rotate = (id: string, body?: unknown) => gateway.admin<IssuedKey>('POST', `/keys/${id}/rotate`, body)

  test('without overlap the old key ends at once and the new one has its scopes', async () => {
    const { id, key } = await gateway.aKey(['product::read'])
    expect(await statusWith(key)).toBe(200)
    const answer = await rotate(id)
    expect(answer).toMatchObject({ status: 201, body: { name: 'Test', scopes: ['product::read'], livemode: true } })
    expect(answer.body.id).not.toBe(id)
    await eventually('the old key is refused', async () => (await statusWith(key)) === 401)
    expect(await statusWith(answer.body.key)).toBe(200)
  })

  test('both keys work until the overlap is over, to the second', async () => {
    const { id, key } = await gateway.aKey()
    const { body } = await rotate(id, { overlap_seconds: 60 })
    await gateway.letTimePass(50_000)
    expect(await statusWith(key)).toBe(200)
    await gateway.letTimePass(10_000)
    expect(await statusWith(key)).toBe(401)
    expect(await statusWith(body.key)).toBe(200)
  })

  test('revoking the old key cuts its overlap short', async () => {
    const { id, key } = await gateway.aKey()
    await rotate(id, { overlap_seconds: 60 })
    expect(await statusWith(key)).toBe(200)
    await gateway.admin('DELETE', `/keys/${id}`)
    await eventually('the old key is refused', async () => (await statusWith(key)) === 401)
  })

  test('of several rotations of one key at once, one succeeds', async () => {
    const { id } = await gateway.aKey()
    const answers = await Promise.all(Array.from({ length: 5 }, () => rotate(id, { overlap_seconds: 10 })))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409])
  })

  test('a rotation whose answer was lost is repeated with the key that it made, which the refusal names', async () => {
    const { id } = await gateway.aKey()
    const { body: lost } = await rotate(id, { overlap_seconds: 60 })
    const repeated = await rotate(id, { overlap_seconds: 60 })
    expect(repeated).toMatchObject({
      status: 409,
      body: {
        error: { message: `API key ${id} has been rotated; if the text of the new key was lost, rotate ${lost.id}` },
      },
    })
    expect((await rotate(lost.id)).status).toBe(201)
  })

  test.each([-1, 86_401, 1.5, '60'])('refuses an overlap of %j', async (overlap) => {
    const { id, key } = await gateway.aKey()
    expect((await rotate(id, { overlap_seconds: overlap })).status).toBe(400)
    expect(await statusWith(key)).toBe(200)
  })

  test('a revoked key is conflict, an unknown one not_found', async () => {
    const { id } = await gateway.aKey()
    await gateway.admin('DELETE', `/keys/${id}`)
    expect((await rotate(id)).status).toBe(409)
    expect((await rotate('0198c2f1-a3b4-7c5d-8e9f-0123456789ab')).status).toBe(404)
  })
})

describe('listing', () => {
  test('shows a workspace its own keys, newest first, the retired ones with the time they end', async () => {
    const { workspaceId, id } = await gateway.aKey()
    await gateway.aKey()
    const rotated = await gateway.admin<IssuedKey>('POST', `/keys/${id}/rotate`, { overlap_seconds: 60 })
    const { body } = await gateway.admin<Listed>('GET', `/workspaces/${workspaceId}/keys`)
    expect(body.items.map((item) => [item.id, item.revoked_at === null])).toEqual([
      [rotated.body.id, true],
      [id, false],
    ])
  })
})

test('a request under way when its key is revoked comes to its end; the next one is refused', async () => {
  const { id, key } = await gateway.aKey()
  const release = Promise.withResolvers<void>()
  const reached = Promise.withResolvers<void>()
  gateway.catalog.answer = async (request, response) => {
    gateway.catalog.answer = echo
    reached.resolve()
    await release.promise
    await echo(request, response)
  }
  const underWay = statusWith(key)
  await reached.promise
  await gateway.admin('DELETE', `/keys/${id}`)
  await eventually('the key is refused', async () => (await statusWith(key)) === 401)
  release.resolve()
  expect(await underWay).toBe(200)
})

test('a key of another id with a right check is unknown', async () => {
  expect(await statusWith(unknownKey())).toBe(401)
})
