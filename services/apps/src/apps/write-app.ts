import { isDeepStrictEqual } from 'node:util'
import type { AppManifest } from '@backoffice/contracts/app-manifest.ts'
import { unprocessable } from '@backoffice/contracts/errors.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { newId } from '@backoffice/runtime/clock.ts'
import { refuseTakenNames } from './app-names.ts'
import type { AppRow } from './app-row.ts'
import { type Actor, recordAct } from './record-act.ts'

interface Registration {
  readonly origin: string
  readonly manifest: AppManifest
}

/** Registers an app, in the transaction of a sandbox as a draft of it. Throws `conflict` for taken names (OP-225). */
export async function insertApp(
  tx: Transaction,
  { origin, manifest }: Registration,
  sandbox: string | null,
  actor: Actor,
  now: Date,
): Promise<AppRow> {
  const id = newId()
  await refuseTakenNames(tx, id, manifest)
  const [row] = await tx<AppRow[]>`
    insert into app (id, provider, origin, manifest, sandbox_id, created_at, updated_at)
    values (${id}, ${manifest.provider}, ${origin}, ${tx.json(manifest)}, ${sandbox}, ${now}, ${now})
    returning *`
  await recordAct(tx, actor, 'app.registered', `apps/${id}`, now)
  return row as AppRow
}

/** Gives a locked app another manifest, and another origin if given. Its provider stays; equal ones change nothing. */
export async function updateManifest(
  tx: Transaction,
  app: AppRow,
  { origin = app.origin, manifest }: Pick<Registration, 'manifest'> & { readonly origin: string | undefined },
  actor: Actor,
  now: Date,
): Promise<AppRow> {
  const { id } = app
  if (app.provider !== manifest.provider) {
    throw unprocessable(['manifest', 'provider'], `must stay ${app.provider}; register another app instead`)
  }
  await refuseTakenNames(tx, id, manifest)
  if (origin === app.origin && isDeepStrictEqual(manifest, app.manifest)) return app
  const [row] = await tx<AppRow[]>`
    update app set
      origin = ${origin}, manifest = ${tx.json(manifest)}, version = version + 1, updated_at = ${now}
    where id = ${id}
    returning *`
  await recordAct(tx, actor, 'app.updated', `apps/${id}`, now)
  return row as AppRow
}
