import { importBatches } from '@backoffice/importing/import-batches.ts'
import type { Importers } from '@backoffice/importing/importer.ts'
import { importCustomers } from './import-customers.ts'

/** The import templates of the service (OP-54). */
export const importers: Importers = { customers: importCustomers }

/** Applies import batches of customers (OP-54). `wake` wakes the relay. */
export const applyImportBatches = (wake: () => void) => importBatches({ name: 'orders.imports', importers, wake })
