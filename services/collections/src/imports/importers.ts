import { importBatches } from '@backoffice/importing/import-batches.ts'
import type { Importers } from '@backoffice/importing/importer.ts'
import { importCollections } from './import-collections.ts'

/** The import templates of the service (OP-54). */
export const importers: Importers = { collections: importCollections }

/** Applies import batches of collections (OP-54). `wake` wakes the relay. */
export const applyImportBatches = (wake: () => void) => importBatches({ name: 'collections.imports', importers, wake })
