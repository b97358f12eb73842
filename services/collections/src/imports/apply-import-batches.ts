import { importBatches } from '@backoffice/messaging/import-batches.ts'
import { importCollections } from './import-collections.ts'

/** Applies the batches of imports of collections (OP-54). `wake` tells the relay. */
export const applyImportBatches = (wake: () => void) =>
  importBatches({ name: 'collections.imports', importers: { collections: importCollections }, wake })
