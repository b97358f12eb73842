import type { InternalCalls } from '@backoffice/http/internal-calls.ts'
import { aBatch, appliedBatches } from '@backoffice/importing/testing/import-batches.ts'
import { aCaller, type Caller } from '@backoffice/testing/caller.ts'
import { describe, expect, it } from 'vitest'
import { type CollectionPage, collectionsService } from '../testing/collections-api.ts'
import { applyImportBatches } from './importers.ts'

const ASSET = '0198c7a0-0000-7000-8000-00000000000a'
const picture = { id: ASSET, path: 'a/file.png', thumbnail_path: 'a/thumbnail.webp' }
const catalog = { request: async () => ({ statusCode: 200, body: picture }) } as unknown as InternalCalls

const service = await collectionsService(catalog)
const { admin, create, published } = service
const { apply, outcomes } = appliedBatches(
  service,
  applyImportBatches(() => undefined),
)

const importing = (caller: Caller, ...rows: object[]) => outcomes(caller, 'collections', rows)
const inStock = { match: 'all', conditions: [{ field: 'stock', operator: 'gt', value: 0 }] }

/** The rows of a workspace's collections, oldest first. */
const stored = async ({ workspaceId }: Caller) => [
  ...(await admin`select * from collection where workspace_id = ${workspaceId} order by id`),
]

describe('a row with a new handle', () => {
  it('creates a collection with what creating one gives it (OP-31)', async () => {
    const [caller, other] = [aCaller(), aCaller()]
    expect(await importing(caller, { handle: 'summer', name: 'Summer' })).toEqual(['created'])
    await create(other, { published: undefined })
    const [[imported], [made]] = [await stored(caller), await stored(other)]
    const own = ['workspace_id', 'id', 'created_at', 'updated_at'].map((column) => [column, made?.[column]])
    expect({ ...imported, ...Object.fromEntries(own) }).toEqual(made)
    expect(imported?.updated_at).toEqual(imported?.created_at)
  })

  it('takes every column of the template', async () => {
    const caller = aCaller()
    const row = {
      handle: 'été-2026',
      name: 'Summer',
      description: '',
      sort_order: 'STOCK_DESC',
      membership_type: 'SMART',
      rules: JSON.stringify(inStock),
      published: true,
      publish_at: '2026-01-01T02:00:00.5+02:00',
      unpublish_at: '2026-02-01T00:00:00Z',
      seo_title: 'Sun',
      seo_description: 'Sea',
    }
    expect(await importing(caller, row)).toEqual(['created'])
    expect(await stored(caller)).toMatchObject([
      {
        ...row,
        rules: inStock,
        publish_at: new Date('2026-01-01T00:00:00.500Z'),
        unpublish_at: new Date('2026-02-01T00:00:00Z'),
      },
    ])
  })

  it('comes before the rows above it in the list, which is newest first', async () => {
    const caller = aCaller()
    const handles = Array.from({ length: 100 }, (_, index) => `c-${(index * 37) % 100}`)
    await importing(caller, ...handles.map((handle) => ({ handle, name: 'C', published: true })))
    const { body } = await service.send<CollectionPage>(caller, 'GET', '/v1/collections?limit=100')
    expect(body.items.map(({ handle }) => handle)).toEqual(handles.toReversed())
  })
})

describe('a row whose handle a collection has', () => {
  it('sets what it gives and leaves the rest, its cover too', async () => {
    const caller = aCaller()
    const made = await create(caller, { image: ASSET, description: 'Hot', seo: { title: 'Sun', description: 'Sea' } })
    const [before] = await stored(caller)
    const row = { handle: 'summer', name: 'Winter', seo_description: 'Snow', unpublish_at: '2030-01-01T00:00:00Z' }
    expect(await importing(caller, row)).toEqual(['updated'])
    const [after] = await stored(caller)
    expect(after).toEqual({
      ...before,
      name: 'Winter',
      seo_description: 'Snow',
      unpublish_at: new Date(row.unpublish_at),
      updated_at: after?.updated_at,
    })
    expect(after?.updated_at.getTime()).toBeGreaterThan(new Date(made.updated_at).getTime())
  })

  it('that changes nothing counts as updated and leaves updated_at (OP-73)', async () => {
    const caller = aCaller()
    await create(caller, { membership_type: 'SMART', rules: inStock })
    const before = await stored(caller)
    const rows = [{ handle: 'summer', name: 'Summer', rules: JSON.stringify(inStock, null, 2), sort_order: 'MANUAL' }]
    expect(await importing(caller, ...rows)).toEqual(['updated'])
    expect(await stored(caller)).toEqual(before)
    expect(await admin`select from membership_version where workspace_id = ${caller.workspaceId}`).toHaveLength(1)
  })

  it('in another workspace creates one in this', async () => {
    const [caller, other] = [aCaller(), aCaller()]
    await create(other)
    const before = await stored(other)
    expect(await importing(caller, { handle: 'summer', name: 'Mine' })).toEqual(['created'])
    expect(await stored(other)).toEqual(before)
  })
})

it('rows fire no event (OP-72)', async () => {
  const caller = aCaller()
  const row = { handle: 'summer', name: 'Summer', membership_type: 'SMART', rules: JSON.stringify(inStock) }
  await importing(caller, row)
  await importing(caller, { ...row, name: 'Winter' })
  expect((await published(caller)).map(({ type }) => type)).toEqual(['batch.applied', 'batch.applied'])
})

describe('a bad row fails alone, with its reason', () => {
  const rules = (...conditions: object[]) => JSON.stringify({ match: 'all', conditions })
  const smart = { handle: 'new', name: 'N', membership_type: 'SMART' }
  it.each([
    ['no handle', { name: 'N' }, 'handle bad_request: is required'],
    ['a handle that looks like an id', { handle: ASSET, name: 'N' }, 'handle bad_request: must not look like a UUID'],
    ['a reserved handle', { handle: 'preview', name: 'N' }, 'handle bad_request: is reserved; send another one'],
    [
      'a handle in no form for one',
      { handle: 'Summer Sale', name: 'N' },
      'handle bad_request: must be letters and digits in parts joined by single hyphens',
    ],
    ['a new collection without a name', { handle: 'new' }, 'name bad_request: is required for a new collection'],
    ['a handle that an earlier row has', { handle: 'first' }, 'handle duplicate: row 2 has it already'],
    ['the same one with its accents apart', { handle: 'cafe\u0301' }, 'handle duplicate: row 3 has it already'],
    [
      'an order there is not',
      { ...smart, sort_order: 'PRICE' },
      'sort_order bad_request: must be one of MANUAL, TITLE_ASC, TITLE_DESC, CREATED_ASC, CREATED_DESC, STOCK_DESC',
    ],
    ['SMART without rules', smart, 'rules bad_request: is required when membership_type is SMART'],
    [
      'rules that are no JSON',
      { ...smart, rules: 'stock > 0' },
      `rules bad_request: malformed JSON: Unexpected token 's', "stock > 0" is not valid JSON`,
    ],
    ['rules that are null', { ...smart, rules: 'null' }, 'rules bad_request: rules: must be an object, not null'],
    [
      'rules that the API refuses, each mistake with its path',
      {
        ...smart,
        rules: rules({ field: 'colour', operator: 'eq' }, { field: 'stock', operator: 'contains', value: 1 }),
      },
      'rules bad_request: rules.conditions[0].field: must be one of name, sku, type, status, category, tag, stock, ' +
        'requires_shipping, can_preorder, created_at, price.<CUR>, cost.<CUR>; ' +
        'rules.conditions[1].operator: stock takes eq, ne, gt, gte, lt, lte, in, not_in, is_set, is_not_set',
    ],
    [
      'a member of rules that JSON alone would take for a prototype',
      {
        ...smart,
        rules: '{"__proto__": {}, "match": "all", "conditions": [{"field": "stock", "operator": "is_set"}]}',
      },
      'rules bad_request: rules.__proto__: unknown member',
    ],
    [
      'a NUL that JSON hides',
      { ...smart, rules: '{"match":"all","conditions":[{"field":"name","operator":"eq","value":"\\u0000"}]}' },
      'rules bad_request: rules.conditions[0].value: must not contain NUL characters',
    ],
    [
      '61 conditions',
      { ...smart, rules: rules(...Array(61).fill({ field: 'stock', operator: 'is_set' })) },
      'rules bad_request: rules.conditions: must have at most 60 items',
    ],
    [
      'a window that ends before it starts',
      {
        ...smart,
        rules: JSON.stringify(inStock),
        publish_at: '2026-02-01T00:00:00Z',
        unpublish_at: '2026-01-01T00:00:00Z',
      },
      'unpublish_at unprocessable: must be later than publish_at',
    ],
    [
      'a time that is none',
      { ...smart, publish_at: 'tomorrow' },
      'publish_at bad_request: must be an ISO 8601 date-time with its offset, such as 2026-03-01T12:00:00Z',
    ],
    [
      'a flag that is none',
      { ...smart, published: 'yes' },
      'published bad_request: must be true or false, not a string',
    ],
  ])('%s', async (_, bad, reason) => {
    const caller = aCaller()
    const rows = [
      { handle: 'first', name: 'First' },
      { handle: 'café', name: 'Café' },
      bad,
      { handle: 'last', name: 'L' },
    ]
    expect(await importing(caller, ...rows)).toEqual(['created', 'created', reason, 'created'])
    expect((await stored(caller)).map(({ handle }) => handle)).toEqual(['first', 'café', 'last'])
  })

  it('which leaves the collection that it is about as it is', async () => {
    const caller = aCaller()
    await create(caller, { publish_at: '2026-02-01T00:00:00Z' })
    const before = await stored(caller)
    expect(await importing(caller, { handle: 'summer', name: 'N', unpublish_at: '2026-01-01T00:00:00Z' })).toEqual([
      'unpublish_at unprocessable: must be later than publish_at',
    ])
    expect(await stored(caller)).toEqual(before)
  })
})

it('batches of the same handles that come at once create each once, and what comes second finds them', async () => {
  const caller = aCaller()
  const handles = Array.from({ length: 40 }, (_, index) => `c-${index}`)
  const batchOf = (name: string, order: string[]) => {
    const rows = order.map((handle) => ({ handle, name, membership_type: 'SMART', rules: JSON.stringify(inStock) }))
    return aBatch(caller, 'collections', name === 'Plain' ? order.map((handle) => ({ handle, name })) : rows)
  }
  const batches = [batchOf('One', handles), batchOf('Two', handles.toReversed()), batchOf('Plain', handles)]
  /** Runs the batch again after a conflict with another transaction, as the consumer does. */
  const again = (batch: (typeof batches)[0], attempts = 3): ReturnType<typeof apply> =>
    apply(batch).catch((error) => {
      if (attempts === 1) throw error
      return again(batch, attempts - 1)
    })
  const results = await Promise.all(batches.map((batch) => again(batch)))
  const statuses = results.map((rows) => new Set(rows.map(({ status }) => status)))
  expect(statuses.every(({ size }) => size === 1)).toBe(true)
  expect(statuses.filter((set) => set.has('created'))).toHaveLength(1)
  expect(await stored(caller)).toHaveLength(40)
})

it.each([1, 500])('takes at most 20 statements for %i rows', async (count) => {
  const caller = aCaller()
  const smart = { membership_type: 'SMART', rules: JSON.stringify(inStock) }
  const rows = (name: string, differences: object) =>
    Array.from({ length: count }, (_, index) => ({ handle: `c-${index}`, name: `${name} ${index}`, ...differences }))
  for (const [name, differences, status] of [
    ['First', smart, 'created'],
    ['Then', { ...smart, sort_order: 'TITLE_ASC' }, 'updated'],
    ['At last', { membership_type: 'MANUAL' }, 'updated'],
  ] as const) {
    service.takeStatements()
    const results = await importing(caller, ...rows(name, differences))
    expect(service.takeStatements().length).toBeLessThanOrEqual(18)
    expect(new Set(results)).toEqual(new Set([status]))
  }
})
