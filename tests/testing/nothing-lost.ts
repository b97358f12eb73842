import { eventually } from '@backoffice/testing/eventually.ts'
import type postgres from 'postgres'
import { expect } from 'vitest'
import { backofficeIn } from './backoffice.ts'

const RECOVERY_MS = 120_000

/** Waits until every row of every outbox is published. `sql` connects as a superuser. */
export async function untilPublished(sql: postgres.Sql): Promise<void> {
  const outboxes = await sql<{ schema: string }[]>`
    select table_schema as schema from information_schema.tables where table_name = 'outbox'`
  await eventually(
    'every outbox is published',
    async () => {
      const counts = await Promise.all(
        outboxes.map(({ schema }) => sql`select from ${sql(schema)}.outbox where published_at is null limit 1`),
      )
      return counts.every(({ length }) => length === 0)
    },
    RECOVERY_MS,
  )
}

/**
 * Expects that the stack in a folder has left nothing behind: all rows published, no record set aside; stock, orders,
 * members, and the deliveries of events since then consistent (docs/operations.md, Check everything).
 */
export async function expectNothingLost(sql: postgres.Sql, directory: string, since: Date): Promise<void> {
  const backoffice = (...args: string[]) => backofficeIn(directory, ...args)
  await untilPublished(sql)
  const range = () => [
    '--since',
    since.toISOString(),
    '--until',
    new Date(Date.now() + 1000).toISOString(),
    '--margin',
    '1',
  ]
  const finds = (...check: string[]) => {
    let last: Error | undefined
    const isClean = () =>
      backoffice('checks', ...check).then(
        () => true,
        (error: Error) => {
          last = error
          return false
        },
      )
    return eventually(`${check[0]} finds nothing`, isClean, RECOVERY_MS).catch((error: Error) => {
      throw new Error(error.message, { cause: last })
    })
  }
  await finds('reconcile', ...range())
  await Promise.all(['check-stock', 'check-members', 'check-orders'].map((check) => finds(check)))
  await expectNothingSetAside(directory)
}

/** Expects that the services of a stack in a folder have set no record aside. */
async function expectNothingSetAside(directory: string): Promise<void> {
  const backoffice = (...args: string[]) => backofficeIn(directory, ...args)
  expect(JSON.parse(await backoffice('dead-letters', 'list', '--json'))).toEqual({ consumers: [], unanswered: [] })
  const outboxes = JSON.parse(await backoffice('outbox', 'list', '--json'))
  expect(outboxes.unanswered).toEqual([])
  for (const outbox of outboxes.services) expect(outbox).toMatchObject({ held: 0, refused: 0 })
}
