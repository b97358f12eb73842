import type { ImportCheckAnswer, Template } from '@backoffice/contracts/imports.ts'
import { PRODUCT_STATUSES } from '@backoffice/contracts/product.ts'
import type { Caller } from '@backoffice/http/internal-token.ts'
import type { TestDatabase } from '@backoffice/testing/database.ts'
import { serviceClient } from '@backoffice/testing/service-client.ts'
import { checkImports } from '../check-imports.ts'
import type { Importers } from '../importer.ts'

/** What a check depends on besides its rows. */
interface CheckDifferences {
  readonly statuses?: readonly string[]
  readonly earlier?: readonly string[]
  readonly inParts?: boolean
}

/** A service's check of the rows of imports, over a database. */
export function importChecks({ admin, db }: Pick<TestDatabase, 'admin' | 'db'>, importers: Importers) {
  const send = serviceClient(db, [checkImports(importers)])
  const request = (
    caller: Caller,
    template: Template,
    rows: readonly object[],
    { statuses = PRODUCT_STATUSES, earlier = [], inParts = false }: CheckDifferences = {},
  ) =>
    send<ImportCheckAnswer & { error: { code: string; message: string } }>(caller, 'POST', '/internal/imports/check', {
      template,
      product_statuses: statuses,
      earlier,
      in_parts: inParts,
      rows: rows.map((values, index) => ({ row: index + 2, values })),
    })
  return {
    request,

    /** What applying each row would do; of one that would fail, the column, code and message. */
    async checked(...sent: Parameters<typeof request>): Promise<string[]> {
      const { created, updated, unchanged, failed } = (await request(...sent)).body
      const texts = new Map<number, string>()
      for (const [text, rows] of Object.entries({ created, updated, unchanged })) {
        for (const row of rows) texts.set(row, text)
      }
      for (const { row, error } of failed) texts.set(row, `${error.column} ${error.code}: ${error.message}`)
      return sent[2].map((_, index) => texts.get(index + 2) ?? 'no outcome')
    },

    /** All rows of the service's tables, to compare before and after. */
    async allRows(): Promise<Record<string, string[]>> {
      const tables = await admin<{ name: string }[]>`
        select relname as name from pg_class where relkind in ('r', 'p') and relnamespace = current_schema::regnamespace`
      const contents = tables.map(async ({ name }) => {
        const rows = await admin<{ row: string }[]>`select t::text as row from ${admin(name)} as t order by 1`
        return [name, rows.map(({ row }) => row)] as const
      })
      return Object.fromEntries(await Promise.all(contents))
    },
  }
}

/** A check's outcomes as the batch tells them: a row without a change counts as updated (OP-55). */
export const asApplied = (outcomes: readonly string[]): string[] =>
  outcomes.map((outcome) => (outcome === 'unchanged' ? 'updated' : outcome))
