import { TOPICS } from '@backoffice/contracts/events.ts'
import { Id } from '@backoffice/contracts/fields.ts'
import type { ConsumerDefinition } from '@backoffice/messaging/consumer.ts'
import { withInbox } from '@backoffice/messaging/inbox.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { outboxRecord, publish } from '@backoffice/postgres/outbox.ts'
import { z } from 'zod'
import { Batch, OWN_TEMPLATES } from './batch.ts'
import { importCategories } from './import-categories.ts'
import { importProductVariants } from './import-product-variants.ts'
import { importProducts } from './import-products.ts'
import { importStock } from './import-stock.ts'

/** A batch of any service's template. Those of this service are read further, the others are passed over. */
const ReadBatch = z.object({
  workspace_id: Id,
  livemode: z.boolean(),
  data: z.looseObject({ import_id: Id, batch: z.int(), template: z.string() }),
})
type ReadBatch = z.output<typeof ReadBatch>

const isOwn = ({ data }: ReadBatch): boolean => OWN_TEMPLATES.some((template) => template === data.template)

const IMPORTERS = {
  products: importProducts,
  product_variants: importProductVariants,
  stock: importStock,
  categories: importCategories,
}

/**
 * Applies the batches of imports whose template is the catalog's, each in one transaction with its inbox row and the answer
 * on `imports.results`, so that one that comes again changes nothing and is answered once. `wake` tells the relay.
 */
export const applyImportBatches = (wake: () => void): ConsumerDefinition<ReadBatch> =>
  withInbox({
    name: 'catalog.imports',
    topics: [TOPICS.importsBatches],
    schema: ReadBatch,
    destinationOf(record) {
      if (!isOwn(record)) return undefined
      const { workspace_id: workspaceId, livemode, data } = record
      const { import_id: importId, batch } = data
      return { workspaceId, livemode, actor: `import ${importId}`, messageId: `${importId}/${batch}` }
    },
    async handle({ data }, tx) {
      const batch = Batch.safeParse(data)
      if (!batch.success) throw new Error(`data: ${z.prettifyError(batch.error)}`)
      await applyBatch(tx, batch.data, new Date())
    },
    afterCommit: wake,
  })

/** Applies one batch. Its rows fire no event (OP-72); their products' new state is published, and what became of each row. */
async function applyBatch(tx: Transaction, batch: Batch, now: Date): Promise<void> {
  const { import_id, template } = batch
  // Plans that stay with a connection, those of foreign key checks among them, were made when the tables held less.
  await tx`discard plans`
  await tx`select set_config('app.stock_reason', 'imported', true)`
  const outcomes = await IMPORTERS[template](tx, batch, now)
  const answer = { import_id, batch: batch.batch, template, rows: outcomes.of(batch.rows) }
  await publish(tx, [outboxRecord(TOPICS.importsResults, 'batch.applied', import_id, answer)], now)
}
