import { randomUUID } from 'node:crypto'
import type { ProductState } from '@backoffice/contracts/product-records.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { aCaller, type Caller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { expect, it, onTestFinished } from 'vitest'
import { catalog } from '../categories/testing/categories-api.ts'
import { refreshChunk, refreshProducts, requestRefresh } from './refresh-products.ts'

const { admin, appUrl, contextOf, db, newProduct, product, refresh, takeStatements, workerUrl } = await catalog()
const SOON = new Date(Date.now() + 3_600_000)

/** Products of one workspace, their creation already told. */
async function products(caller: Caller, count: number) {
  const made = []
  for (let index = 0; index < count; index++) made.push(await newProduct(caller))
  await admin`delete from outbox where workspace_id = ${caller.workspaceId}`
  return made
}
const request = (caller: Caller, ids: string[], isChange: boolean) =>
  db.inWorkspace(contextOf(caller), (tx) => requestRefresh(tx, ids, isChange))
const chunk = (caller: Caller, now = SOON) => db.inWorkspace(contextOf(caller), (tx) => refreshChunk(tx, now))
const waiting = (caller: Caller) => admin`select from product_refresh where workspace_id = ${caller.workspaceId}`
const records = (caller: Caller) => admin<{ type: string; key: string; payload: ProductState }[]>`
  select type, key, payload, livemode, traceparent, occurred_at from outbox
  where workspace_id = ${caller.workspaceId} order by id`
const typesOf = async (caller: Caller, id: string) =>
  (await records(caller)).filter(({ key }) => key === id).map(({ type }) => type)

it('publishes product.updated with the product as it is then, and its state (OP-37)', async () => {
  const caller = aCaller({ livemode: false })
  const [made] = await products(caller, 1)
  const id = made?.id ?? ''
  await request(caller, [id], true)
  await admin`update variant set stock = 1 where product_id = ${id}`
  expect(await chunk(caller)).toBe(1)
  const body = {
    ...made,
    total_stock: 1,
    variants: [{ ...made?.variants[0], stock: 1 }],
    updated_at: SOON.toISOString(),
  }
  const [updated, state] = await records(caller)
  const common = { key: id, livemode: false, traceparent: 'trace', occurred_at: SOON }
  expect(updated).toEqual({ ...common, type: 'product.updated', payload: body })
  expect(state).toMatchObject({ ...common, type: 'product.state', payload: { id, total_stock: 1, version: 2 } })
  expect(await product(caller, id)).toEqual(body)
})

it('publishes the state alone when the product itself does not change, and leaves updated_at', async () => {
  const caller = aCaller()
  const [made] = await products(caller, 1)
  await request(caller, [made?.id ?? ''], false)
  await chunk(caller)
  const [state, ...others] = await records(caller)
  expect(others).toEqual([])
  expect(state).toMatchObject({ type: 'product.state', payload: { version: 2, updated_at: made?.updated_at } })
})

it('makes one event of requests that wait for the same product, a change if any of them is one', async () => {
  const caller = aCaller()
  const [one, other] = await products(caller, 2)
  const ids = [one?.id ?? '', other?.id ?? '']
  for (const isChange of [false, true, false]) await request(caller, ids, isChange)
  await request(caller, [ids[0] ?? '', ids[0] ?? ''], false)
  expect(await chunk(caller)).toBe(8)
  for (const id of ids) expect(await typesOf(caller, id)).toEqual(['product.updated', 'product.state'])
  expect((await records(caller))[1]?.payload.version).toBe(2)
})

it('counts the version up with each time, and updated_at with each change', async () => {
  const caller = aCaller()
  const [made] = await products(caller, 1)
  for (const [isChange, now] of [
    [true, SOON],
    [true, new Date(0)],
    [false, new Date(0)],
  ] as const) {
    await request(caller, [made?.id ?? ''], isChange)
    await chunk(caller, now)
  }
  const states = (await records(caller)).filter(({ type }) => type === 'product.state')
  expect(states.map(({ payload }) => payload.version)).toEqual([2, 3, 4])
  const later = new Date(SOON.getTime() + 1).toISOString()
  expect(states.map(({ payload }) => payload.updated_at)).toEqual([SOON.toISOString(), later, later])
})

it('settles requests for products that are gone, and publishes nothing of them', async () => {
  const caller = aCaller()
  const [made] = await products(caller, 2)
  await request(caller, [made?.id ?? '', randomUUID()], true)
  await db.inWorkspace(contextOf(caller), (tx) => tx`delete from product where id = ${made?.id ?? ''}`)
  expect(await chunk(caller)).toBe(2)
  expect(await waiting(caller)).toHaveLength(0)
  expect(await records(caller)).toHaveLength(0)
})

it('keeps to the workspace', async () => {
  const [caller, other] = [aCaller(), aCaller()]
  const [made] = await products(other, 1)
  await request(other, [made?.id ?? ''], true)
  await request(caller, [made?.id ?? ''], true)
  await chunk(caller)
  expect(await waiting(other)).toHaveLength(1)
  expect(await records(other)).toHaveLength(0)
})

it('leaves all as it was when the process dies before the commit, and publishes it later', async () => {
  const caller = aCaller()
  const [made] = await products(caller, 1)
  await request(caller, [made?.id ?? ''], true)
  const dying = db.inWorkspace(contextOf(caller), async (tx) => {
    await refreshChunk(tx, SOON)
    await tx`select pg_terminate_backend(pg_backend_pid())`
  })
  await expect(dying).rejects.toThrow()
  expect(await product(caller, made?.id ?? '')).toEqual(made)
  expect(await records(caller)).toHaveLength(0)
  expect(await chunk(caller)).toBe(1)
  expect(await typesOf(caller, made?.id ?? '')).toEqual(['product.updated', 'product.state'])
})

it('publishes what is asked for now although many wait', async () => {
  const caller = aCaller()
  const [early, late] = await products(caller, 2)
  await request(caller, Array(200).fill(early?.id), false)
  await request(caller, [late?.id ?? ''], true)
  const settled = await chunk(caller)
  expect(await typesOf(caller, late?.id ?? '')).toEqual(['product.updated', 'product.state'])
  expect(await refresh(caller)).toBe(201 - settled)
})

it('sends the same number of statements for one product and for many', async () => {
  const caller = aCaller()
  const made = await products(caller, 40)
  const statementsFor = async (ids: string[]) => {
    await request(caller, ids, true)
    takeStatements()
    await chunk(caller)
    return takeStatements().length
  }
  expect(await statementsFor([made[0]?.id ?? ''])).toBe(await statementsFor(made.map(({ id }) => id)))
})

/** A replica's worker, started; its connections are its own. */
async function startReplica() {
  const logger = createLogger('test', 'silent')
  const transactionSettings = { lock_timeout: '1s' }
  const own = openDatabase({ url: appUrl, applicationName: 'refresh', poolSize: 1, transactionSettings })
  const worker = openDatabase({ url: workerUrl, applicationName: 'refresh worker', poolSize: 1 })
  const part = refreshProducts({ db: own, worker, logger })
  await part.start?.()
  onTestFinished(async () => {
    await part.stop?.()
    await Promise.all([own.stop?.(), worker.stop?.()])
  })
}

it('publishes products of thousands of variants one by one: their records block the event loop', async () => {
  const caller = aCaller()
  const ids = (await products(caller, 3)).map(({ id }) => id)
  await admin`
    insert into variant (workspace_id, id, product_id, sku, stock, price, cost, attributes, position)
    select workspace_id, uuidv7(), id, concat(id, n), 1, '{}', '{}', jsonb_build_object(id, n), n
    from product, generate_series(2, 2000) as n where workspace_id = ${caller.workspaceId}`
  await request(caller, ids, true)
  takeStatements()
  expect(await chunk(caller)).toBe(3)
  expect(takeStatements().filter((text) => text.includes('insert into outbox'))).toHaveLength(3)
  for (const id of ids) expect(await typesOf(caller, id)).toEqual(['product.updated', 'product.state'])
})

it('lets two replicas publish all that waits in several workspaces, each product’s versions in order', async () => {
  const callers = [aCaller(), aCaller(), aCaller()]
  const made = await Promise.all(callers.map((caller) => products(caller, 30)))
  const ask = () => callers.map((caller, index) => request(caller, made[index]?.map(({ id }) => id) ?? [], true))
  await Promise.all(Array.from({ length: 5 }, ask).flat())
  await Promise.all([startReplica(), startReplica()])
  await Promise.all(Array.from({ length: 5 }, ask).flat())
  await eventually('nothing waits', async () => (await admin`select from product_refresh`).length === 0)
  for (const [index, caller] of callers.entries()) {
    const told = await records(caller)
    for (const { id } of made[index] ?? []) {
      const versions = told.flatMap(({ key, type, payload }) =>
        key === id && type === 'product.state' ? payload.version : [],
      )
      const [row] = await admin`select version::int from product where id = ${id}`
      expect(versions).toEqual(Array.from({ length: versions.length }, (_, at) => at + 2))
      expect(versions.at(-1)).toBe(row?.version)
    }
  }
})

it('publishes the other products while some are locked by someone, and keeps the requests of those', async () => {
  const caller = aCaller()
  const made = await products(caller, 4)
  const [locked, alsoLocked, free, late] = made.map(({ id }) => id)
  await request(caller, Array(300).fill(locked), true)
  await request(caller, [alsoLocked ?? '', free ?? ''], true)
  await request(caller, Array(300).fill(locked), false)
  await admin.begin(async (tx) => {
    await tx`select from product where id in (${locked ?? ''}, ${alsoLocked ?? ''}) for no key update`
    expect(await chunk(caller)).toBe(1)
    await request(caller, [late ?? ''], false)
    expect(await chunk(caller)).toBe(1)
    expect(await chunk(caller)).toBe(0)
    expect((await records(caller)).map(({ type, key }) => [type, key])).toEqual([
      ['product.updated', free],
      ['product.state', free],
      ['product.state', late],
    ])
    expect(await waiting(caller)).toHaveLength(601)
  })
  await refresh(caller)
  for (const id of [locked, alsoLocked]) expect(await typesOf(caller, id ?? '')).toContain('product.updated')
  expect(await waiting(caller)).toHaveLength(0)
})

it('goes on with other workspaces while the products of one are locked by someone', async () => {
  const [locked, free] = [aCaller(), aCaller()]
  const [[held], [other]] = await Promise.all([products(locked, 1), products(free, 1)])
  await startReplica()
  await admin.begin(async (tx) => {
    await tx`select from product where id = ${held?.id ?? ''} for update`
    await request(locked, [held?.id ?? ''], true)
    await request(free, [other?.id ?? ''], true)
    await eventually('the free product is published', async () => (await records(free)).length === 2)
    expect(await records(locked)).toHaveLength(0)
  })
  await eventually('the locked one is published then', async () => (await records(locked)).length === 2)
})

it('takes products with many variants a few at a time: requests for them wait for the transaction', async () => {
  const caller = aCaller()
  const ids = (await products(caller, 12)).map(({ id }) => id)
  await admin`
    insert into variant (id, workspace_id, product_id, sku, position, stock, price, cost, attributes)
    select gen_random_uuid(), workspace_id, product_id, gen_random_uuid(), number, stock, price, cost,
      jsonb_build_object('size', number)
    from variant cross join generate_series(1, 1999) as number where workspace_id = ${caller.workspaceId}`
  await request(caller, ids, false)
  const handled: number[] = []
  while ((await waiting(caller)).length > 0) handled.push(await chunk(caller))
  expect(handled).toEqual([5, 5, 2])
  for (const id of ids) expect(await typesOf(caller, id)).toEqual(['product.state'])
})
