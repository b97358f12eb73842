import { randomUUID } from 'node:crypto'
import type { Customer } from '@backoffice/contracts/customer.ts'
import type { Caller } from '@backoffice/http/internal-token.ts'
import { appliedBatches } from '@backoffice/importing/testing/import-batches.ts'
import { importUndos } from '@backoffice/importing/testing/import-undos.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { describe, expect, it } from 'vitest'
import { customersApi } from '../customers/testing/customers-api.ts'
import { applyImportBatches, importers } from '../imports/importers.ts'
import { eraseBatch } from './erase-customers.ts'

const service = await customersApi()
const { admin, db, list, send } = service
const { run } = appliedBatches(
  service,
  applyImportBatches(() => undefined),
)
const { step, undone } = importUndos(service, importers)

const contextOf = ({ workspaceId, livemode }: Caller) => ({ workspaceId, livemode, traceparent: '' })
const batch = (caller: Caller) => db.inWorkspace(contextOf(caller), (tx) => eraseBatch(tx, new Date()))
async function finish(caller: Caller): Promise<number> {
  let batches = 0
  while (await batch(caller)) batches++
  return batches
}

/** Imports a batch for each list of e-mail addresses, and returns the import's id. */
async function imported(caller: Caller, ...batches: string[][]): Promise<string> {
  const importId = randomUUID()
  for (const [batch, emails] of batches.entries()) {
    const rows = emails.map((email) => ({ email, firstname: email.split('@')[0], note: `${importId} ${batch}` }))
    await run(caller, 'customers', rows, { importId, batch })
  }
  return importId
}
const idOf = async (caller: Caller, email: string) =>
  (await list(caller, `email=${email}`)).items[0]?.id ?? expect.fail('no such customer')
const erase = async (caller: Caller, email: string) =>
  expect((await send<Customer>(caller, 'DELETE', `/v1/customers/${await idOf(caller, email)}`)).status).toBe(204)
/** What is kept for the undo of the workspace's imports, as text. */
const keptOf = async ({ workspaceId }: Caller): Promise<string> =>
  JSON.stringify(
    await admin`
      select changes::text as kept from imported_batch where workspace_id = ${workspaceId}
      union all select row_to_json(undone_change)::text from undone_change where workspace_id = ${workspaceId}`,
  )

const [ADA, EVE, BOB] = ['ada@example.com', 'eve@example.com', 'bob@example.com'] as const

describe('what is kept for the undo of imports (OP-130, OP-151)', () => {
  it('has nothing of an erased customer, and undoes the others', async () => {
    const [caller, neighbour] = [aCaller(), aCaller()]
    await imported(caller, [ADA, EVE])
    const second = await imported(caller, [EVE], [BOB, ADA])
    await imported(neighbour, [ADA])
    await erase(caller, ADA)
    await finish(caller)
    const kept = await keptOf(caller)
    expect(kept).not.toMatch(/\bada\b/i)
    expect(kept).toContain(EVE)
    expect(await keptOf(neighbour)).toContain(ADA)
    const rest = { deleted: 1, restored: 1, kept: 0, rows: [], is_done: true }
    expect(await undone(caller, 'customers', second)).toEqual(rest)
    expect((await list(caller)).items).toMatchObject([{ email: EVE }])
  })

  it('deletes no customer whom an order had: only an erasure finds what was submitted with him', async () => {
    const caller = aCaller()
    const importId = await imported(caller, [ADA, EVE])
    await admin`
      insert into former_customer (workspace_id, customer_id, order_id)
      values (${caller.workspaceId}, ${await idOf(caller, ADA)}, ${randomUUID()})`
    const rows = [{ key: ADA, reason: 'has or had orders' }]
    expect(await undone(caller, 'customers', importId)).toMatchObject({ deleted: 1, kept: 1, rows })
    await erase(caller, ADA)
  })

  it('is searched in batches, once for all customers that are erased together', async () => {
    const caller = aCaller()
    await imported(caller, ...Array.from({ length: 45 }, (_, n) => [`${n}@example.com`, `x${n}@example.com`]))
    for (const n of [0, 20, 44]) await erase(caller, `${n}@example.com`)
    // Three customers without orders, three batches of changes, one of answers.
    expect(await finish(caller)).toBe(7)
    const kept = await keptOf(caller)
    for (let n = 0; n < 45; n++) {
      expect(kept.includes(`"${n}@example.com`)).toBe(![0, 20, 44].includes(n))
      expect(kept).toContain(`x${n}@example.com`)
    }
  })

  it('is erased also where an undo has collected it, before or at the same moment', async () => {
    const caller = aCaller()
    const importId = await imported(caller, [ADA, EVE], [ADA, BOB])
    await step(caller, 'customers', importId)
    await erase(caller, ADA)
    expect(await batch(caller)).toBe(true)
    let erasing: ReturnType<typeof batch> | undefined
    await admin.begin(async (tx) => {
      // As an undo moves its next batch.
      await tx`delete from imported_batch where workspace_id = ${caller.workspaceId} and import_id = ${importId}`
      erasing = batch(caller)
      await eventually('the erasure waits', async () => {
        const waiting = await admin`
          select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
        return waiting.length === 1
      })
    })
    expect(await erasing).toBe(true)
    await finish(caller)
    const kept = await keptOf(caller)
    expect(kept).not.toMatch(/\bada\b/i)
    expect(kept).toContain(EVE)
  })
})
