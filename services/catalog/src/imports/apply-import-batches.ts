import { importBatches } from '@backoffice/importing/import-batches.ts'
import { importers } from './importers.ts'

/** Applies batches of the catalog's import templates (OP-54). `wake` wakes the relay. */
export const applyImportBatches = (wake: () => void) => importBatches({ name: 'catalog.imports', importers, wake })
