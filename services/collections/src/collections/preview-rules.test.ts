import type { ErrorBody } from '@backoffice/contracts/errors.ts'
import { aCaller, type Caller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { serviceClient } from '@backoffice/testing/service-client.ts'
import { describe, expect, it } from 'vitest'
import { aProductState, collectionsService, type ProductPage } from '../testing/collections-api.ts'
import { previewRules } from './preview-rules.ts'

const { admin, db, send, products, project, takeStatements } = await collectionsService()

const rulesOf = (field: string, operator: string, value?: unknown) => ({
  match: 'all',
  conditions: [{ field, operator, value }],
})
const preview = (caller: Caller, rules: unknown, query = '') =>
  send<ProductPage & Partial<ErrorBody>>(caller, 'POST', `/v1/collections/preview${query}`, {
    rules,
  })

describe('POST /v1/collections/preview (OP-112)', () => {
  it('shows the storefront-available products that the rules would gather now, newest first, and keeps nothing', async () => {
    const caller = aCaller()
    await products(caller, 'Shirt', 'Red shirt', 'Cap', 'Blue shirt')
    await project(caller, aProductState({ name: 'Hidden shirt', status: 'HIDDEN' }))
    await products(aCaller(), 'Their shirt')
    const { status, body } = await preview(caller, rulesOf('name', 'contains', 'shirt'))
    expect([status, body.total, body.items.map(({ name }) => name)]).toEqual([
      200,
      3,
      ['Blue shirt', 'Red shirt', 'Shirt'],
    ])
    expect(await admin`select from collection where workspace_id = ${caller.workspaceId}`).toHaveLength(0)
  })

  it('in pages', async () => {
    const caller = aCaller()
    await products(caller, 'A', 'B', 'C')
    const { items, ...page } = (await preview(caller, rulesOf('stock', 'gt', 0), '?limit=2&page=2')).body
    expect(items.map(({ name }) => name)).toEqual(['A'])
    expect(page).toEqual({
      page: 2,
      size: 2,
      total: 3,
      total_pages: 2,
      has_next_page: false,
      has_previous_page: true,
    })
  })

  it.each([
    [{ match: 'all', conditions: [] }, 'rules.conditions: '],
    [rulesOf('colour', 'eq', 'red'), 'rules.conditions[0].field: '],
    [rulesOf('stock', 'contains', 1), 'rules.conditions[0].operator: '],
    [rulesOf('stock', 'gt', '1'), 'rules.conditions[0].value: '],
    [undefined, 'rules: '],
  ])('%j is bad_request, which names what is wrong', async (rules, message) => {
    const { status, body } = await preview(aCaller(), rules)
    expect([status, body.error?.code]).toEqual([400, 'bad_request'])
    expect(body.error?.message).toContain(message)
  })

  it('counts all products on a page behind the last one', async () => {
    const caller = aCaller()
    await products(caller, 'A', 'B')
    const { total, items } = (await preview(caller, rulesOf('stock', 'gt', 0), '?page=7')).body
    expect([total, items]).toEqual([2, []])
  })

  /** Runs `work` while previews cannot read products. */
  const whileProductsAreLocked = (work: () => Promise<void>) =>
    admin.begin(async (locking) => {
      await locking`lock table product in access exclusive mode`
      await work()
    })

  it('rules that take longer than the budget are unprocessable, and the message says what to change', async () => {
    const hurried = serviceClient(db, [previewRules(100)])
    await whileProductsAreLocked(async () => {
      const { status, body } = await hurried(aCaller(), 'POST', '/v1/collections/preview', {
        rules: rulesOf('stock', 'gt', 0),
      })
      expect([status, body.error.code, body.error.message]).toEqual([
        422,
        'unprocessable',
        'rules: take longer than 0.1 s over the products of this workspace; use fewer conditions or shorter lists',
      ])
    })
  })

  it('runs once at a time for a workspace, which delays neither the previews nor the lists of others', async () => {
    const [busy, other] = [aCaller(), aCaller()]
    const rules = rulesOf('stock', 'gt', 0)
    const readers = () => admin`
      select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
    let previews: Promise<number>[] = []
    let othersPreview: Promise<number> | undefined
    await whileProductsAreLocked(async () => {
      previews = Array.from({ length: 12 }, async () => (await preview(busy, rules)).status)
      await eventually('a preview reads', async () => (await readers()).length > 0)
      expect((await send(other, 'GET', '/v1/collections')).status).toBe(200)
      othersPreview = preview(other, rules).then(({ status }) => status)
      await eventually('the other reads as well', async () => (await readers()).length > 1)
      expect(await readers()).toHaveLength(2)
    })
    expect(await othersPreview).toBe(200)
    expect((await Promise.all(previews)).toSorted()).toEqual([...Array(6).fill(200), ...Array(6).fill(429)])
  })

  it('needs the scope product::create, and two statements besides the transaction’s own', async () => {
    const caller = aCaller()
    expect((await preview({ ...caller, scopes: ['product::read'] }, rulesOf('stock', 'gt', 0))).status).toBe(403)
    takeStatements()
    await preview(caller, rulesOf('stock', 'gt', 0))
    expect(takeStatements().length).toBeLessThanOrEqual(5)
  })
})
