import type { ErrorBody } from '@backoffice/contracts/errors.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { describe, expect, it } from 'vitest'
import { aProductState, collectionsService, type ProductPage } from '../testing/collections-api.ts'

const { admin, send, products, project, takeStatements } = await collectionsService()
type Caller = ReturnType<typeof aCaller>

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

  it('needs the scope product::create, and two statements besides the transaction’s own', async () => {
    const caller = aCaller()
    expect((await preview({ ...caller, scopes: ['product::read'] }, rulesOf('stock', 'gt', 0))).status).toBe(403)
    takeStatements()
    await preview(caller, rulesOf('stock', 'gt', 0))
    expect(takeStatements().length).toBeLessThanOrEqual(5)
  })
})
