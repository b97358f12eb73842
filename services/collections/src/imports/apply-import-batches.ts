import { importBatches } from '@backoffice/messaging/import-batches.ts'
import { importCollections } from './import-collections.ts'

/** Applies import batches of collections (OP-54). `wake` wakes the relay. */
export const applyImportBatches = (wake: () => void) =>
  importBatches({ name: 'collections.imports', importers: { collections: importCollections }, wake })
