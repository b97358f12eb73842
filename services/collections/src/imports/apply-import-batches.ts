import { importBatches } from '@backoffice/importing/import-batches.ts'
import { importers } from './importers.ts'

/** Applies import batches of collections (OP-54). `wake` wakes the relay. */
export const applyImportBatches = (wake: () => void) => importBatches({ name: 'collections.imports', importers, wake })
