import type { ImportUndoProgress, Template } from '@backoffice/contracts/imports.ts'
import type { Caller } from '@backoffice/http/internal-token.ts'
import type { TestDatabase } from '@backoffice/testing/database.ts'
import { serviceClient } from '@backoffice/testing/service-client.ts'
import type { Importers } from '../importer.ts'
import { undoImports } from '../undo-imports.ts'

/** A service's undo of imports, over a database. */
export function importUndos({ db }: Pick<TestDatabase, 'db'>, importers: Importers) {
  const send = serviceClient(db, [undoImports(importers)])
  const step = <Body = ImportUndoProgress>(caller: Caller, template: Template, importId: string) =>
    send<Body>(caller, 'POST', '/internal/imports/undo', { import_id: importId, template })
  return {
    step,

    /** Takes all steps of an undo and returns what became of the import. */
    async undone(caller: Caller, template: Template, importId: string): Promise<ImportUndoProgress> {
      for (;;) {
        const { status, body } = await step(caller, template, importId)
        if (status !== 200) throw new Error(`the undo answered ${status} ${JSON.stringify(body)}`)
        if (body.is_done) return body
      }
    },
  }
}
