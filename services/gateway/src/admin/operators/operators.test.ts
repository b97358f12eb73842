import type { ErrorBody } from '@backoffice/contracts/errors.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { describe, expect, test } from 'vitest'
import { hashOf } from '../../credentials/secret-text.ts'
import { ADMIN_TOKEN, testGateway } from '../../testing/test-gateway.ts'
import type { IssuedToken } from './issue-token.ts'
import type { Operator } from './list-operators.ts'

const gateway = await testGateway()
const UNKNOWN = '0198c2f1-a3b4-7c5d-8e9f-0123456789ab'

let count = 0
/** Creates an operator. */
const anOperator = async () =>
  (await gateway.admin<IssuedToken>('POST', '/operators', { name: `Operator ${++count}` })).body
const statusWith = async (token: string) => (await gateway.admin('GET', '/workspaces', undefined, token)).status
const rotate = (id: string, body: object = {}) => gateway.admin<IssuedToken>('POST', `/operators/${id}/rotate`, body)
const listed = async (id: string) => {
  const { body } = await gateway.admin<{ items: Operator[] }>('GET', '/operators?limit=100')
  return body.items.find((each) => each.id === id)
}
const isRefused = (token: string) => eventually('the token is refused', async () => (await statusWith(token)) === 401)

describe('creating', () => {
  test('a token is answered once, as declared, and opens the admin API but not /v1', async () => {
    const answer = await gateway.admin<IssuedToken>('POST', '/operators', { name: 'Ada' })
    expect(answer.status).toBe(201)
    expect(answer.body).toEqual({
      id: expect.any(String),
      name: 'Ada',
      token: expect.stringMatching(/^op_[0-9a-f]{32}_[0-9A-Za-z]{49}$/),
      created_at: new Date(gateway.now()).toISOString(),
    })
    expect(await statusWith(answer.body.token)).toBe(200)
    expect((await gateway.send(answer.body.token, 'GET', '/v1/products')).status).toBe(401)
  })

  test('the token is kept nowhere: neither in the database nor in the list, the audit log or the process log', async () => {
    const { id, token } = await anOperator()
    await statusWith(token)
    const [row] = await gateway.database.admin`select * from operator_token where id = ${id}`
    const everything = JSON.stringify([
      row,
      (await gateway.admin('GET', '/operators')).body,
      (await gateway.admin('GET', '/audit')).body,
      gateway.log,
    ])
    expect(everything).toContain(id)
    expect(everything).not.toContain(token.slice(-49))
    expect(row?.token_hash.toString('hex')).toBe(hashOf(token))
  })

  test.each([
    [{ name: ' ' }, 'name: '],
    [{ name: 'x'.repeat(256) }, 'name: '],
    [{}, 'name: '],
    [{ name: 'a', token: 'op_mine' }, 'token: '],
    [{ name: 'Bootstrap' }, 'name: must be another name'],
    [{ name: 'merchant' }, 'name: must be another name'],
    [{ name: 'Sup-Port.' }, 'name: must be another name'],
    [{ name: 'apps' }, 'name: must be another name'],
    [{ name: ' Ada' }, 'name: must have no invisible'],
    [{ name: 'Ada  Lovelace' }, 'name: must have no invisible'],
    [{ name: 'A\u200bda' }, 'name: must have no invisible'],
    [{ name: 'ｍerchant' }, 'name: must have no invisible'],
    [{ name: 'system\ufe0f' }, 'name: must have no invisible'],
  ])('refuses %j', async (body, message) => {
    const answer = await gateway.admin('POST', '/operators', body)
    expect(answer).toMatchObject({ status: 400, body: { error: { code: 'bad_request' } } })
    expect(answer.body.error.message).toContain(message)
  })

  test('a name stands for one operator for ever: also in other case, and after a deletion', async () => {
    const { id, name } = await anOperator()
    await gateway.admin('DELETE', `/operators/${id}`)
    const answer = await gateway.admin('POST', '/operators', { name: name.toUpperCase() })
    expect(answer).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } })
    expect(answer.body.error.message).toMatch(/^name: /)
  })

  test('whose token was lost is told to rotate it; a name that a deleted operator had is gone', async () => {
    const { id, name } = await anOperator()
    const messageOf = async () => (await gateway.admin('POST', '/operators', { name })).body.error.message
    expect(await messageOf()).toBe(
      `name: belongs to an operator; if the token of this one was lost, rotate ${id}, else choose another name`,
    )
    await gateway.admin('DELETE', `/operators/${id}`)
    expect(await messageOf()).toBe('name: belonged to an operator who is deleted; choose another name')
  })

  test('one of several simultaneous creations with one name succeeds', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => gateway.admin('POST', '/operators', { name: 'One' })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(409)])
  })
})

describe('listing', () => {
  test('newest first, without tokens, with the revoked ones', async () => {
    const [older, newer] = [await anOperator(), await anOperator()]
    await gateway.admin('DELETE', `/operators/${older.id}`)
    const { body } = await gateway.admin<{ items: Operator[]; total: number }>('GET', '/operators?limit=2')
    const created_at = new Date(gateway.now()).toISOString()
    expect(body.items).toEqual([
      { id: newer.id, name: newer.name, created_at, last_used_at: null, revoked_at: null },
      { id: older.id, name: older.name, created_at, last_used_at: null, revoked_at: expect.any(String) },
    ])
  })

  test('the time of the last use is written with that of keys, and never goes back', async () => {
    const { id, token } = await anOperator()
    await statusWith(token)
    expect((await listed(id))?.last_used_at).toBe(null)
    await gateway.uses.write()
    const at = new Date(gateway.now()).toISOString()
    expect((await listed(id))?.last_used_at).toBe(at)
    gateway.uses.note(id, new Date(gateway.now() - 60_000))
    await gateway.uses.write()
    expect((await listed(id))?.last_used_at).toBe(at)
  })

  test('a token reads while PostgreSQL is read-only', async () => {
    const { token } = await anOperator()
    const { admin } = gateway.database
    const [{ name } = { name: '' }] = await admin<{ name: string }[]>`select current_database() as name`
    await admin`alter database ${admin(name)} set default_transaction_read_only = on`
    const replica = await testGateway({ database: gateway.database })
    const { status } = await replica.admin('GET', '/workspaces', undefined, token)
    await admin`alter database ${admin(name)} reset default_transaction_read_only`
    expect(status).toBe(200)
  })
})

describe('rotating', () => {
  test('gives a new token of the same name and refuses the old one at once', async () => {
    const old = await anOperator()
    expect(await statusWith(old.token)).toBe(200)
    const { status, body } = await rotate(old.id)
    expect(status).toBe(201)
    expect(body).toMatchObject({ name: old.name })
    expect(body.id).not.toBe(old.id)
    expect(await statusWith(body.token)).toBe(200)
    await isRefused(old.token)
  })

  test('both tokens work during the overlap, and only the new one after it', async () => {
    const old = await anOperator()
    const { body } = await rotate(old.id, { overlap_seconds: 600 })
    expect(await statusWith(old.token)).toBe(200)
    await gateway.letTimePass(600_000)
    expect([await statusWith(old.token), await statusWith(body.token)]).toEqual([401, 200])
  })

  test('a token is rotated once, also by several at once, and not after its deletion', async () => {
    const [rotated, deleted] = [await anOperator(), await anOperator()]
    const answers = await Promise.all(Array.from({ length: 5 }, () => rotate(rotated.id)))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409])
    await gateway.admin('DELETE', `/operators/${deleted.id}`)
    expect(await rotate(deleted.id)).toMatchObject({
      status: 409,
      body: { error: { message: `Operator token ${deleted.id} has been deleted` } },
    })
  })

  test('a rotation whose answer was lost is repeated with the token that it made, which the refusal names', async () => {
    const { id } = await anOperator()
    const { body: lost } = await rotate(id)
    expect(await rotate(id)).toMatchObject({
      status: 409,
      body: {
        error: { message: `Operator token ${id} has been rotated; if the new token was lost, rotate ${lost.id}` },
      },
    })
    expect((await rotate(lost.id)).status).toBe(201)
  })

  test.each([-1, 86_401, 1.5, '60'])('refuses an overlap of %j', async (overlap_seconds) => {
    const { id } = await anOperator()
    const answer = await gateway.admin('POST', `/operators/${id}/rotate`, { overlap_seconds })
    expect(answer).toMatchObject({ status: 400, body: { error: { code: 'bad_request' } } })
  })
})

test('a gateway whose clock is a month ahead deletes a token at once', async () => {
  const { id, token } = await anOperator()
  expect(await statusWith(token)).toBe(200)
  const ahead = await testGateway({ database: gateway.database })
  ahead.passTime(30 * 86_400_000)
  expect((await ahead.admin('DELETE', `/operators/${id}`)).status).toBe(204)
  await isRefused(token)
})

describe('deleting', () => {
  test('a token in use is refused as soon as the change is announced; again is no error and keeps the time', async () => {
    const { id, token } = await anOperator()
    expect(await statusWith(token)).toBe(200)
    expect((await gateway.admin('DELETE', `/operators/${id}`)).status).toBe(204)
    await isRefused(token)
    const first = await listed(id)
    gateway.passTime(1_000)
    expect((await gateway.admin('DELETE', `/operators/${id}`)).status).toBe(204)
    expect(await listed(id)).toEqual(first)
  })

  test('ends the overlap of the tokens that it replaced', async () => {
    const first = await anOperator()
    const { body: second } = await rotate(first.id, { overlap_seconds: 600 })
    const { body: third } = await rotate(second.id, { overlap_seconds: 600 })
    await gateway.admin('DELETE', `/operators/${third.id}`)
    for (const { token } of [first, second, third]) await isRefused(token)
  })

  test('leaves the token that replaced it', async () => {
    const first = await anOperator()
    const { body: second } = await rotate(first.id, { overlap_seconds: 600 })
    await gateway.admin('DELETE', `/operators/${first.id}`)
    await isRefused(first.token)
    expect(await statusWith(second.token)).toBe(200)
  })

  test('a token is refused within 5 s when the announcement is lost', async () => {
    const { id, token } = await anOperator()
    expect(await statusWith(token)).toBe(200)
    await gateway.database.admin.begin(async (tx) => {
      await tx`set local session_replication_role = replica`
      await tx`update operator_token set revoked_at = now() - interval '1 day' where id = ${id}`
    })
    gateway.passTime(5_000)
    expect(await statusWith(token)).toBe(401)
  })

  test('an operator may delete its own token, and the operator of ADMIN_TOKEN stays', async () => {
    const { id, token } = await anOperator()
    expect((await gateway.admin('DELETE', `/operators/${id}`, undefined, token)).status).toBe(204)
    await isRefused(token)
    expect(await statusWith(ADMIN_TOKEN)).toBe(200)
  })
})

test.each([
  ['POST', `/operators/${UNKNOWN}/rotate`, {}],
  ['DELETE', `/operators/${UNKNOWN}`, undefined],
])('%s %s: an unknown id is not_found', async (method, path, body) => {
  const answer = await gateway.admin<ErrorBody>(method, path, body)
  expect(answer).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } })
})

test('while the database is away a named token is neither right nor wrong: service_unavailable', async () => {
  const { token } = await anOperator()
  expect(await statusWith(token)).toBe(200)
  const { admin } = gateway.database
  const [database] = await admin<{ name: string }[]>`select current_database() as name`
  const limitConnections = (limit: number) => admin.unsafe(`alter database ${database?.name} connection limit ${limit}`)
  await limitConnections(0)
  await admin`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and usename = 'gateway_worker'`
  gateway.passTime(5_000)
  expect(await statusWith(token)).toBe(503)
  await limitConnections(-1)
  await eventually('the token works', async () => (await statusWith(token)) === 200)
})
