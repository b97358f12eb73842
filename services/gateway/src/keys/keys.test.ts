import { eventually } from '@backoffice/testing/eventually.ts'
import { describe, expect, test } from 'vitest'
import type { z } from 'zod'
import { testGateway } from '../testing/test-gateway.ts'
import type { IssuedKey } from './issue-key.ts'
import { hashOf, newKey, newSecret } from './key-format.ts'
import type { Key } from './list-keys.ts'

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
      scopes: ['product', 'sale::read'],
      livemode: true,
      created_at: expect.any(String),
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

describe('revoking', () => {
  test('a key in use is refused as soon as the change is announced', async () => {
    const { id, key } = await gateway.aKey()
    expect(await statusWith(key)).toBe(200)
    expect((await gateway.admin('DELETE', `/keys/${id}`)).status).toBe(204)
    await eventually('the key is refused', async () => (await statusWith(key)) === 401, 5_000)
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
    await eventually('the key is refused', async () => (await statusWith(key)) === 401, 5_000)
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

  test('a key that does not exist is not_found, an id that is none bad_request', async () => {
    expect((await gateway.admin('DELETE', '/keys/0198c2f1-a3b4-7c5d-8e9f-0123456789ab')).status).toBe(404)
    expect((await gateway.admin('DELETE', '/keys/sk_live')).status).toBe(400)
  })
})

describe('rotating', () => {
  const rotate = (id: string, body?: unknown) => gateway.admin<IssuedKey>('POST', `/keys/${id}/rotate`, body)

  test('without overlap the old key ends at once and the new one has its scopes', async () => {
    const { id, key } = await gateway.aKey(['product::read'])
    expect(await statusWith(key)).toBe(200)
    const answer = await rotate(id)
    expect(answer).toMatchObject({ status: 201, body: { name: 'Test', scopes: ['product::read'], livemode: true } })
    expect(answer.body.id).not.toBe(id)
    await eventually('the old key is refused', async () => (await statusWith(key)) === 401, 5_000)
    expect(await statusWith(answer.body.key)).toBe(200)
  })

  test('both keys work until the overlap is over, to the second', async () => {
    const { id, key } = await gateway.aKey()
    const { body } = await rotate(id, { overlap_seconds: 60 })
    gateway.passTime(57_000)
    expect(await statusWith(key)).toBe(200)
    gateway.passTime(3_000)
    expect(await statusWith(key)).toBe(401)
    expect(await statusWith(body.key)).toBe(200)
  })

  test('revoking the old key cuts its overlap short', async () => {
    const { id, key } = await gateway.aKey()
    await rotate(id, { overlap_seconds: 60 })
    expect(await statusWith(key)).toBe(200)
    await gateway.admin('DELETE', `/keys/${id}`)
    await eventually('the old key is refused', async () => (await statusWith(key)) === 401, 5_000)
  })

  test('of several rotations of one key at once, one succeeds', async () => {
    const { id } = await gateway.aKey()
    const answers = await Promise.all(Array.from({ length: 5 }, () => rotate(id, { overlap_seconds: 10 })))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409])
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

test('a key of another id with a right check is unknown', async () => {
  expect(await statusWith(newKey('0198c2f1-a3b4-7c5d-8e9f-0123456789ab', true, newSecret()))).toBe(401)
})
