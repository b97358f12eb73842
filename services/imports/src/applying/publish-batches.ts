import { text } from 'node:stream/consumers'
import { TOPICS } from '@backoffice/contracts/events.ts'
import type { Template } from '@backoffice/contracts/imports.ts'
import type { Database } from '@backoffice/postgres/database.ts'
import { publish } from '@backoffice/postgres/outbox.ts'
import { traceparentFrom } from '@backoffice/runtime/trace-context.ts'
import type { FileStorage } from '@backoffice/storage/file-storage.ts'
import { findingPath } from '../files/file-paths.ts'
import { OWNERS } from '../owners/owners.ts'

/** Batches of one import that are published and not answered, at most: its owner always has work, and others get their turn. */
const WINDOW = 4
/** Batches of all imports of one owner: an owner that is away holds up no import of another. */
const UNDER_WAY_OF_OWNER = 24

/** An import with batches to publish. */
interface ApplyingImport {
  readonly workspace_id: string
  readonly id: string
  readonly template: Template
  readonly livemode: boolean
  readonly product_statuses: readonly string[]
  readonly claim: string
  readonly next_batch: number
  /** The number of batches that may be published now. */
  readonly room: number
}

/** The connections and files of the publisher. `worker` connects as the worker role, `db` as the app role. */
export interface Publishing {
  readonly db: Database
  readonly worker: Database
  readonly storage: FileStorage
}

/**
 * The imports that may publish batches now: of each workspace the one that was started first, and workspaces in turn, so that a large
 * import does not keep the others waiting. A workspace whose import is being undone has none.
 */
export async function importsWithRoom({ sql }: Database): Promise<ApplyingImport[]> {
  const applying = await sql<(Omit<ApplyingImport, 'room'> & { under_way: number; left: number })[]>`
    select
      workspace_id, id, template, livemode, product_statuses, claim, next_batch,
      next_batch - answered_batches as under_way, ends_at_batch - next_batch as left
    from (
      select distinct on (workspace_id) * from import
      where started_at is not null and ended_at is null
        and not exists (
          select from import_undo where import_undo.workspace_id = import.workspace_id and import_undo.status = 'RUNNING'
        )
      order by workspace_id, started_at, id
    ) first_of_workspace
    order by sent_at nulls first`
  const free = new Map<string, number>()
  const freeOf = (template: Template) => free.get(OWNERS[template]) ?? UNDER_WAY_OF_OWNER
  const take = (template: Template, count: number) => free.set(OWNERS[template], freeOf(template) - count)
  for (const { template, under_way } of applying) take(template, under_way)
  return applying.flatMap(({ under_way, left, ...found }) => {
    const room = Math.min(WINDOW - under_way, left, freeOf(found.template))
    if (room <= 0) return []
    take(found.template, room)
    return { ...found, room }
  })
}

/**
 * Publishes the next batches of an import, which follow each other in its file. Of several replicas, the first to commit publishes
 * them. Returns their number.
 */
export async function publishNext({ db, storage }: Publishing, applying: ApplyingImport): Promise<number> {
  const {
    workspace_id: workspaceId,
    id,
    template,
    livemode,
    product_statuses,
    claim,
    next_batch: from,
    room,
  } = applying
  const context = { workspaceId, livemode, traceparent: traceparentFrom(undefined), actor: `import ${id}` }
  const batches = await db.inWorkspace(
    context,
    (tx) => tx<{ batch: number; first_byte: number; bytes: number }[]>`
      select batch, first_byte, bytes from import_batch
      where workspace_id = ${workspaceId} and import_id = ${id} and batch >= ${from} and batch < ${from + room}
      order by batch`,
  )
  const [first, last] = [batches[0], batches.at(-1)]
  if (first === undefined || last === undefined) throw new Error(`import ${id} has no batch ${from}`)
  const range = { start: first.first_byte, end: last.first_byte + last.bytes - 1 }
  const lines = (await text(await storage.read(findingPath({ workspaceId, id, claim }, 'rows'), range))).split('\n')
  const records = batches.map(({ batch }, index) => ({
    topic: TOPICS.importsBatches,
    type: `batch.${template}`,
    key: id,
    data: { import_id: id, batch, template, product_statuses, rows: JSON.parse(lines[index] ?? '') },
  }))
  return db.inWorkspace(context, async (tx) => {
    const advanced = await tx`
      update import set next_batch = ${last.batch + 1}, sent_at = clock_timestamp(), failing_since = null
      where workspace_id = ${workspaceId} and id = ${id} and next_batch = ${from} and ends_at_batch > ${last.batch}`
    if (advanced.count === 0) return 0
    await publish(tx, records, new Date())
    return records.length
  })
}
